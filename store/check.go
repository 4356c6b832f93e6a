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
// branches, line endings of either kind, stale counters, git's file modes, a conversation
// without .session/ or in two folders.
func (s *Store) Check() iter.Seq[Damage] {
	return func(yield func(Damage) bool) {
		k := checker{yield: yield}
		folders, damage, err := conversationFolders(s.Files, conversationsDir)
		k.report(damage...)
		if err != nil {
			k.failed(conversationsDir, err)
		}
		if err != nil || len(folders)+len(s.Kept().WaitingPaths()) == 0 {
			return
		}
		entries, err := s.Outlines()
		if err != nil {
			k.failed(conversationsDir, err)
		}
		for _, e := range entries {
			c := s.at("", e.Path)
			if e.Waiting {
				if c, err = s.Kept().Waiting(e.Path, e.Session.ID); err != nil {
					continue
				}
			} else {
				c.findOthers(e.Twins)
			}
			k.conversation(c, nil)
		}
	}
}

// A checker yields damage until yield returns false. From then on it reads nothing.
type checker struct {
	yield   func(Damage) bool
	stopped bool
}

func (k *checker) report(damage ...Damage) {
	for _, d := range damage {
		k.stopped = k.stopped || !k.yield(d)
	}
}

func (k *checker) damaged(name string, kind jsonl.Kind, detail string) {
	k.report(damaged(name, kind, detail))
}

// failed reports an error as damage in a file.
func (k *checker) failed(file string, err error) {
	var d *Damage
	if errors.As(err, &d) {
		k.report(*d)
		return
	}
	k.damaged(file, Unreadable, err.Error())
}

// conversation checks a conversation and its sub-agents. above is the census of the
// conversation that a sub-agent belongs to.
func (k *checker) conversation(c *Conversation, above *census) {
	if k.stopped {
		return
	}
	n := newCensus(above)
	folders := c.folders()
	for _, f := range folders {
		k.folder(f, n, len(folders) > 1)
	}
	k.report(n.missing()...)
	names, _ := c.Subagents()
	for _, name := range names {
		sub, err := c.Subagent(name)
		if err != nil {
			k.failed(c.file(subagentsDir), err)
			continue
		}
		k.conversation(sub, n)
	}
}

// folder checks one folder of a conversation, and adds its records to the census. If
// there are several folders, one without session.json is not damaged: the next write
// creates the file from those in the others. A folder with nothing but an empty log is
// not damaged either: git leaves one after it has merged a removal with a change.
func (k *checker) folder(f sessionFolder, n *census, several bool) {
	if k.stopped {
		return
	}
	info, err := f.s.root.Lstat(f.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		k.damaged(f.dir, Unreadable, err.Error())
		return
	case !info.IsDir():
		k.damaged(f.dir, NotRegular, "it is "+lines.Kind(info.Mode()))
		return
	}
	st, err := f.read()
	if err != nil {
		n.blind = true // so what its logs should hold is unknown
		k.report(unreadable(f, err))
		return
	}
	for _, d := range st.damage {
		if d.Kind != Missing || !within(waitingDir, f.dir) && !several && !(f.hasLog() && f.emptied()) {
			k.report(d)
		}
	}
	for err := range n.read(f, st.session) {
		if k.failed(f.dir, err); k.stopped {
			return
		}
	}
	_, damage := f.summaries()
	k.report(damage...)
	entries, err := f.s.readDir(f.file(subagentsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.failed(f.file(subagentsDir), err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			k.damaged(f.file(subagentsDir+"/"+e.Name()), NotRegular, "it is "+lines.Kind(e.Type())+" where a folder is kept")
		}
	}
}
