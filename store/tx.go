package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/store/secrets"
)

// A Tx is the one way to write to a conversation. It holds the conversation's lock
// from [Conversation.Begin] to [Tx.Commit] or [Tx.Rollback], reads session.json at
// most once, collects records, and at the end writes each log with one sync
// (tools.jsonl first) and session.json with one replacement, if it changed.
//
// A Tx belongs to one goroutine.
type Tx struct {
	c      *Conversation
	made   []string // folders and files that taking the lock made, from the top
	unlock func() error
	since  Checkpoint

	stored stored // session.json, once read
	before []byte // its bytes in our spelling; nil before it was read

	tools, messages []record // collected, not written yet
	size            int      // bytes of their texts, about
	result          Result
}

// Result says what a [Tx] or an [Conversation.Append] wrote.
type Result struct {
	Appended int            // lines written to messages.jsonl
	Tools    int            // lines written to tools.jsonl
	Skipped  int            // records that were there already, or said less than what was
	Redacted secrets.Counts // secrets replaced, by rule
	SetAside []SetAside     // torn lines that an earlier writer left
}

// Begin waits for the right to write. The error is a [*LockedError] if another
// process kept writing, and a [*schema.VersionError] if a later cortext wrote the
// conversation.
func (c *Conversation) Begin() (*Tx, error) {
	tx, err := c.lock()
	if err != nil {
		return nil, err
	}
	if _, _, err := tx.Session(); err != nil {
		tx.undo()
		tx.release()
		return nil, err
	}
	return tx, nil
}

// BeginAt is Begin for a writer that comes back: what is before cp is not indexed,
// so that an append does not cost more in a longer conversation. The error is
// [ErrCheckpoint] if the logs do not confirm cp.
func (c *Conversation) BeginAt(cp Checkpoint) (*Tx, error) {
	tx, err := c.Begin()
	if err != nil || cp == (Checkpoint{}) {
		return tx, err
	}
	if !c.Confirms(cp) {
		tx.Rollback()
		return nil, ErrCheckpoint
	}
	tx.since = cp
	c.messages.since = cp.Messages.Since
	return tx, nil
}

// Session returns session.json as it is, or as it was rebuilt; see
// [Conversation.Session]. Its counters are those of the file. What the caller
// changes in it is written by [Tx.Commit].
func (tx *Tx) Session() (*schema.Session, []Damage, error) {
	if tx.before == nil {
		st, err := tx.c.load()
		if err != nil {
			return nil, nil, err
		}
		if tx.before, err = st.session.Marshal(); err != nil {
			return nil, nil, err
		}
		tx.stored = st
	}
	return tx.stored.session, tx.stored.damage, nil
}

// Written reports whether there is a session.json.
func (tx *Tx) Written() bool { return tx.stored.raw != nil }

// WrittenAt is when session.json was last replaced; the zero time if there is none.
func (tx *Tx) WrittenAt() time.Time {
	info, err := tx.c.s.root.Lstat(tx.c.file(sessionFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Append collects what is to be added. Secrets are replaced and tokens counted
// here; nothing is written before [Tx.Flush].
func (tx *Tx) Append(b schema.Batch) error {
	if tx.result.Redacted == nil {
		tx.result.Redacted = secrets.Counts{}
	}
	s := tx.c.s
	for _, t := range b.Tools {
		t, err := s.prepareTool(t, tx.result.Redacted)
		if err != nil {
			return fmt.Errorf("append to %q: %w", tx.c.path, err)
		}
		tx.tools = append(tx.tools, toolRecord(t))
		tx.size += len(t.Input) + len(t.Output)
	}
	for _, m := range b.Messages {
		m, err := s.prepareMessage(m, tx.result.Redacted)
		if err != nil {
			return fmt.Errorf("append to %q: %w", tx.c.path, err)
		}
		tx.messages = append(tx.messages, messageRecord(m))
		tx.size += len(m.Content) + len(m.Reasoning)
	}
	return nil
}

// Size is about how many bytes are collected: a writer of much calls [Tx.Flush]
// now and then, so that memory stays bounded.
func (tx *Tx) Size() int { return tx.size }

// Result says what was written so far.
func (tx *Tx) Result() Result { return tx.result }

// Flush writes what was collected: tools.jsonl, then messages.jsonl, each durable
// on return. What was there before changes nothing; a record that says more than
// the one of its id is written with a greater rev.
//
// After an error nothing of it counts, though some of it may be there: appending
// it again is right and safe.
func (tx *Tx) Flush() error {
	if err := tx.flush(); err != nil {
		tx.undo()
		_ = tx.c.drop() // what is on the disk is not known any more: it is read again
		return fmt.Errorf("append to %q: %w", tx.c.path, explain(err))
	}
	return nil
}

func (tx *Tx) flush() error {
	c := tx.c
	if len(tx.tools) > 0 {
		if err := tx.openTools(); err != nil {
			return err
		}
		n, err := tx.appendTo(c.tools, tx.tools)
		if err != nil {
			return err
		}
		tx.result.Tools += n
	}
	if len(tx.messages) > 0 {
		n, err := tx.appendTo(c.messages, tx.messages)
		if err != nil {
			return err
		}
		tx.result.Appended += n
	}
	tx.tools, tx.messages, tx.size = nil, nil, 0
	return nil
}

// Commit flushes, writes session.json if it changed or if records need one, and
// ends the transaction, whatever it returns. What was flushed stays also after an
// error.
func (tx *Tx) Commit() error {
	defer tx.release()
	if err := tx.Flush(); err != nil {
		return err
	}
	if err := tx.absorb(); err != nil {
		return fmt.Errorf("write %q: %w", tx.c.path, explain(err))
	}
	written, err := tx.writeSession()
	if err != nil {
		if tx.result.Appended+tx.result.Tools == 0 {
			tx.undo()
		}
		return fmt.Errorf("write %q: %w", tx.c.file(sessionFile), explain(err))
	}
	if !written && tx.result.Appended+tx.result.Tools == 0 {
		tx.undo()
	}
	return nil
}

// Rollback ends the transaction without writing what was not flushed.
func (tx *Tx) Rollback() {
	if tx.result.Appended+tx.result.Tools == 0 {
		tx.undo()
	}
	tx.release()
}

// Update changes what is known about the conversation: f is given session.json,
// and what it makes of it replaces the file. A change that changes nothing writes
// nothing, and an error of f is returned as it is.
func (c *Conversation) Update(f func(*Tx, *schema.Session) error) error {
	tx, err := c.Begin()
	if err != nil {
		return fmt.Errorf("edit %q: %w", c.path, err)
	}
	s, _, err := tx.Session()
	if err == nil {
		err = f(tx, s)
	}
	if err != nil {
		tx.Rollback()
		return fmt.Errorf("edit %q: %w", c.path, err)
	}
	return tx.Commit()
}

// Edit is Update for a change of session.json alone. The counters that f sees are
// those of the file; Session has those of the logs.
func (c *Conversation) Edit(f func(*schema.Session) error) error {
	return c.Update(func(_ *Tx, s *schema.Session) error { return f(s) })
}

// Append adds to the conversation what is new in b and returns once it is durable;
// see [Tx.Flush].
func (c *Conversation) Append(b schema.Batch) (Result, error) {
	none := Result{Redacted: secrets.Counts{}}
	if len(b.Tools)+len(b.Messages) == 0 {
		return none, nil
	}
	tx, err := c.Begin()
	if err != nil {
		return Result{}, fmt.Errorf("append to %q: %w", c.path, err)
	}
	if err := tx.Append(b); err != nil {
		tx.Rollback()
		return Result{}, err
	}
	if err := tx.Commit(); err != nil {
		return Result{SetAside: tx.result.SetAside}, err
	}
	return tx.result, nil
}

// Recount takes the counters of session.json afresh from the logs.
func (tx *Tx) Recount() error {
	if err := tx.Flush(); err != nil {
		return err
	}
	s, _, err := tx.Session()
	if err != nil {
		return err
	}
	return tx.c.recount(s)
}

// Count brings the counters of session.json up to date with the logs, at a cost
// that does not grow with what was counted before.
func (tx *Tx) Count() error {
	if err := tx.Flush(); err != nil {
		return err
	}
	s, damage, err := tx.Session()
	if err != nil {
		return err
	}
	if s.CountedBytes == 0 || len(damage) > 0 {
		return tx.c.recount(s)
	}
	return tx.c.countRest(s)
}

// FirstTime is when the first message was; empty if none has a time. Before a
// [Tx.Flush] it looks at what is collected, too.
func (tx *Tx) FirstTime() (first schema.Time, err error) {
	if err := tx.Flush(); err != nil {
		return "", err
	}
	for m, err := range tx.c.Messages() {
		if err != nil && !isDamage(err) {
			return "", err
		}
		if err == nil && m.Timestamp != "" && (first == "" || m.Timestamp.Time().Before(first.Time())) {
			first = m.Timestamp
		}
	}
	return first, nil
}

// Settle writes the counters of session.json afresh from the logs: messages,
// tokens, usage and last_active.
func (c *Conversation) Settle() error {
	return c.Update(func(tx *Tx, _ *schema.Session) error { return tx.Recount() })
}

// openTools opens tools.jsonl, or sees that the open one is still the
// conversation's.
func (tx *Tx) openTools() error {
	c := tx.c
	info, err := c.s.look(c.file(toolsFile), c.tools)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if c.tools != nil && (err != nil || !c.tools.Is(info)) {
		_ = c.tools.Close()
		c.tools = nil
	}
	if c.tools == nil {
		l, created, err := c.openLog(toolsFile)
		if err != nil {
			return err
		}
		if created {
			tx.made = append(tx.made, c.file(toolsFile))
		}
		l.since = tx.since.Tools.Since
		c.tools = l
	}
	if info == nil {
		return nil
	}
	return fixMode(c.tools.File.File(), info, privateFileMode)
}

// appendTo writes what is new of the records to a log, each with one write, and
// syncs it once. After an error it takes back what it wrote: a later append must
// not take for safe what a failed sync has left in memory only.
func (tx *Tx) appendTo(l *logFile, records []record) (written int, err error) {
	aside, err := l.refresh(tx.c.s)
	tx.result.SetAside = append(tx.result.SetAside, aside...)
	if err != nil {
		return 0, err
	}
	begin := l.Size()
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Cut(begin))
		}
	}()
	var last []byte
	for _, r := range records {
		line := r.encode(0)
		if r.id() != "" {
			stored, err := l.at(r.id())
			if err != nil {
				return 0, err
			}
			if len(stored) > 0 {
				rev, isNew := r.revise(stored)
				if !isNew {
					tx.result.Skipped++
					continue
				}
				line = r.encode(rev)
			}
		}
		if len(line) > jsonl.MaxLine {
			return 0, fmt.Errorf("record %q has %d bytes, more than the %d that can be read again", r.id(), len(line), jsonl.MaxLine)
		}
		offset := l.Size()
		if err := l.Append(line); err != nil {
			return 0, err
		}
		l.add(r.id(), offset)
		last = line
		written++
	}
	if err := l.Sync(); err != nil {
		return 0, err
	}
	return written, l.note(last)
}

// writeSession replaces session.json if it changed, if there is none and records
// need one, or if a merge left it in need of repair.
func (tx *Tx) writeSession() (written bool, err error) {
	c := tx.c
	if tx.before == nil {
		return false, nil
	}
	sess := tx.stored.session
	needed := tx.stored.raw == nil && (tx.result.Appended > 0 || len(c.more) > 0)
	if needed {
		if err := c.recount(sess); err != nil {
			return false, err
		}
	}
	after, err := sess.Marshal()
	if err != nil {
		return false, err
	}
	if bytes.Equal(tx.before, after) && !needed && !tx.stored.mend {
		return false, nil
	}
	if err := c.s.prepareSession(sess); err != nil {
		return false, err
	}
	if tx.stored.raw != nil {
		before, err := schema.ParseSession(tx.before)
		if err != nil {
			return false, err
		}
		sess.Stamp(before, c.s.opts.Now())
	}
	if older(sess.Version) {
		sess.Version = schema.Version
	}
	if after, err = sess.Marshal(); err != nil {
		return false, err
	}
	if err := c.keepPrevious(tx.stored); err != nil {
		return false, err
	}
	c.s.sessions.Delete(c.file(sessionFile))
	if err := c.s.replace(c.file(sessionFile), after, privateFileMode); err != nil {
		return false, err
	}
	return true, nil
}

// keepPrevious keeps the session.json that is about to be replaced: a good one as
// the backup, a broken one under a name of its own.
func (c *Conversation) keepPrevious(st stored) error {
	switch {
	case st.raw == nil || c.base != "":
		return nil
	case len(st.damage) > 0:
		_, err := c.s.keep(fmt.Sprintf("damaged/%s/%s", c.path, sessionFile), bytes.NewReader(st.raw))
		return err
	}
	to := c.backupFile()
	if err := c.s.makeLocal(path.Dir(to)); err != nil {
		return err
	}
	// A link keeps the old file without copying it; the replacement makes a new one.
	if err := c.s.root.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if c.s.root.Link(c.file(sessionFile), to) == nil {
		return nil
	}
	return c.s.replace(to, st.raw, privateFileMode)
}

// older reports whether a version is of an earlier minor than the one written
// here. A later one stays, since its fields are kept.
func older(version string) bool {
	minor := func(v string) int {
		_, after, _ := strings.Cut(v, ".")
		n, _ := strconv.Atoi(after)
		return n
	}
	return minor(version) < minor(schema.Version)
}
