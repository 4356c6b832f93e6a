package store

import (
	"errors"
	"io/fs"
	"iter"

	"cortext/schema/jsonl"
	"cortext/store/internal/lines"
)

// Check yields all damage in the workspace: log content that is not a whole record, a
// session.json that is missing or unreadable, a summary that is ignored, anything that is
// not a regular file, and records that other records or the counters know of but no log
// holds. It changes nothing.
//
// What a merge or a clone leaves is not damage: repeated, swapped and unknown lines,
// branches, line ends of either kind, stale counters, git's file modes, a conversation
// without .session/ or in two folders.
func (s *Store) Check() iter.Seq[Damage] {
	return func(yield func(Damage) bool) {
		folders, damage, err := s.folders()
		if err != nil {
			damage = append(damage, Damage{conversationsDir, jsonl.Damage{Kind: Unreadable, Detail: err.Error()}})
		}
		for _, d := range damage {
			if !yield(d) {
				return
			}
		}
		if err != nil || len(folders)+len(s.WaitingPaths()) == 0 {
			return
		}
		entries, err := s.List()
		if err != nil {
			yield(Damage{conversationsDir, jsonl.Damage{Kind: Unreadable, Detail: err.Error()}})
			return
		}
		for _, e := range entries {
			c := s.conversation(e.Path)
			if e.Waiting {
				if c, err = s.Waiting(e.Path, e.Session.ID); err != nil {
					continue
				}
			} else {
				c.findOthers(e.Twins)
			}
			if !c.check(nil, yield) {
				return
			}
		}
	}
}

// check yields the damage in one conversation and its sub-agents. It returns false once
// yield has. above is the census of the conversation that a sub-agent belongs to.
func (c *Conversation) check(above *census, yield func(Damage) bool) bool {
	n := newCensus(above)
	for _, dir := range c.dirs() {
		if !c.checkFolder(dir, n, yield) {
			return false
		}
	}
	for _, d := range n.missing() {
		if !yield(d) {
			return false
		}
	}
	names, _ := c.Subagents()
	for _, name := range names {
		sub, err := c.Subagent(name)
		if err != nil {
			if !yieldError(yield, c.file(subagentsDir), err) {
				return false
			}
			continue
		}
		if !sub.check(n, yield) {
			return false
		}
	}
	return true
}

// checkFolder yields the damage in one folder of a conversation, and adds its records to
// the census.
func (c *Conversation) checkFolder(dir string, n *census, yield func(Damage) bool) bool {
	report := func(name string, kind jsonl.Kind, detail string) bool {
		return yield(Damage{name, jsonl.Damage{Kind: kind, Detail: detail}})
	}
	info, err := c.s.root.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true
	case err != nil:
		return report(dir, Unreadable, err.Error())
	case !info.IsDir():
		return report(dir, NotRegular, "it is "+lines.Kind(info.Mode()))
	}
	st, err := c.s.readStored(dir)
	if err != nil {
		n.blind = true // so what its logs should hold is unknown
		return yield(c.unreadable(dir, err))
	}
	for _, d := range st.damage {
		if d.Kind == Missing && (within(waitingDir, dir) || len(c.dirs()) > 1) {
			continue // the next write creates it from those in the other folders
		}
		if !yield(d) {
			return false
		}
	}
	for err := range n.read(c.s, dir, st.session) {
		if !yieldError(yield, dir, err) {
			return false
		}
	}
	_, damage := c.s.summariesIn(dir + "/" + summariesDir)
	for _, d := range damage {
		if !yield(d) {
			return false
		}
	}
	entries, err := c.s.readDir(dir + "/" + subagentsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return yieldError(yield, dir+"/"+subagentsDir, err)
	}
	for _, e := range entries {
		if !e.IsDir() && !report(dir+"/"+subagentsDir+"/"+e.Name(), NotRegular, "it is "+lines.Kind(e.Type())+" where a folder is kept") {
			return false
		}
	}
	return true
}

// yieldError yields an error as damage in a file.
func yieldError(yield func(Damage) bool, file string, err error) bool {
	var d *Damage
	if errors.As(err, &d) {
		return yield(*d)
	}
	return yield(Damage{file, jsonl.Damage{Kind: Unreadable, Detail: err.Error()}})
}
