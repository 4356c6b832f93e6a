// Package lifecycle runs a workspace's own programs when something happens to a
// conversation, if the user allows it on this machine.
package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/children"
)

// Dir is the folder of the programs, with a subfolder for each event, relative to the
// workspace.
const Dir = ".workspace/hooks"

// The events.
const (
	Start   = "session-start"   // a conversation was created or resumed
	Message = "session-message" // messages were captured
	End     = "session-end"     // a conversation was stopped or paused
	Resume  = "session-resume"  // a conversation was resumed
)

// events returns the events in their order in a conversation's life.
func events() []string { return []string{Start, Resume, Message, End} }

// An Event is the input of a program: as JSON on standard input, and in the variables
// CORTEXT_EVENT, CORTEXT_SESSION and CORTEXT_FOLDER; for [Message] also in
// CORTEXT_MESSAGE_ID, CORTEXT_MESSAGE_ROLE and CORTEXT_MESSAGE_COUNT.
type Event struct {
	Event   string `json:"event"`
	Session string `json:"session"`         // the conversation's id
	Folder  string `json:"folder"`          // absolute
	ID      string `json:"id,omitempty"`    // of the last captured message
	Role    string `json:"role,omitempty"`  // of that message
	Count   int    `json:"count,omitempty"` // number of captured messages
}

// variables returns the event's environment variables.
func (e Event) variables() []string {
	list := []string{"CORTEXT_EVENT=" + e.Event, "CORTEXT_SESSION=" + e.Session, "CORTEXT_FOLDER=" + e.Folder}
	if e.Event == Message {
		list = append(list, "CORTEXT_MESSAGE_ID="+e.ID, "CORTEXT_MESSAGE_ROLE="+e.Role, "CORTEXT_MESSAGE_COUNT="+strconv.Itoa(e.Count))
	}
	return list
}

// ours reports whether a variable is an event variable: those in our own environment
// belong to another event.
func ours(v string) bool {
	name, _, _ := strings.Cut(v, "=")
	switch name {
	case "CORTEXT_EVENT", "CORTEXT_SESSION", "CORTEXT_FOLDER", "CORTEXT_MESSAGE_ID", "CORTEXT_MESSAGE_ROLE", "CORTEXT_MESSAGE_COUNT":
		return true
	}
	return false
}

// errNotAllowed is returned if the user has not allowed the programs in their current
// form.
var errNotAllowed = errors.New("the programs in " + Dir + " are not allowed to run as they are")

// limit is how long one program may run before it is ended.
const limit = 10 * time.Second

// saidLen is how much of a failed program's output its error quotes, in bytes.
const saidLen = 500

// Run runs the programs of the event one after the other, as long as the user allows them
// in their current form. It returns the failure of each; a failure does not stop the
// others.
//
// Right before each program starts, all files are read and compared with what the user
// allowed. A gap remains between that check and the start, and while the program runs.
// But whoever can write to the work tree at that time already runs as this user, and
// changes from another machine need a git command.
func Run(ctx context.Context, r Register, root string, e Event) (failed []error) {
	hooks, err := Read(root)
	if err != nil {
		return []error{err}
	}
	input, err := json.Marshal(e)
	if err != nil {
		return []error{err}
	}
	for _, name := range hooks.Programs() {
		if !strings.HasPrefix(name, e.Event+".d/") {
			continue
		}
		if yes, _, err := r.Allows(root); err != nil || !yes {
			return append(failed, errors.Join(errNotAllowed, err))
		}
		if err := run(ctx, root, name, e, input); err != nil {
			failed = append(failed, fmt.Errorf("%s/%s: %w", Dir, name, err))
		}
	}
	return failed
}

func run(ctx context.Context, root, name string, e Event, input []byte) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(root, filepath.FromSlash(Dir), filepath.FromSlash(name)))
	cmd.Dir = root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), ours), e.variables()...)
	cmd.Stdin = bytes.NewReader(append(input, '\n'))
	said := children.Tail{Len: saidLen}
	cmd.Stdout, cmd.Stderr = &said, &said
	children.Group(cmd)
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it ended successfully; its children continue
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("was still running after %v and has been ended", limit)
	case err != nil && said.String() != "":
		return fmt.Errorf("%w: %s", err, &said)
	}
	return err
}
