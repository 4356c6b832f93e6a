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

// PastRepairs lists the repairs in this workspace, newest first. It leaves out those that
// were killed before they changed anything.
func (s *Store) PastRepairs() (list []PastRepair, err error) {
	entries, err := s.readDir(repairsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range slices.Backward(entries) {
		m, err := s.readManifest(repairsDir + "/" + e.Name())
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

// UndoRepair restores every file as it was before a repair. If a file has changed since,
// it changes nothing, and the error names the file.
func (s *Store) UndoRepair(r PastRepair) error {
	return s.continueRepair(r, (*journal).undo)
}

// FinishRepair finishes a repair that was killed.
func (s *Store) FinishRepair(r PastRepair) error {
	return s.continueRepair(r, (*journal).apply)
}

// continueRepair does something with a repair under the locks of the conversation.
func (s *Store) continueRepair(r PastRepair, do func(*journal) error) error {
	m, err := s.readManifest(r.Name)
	if err != nil {
		return err
	}
	j := &journal{s: s, dir: r.Name, manifest: m}
	defer j.release()
	var locked []string
	for _, c := range m.Changes {
		dir := path.Dir(c.File)
		if path.Base(c.File) != messagesFile || slices.Contains(locked, dir) {
			continue
		}
		locked = append(locked, dir)
		if now, err := s.state(c.File); err != nil || !now.isFile() {
			continue
		}
		of := merge{tx: &Tx{writeLock: &writeLock{c: s.at("", m.Path)}}}
		conv := of.conversation(sessionFolder{s, dir})
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

// PlanFolder says what [Store.RepairFolder] would do. It changes nothing.
func (s *Store) PlanFolder(folder, from string, files map[string][]byte) (*Repair, error) {
	if err := checkConversationPath(folder); err != nil {
		return nil, err
	}
	r := &Repair{Path: folder}
	p := planner{s: s, out: r}
	blocked := false
	for _, dir := range []string{conversationsDir, path.Dir(folder), folder} {
		st, err := s.state(dir)
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
		if now, err := s.state(name); !blocked && (err != nil || now.Kind != kindAbsent) {
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
// with the files that another place has of it. Files that are there stay.
func (s *Store) RepairFolder(folder, from string, files map[string][]byte) (*Repair, error) {
	r, err := s.PlanFolder(folder, from, files)
	if err != nil || len(r.changes) == 0 {
		return r, err
	}
	unlock, err := s.lockWorkspace()
	if err != nil {
		return r, err
	}
	defer unlock()
	id := ""
	if sess, err := schema.ParseSession(files[folder+"/"+sessionDir+"/"+sessionFile]); err == nil {
		id = sess.ID
	}
	return r, s.carryOut(r, id, nil)
}
