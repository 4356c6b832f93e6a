package store

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"cortext/schema/jsonl"
	"cortext/store/internal/lines"
)

// Check yields all damage of the workspace: what stands in a log and is no whole
// record, a session.json that is missing or cannot be read, a summary that is passed
// over, what is no regular file. It changes nothing.
//
// What a merge or a clone leaves is no damage: doubled, swapped and unknown
// lines, branches, line ends of either kind, stale counters, git's file modes, a
// conversation without .session/.
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
		for _, name := range folders {
			c := &Conversation{s: s, path: name, dir: name + "/" + sessionDir}
			if !c.check(yield) {
				return
			}
		}
	}
}

// check yields the damage of one conversation and its sub-agents; false once
// yield has returned it.
func (c *Conversation) check(yield func(Damage) bool) bool {
	report := func(name string, kind jsonl.Kind, detail string) bool {
		return yield(Damage{name, jsonl.Damage{Kind: kind, Detail: detail}})
	}
	info, err := c.s.root.Lstat(c.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true
	case err != nil:
		return report(c.dir, Unreadable, err.Error())
	case !info.IsDir():
		return report(c.dir, NotRegular, "it is "+lines.Kind(info.Mode()))
	}
	if d := c.checkSession(); d != nil {
		if !yield(*d) {
			return false
		}
		if d.Kind == Newer {
			return true // what its logs should hold is not known here
		}
	}
	for _, err := range c.Tools() {
		if err != nil && !yieldError(yield, c.file(toolsFile), err) {
			return false
		}
	}
	for _, err := range c.Messages() {
		if err != nil && !yieldError(yield, c.file(messagesFile), err) {
			return false
		}
	}
	if !c.checkSummaries(yield) {
		return false
	}
	dir := c.file(subagentsDir)
	entries, err := c.s.readDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return yieldError(yield, dir, err)
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if !e.IsDir() {
			if !report(name, NotRegular, "it is "+lines.Kind(e.Type())+" where a folder is kept") {
				return false
			}
			continue
		}
		if sub := (&Conversation{s: c.s, path: name, dir: name}); !sub.check(yield) {
			return false
		}
	}
	return true
}

// checkSession returns what is wrong with session.json, or with what it says of
// messages.jsonl; nil if nothing is.
func (c *Conversation) checkSession() *Damage {
	st, err := c.load()
	if err != nil {
		d := c.unreadable(err)
		return &d
	}
	if len(st.damage) > 0 {
		return &st.damage[0]
	}
	// Counters may be stale, but a log that is gone is a loss.
	info, err := c.s.root.Lstat(c.file(messagesFile))
	gone := errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
	if st.session.CountedBytes == 0 || !gone {
		return nil
	}
	return &Damage{c.file(messagesFile), jsonl.Damage{Kind: Missing,
		Detail: fmt.Sprintf("session.json counted %d messages in it", st.session.MessageCount)}}
}

// yieldError yields an error as damage of a file.
func yieldError(yield func(Damage) bool, file string, err error) bool {
	var d *Damage
	if errors.As(err, &d) {
		return yield(*d)
	}
	return yield(Damage{file, jsonl.Damage{Kind: Unreadable, Detail: err.Error()}})
}
