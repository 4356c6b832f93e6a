package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/store/internal/lines"
)

// A stored is session.json as read.
type stored struct {
	session *schema.Session // never nil
	raw     []byte          // the file; nil if there is none
	info    fs.FileInfo     // of the file, from before the read
	damage  []Damage        // why the session was rebuilt, or what a merge left
	rebuilt bool            // session does not come from a file in use
	blocked bool            // something other than a file has its name
	mend    bool            // replace the file at the next write even if nothing else changed
}

// Session returns what is known about the conversation. The counters and LastActive
// include records appended after session.json was written. If session.json is missing or
// broken, the session is rebuilt as far as possible from the sides of a merge conflict,
// the backup, or the logs, and the damage says so. The error is a [*schema.VersionError]
// if a later cortext wrote it.
func (c *Conversation) Session() (*schema.Session, []Damage, error) {
	st, err := c.load()
	if err != nil {
		return nil, nil, err
	}
	err = c.countRest(st.session)
	return st.session, st.damage, err
}

// ID returns the id of the conversation without updating its counters.
func (c *Conversation) ID() (string, error) {
	st, err := c.load()
	if err != nil {
		return "", err
	}
	return st.session.ID, nil
}

// Settled reports whether the counters in session.json were taken at the present length
// of messages.jsonl: nothing has been appended since.
func (c *Conversation) Settled() (bool, error) {
	st, err := c.load()
	if err != nil {
		return false, err
	}
	f, size, err := c.openForReading(messagesFile)
	if f != nil {
		err = f.Close()
	}
	return len(st.damage)+len(c.others()) == 0 && st.session.CountedBytes == size, err
}

// load reads session.json or rebuilds it. It merges in the session.json of waiting and
// other folders.
func (c *Conversation) load() (stored, error) {
	st, err := c.s.readStored(c.dir)
	if err != nil {
		return stored{}, err
	}
	others := c.others()
	for _, dir := range others {
		other, err := c.s.readStored(dir)
		if err != nil {
			return stored{}, err
		}
		// If one of the two waits, it may be derived from a folder's name only.
		switch away := within(keptDir, c.dir); {
		case st.session == nil || other.session == nil || away == within(keptDir, dir):
		case away:
			st.session.Defer(other.session)
		default:
			other.session.Defer(st.session)
		}
		switch {
		case other.session == nil: // its records count anyway
		case st.session == nil:
			st.session, st.damage = other.session, nil
		default:
			merged, err := schema.MergeSessions(st.session, other.session)
			if err != nil {
				return stored{}, fmt.Errorf("%q: %w", dir+"/"+sessionFile, err)
			}
			st.session = merged
		}
		if st.session != nil {
			st.session.CountedBytes = 0 // it covers only one log
		}
	}
	if st.session == nil {
		st.rebuilt = true
		if st.session, err = c.rebuild(); err != nil {
			return stored{}, err
		}
	}
	if c.base != "" && st.raw == nil && !st.blocked {
		st.damage = nil // a waiting conversation begins without one
	}
	if len(others) > 0 {
		st.session.ConversationID = path.Base(c.path)
	}
	c.complete(st.session)
	return st, nil
}

// readStored reads the session.json of a folder. The session is nil if it is unreadable.
func (s *Store) readStored(dir string) (stored, error) {
	name := dir + "/" + sessionFile
	damaged := func(kind jsonl.Kind, detail string) []Damage {
		return []Damage{{name, jsonl.Damage{Kind: kind, Detail: detail}}}
	}
	info, _ := s.root.Lstat(name)
	raw, err := s.readSession(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := s.root.Lstat(dir); err == nil {
			return stored{damage: damaged(Missing, "")}, nil
		}
		return stored{}, nil
	case errors.Is(err, lines.ErrNotRegular), errors.Is(err, errTooLarge):
		return stored{damage: damaged(Unreadable, err.Error()), info: info, blocked: true}, nil
	case err != nil:
		return stored{}, err
	}
	sess, err := schema.ParseSession(raw)
	if errors.As(err, new(*schema.VersionError)) {
		return stored{}, fmt.Errorf("%q: %w", name, err)
	}
	st := stored{session: sess, raw: raw, info: info}
	switch {
	case err != nil:
		st.damage = damaged(Unreadable, err.Error())
	case sess.Repair != nil:
		st.mend = true
		if at := sess.Repair.Conflict; at >= 0 {
			st.damage = []Damage{{name, jsonl.Damage{Kind: jsonl.Conflict, Offset: at, Line: 1 + bytes.Count(raw[:at], []byte("\n"))}}}
		} else if sess.Repair.Partial {
			st.damage = damaged(Unreadable, "some lines cannot be read")
		}
	}
	return st, nil
}

// complete fills in fields that version 1.0 did not write.
func (c *Conversation) complete(s *schema.Session) {
	if s.ConversationID == "" {
		s.ConversationID = path.Base(c.path)
	}
	if s.ID == "" {
		s.ID = schema.DerivedID("cortext", s.ConversationID, s.CreatedAt.Time())
	}
}
