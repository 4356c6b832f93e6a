package hook

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"

	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/organise"
	"cortext/cmd/internal/workspace"
)

// InLifecycle reports whether a program of the workspace called us. Then events start no
// further programs.
func InLifecycle() bool { return os.Getenv("CORTEXT_EVENT") != "" }

// LifecycleLater runs the workspace's programs in a separate process, so that an agent
// waiting for its hook does not wait for them.
func (p Program) LifecycleLater(w *workspace.Workspace) {
	happened := w.Events.Take()
	if len(happened) == 0 || InLifecycle() || !p.allowed(w) {
		return
	}
	args := []string{"happened", "--"}
	for _, h := range happened {
		words := encodeEvent(h)
		args = append(args, words[:]...)
	}
	if err := p.Later(w, args...); err != nil {
		p.Failed(w, "", "lifecycle", err)
	}
}

// compactLater has a model summarize the old messages of the conversations at paths, each
// in a separate process.
func (p Program) compactLater(w *workspace.Workspace, paths []string) {
	for _, path := range paths {
		if err := p.Later(w, "compact", "--apply", "--", path); err != nil {
			p.Failed(w, "", "compact", err)
		}
	}
}

// archiveLater archives old conversations in a separate process, if the settings say so and
// a check is due.
func (p Program) archiveLater(w *workspace.Workspace) {
	if !organise.AutoIn(w).Due() {
		return
	}
	if err := p.Later(w, "tidy"); err != nil {
		p.Failed(w, "", "tidy", err)
	}
}

// refreshLater makes the index of the conversations in a separate process. With a hundred
// thousand conversations that takes longer than a hook may, and no hook can do without the
// index.
func (p Program) refreshLater(w *workspace.Workspace) {
	if w.CanRefreshListing() {
		_ = p.Later(w, "refresh") // on failure the next hook tries again
	}
}

// Later starts a cortext command in a workspace, without a terminal, and does not wait
// for it.
func (p Program) Later(w *workspace.Workspace, args ...string) error {
	program, err := p.Cortext()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, append([]string{"-C", w.Store.Root()}, args...)...)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// allowed reports whether the workspace's programs may run.
func (p Program) allowed(w *workspace.Workspace) bool {
	yes, _, err := lifecycle.RegisterIn(workspace.StateDir(p.Machine)).Allows(w.Store.Root())
	return yes && err == nil
}

// eventWords is the number of words per event on the command line of cortext happened.
const eventWords = 5

// encodeEvent encodes an event for a command line. Each part may hold any character.
func encodeEvent(h workspace.Event) [eventWords]string {
	return [eventWords]string{h.Name, h.Path, h.MessageID, h.Role, strconv.Itoa(h.Count)}
}

// DecodeEvents decodes the events on the command line of cortext happened.
func DecodeEvents(words []string) ([]workspace.Event, error) {
	if len(words)%eventWords != 0 {
		return nil, fmt.Errorf("%d arguments, not %d for each event", len(words), eventWords)
	}
	var list []workspace.Event
	for h := range slices.Chunk(words, eventWords) {
		count, err := strconv.Atoi(h[4])
		if err != nil {
			return nil, fmt.Errorf("%q is not a number of messages", h[4])
		}
		list = append(list, workspace.Event{Name: h[0], Path: h[1], MessageID: h[2], Role: h[3], Count: count})
	}
	return list, nil
}
