// Package lifecycle runs the programs that a workspace wants run when something
// happens to a conversation, if the user allows it on this machine.
package lifecycle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Dir is where the programs lie, in a folder for each event, relative to the
// workspace.
const Dir = ".workspace/hooks"

// The events.
const (
	Start   = "session-start"   // a conversation was made, or is taken up again
	Message = "session-message" // messages were captured
	End     = "session-end"     // a conversation was stopped or paused
	Resume  = "session-resume"  // a conversation is taken up again
)

// Events returns the events in the order of a conversation's life.
func Events() []string { return []string{Start, Resume, Message, End} }

// An Event is what a program is told: as JSON on standard input, and in the
// variables CORTEXT_EVENT, CORTEXT_SESSION and CORTEXT_FOLDER.
type Event struct {
	Event   string `json:"event"`
	Session string `json:"session"` // the conversation's id
	Folder  string `json:"folder"`  // absolute
}

// Limit is how long one program may run before it is ended.
const Limit = 10 * time.Second

// Programs lists the programs of a workspace, by event and name: paths relative to
// [Dir], with slashes.
func Programs(root string) ([]string, error) {
	var list []string
	for _, event := range Events() {
		entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(Dir), event+".d"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			info, err := os.Stat(filepath.Join(root, filepath.FromSlash(Dir), event+".d", e.Name()))
			if err == nil && runnable(e.Name(), info) {
				list = append(list, event+".d/"+e.Name())
			}
		}
	}
	return list, nil
}

// runnable tells programs from what lies beside them: notes, backups, samples.
func runnable(name string, info fs.FileInfo) bool {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasSuffix(name, ".sample") || !info.Mode().IsRegular() {
		return false
	}
	return runtime.GOOS == "windows" || info.Mode()&0o111 != 0
}

// Fingerprint tells the programs of a workspace from changed ones: their names and
// contents. It is empty where there are none.
func Fingerprint(root string) (string, error) {
	list, err := Programs(root)
	if err != nil || len(list) == 0 {
		return "", err
	}
	sum := sha256.New()
	for _, name := range list {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(Dir), filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s\n%x\n", name, sha256.Sum256(b))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Run runs the programs of the event, one after the other, and returns what went
// wrong with each: it is told, and stops nothing.
func Run(ctx context.Context, root string, e Event) (failed []error) {
	list, err := Programs(root)
	if err != nil {
		return []error{err}
	}
	input, err := json.Marshal(e)
	if err != nil {
		return []error{err}
	}
	for _, name := range list {
		if !strings.HasPrefix(name, e.Event+".d/") {
			continue
		}
		if err := run(ctx, root, name, e, input); err != nil {
			failed = append(failed, fmt.Errorf("%s/%s: %w", Dir, name, err))
		}
	}
	return failed
}

func run(ctx context.Context, root, name string, e Event, input []byte) error {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(root, filepath.FromSlash(Dir), filepath.FromSlash(name)))
	cmd.Dir = root
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "CORTEXT_SESSION=") || strings.HasPrefix(v, "CORTEXT_EVENT=") || strings.HasPrefix(v, "CORTEXT_FOLDER=")
	}), "CORTEXT_EVENT="+e.Event, "CORTEXT_SESSION="+e.Session, "CORTEXT_FOLDER="+e.Folder)
	cmd.Stdin = bytes.NewReader(append(input, '\n'))
	var said tail
	cmd.Stdout, cmd.Stderr = &said, &said
	inGroup(cmd)
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("was still running after %v and has been ended", Limit)
	case err != nil && len(said) > 0:
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(strings.ToValidUTF8(string(said), "?")))
	}
	return err
}

// A tail keeps the end of what is written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	const most = 500
	*t = append(*t, p...)
	if len(*t) > most {
		*t = append(tail{}, (*t)[len(*t)-most:]...)
	}
	return len(p), nil
}
