package store

import (
	"fmt"
	"time"

	"cortext/schema"
	"cortext/store/secrets"
)

// A Tx is the only way to write to a conversation. It holds the conversation's lock from
// [Conversation.Begin] to [Tx.Commit] or [Tx.Rollback] and reads session.json once. It
// collects records, and at the end writes each log with one sync (tools.jsonl first) and
// session.json with one replacement, if it changed.
//
// Only one goroutine may use a Tx.
type Tx struct {
	*writeLock
	done   bool
	failed error // error of a flush; no further writes are possible

	known  *known // what the user redacted in the conversation, once looked is set
	looked bool

	doc   document
	logs  logWriter
	merge merge // moves the records of the other folders into this one

	pending  pending
	counted  bool   // the caller has brought the counters up to date
	answered bool   // git may see the conversation
	written  bool   // session.json was replaced
	result   Result // of what was written; see [Tx.Result]
}

// pending are records that were collected and not yet written.
type pending struct {
	tools, messages []record
	size            int // approximate size of their texts in bytes
}

func (p *pending) addTool(t schema.Tool) {
	p.tools = append(p.tools, toolRecord(t))
	p.size += len(t.Input) + len(t.Output)
}

func (p *pending) addMessage(m schema.Message) {
	p.messages = append(p.messages, messageRecord(m))
	p.size += len(m.Content) + len(m.Reasoning)
}

// Result describes what a [Tx] or a [Conversation.Append] wrote.
type Result struct {
	Appended int            // lines written to messages.jsonl
	Last     schema.Message // the last of these messages
	Tools    int            // lines written to tools.jsonl
	Moved    int            // lines that were waiting or in a second folder
	Skipped  int            // records already stored, or saying less than the stored ones
	Redacted secrets.Counts // secrets redacted, by rule
	SetAside []SetAside     // torn lines of an earlier writer
}

// changed reports whether something was written to the logs.
func (r Result) changed() bool { return r.Appended+r.Tools+r.Moved+len(r.SetAside) > 0 }

// counts returns the counts of the secrets that are redacted.
func (r *Result) counts() secrets.Counts {
	if r.Redacted == nil {
		r.Redacted = secrets.Counts{}
	}
	return r.Redacted
}

// Begin waits for the write lock. The error is a [*LockedError] if another process kept
// writing, and a [*schema.VersionError] if a later cortext wrote the conversation.
func (c *Conversation) Begin() (*Tx, error) { return c.BeginAt(Checkpoint{}) }

// BeginAt is Begin for a returning writer. Records before cp are not indexed, so an
// append costs no more in a longer conversation. The error is [ErrCheckpoint] if the logs
// do not confirm cp.
func (c *Conversation) BeginAt(cp Checkpoint) (*Tx, error) {
	lock, err := c.lock()
	if err != nil {
		return nil, err
	}
	tx := newTx(lock)
	err = tx.merge.lock()
	if err == nil {
		err = tx.doc.load()
	}
	if err == nil {
		err = tx.fixDirMode()
	}
	if err == nil && !c.Confirms(cp) {
		err = ErrCheckpoint
	}
	if err != nil {
		tx.Rollback()
		return nil, err
	}
	tx.logs.begin(cp, len(tx.merge.sources) > 0)
	return tx, nil
}

func newTx(lock *writeLock) *Tx {
	tx := &Tx{writeLock: lock, doc: document{c: lock.c}, logs: logWriter{writeLock: lock}}
	tx.merge.tx, tx.doc.knows, tx.logs.knows = tx, tx.knows, tx.knows
	return tx
}

// Knows reports whether the index of messages.jsonl covers a record. An index that begins
// at the checkpoint of [Conversation.BeginAt] does not cover earlier records: they would
// be written twice if the caller delivered them again.
func (tx *Tx) Knows(id string) (bool, error) {
	l := tx.c.messages
	err := tx.logs.refresh(l)
	_, ok := l.places[id]
	return ok || l.from == 0, err
}

// Holds reports whether messages.jsonl has a record with the given id. The transaction must
// have begun with [Conversation.Begin], whose index covers the whole log.
func (tx *Tx) Holds(id string) (bool, error) {
	err := tx.logs.refresh(tx.c.messages)
	_, ok := tx.c.messages.places[id]
	return ok, err
}

// Session returns session.json, rebuilt if necessary; see [Reader.Session]. Its counters
// are those in the file. [Tx.Commit] writes the caller's changes to it.
func (tx *Tx) Session() (*schema.Session, []Damage, error) {
	err := tx.doc.load()
	return tx.doc.session, tx.doc.damage, err
}

// Recover takes the session from what a lost session.json is known to have said, uncounted. That
// was set before, and may have been changed since: what waiting records say was set counts, too.
func (tx *Tx) Recover(recorded *schema.Session) (err error) {
	if err := tx.doc.load(); err != nil {
		return err
	}
	if !tx.doc.rebuilt {
		tx.doc.session.Defer(recorded)
		if recorded, err = schema.MergeSessions(tx.doc.session, recorded); err != nil {
			return err
		}
	}
	*tx.doc.session = *recorded
	tx.doc.session.CountedBytes = 0
	tx.doc.recorded, err = tx.doc.session.Marshal()
	return err
}

// Written reports whether session.json exists.
func (tx *Tx) Written() bool { return tx.doc.raw != nil }

// WrittenAt returns when session.json was last replaced; the zero time if there is none.
func (tx *Tx) WrittenAt() time.Time {
	info, err := tx.c.s.root.Lstat(tx.c.file(sessionFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// FirstTime returns the time of the first message, or "" if no message has a time. It
// first writes the collected records.
func (tx *Tx) FirstTime() (first schema.Time, err error) {
	if err := tx.Flush(); err != nil {
		return "", err
	}
	for m, err := range Undamaged(tx.c.Messages()) {
		if err != nil {
			return "", err
		}
		if m.Timestamp != "" && (first == "" || m.Timestamp.Time().Before(first.Time())) {
			first = m.Timestamp
		}
	}
	return first, nil
}

// Size returns the approximate number of bytes collected. A caller that writes a lot
// should call [Tx.Flush] now and then to bound memory.
func (tx *Tx) Size() int { return tx.pending.size }

// Result describes what has been written so far.
func (tx *Tx) Result() Result {
	r := tx.result
	r.SetAside = tx.logs.aside
	return r
}

// Flush writes the collected records: tools.jsonl, then messages.jsonl, each durable on
// return. A record that is already stored changes nothing; a record that says more than
// the stored one gets a greater rev.
//
// After an error none of the records count, though some may be stored. It is safe to
// append them again.
func (tx *Tx) Flush() error {
	if tx.failed != nil {
		return tx.failed
	}
	err := tx.merge.append()
	if err == nil {
		var r Result
		r, err = tx.logs.write(&tx.pending)
		tx.result.Tools += r.Tools
		tx.result.Skipped += r.Skipped
		if tx.result.Appended += r.Appended; r.Appended > 0 {
			tx.result.Last = r.Last
		}
	}
	if err != nil {
		tx.failed = fmt.Errorf("append to %q: %w", tx.c.path, explain(err))
		tx.undo()
		_ = tx.c.drop() // the state of the disk is unknown now: read it again
		return tx.failed
	}
	return nil
}

// Commit flushes, writes session.json if it changed or if records need one, and ends the
// transaction, whatever it returns. Flushed records stay even after an error.
func (tx *Tx) Commit() error {
	defer tx.Rollback()
	if err := tx.Flush(); err != nil {
		return err
	}
	if err := tx.dropMarkers(); err != nil {
		return fmt.Errorf("write %q: %w", tx.c.path, explain(err))
	}
	if err := tx.settleMerged(); err != nil {
		return fmt.Errorf("write %q: %w", tx.c.path, explain(err))
	}
	if tx.logs.rewritten {
		if err := tx.Recount(); err != nil {
			return fmt.Errorf("write %q: %w", tx.c.path, explain(err))
		}
	}
	if err := tx.merge.moveFiles(); err != nil {
		return fmt.Errorf("write %q: %w", tx.c.path, explain(err))
	}
	written, err := tx.doc.write()
	if err != nil {
		return fmt.Errorf("write %q: %w", tx.c.file(sessionFile), explain(err))
	}
	if written {
		tx.written, tx.made = true, nil
	}
	if tx.answered && tx.c.HeldFromGit() {
		if err := tx.c.s.root.Remove(tx.c.file(unansweredFile)); err != nil {
			return fmt.Errorf("remove %q: %w", tx.c.file(unansweredFile), explain(err))
		}
	}
	if err := tx.merge.leave(); err != nil {
		return fmt.Errorf("write %q: %w", tx.c.path, explain(err))
	}
	return nil
}

// Rollback ends the transaction without writing records that were not flushed. It does
// nothing to a transaction that has ended.
func (tx *Tx) Rollback() {
	if tx.done {
		return
	}
	if tx.result.Appended+tx.result.Tools == 0 {
		tx.undo()
	}
	tx.done = true
	tx.merge.release()
	tx.release()
	if c := tx.c; c.base == "" && !c.isSub() && (tx.written || tx.Result().changed()) {
		c.s.ChangeList().note(c.path)
	}
}

// ReleaseToGit undoes [Conversation.HoldFromGit] at [Tx.Commit]. It leaves a person's own
// file alone.
func (tx *Tx) ReleaseToGit() { tx.answered = true }

// Update changes what is known about the conversation: f edits session.json, and the
// result replaces the file. If nothing changed, nothing is written. Errors of f are
// returned as they are.
func (c *Conversation) Update(f func(*Tx, *schema.Session) error) error {
	tx, err := c.Begin()
	if err == nil {
		if err = f(tx, tx.doc.session); err == nil {
			return tx.Commit()
		}
		tx.Rollback()
	}
	return fmt.Errorf("edit %q: %w", c.path, err)
}

// Edit is Update for a change to session.json alone. f sees the counters in the file;
// Session returns those of the logs.
func (c *Conversation) Edit(f func(*schema.Session) error) error {
	return c.Update(func(_ *Tx, s *schema.Session) error { return f(s) })
}

// Append adds the new records of b to the conversation and returns once they are durable;
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
		return Result{SetAside: tx.logs.aside}, err
	}
	return tx.Result(), nil
}
