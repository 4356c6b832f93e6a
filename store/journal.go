package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cortext/schema"
	"cortext/store/filelock"
	"cortext/store/internal/lines"
)

// A journal makes several changes to files as one repair, which survives a kill at any
// moment and can be undone. It first copies every file that it changes, and writes the new
// files beside the copies. Then it writes the manifest; from here on the repair can be
// finished. Then it puts the new files in their places. It syncs the folders after each
// change, so that the manifest never says that the repair is done, or undone, when a power
// cut can still take a change back.
type journal struct {
	s        *Store
	dir      string // of the repair
	manifest manifest
	unlocks  []func()
}

// newJournal begins a repair of a conversation. Nothing is written before stage.
func newJournal(s *Store, id, folder string, changes []change) (*journal, error) {
	at := s.opts.Now()
	run, n := s.repairs.next(at)
	prefix := fmt.Sprintf("repairs/%s-%04d-", run, n) + schema.PathElement(cmp.Or(id, path.Base(folder)))
	dir, err := keeper{s.Files}.freeName(prefix)
	if err != nil {
		return nil, err
	}
	return &journal{s: s, dir: dir, manifest: manifest{ID: id, Path: folder, Run: run, At: schema.NewTime(at), State: repairBegun, Changes: changes}}, nil
}

// A repairRun counts the repairs of this process.
type repairRun struct {
	begin sync.Once
	name  string // the same for all of them: when the first one began
	count atomic.Int64
}

// next returns the name of the run, and the number of the next repair, from 1. at is when
// that begins.
func (r *repairRun) next(at time.Time) (run string, n int64) {
	r.begin.Do(func() { r.name = at.UTC().Format("20060102T150405.000Z") })
	return r.name, r.count.Add(1)
}

// stage copies the files that will change and writes the new ones beside them, and then
// the manifest.
func (j *journal) stage() error {
	if _, err := j.s.makeDirs(j.dir); err != nil {
		return err
	}
	made := map[string]bool{}
	for i := range j.manifest.Changes {
		c := &j.manifest.Changes[i]
		if c.Before.Kind != kindAbsent {
			c.Old = fmt.Sprintf("old-%d-%s", i, path.Base(c.File))
		}
		if c.Before.isFile() && c.Before.SHA256 != "" && !(c.After.isFile() && c.Before.sameBytes(c.After)) {
			if err := j.copyOld(c); err != nil {
				return err
			}
		}
		if c.content != nil {
			c.New = fmt.Sprintf("new-%d-%s", i, path.Base(c.File))
			if err := j.put(c.New, bytes.NewReader(c.content), fileMode(c.File)); err != nil {
				return err
			}
		}
		if !c.After.isFile() {
			continue
		}
		for dir := path.Dir(c.File); dir != "."; dir = path.Dir(dir) {
			if info, err := j.s.root.Lstat(dir); err != nil || !info.IsDir() {
				made[dir] = true
			}
		}
	}
	for dir := range made {
		j.manifest.Made = append(j.manifest.Made, dir)
	}
	slices.Sort(j.manifest.Made)
	// The manifest must not survive a power cut without the copies that it names.
	if err := j.s.files.SyncDir(j.s.root, j.dir); err != nil {
		return err
	}
	return j.save(repairBegun)
}

// copyOld copies a file as it is, and fails if it is no longer as it was planned.
func (j *journal) copyOld(c *change) error {
	f, _, _, err := lines.Open(j.s.root, c.File, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if err := j.put(c.Old, io.TeeReader(f, h), privateFileMode); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != c.Before.SHA256 {
		return &changedError{c.File}
	}
	return nil
}

// put durably writes a file in the repair's folder.
func (j *journal) put(name string, r io.Reader, mode fs.FileMode) error {
	f, _, err := lines.OpenAppend(j.s.root, j.dir+"/"+name, mode, j.s.logs)
	if err != nil {
		return err
	}
	if _, err = io.Copy(appender{f}, r); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// save writes the manifest.
func (j *journal) save(state string) error {
	j.manifest.State = state
	return j.s.replace(j.dir+"/"+manifestFile, j.manifest.encode(), privateFileMode)
}

// A changedError means that a file is no longer as a repair saw or left it.
type changedError struct{ file string }

func (e *changedError) Error() string {
	return fmt.Sprintf("%q has changed since: run it again", e.file)
}

// apply makes the changes that have not been made yet.
func (j *journal) apply() error {
	defer j.s.ChangeList().note(j.manifest.Path)
	for i := range j.manifest.Changes {
		c := &j.manifest.Changes[i]
		if err := j.applyOne(c); err != nil {
			return fmt.Errorf("repair %q: %w", c.File, err)
		}
		j.s.sessions.forget(c.File)
	}
	return j.save(repairDone)
}

func (j *journal) applyOne(c *change) error {
	now, err := j.s.state(c.File)
	if err != nil {
		return err
	}
	if c.Append && c.isPartial(j, now) {
		if err := j.cut(c.File, c.Before.Size); err != nil {
			return err
		}
		now.Size, now.SHA256 = c.Before.Size, c.Before.SHA256
	}
	switch {
	case now == c.After || c.Before.Kind != kindFolder && c.After.Kind == kindAbsent && now.Kind == kindFolder && slices.Contains(j.manifest.Made, c.File):
		return nil
	case c.movesAway() && now.Kind == kindAbsent: // it was moved before a kill
	case c.Before.Kind == kindAbsent && now.isFile() && now.Size == 0: // the lock created it
	case now != c.Before && !(now.isFile() && (now.sameBytes(c.After) || now.sameBytes(c.Before))):
		return &changedError{c.File}
	case c.movesAway():
		if err := j.rename(c.File, j.dir+"/"+c.Old); err != nil {
			return err
		}
	}
	switch {
	case c.After.Kind == kindAbsent && c.Before.isFile():
		return j.remove(c.File)
	case c.After.Kind == kindAbsent:
		return nil
	case c.After.Kind == kindFolder, now.sameBytes(c.After):
		return j.chmod(c.File, c.After.Mode)
	case c.Append:
		return j.append(c)
	}
	if _, err := j.s.makeDirs(path.Dir(c.File)); err != nil {
		return err
	}
	return j.place(c.New, c.File, c.After.Mode)
}

// isPartial reports whether a killed append left the file between its two states.
func (c *change) isPartial(j *journal, now fileState) bool {
	if !now.isFile() || now.Size <= c.Before.Size || now.Size >= c.After.Size {
		return false
	}
	raw, err := j.s.readBounded(c.File, now.Size)
	if err != nil {
		return false
	}
	added, err := j.s.readRegular(j.dir + "/" + c.New)
	return err == nil && stateOf(raw[:c.Before.Size], 0).SHA256 == c.Before.SHA256 && bytes.HasPrefix(added, raw[c.Before.Size:])
}

func (j *journal) cut(name string, size int64) error {
	f, _, err := lines.OpenAppend(j.s.root, name, privateFileMode, j.s.logs)
	if err != nil {
		return err
	}
	return errors.Join(f.Cut(size), f.Close())
}

// append appends to a log and syncs it.
func (j *journal) append(c *change) error {
	added, err := j.s.readBounded(j.dir+"/"+c.New, maxRepair)
	if err != nil {
		return err
	}
	f, _, err := lines.OpenAppend(j.s.root, c.File, privateFileMode, j.s.logs)
	if err != nil {
		return err
	}
	if err = f.Append(added); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return j.chmod(c.File, c.After.Mode)
}

// place puts a file of the repair's folder in the place of another, in one step. The name
// messages.jsonl always leads to a file that this process has locked.
func (j *journal) place(from, name, mode string) error {
	from = j.dir + "/" + from
	if err := j.chmod(from, mode); err != nil {
		return err
	}
	if path.Base(name) == messagesFile && runtime.GOOS != "windows" { // which does not rename an open file
		f, _, _, err := lines.Open(j.s.root, from, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		unlock, err := filelock.Lock(f, time.Second)
		if err != nil {
			return errors.Join(err, f.Close())
		}
		j.unlocks = append(j.unlocks, func() { _ = errors.Join(unlock(), f.Close()) })
	}
	return j.rename(from, name)
}

// rename renames a file durably. Each step of a repair must survive a power cut before the
// next one begins: otherwise a file may be missing in both folders.
func (j *journal) rename(from, to string) error {
	if err := j.s.files.RenameIn(j.s.root, from, to); err != nil {
		return err
	}
	return errors.Join(j.s.files.SyncDir(j.s.root, path.Dir(to)), j.s.files.SyncDir(j.s.root, path.Dir(from)))
}

// remove removes a file durably.
func (j *journal) remove(name string) error {
	if err := j.s.root.Remove(name); err != nil {
		return err
	}
	return j.s.files.SyncDir(j.s.root, path.Dir(name))
}

func (j *journal) chmod(name, mode string) error {
	if mode == "" {
		return nil
	}
	var perm fs.FileMode
	if _, err := fmt.Sscanf(mode, "%o", &perm); err != nil {
		return fmt.Errorf("%q: mode %q: %w", name, mode, err)
	}
	info, err := j.s.root.Lstat(name)
	if err != nil || info.Mode().Perm() == perm || info.Mode()&fs.ModeSymlink != 0 {
		return err
	}
	if err := j.s.root.Chmod(name, perm); err != nil && j.s.hasModes() {
		return err
	}
	return nil
}

// release ends the locks of the files that were put in place.
func (j *journal) release() {
	for _, unlock := range j.unlocks {
		unlock()
	}
	j.unlocks = nil
}

// undo restores the files as they were. It changes nothing if one of them has changed
// since, except in a way that the repair itself left unfinished.
func (j *journal) undo() error {
	if err := j.wantUnchanged(); err != nil {
		return err
	}
	defer j.s.ChangeList().note(j.manifest.Path)
	for i, c := range slices.Backward(j.manifest.Changes) {
		if err := j.undoOne(i, &c); err != nil {
			return fmt.Errorf("restore %q: %w", c.File, err)
		}
		j.s.sessions.forget(c.File)
	}
	j.removeMade("")
	return j.save(repairUndone)
}

// removeMade removes the folders that the repair created below a name, if they are empty.
func (j *journal) removeMade(below string) {
	for _, dir := range slices.Backward(j.manifest.Made) {
		if info, err := j.s.root.Lstat(dir); err == nil && info.IsDir() && (below == "" || within(below, dir)) {
			_ = j.s.root.Remove(dir)
		}
	}
}

func (j *journal) wantUnchanged() error {
	for _, c := range j.manifest.Changes {
		now, err := j.s.state(c.File)
		if err != nil {
			return err
		}
		switch {
		case now == c.After, now == c.Before, c.After.isFile() && now.sameBytes(c.After), c.Before.isFile() && now.sameBytes(c.Before):
		case now.Kind == kindAbsent && (c.movesAway() || c.After.Kind == kindAbsent):
		case now.Kind == kindFolder && slices.Contains(j.manifest.Made, c.File):
		case c.Append && c.isPartial(j, now):
		default:
			return fmt.Errorf("%q has changed since the repair: the copy from before is %q", c.File, j.dir+"/"+c.Old)
		}
	}
	return nil
}

func (j *journal) undoOne(i int, c *change) error {
	now, err := j.s.state(c.File)
	if err == nil && now.Kind == kindFolder && c.Before.Kind != kindFolder && slices.Contains(j.manifest.Made, c.File) {
		j.removeMade(c.File)
		now, err = j.s.state(c.File)
	}
	if err != nil || now == c.Before {
		return err
	}
	switch {
	case c.Before.Kind == kindAbsent:
		if now.Kind == kindAbsent {
			return nil
		}
		return j.remove(c.File)
	case c.movesAway():
		return j.moveBack(c, now)
	case c.Before.Kind == kindFolder, now.sameBytes(c.Before):
		return j.chmod(c.File, c.Before.Mode)
	}
	f, _, _, err := lines.Open(j.s.root, j.dir+"/"+c.Old, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	again := fmt.Sprintf("again-%d-%s", i, path.Base(c.File))
	_ = j.s.root.Remove(j.dir + "/" + again)
	if err := j.put(again, f, privateFileMode); err != nil {
		return err
	}
	return j.place(again, c.File, c.Before.Mode)
}

// moveBack puts back what a change moved away to make room for its file.
func (j *journal) moveBack(c *change, now fileState) error {
	if gone, err := j.s.missing(j.dir + "/" + c.Old); gone || err != nil {
		return err // it was never moved, or is back
	}
	if now.isFile() {
		if err := j.s.root.Remove(c.File); err != nil {
			return err
		}
	}
	return j.rename(j.dir+"/"+c.Old, c.File)
}
