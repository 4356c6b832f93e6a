package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"cortext/store/atomicfile"
	"cortext/store/internal/folders"
	"cortext/store/internal/lines"
)

// Files are the files of a workspace, by their names relative to it, with slashes. No
// name leads out of the workspace, and no symlink is followed. Folders and files below
// .session/ and .workspace/local are private, and git ignores the latter from the first
// write on. Several goroutines may use them.
type Files struct {
	root  *folders.Root
	dir   string // absolute
	files atomicfile.Calls
	logs  lines.Calls

	batch    sync.Mutex
	unsynced map[string]bool // folders; nil outside a Batch

	ignored atomic.Bool // .workspace/local has its .gitignore
	written atomic.Bool // something was written below .workspace/local
}

// maxFile is the size, in bytes, of the largest file that is read as a whole. Settings,
// prompts and metadata are kilobytes; the bound keeps a hostile clone from using up all
// memory.
const maxFile = 64 << 20

var errTooLarge = fmt.Errorf("larger than %d bytes, the limit for such a file", maxFile)

// Root returns the absolute path of the workspace's folder.
func (s *Files) Root() string { return s.dir }

// ReadFile returns a file of the workspace: settings, a command's prompt, a
// conversation's markdown, a summary. The error is [ErrNotFound] if the file does not
// exist.
func (s *Files) ReadFile(name string) ([]byte, error) {
	if err := checkPath(name); err != nil {
		return nil, err
	}
	b, err := s.readRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("file %q: %w", name, ErrNotFound)
	}
	return b, explain(err)
}

// readRegular reads a regular file of bounded size.
func (s *Files) readRegular(name string) ([]byte, error) { return s.readBounded(name, maxFile) }

func (s *Files) readBounded(name string, most int64) ([]byte, error) {
	f, info, _, err := lines.Open(s.root, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > most {
		return nil, fmt.Errorf("%q has %d bytes: %w", name, info.Size(), errTooLarge)
	}
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // read it in one go
	n, err := b.ReadFrom(io.LimitReader(f, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("%q: %w", name, errTooLarge)
	}
	return b.Bytes(), err
}

// WriteFile atomically replaces a file of the workspace, or creates it and its parent
// folders. Do not use it for the files of a conversation that cortext itself keeps: see
// [Conversation.Append], [Conversation.Edit] and [Conversation.WriteSummary].
func (s *Files) WriteFile(name string, data []byte) error {
	if err := checkPath(name); err != nil {
		return err
	}
	if isSummary(name) || slices.Contains([]string{sessionFile, messagesFile, toolsFile}, path.Base(name)) &&
		slices.Contains(strings.Split(name, "/"), sessionDir) {
		return fmt.Errorf("%q is kept by cortext and not written as a whole", name)
	}
	perm := fileMode(name)
	if info, err := s.root.Lstat(name); err == nil && !private(name) {
		perm = info.Mode().Perm()
	}
	if strings.HasPrefix(name, localDir+"/") {
		if err := s.makeLocal(path.Dir(name)); err != nil {
			return err
		}
	} else if _, err := s.makeDirs(path.Dir(name)); err != nil {
		return explain(err)
	}
	return s.replace(name, data, perm)
}

// replace replaces a file atomically, with the temporary file in the cache.
func (s *Files) replace(name string, data []byte, perm fs.FileMode) error {
	return s.replaceBy(s.files, name, data, perm)
}

// replaceUnsynced replaces a file that can be rebuilt. A reader sees either the old
// content or the new; after a power cut the file may be missing.
func (s *Files) replaceUnsynced(name string, data []byte) error {
	calls := s.files
	calls.NoSync = true
	return s.replaceBy(calls, name, data, fileMode(name))
}

func (s *Files) replaceBy(calls atomicfile.Calls, name string, data []byte, perm fs.FileMode) error {
	if err := s.makeLocal(tmpDir); err != nil {
		return err
	}
	_, err := calls.Replace(s.root, name, data, perm, tmpDir)
	return explain(err)
}

// hasModes reports whether the file system has file modes: it changes that of a new file.
func (s *Files) hasModes() bool {
	name := tmpDir + "/modes"
	if s.makeLocal(tmpDir) != nil {
		return true
	}
	_ = s.root.Remove(name) // of a killed process
	f, err := s.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, privateDirMode)
	if err != nil {
		return true
	}
	_ = s.files.SetMode(f, privateFileMode)
	info, err := f.Stat()
	_ = errors.Join(f.Close(), s.root.Remove(name))
	return err != nil || info.Mode().Perm() == privateFileMode
}

// Exists reports whether the workspace has a regular file of that name.
func (s *Files) Exists(name string) (bool, error) {
	if err := checkPath(name); err != nil {
		return false, err
	}
	info, err := s.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}

// missing reports whether nothing at all has that name.
func (s *Files) missing(name string) (bool, error) {
	_, err := s.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// isFolder reports whether a path of the workspace is a folder. It is only a hint, since
// the path may lead through a symlink.
func (s *Files) isFolder(name string) bool {
	info, err := os.Lstat(filepath.Join(s.dir, name))
	return err == nil && info.IsDir()
}

// checkConversation returns [ErrNotFound] unless name is the folder of a conversation.
// Neither it nor the day's folder may be a symlink.
func (s *Files) checkConversation(name string) error {
	if err := checkConversationPath(name); err != nil {
		return err
	}
	for _, dir := range []string{conversationsDir, path.Dir(name), name} {
		info, err := s.root.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("conversation %q: %w", name, ErrNotFound)
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return notFolder(dir, info)
		}
	}
	return nil
}

// readDir returns the entries of a folder of the workspace, sorted by name.
func (s *Files) readDir(name string) ([]fs.DirEntry, error) {
	info, err := s.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, notFolder(name, info)
	}
	return s.root.ReadDir(name)
}

func notFolder(name string, info fs.FileInfo) error {
	return fmt.Errorf("%q is %s where a folder is needed: move it away", name, lines.Kind(info.Mode()))
}

// ListFiles returns the names of the regular files in a folder of the workspace, sorted.
// It returns none if there is no such folder.
func (s *Files) ListFiles(dir string) []string {
	names, _ := s.FilesIn(dir)
	return names
}

// FilesIn is ListFiles for a caller that must know whether the folder can be read.
func (s *Files) FilesIn(dir string) (names []string, err error) {
	if err := checkPath(dir); err != nil {
		return nil, err
	}
	entries, err := s.readDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, explain(err)
}

// RemoveFile durably removes a file of the workspace that belongs to no conversation. A
// missing file is not an error.
func (s *Files) RemoveFile(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	info, err := s.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "remove", Path: name, Err: errors.New("is " + lines.Kind(info.Mode()))}
	}
	if err := s.root.Remove(name); err != nil {
		return explain(err)
	}
	return s.files.SyncDir(s.root, path.Dir(name))
}

// makeDirs durably creates a folder and its missing parents. made lists them from the
// top, even on an error. A symlink does not count as a folder, wherever it leads.
func (s *Files) makeDirs(name string) (made []string, err error) {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		dir := name[:i]
		info, err := s.root.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			err = s.root.Mkdir(dir, dirMode(dir))
			if err == nil {
				made = append(made, dir)
				if !disposable(dir) {
					err = s.syncNames(path.Dir(dir))
				}
			} else if errors.Is(err, fs.ErrExist) { // another process was faster
				info, err = s.root.Lstat(dir)
			}
		}
		if err == nil && info != nil && !info.IsDir() {
			err = notFolder(dir, info)
		}
		if err != nil {
			return made, err
		}
	}
	return made, nil
}

// makeLocal creates a folder below .workspace/local, which a clone lacks, with the file
// that makes git ignore it.
func (s *Files) makeLocal(dir string) error {
	s.written.Store(true)
	made, err := s.makeDirs(dir)
	if err != nil {
		return fmt.Errorf("make %q: %w", dir, err)
	}
	if slices.Contains(made, localDir) {
		s.ignored.Store(false)
	}
	return s.IgnoreLocal()
}

// IgnoreLocal makes git ignore .workspace/local, if it exists. An older version, or a
// person who restored a backup, may have left it without the file that does so. Each
// process checks once.
func (s *Files) IgnoreLocal() error {
	if s.ignored.Load() {
		return nil
	}
	_, err := ignoreLocal(s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make %q: %w", ignoreFile, err)
	}
	s.ignored.Store(true)
	return nil
}

// syncNames makes the names in a folder durable, now or at the end of a [Files.Batch].
func (s *Files) syncNames(dir string) error {
	s.batch.Lock()
	defer s.batch.Unlock()
	if s.unsynced == nil {
		return s.files.SyncDir(s.root, dir)
	}
	s.unsynced[dir] = true
	return nil
}

// Batch calls f and then makes the names of the conversations that f published durable,
// many of which share a folder. Do not report them as saved before Batch returns.
func (s *Files) Batch(f func() error) error {
	s.batch.Lock()
	s.unsynced = map[string]bool{}
	s.batch.Unlock()
	err := f()
	s.batch.Lock()
	defer s.batch.Unlock()
	for _, dir := range slices.Sorted(maps.Keys(s.unsynced)) {
		err = errors.Join(err, explain(s.files.SyncDir(s.root, dir)))
	}
	s.unsynced = nil
	return err
}
