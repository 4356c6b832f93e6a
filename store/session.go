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

// A stored is session.json as it was read.
type stored struct {
	session *schema.Session // never nil
	raw     []byte          // the file; nil if there is none
	damage  []Damage        // session was rebuilt, and why
}

// Session returns what is known about the conversation. The counters and
// LastActive take in what was appended since they were written. Where
// session.json is missing or broken the session is rebuilt as far as it can be:
// from a side of a merge conflict, the backup, or the logs; the damage says so.
// The error is a [*schema.VersionError] if a later cortext wrote it.
func (c *Conversation) Session() (*schema.Session, []Damage, error) {
	st, err := c.load()
	if err != nil {
		return nil, nil, err
	}
	err = c.countRest(st.session)
	return st.session, st.damage, err
}

// Settled reports whether the counters in session.json were taken at the present
// length of messages.jsonl: nothing was appended since.
func (c *Conversation) Settled() (bool, error) {
	st, err := c.load()
	if err != nil {
		return false, err
	}
	f, size, err := c.openForReading(messagesFile)
	return len(st.damage) == 0 && st.session.CountedBytes == size, errors.Join(err, closeFile(&f))
}

// load reads session.json, or rebuilds it.
func (c *Conversation) load() (stored, error) {
	name := c.file(sessionFile)
	raw, err := c.s.readRegular(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		st := stored{}
		if _, err := c.s.root.Lstat(c.dir); err == nil {
			st.damage = []Damage{{File: name, Damage: jsonl.Damage{Kind: Missing}}}
		}
		st.session, err = c.rebuild(nil)
		return st, err
	case errors.Is(err, lines.ErrNotRegular), errors.Is(err, errTooLarge):
		st := stored{damage: []Damage{{File: name, Damage: jsonl.Damage{Kind: Unreadable, Detail: err.Error()}}}}
		st.session, err = c.rebuild(nil)
		return st, err
	case err != nil:
		return stored{}, err
	}
	sess, err := schema.ParseSession(raw)
	if version := (*schema.VersionError)(nil); errors.As(err, &version) {
		return stored{}, fmt.Errorf("%q: %w", name, err)
	}
	if err == nil {
		c.complete(sess)
		return stored{session: sess, raw: raw}, nil
	}
	st := stored{raw: raw, damage: []Damage{brokenSession(name, raw, err)}}
	st.session, err = c.rebuild(raw)
	return st, err
}

// complete fills in what version 1.0 did not write.
func (c *Conversation) complete(s *schema.Session) {
	if s.ConversationID == "" {
		s.ConversationID = path.Base(c.path)
	}
	if s.ID == "" {
		s.ID = schema.DerivedID("cortext", s.ConversationID, s.CreatedAt.Time())
	}
}

// brokenSession describes what is wrong with the content of session.json.
func brokenSession(name string, raw []byte, err error) Damage {
	d := Damage{File: name, Damage: jsonl.Damage{Kind: Unreadable, Detail: err.Error()}}
	if i := conflictStart(raw); i >= 0 {
		d.Kind, d.Offset, d.Detail = jsonl.Conflict, int64(i), ""
		d.Line = 1 + bytes.Count(raw[:i], []byte("\n"))
	}
	return d
}

// checkVersion refuses a conversation of a later major version.
func (c *Conversation) checkVersion() error {
	raw, err := c.s.readRegular(c.file(sessionFile))
	if err != nil {
		return nil // who needs it says so
	}
	_, err = schema.ParseSession(raw)
	if version := (*schema.VersionError)(nil); errors.As(err, &version) {
		return fmt.Errorf("%q: %w", c.file(sessionFile), err)
	}
	return nil
}
