package store

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"cortext/schema"
	"cortext/schema/jsonl"
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

	since Checkpoint // the caller's checkpoint
	began int64      // length of messages.jsonl at the start, 0 if unknown

	known  *known // what the user redacted in the conversation, once looked is set
	looked bool

	doc   document
	merge merge // moves the records of the other folders into this one

	pending   pending
	rewritten bool // a log was replaced: the counters do not fit it
	counted   bool // the caller has brought the counters up to date
	answered  bool // git may see the conversation
	written   bool // session.json was replaced
	result    Result
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
func (r *Result) changed() bool { return r.Appended+r.Tools+r.Moved+len(r.SetAside) > 0 }

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
	tx.since = cp
	if info, err := c.messages.Refresh(); err == nil { // other processes may have written
		tx.began = info.Size()
	}
	c.messages.startAt(tx.indexFrom(cp.Messages))
	if c.tools != nil {
		c.tools.startAt(tx.indexFrom(cp.Tools))
	}
	return tx, nil
}

func newTx(lock *writeLock) *Tx {
	tx := &Tx{writeLock: lock, doc: document{c: lock.c}}
	tx.merge.tx, tx.doc.knows = tx, tx.knows
	return tx
}

// Knows reports whether the index of messages.jsonl covers a record. An index that begins
// at the checkpoint of [Conversation.BeginAt] does not cover earlier records: they would
// be written twice if the caller delivered them again.
func (tx *Tx) Knows(id string) (bool, error) {
	l := tx.c.messages
	err := tx.refresh(l)
	_, ok := l.places[id]
	return ok || l.from == 0, err
}

// Holds reports whether messages.jsonl has a record with an id. The transaction must have
// begun with [Conversation.Begin], whose index covers the whole log.
func (tx *Tx) Holds(id string) (bool, error) {
	err := tx.refresh(tx.c.messages)
	_, ok := tx.c.messages.places[id]
	return ok, err
}

// refresh brings the index of a log up to date.
func (tx *Tx) refresh(l *logFile) error {
	aside, err := l.refresh(tx.c.s.Files)
	tx.result.SetAside = append(tx.result.SetAside, aside...)
	return err
}

// indexFrom returns the offset at which the index of a log must begin. Records from other
// folders may be anywhere.
func (tx *Tx) indexFrom(at LogCheckpoint) int64 {
	if len(tx.merge.sources) > 0 {
		return 0
	}
	return at.Since
}

// Session returns session.json, rebuilt if necessary; see [Reader.Session]. Its counters
// are those in the file. [Tx.Commit] writes the caller's changes to it.
func (tx *Tx) Session() (*schema.Session, []Damage, error) {
	err := tx.doc.load()
	return tx.doc.session, tx.doc.damage, err
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
	for m, err := range undamaged(tx.c.Messages()) {
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
func (tx *Tx) Result() Result { return tx.result }

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
		r, err = tx.write(&tx.pending)
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

// write appends records to the logs, calls first. The result covers what was written,
// even after an error.
func (tx *Tx) write(p *pending) (r Result, err error) {
	if len(p.tools) > 0 {
		if err := tx.openTools(); err != nil {
			return r, err
		}
		if r.Tools, err = tx.appendTo(tx.c.tools, p.tools, &r); err != nil {
			return r, err
		}
	}
	if len(p.messages) > 0 {
		if r.Appended, err = tx.appendTo(tx.c.messages, p.messages, &r); err != nil {
			return r, err
		}
	}
	*p = pending{}
	return r, nil
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
	if tx.rewritten {
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
	if c := tx.c; c.base == "" && !c.isSub() && (tx.written || tx.result.changed()) {
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
		return Result{SetAside: tx.result.SetAside}, err
	}
	return tx.result, nil
}

// openTools opens tools.jsonl, or checks that the open file is still the conversation's.
func (tx *Tx) openTools() error {
	c := tx.c
	var info fs.FileInfo
	if c.tools != nil {
		var err error
		if info, err = c.tools.look(c.s.Files); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !c.tools.Is(info) {
			_ = c.tools.Close()
			c.tools = nil
		}
	}
	if c.tools == nil {
		l, created, err := c.openLog(toolsFile)
		if err != nil {
			return err
		}
		if created {
			tx.made = append(tx.made, l.name)
		}
		l.startAt(tx.indexFrom(tx.since.Tools))
		c.tools = l
		if info, err = l.Refresh(); err != nil {
			return err
		}
	}
	return fixMode(c.tools.File.File(), info, privateFileMode)
}

// appendTo appends the new records to a log, each with one write, and syncs once. After
// an error it removes what it wrote: a later append must not count as safe what a failed
// sync left only in memory.
func (tx *Tx) appendTo(l *logFile, records []record, r *Result) (written int, err error) {
	if err := tx.refresh(l); err != nil {
		return 0, err
	}
	known, err := tx.knows()
	if err != nil {
		return 0, err
	}
	if err := tx.settle(l, known); err != nil {
		return 0, err
	}
	begin := l.Size()
	defer func() {
		if err != nil {
			tx.c.written = nil
			err = errors.Join(err, l.Cut(begin))
		}
	}()
	var last []byte
	for _, rec := range records {
		rev := 0
		if rec.copied {
			rev = rec.rev()
		}
		line := rec.encode(rev)
		if rec.id() != "" && !rec.copied {
			stored, err := l.places.at(l, rec.id())
			if err != nil {
				return 0, err
			}
			if len(stored) > 0 {
				if !rec.inherit(stored, known) {
					r.Skipped++
					continue
				}
				var isNew bool
				if rev, isNew = rec.revise(stored); !isNew {
					r.Skipped++
					continue
				}
				line = rec.encode(rev)
			}
		}
		if len(line) > jsonl.MaxLine {
			return 0, fmt.Errorf("record %q has %d bytes, more than the %d that can be read again", rec.id(), len(line), jsonl.MaxLine)
		}
		offset := l.Size()
		if err := l.Append(line); err != nil {
			return 0, err
		}
		l.places.add(rec.id(), offset)
		if tx.c.written != nil {
			tx.c.written.record(rec, rev)
		}
		last = line
		if written++; rec.message != nil {
			r.Last = *rec.message
		}
	}
	if err := l.Sync(); err != nil {
		return 0, err
	}
	// git may have replaced the file meanwhile.
	if info, err := l.look(tx.c.s.Files); err != nil || !l.Is(info) {
		return 0, &replacedError{l.name}
	}
	if err := l.note(last); err != nil {
		return 0, err
	}
	return written, nil
}
