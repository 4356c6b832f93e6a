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

// ErrNotAllowed says that the user has not allowed the programs as they are.
var ErrNotAllowed = errors.New("the programs in " + Dir + " are not allowed to run as they are")

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
			return nil, fmt.Errorf("%s/%s.d: %w", Dir, event, err)
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

// Fingerprint tells the programs of a workspace from changed ones: by the names and
// contents of all files in [Dir], since a program may read those beside it. It is
// empty where there are no programs.
func Fingerprint(root string) (string, error) {
	list, err := Programs(root)
	if err != nil || len(list) == 0 {
		return "", err
	}
	dir := filepath.Join(root, filepath.FromSlash(Dir))
	sum := sha256.New()
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			fmt.Fprintf(sum, "%q is no file\n", path) // a dangling link, a pipe
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(sum, "%q %o %x\n", filepath.ToSlash(rel), info.Mode().Perm()&0o111, sha256.Sum256(b))
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Run runs the programs of the event, one after the other, as long as the user
// allows them as they are, and returns what went wrong with each: it is told, and
// stops nothing.
func Run(ctx context.Context, r Register, root string, e Event) (failed []error) {
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
		if yes, _, err := r.Allows(root); err != nil || !yes {
			return append(failed, errors.Join(ErrNotAllowed, err))
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
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it has ended well, what it started goes on
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
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
