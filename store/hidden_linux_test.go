package store

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cortext/schema"
	"cortext/store/atomicfile"
)

// hide makes removals end as on NFS and FUSE, which keep a removed file under another name in
// its folder while it is open.
func hide(t *testing.T, s *Store) {
	root, err := filepath.EvalSymlinks(s.dir)
	must(t, err)
	isOpen := func(name string) bool {
		list, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		for _, e := range list {
			fd := "/proc/self/fd/" + e.Name()
			to, _ := os.Readlink(fd)
			if info, err := os.Stat(fd); err == nil && info.Mode().IsRegular() && strings.HasPrefix(to, filepath.Join(root, name)+"/") {
				return true
			}
		}
		return false
	}
	s.files.Remove = func(root atomicfile.Folder, name string) error {
		if isOpen(name) {
			return syscall.ENOTEMPTY
		}
		return root.Remove(name)
	}
	s.files.RemoveAll = func(root atomicfile.Folder, name string) error {
		if !isOpen(name) {
			return root.RemoveAll(name)
		}
		must(t, root.RemoveAll(name))
		must(t, os.Mkdir(filepath.Join(s.dir, name), 0o700))
		return &os.PathError{Op: "RemoveAll", Path: name, Err: syscall.ENOTEMPTY}
	}
}

// TestDeleteHidden: the folder of a conversation, or of records that wait for one, goes when
// its log is closed.
func TestDeleteHidden(t *testing.T) {
	s := newTestStore(t)
	hide(t, s)
	c, err := s.Create("plan", "x", &schema.Session{ID: testID("2222abcd"), CreatedAt: schema.NewTime(start)}, nil)
	must(t, err)
	w := waitingFor(t, s, c.Path())
	for _, c := range []*Conversation{c, w} {
		appendBatch(t, c, thread(0, 2))
		must(t, c.Delete())
		if _, err := os.Stat(filepath.Join(s.dir, path.Dir(path.Dir(c.dir)))); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder of the day of %s: %v", c.dir, err)
		}
	}
}

// TestMoveHidden: nothing seems to wait once the waiting records have moved.
func TestMoveHidden(t *testing.T) {
	s := newTestStore(t)
	hide(t, s)
	c := create(t, s)
	w := waitingFor(t, s, c.Path())
	appendBatch(t, w, thread(0, 2))
	must(t, w.Close())
	appendBatch(t, c, thread(2, 4))
	if list := s.Kept().WaitingPaths(); len(list) > 0 {
		t.Errorf("%q waits", list)
	}
}
