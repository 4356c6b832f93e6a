package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cortext/schema"
)

// Repairs repair the conversations of a workspace. Each repair keeps the files as they were
// below .workspace/local/kept/repairs, and can be undone.
type Repairs struct{ s *Store }

// Repairs returns the repairs of the workspace.
func (s *Store) Repairs() Repairs { return Repairs{s} }

// Plan says what [Repairs.Repair] would do. It changes nothing.
func (rs Repairs) Plan(c *Conversation, f *Copies) (*Repair, error) {
	p := planner{s: rs.s, out: &Repair{Path: c.path}}
	err := p.conversation(c, f, nil)
	return p.out, err
}

// Repair rewrites the logs of a conversation without anything that is not a record,
// appends the records that only other places have, rebuilds a session.json that is
// missing or broken, and moves away whatever is in the place of a file. The files as they
// were are kept below .workspace/local/kept/repairs; see [Repairs.Undo]. Damage that
// costs nothing is mended, too. The error is a [*schema.VersionError] if a later cortext
// wrote the conversation.
func (rs Repairs) Repair(c *Conversation, f *Copies) (*Repair, error) {
	p := planner{s: rs.s, out: &Repair{Path: c.path}, modes: map[string]string{}}
	closed := false
	for _, f := range c.folders() {
		is, err := p.unlock(f)
		if err != nil {
			return nil, err
		}
		closed = closed || is
		if st, err := rs.s.state(f.file(messagesFile)); err == nil && st.isFile() {
			p.modes[f.file(messagesFile)] = st.Mode // before the lock changes it
		}
	}
	if closed { // nothing can be locked or read before that
		return p.out, rs.carryOut(p.out, "", nil)
	}
	locks, made, err := lockAll(c)
	defer func() {
		for _, l := range slices.Backward(locks) {
			l.undo()
			l.release()
		}
	}()
	if err != nil {
		return nil, err
	}
	p.made = made
	if err := p.conversation(c, f, nil); err != nil || len(p.out.changes) == 0 {
		return p.out, err
	}
	for name, text := range p.wholes {
		if err := rs.s.keepWhole(name, text); err != nil {
			return p.out, explain(err)
		}
	}
	return p.out, rs.carryOut(p.out, p.id, made)
}

// carryOut makes the changes of a repair.
func (rs Repairs) carryOut(r *Repair, id string, made []string) error {
	j, err := newJournal(rs.s, id, r.Path, r.changes)
	if err != nil {
		return explain(err)
	}
	defer j.release()
	for _, name := range made {
		if path.Base(name) != messagesFile {
			j.manifest.Made = append(j.manifest.Made, name)
		}
	}
	if err := j.stage(); err != nil {
		_ = rs.s.root.RemoveAll(j.dir)
		return explain(err)
	}
	r.Kept = j.dir
	return explain(j.apply())
}

// lockAll locks a conversation in all of its folders. It does not lock a folder whose
// messages.jsonl is not a file, because nobody can write there. made lists what taking
// the locks created.
func lockAll(c *Conversation) (locks []*writeLock, made []string, err error) {
	for _, f := range c.folders() {
		conv := c
		if f != c.sessionFolder {
			conv = f.conversation(c.isSub())
		}
		if info, err := c.s.root.Lstat(f.dir); err == nil && !info.IsDir() {
			continue
		} else if err != nil && f != c.sessionFolder {
			continue
		}
		if info, err := c.s.root.Lstat(f.file(messagesFile)); err == nil && !info.Mode().IsRegular() {
			continue
		}
		l, err := conv.lock()
		if err != nil {
			return locks, made, err
		}
		locks, made = append(locks, l), append(made, l.made...)
	}
	return locks, made, nil
}

// A PastRepair is a repair that was made, or begun, in this workspace.
type PastRepair struct {
	Name       string // of its folder, relative to the workspace
	ID         string // of the conversation; may be empty
	Path       string // of the conversation
	Run        string // the same for all repairs of one process
	At         schema.Time
	Files      []string // that it changed
	Unfinished bool     // the process was killed
	Undone     bool
}

// Past lists the repairs in this workspace, newest first. It leaves out those that were
// killed before they changed anything.
func (rs Repairs) Past() (list []PastRepair, err error) {
	entries, err := rs.s.readDir(repairsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range slices.Backward(entries) {
		m, err := readManifest(rs.s.Files, repairsDir+"/"+e.Name())
		if err != nil {
			continue
		}
		r := PastRepair{Name: repairsDir + "/" + e.Name(), ID: m.ID, Path: m.Path, Run: m.Run, At: m.At, Unfinished: m.State == repairBegun, Undone: m.State == repairUndone}
		for _, c := range m.Changes {
			if !slices.Contains(r.Files, c.File) {
				r.Files = append(r.Files, c.File)
			}
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b PastRepair) int { return b.At.Time().Compare(a.At.Time()) })
	return list, explain(err)
}

// Undo restores every file as it was before a repair. If a file has changed since,
// it changes nothing, and the error names the file.
func (rs Repairs) Undo(r PastRepair) error {
	return rs.resume(r, (*journal).undo)
}

// Finish finishes a repair that was killed.
func (rs Repairs) Finish(r PastRepair) error {
	return rs.resume(r, (*journal).apply)
}

// resume calls do with a past repair, under the locks of the conversation.
func (rs Repairs) resume(r PastRepair, do func(*journal) error) error {
	m, err := readManifest(rs.s.Files, r.Name)
	if err != nil {
		return err
	}
	j := &journal{s: rs.s, dir: r.Name, manifest: m}
	defer j.release()
	var locked []string
	for _, c := range m.Changes {
		dir := path.Dir(c.File)
		if path.Base(c.File) != messagesFile || slices.Contains(locked, dir) {
			continue
		}
		locked = append(locked, dir)
		if now, err := rs.s.state(c.File); err != nil || !now.isFile() {
			continue
		}
		conv := sessionFolder{s: rs.s, dir: dir}.conversation(rs.s.at("", m.Path).isSub())
		l, err := conv.lock()
		if err != nil {
			return err
		}
		defer func() {
			l.release()
			_ = conv.Close()
		}()
	}
	return explain(do(j))
}

// PlanFolder says what [Repairs.RepairFolder] would do. It changes nothing.
func (rs Repairs) PlanFolder(folder, from string, files map[string][]byte) (*Repair, error) {
	if err := checkConversationPath(folder); err != nil {
		return nil, err
	}
	r := &Repair{Path: folder}
	p := planner{s: rs.s, out: r}
	blocked := false
	for _, dir := range []string{conversationsDir, path.Dir(folder), folder} {
		st, err := rs.s.state(dir)
		if err != nil {
			return nil, err
		}
		if blocked = st.Kind != kindAbsent && st.Kind != kindFolder; blocked {
			p.moveAway(dir, st)
			break
		}
	}
	moved, steps := r.changes, r.Steps
	r.changes, r.Steps = nil, nil
	for name, content := range files {
		if checkPath(name) != nil || !within(folder, name) {
			return nil, fmt.Errorf("%q is not in %q", name, folder)
		}
		if now, err := rs.s.state(name); !blocked && (err != nil || now.Kind != kindAbsent) {
			if err != nil {
				return nil, err
			}
			continue
		}
		mode := fs.FileMode(privateFileMode)
		if !private(name) {
			mode = 0o644
		}
		r.changes = append(r.changes, change{File: name, After: stateOf(content, mode), content: content})
		r.Steps = append(r.Steps, RepairStep{File: name, Done: "restored from " + from})
	}
	slices.SortFunc(r.changes, func(a, b change) int { return strings.Compare(a.File, b.File) })
	slices.SortFunc(r.Steps, func(a, b RepairStep) int { return strings.Compare(a.File, b.File) })
	r.changes, r.Steps = append(moved, r.changes...), append(steps, r.Steps...)
	return r, nil
}

// RepairFolder recreates the folder of a conversation that is gone from the work tree,
// with the copies of its files from other places. Files that are there stay.
func (rs Repairs) RepairFolder(folder, from string, files map[string][]byte) (*Repair, error) {
	r, err := rs.PlanFolder(folder, from, files)
	if err != nil || len(r.changes) == 0 {
		return r, err
	}
	unlock, err := rs.s.locks.workspace(rs.s.opts.LockWait)
	if err != nil {
		return r, err
	}
	defer unlock()
	id := ""
	if sess, err := schema.ParseSession(files[folder+"/"+sessionDir+"/"+sessionFile]); err == nil {
		id = sess.ID
	}
	return r, rs.carryOut(r, id, nil)
}
