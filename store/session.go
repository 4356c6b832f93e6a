package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	mend    bool            // a merge left it in a shape that the next write repairs
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
	return len(st.damage)+len(c.more) == 0 && st.session.CountedBytes == size, errors.Join(err, closeFile(&f))
}

// load reads session.json, or rebuilds it. What waits for the conversation, or is
// in a second folder of it, is merged into it.
func (c *Conversation) load() (stored, error) {
	st, err := c.loadFrom(c.dir)
	if err != nil {
		return stored{}, err
	}
	for _, dir := range c.more {
		raw, err := c.s.readSession(dir + "/" + sessionFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return stored{}, err
		}
		other, err := schema.ParseSession(raw)
		if errors.As(err, new(*schema.VersionError)) {
			return stored{}, fmt.Errorf("%q: %w", dir+"/"+sessionFile, err)
		}
		if err != nil {
			continue // its records count all the same
		}
		if st.raw == nil {
			st.session, st.damage = other, nil
			st.session.CountedBytes = 0
			continue
		}
		if st.session, err = schema.MergeSessions(st.session, other); err != nil {
			return stored{}, fmt.Errorf("%q: %w", dir+"/"+sessionFile, err)
		}
	}
	c.complete(st.session)
	return st, nil
}

// loadFrom reads the session.json of one folder.
func (c *Conversation) loadFrom(dir string) (stored, error) {
	name := dir + "/" + sessionFile
	raw, err := c.s.readSession(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		st := stored{}
		if _, err := c.s.root.Lstat(dir); err == nil && c.base == "" {
			st.damage = []Damage{{File: name, Damage: jsonl.Damage{Kind: Missing}}}
		}
		st.session, err = c.rebuild()
		return st, err
	case errors.Is(err, lines.ErrNotRegular), errors.Is(err, errTooLarge):
		st := stored{damage: []Damage{{File: name, Damage: jsonl.Damage{Kind: Unreadable, Detail: err.Error()}}}}
		st.session, err = c.rebuild()
		return st, err
	case err != nil:
		return stored{}, err
	}
	sess, err := schema.ParseSession(raw)
	if version := (*schema.VersionError)(nil); errors.As(err, &version) {
		return stored{}, fmt.Errorf("%q: %w", name, err)
	}
	if err == nil {
		st := stored{session: sess, raw: raw}
		if sess.Repair == nil {
			return st, nil
		}
		st.mend = true
		if at := sess.Repair.Conflict; at >= 0 {
			st.damage = []Damage{{name, jsonl.Damage{Kind: jsonl.Conflict, Offset: at, Line: 1 + bytes.Count(raw[:at], []byte("\n"))}}}
		}
		return st, nil
	}
	st := stored{raw: raw, damage: []Damage{{File: name, Damage: jsonl.Damage{Kind: Unreadable, Detail: err.Error()}}}}
	st.session, err = c.rebuild()
	return st, err
}

// readSession reads a session.json, or remembers it from its last reading where the
// file is still the same: a command that lists, picks and edits opens it once.
func (s *Store) readSession(name string) ([]byte, error) {
	info, err := s.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	return s.readAs(name, info, func() ([]byte, error) { return s.readRegular(name) })
}

// readSessionIn is readSession for a session.json in a folder that is open.
func (s *Store) readSessionIn(dir *os.Root, name string) ([]byte, error) {
	info, err := dir.Lstat(sessionFile)
	if err != nil {
		return nil, err
	}
	return s.readAs(name, info, func() ([]byte, error) { return readRegular(dir, sessionFile) })
}

func (s *Store) readAs(name string, info fs.FileInfo, read func() ([]byte, error)) ([]byte, error) {
	if have, ok := s.sessions.Load(name); ok {
		if have := have.(seenFile); have.is(info) {
			return have.raw, nil
		}
	}
	raw, err := read()
	if err == nil {
		s.remember(name, info, raw)
	}
	return raw, err
}

// remembered bounds how many session.json a store remembers.
const remembered = 256

// A seenFile is a file as it was when it was read.
type seenFile struct {
	info fs.FileInfo
	raw  []byte
}

func (r seenFile) is(info fs.FileInfo) bool {
	return os.SameFile(r.info, info) && r.info.Size() == info.Size() && r.info.ModTime().Equal(info.ModTime())
}

func (s *Store) remember(name string, info fs.FileInfo, raw []byte) {
	if s.rememberedCount.Add(1) <= remembered {
		s.sessions.Store(name, seenFile{info, raw})
	}
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
