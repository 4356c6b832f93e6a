package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/shown"
	"cortext/cmd/internal/workspace"
)

// Failures in a hook are written to hook.log in the workspace's cache, and the next
// command reports them. If the workspace cannot be opened or written to, both go to the
// user's state folder instead.
const (
	hookLog     = "hook.log"
	maxHookLog  = 64 << 10
	maxHookLine = 1000 // characters
)

// Failed records a failure in a hook. w is nil if the workspace of dir could not be
// opened, and dir is empty if unknown.
func (p Program) Failed(w *workspace.Workspace, dir, event string, err error) {
	var logged, kept bool
	if w != nil {
		dir = w.Store.Root()
		logged = p.logHook(w, event, err) == nil
		kept = w.Pending.Add(err) == nil
	}
	text := hookLine(err)
	if !logged {
		line := fmt.Sprintf("%s %s in %s: %s", p.Now().UTC().Format(time.RFC3339), shown.Cut(shown.Line(event), 100), shown.Line(dir), text)
		_ = appendLine(filepath.Join(p.stateFolder(), hookLog), line)
	}
	if !kept && dir != "" {
		_ = appendLine(p.pendingFile(dir), text)
	}
}

func hookLine(err error) string { return shown.Cut(shown.Line(err.Error()), maxHookLine) }

// logHook adds a line to the workspace's hook.log and keeps only its last part.
func (p Program) logHook(w *workspace.Workspace, event string, err error) error {
	if unlock, err := w.Store.LockCache(hookLog, time.Second); err == nil {
		defer unlock() // without the lock, lines of two hooks may overwrite each other
	}
	log, _ := w.Store.ReadCache(hookLog)
	log = fmt.Appendf(log, "%s %s: %s\n", p.Now().UTC().Format(time.RFC3339), shown.Cut(shown.Line(event), 100), hookLine(err))
	if len(log) > maxHookLog {
		log = log[len(log)-maxHookLog/2:]
		log = log[bytes.IndexByte(log, '\n')+1:]
	}
	return w.Store.WriteCache(hookLog, log)
}

// logWarnings writes the warnings about the settings to hook.log, each once.
func (p Program) logWarnings(w *workspace.Workspace, event string) {
	if len(w.Warnings) == 0 {
		return
	}
	log, _ := w.Store.ReadCache(hookLog)
	for _, text := range w.Warnings {
		if err := errors.New(text); !bytes.Contains(log, []byte(hookLine(err))) {
			_ = p.logHook(w, event, err)
		}
	}
}

// TakeFailures returns, once, the failures in hooks since the last command.
func (p Program) TakeFailures(w *workspace.Workspace) []string {
	list := strings.Split(w.Pending.Take(), "\n")
	file := p.pendingFile(w.Store.Root())
	if b, err := os.ReadFile(file); err == nil {
		if len(b) == 0 {
			b = []byte("there was no room on the disk to write down why; cortext sync captures what it missed")
		}
		list = append(list, strings.Split(string(b), "\n")...)
		_ = os.Remove(file)
	}
	var said []string
	for _, text := range list {
		if text != "" && !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	return said[max(0, len(said)-workspace.MaxPending):]
}

// stateFolder is the folder for cortext's state of this user on this machine.
func (p Program) stateFolder() string {
	return filepath.Join(workspace.StateDir(p.Machine), "cortext")
}

// pendingFile is the file with the failures that the next command in the workspace at root
// reports. It is outside of the workspace.
func (p Program) pendingFile(root string) string {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(p.stateFolder(), "untold", hex.EncodeToString(sum[:8]))
}

// appendLine adds a line to a file. A file that has grown too long is renamed to
// name.old.
func appendLine(name, line string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(name); err == nil && info.Size() > maxHookLog {
		if err := os.Rename(name, name+".old"); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}
