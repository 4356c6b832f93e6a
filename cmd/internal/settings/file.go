package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cortext/inject"
	"cortext/store"
	"cortext/store/atomicfile"
	"cortext/store/filelock"
)

// WorkspaceFile is the settings file of a workspace, relative to it. It is committed.
const WorkspaceFile = ".workspace/config.yaml"

// A File is a settings file: a workspace's or the user's. The zero File does not exist.
type File struct {
	Name string // file name in messages
	Path string // absolute path

	store *store.Store // nil for the user's file
	lock  string       // lock file for changes to the user's file
}

// InWorkspace returns the settings file of a workspace.
func InWorkspace(st *store.Store) File {
	return File{Name: WorkspaceFile, Path: filepath.Join(st.Root(), filepath.FromSlash(WorkspaceFile)), store: st}
}

// OfUser returns the user's own file, below $XDG_CONFIG_HOME or ~/.config. A relative
// $XDG_CONFIG_HOME would be in the work tree, so it is ignored. state is the user's state
// folder.
func OfUser(m inject.Machine, state string) File {
	dir := m.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(m.Home, ".config")
	}
	f := File{Path: filepath.Join(dir, "cortext", "config.yaml"), lock: filepath.Join(state, "cortext", "config.lock")}
	f.Name = f.Path
	if rest, ok := strings.CutPrefix(f.Path, m.Home+string(filepath.Separator)); ok {
		f.Name = "~/" + filepath.ToSlash(rest)
	}
	return f
}

// A sizeError reports a file that is too large.
type sizeError struct{ bytes int64 }

func (e *sizeError) Error() string {
	return fmt.Sprintf("has %d bytes, more than the limit of %d", e.bytes, maxBytes)
}

// Read returns the text of the file, or nil if it does not exist.
func (f File) Read() (text []byte, err error) {
	switch {
	case f.store != nil:
		if text, err = f.store.ReadFile(WorkspaceFile); errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
	case filepath.IsAbs(f.Path):
		if text, err = readUser(f.Path); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	default:
		return nil, nil
	}
	if err == nil && len(text) > maxBytes {
		err = &sizeError{int64(len(text))}
	}
	return text, err
}

// readUser reads the user's file, which may be a symbolic link.
func readUser(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		if _, linkErr := os.Lstat(path); linkErr == nil && errors.Is(err, fs.ErrNotExist) {
			return nil, errors.New("it is a broken link")
		}
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("it is a folder, not a file")
	}
	if !info.Mode().IsRegular() { // a pipe could block forever
		return nil, fmt.Errorf("it is not a regular file but %s", info.Mode().Type())
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err == nil && len(text) > maxBytes {
		err = &sizeError{max(info.Size(), maxBytes+1)}
	}
	return text, err
}

// lockWait is how long a change waits for another process.
const lockWait = 5 * time.Second

// update replaces the text of the file with the result of change, if they differ.
// Concurrent updates are serialized.
func (f File) update(change func(text []byte) ([]byte, error)) error {
	err := f.locked(func() error {
		text, err := f.Read()
		if err != nil {
			return err
		}
		changed, err := change(text)
		if err != nil || text != nil && string(changed) == string(text) {
			return err
		}
		if len(changed) > maxBytes {
			return &sizeError{int64(len(changed))}
		}
		return f.write(changed)
	})
	if errors.Is(err, filelock.ErrHeld) || errors.As(err, new(*store.LockedError)) {
		return fmt.Errorf("%s is being changed by another cortext: try again", f.Name)
	}
	switch {
	case err == nil || errors.As(err, new(*BrokenError)):
		return err
	case errors.As(err, new(*sizeError)):
		return fmt.Errorf("%s %w: shorten it first", f.Name, err)
	}
	return fmt.Errorf("%s cannot be changed: %w", f.Name, err)
}

func (f File) locked(do func() error) error {
	switch {
	case f.store != nil:
		unlock, err := f.store.LockCache("config", lockWait)
		if err != nil {
			return err
		}
		defer unlock()
		return do()
	case !filepath.IsAbs(f.Path):
		return errors.New("cannot find this user's settings folder: set HOME")
	}
	return filelock.With(f.lock, lockWait, do)
}

func (f File) write(text []byte) error {
	if info, err := os.Stat(f.Path); err == nil && info.Mode().Perm()&0o200 == 0 { // replacing a file does not need write permission for it
		return errors.New("it is read-only")
	}
	if f.store != nil {
		return f.store.WriteFile(WorkspaceFile, text)
	}
	return atomicfile.WriteLinked(f.Path, text)
}

// Create creates the file if it does not exist, for an editor, and returns its text. A new
// user file lists all settings with their defaults as comments.
func (f File) Create() (text []byte, err error) {
	err = f.update(func(have []byte) ([]byte, error) {
		if text = have; have == nil {
			text = []byte(f.header() + commented(Text(CommitOff, CaptureCommands)))
		}
		return text, nil
	})
	var large *sizeError
	if errors.As(err, &large) {
		return nil, nil // the editor can shorten it
	}
	return text, err
}

// commented turns the settings in a text into comments, and drops the first paragraph.
func commented(text string) string {
	_, text, _ = strings.Cut(text, "\n\n")
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line[0] != '#' && line[0] != '\n' {
			b.WriteString("#")
		}
		b.WriteString(line)
	}
	return b.String()
}

// Check reads the file and returns its text and its problems.
func (f File) Check() (text []byte, problems []string) {
	text, err := f.Read()
	if err != nil {
		return nil, []string{fmt.Sprintf("%s cannot be read: %v", f.Name, err)}
	}
	c := Default()
	return text, read(f.Name, text, c.table()).warnings()
}
