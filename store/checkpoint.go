package store

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"cortext/schema"
	"cortext/store/internal/lines"
)

// A Checkpoint records how far a writer has delivered its records into the logs of a
// conversation, so that its next visit reads only what is new. It is a hint: git replaces
// logs, so a checkpoint counts only while [Reader.Confirms] confirms it.
type Checkpoint struct {
	Messages LogCheckpoint `json:"messages,omitzero"`
	Tools    LogCheckpoint `json:"tools,omitzero"`
	Counted  Counted       `json:"counted,omitzero"`

	// Held is the number of messages in messages.jsonl, counted by id; 0 if unknown.
	Held int `json:"held,omitzero"`
}

// Counted holds the counters of session.json when they matched the log that Messages
// names. A writer that finds the log at the same length can add its own records to them.
// It cannot if git has extended the log, since the new lines may repeat counted records.
type Counted struct {
	Bytes    int64 `json:"bytes"`
	Messages int   `json:"messages"`
}

// A LogCheckpoint names the last record of a log and its position. The zero value
// is an empty or missing log.
type LogCheckpoint struct {
	End   int64  `json:"end"`   // offset after the record
	Sum   string `json:"sum"`   // hash of the bytes before End, which identify the record, and of the numbers
	File  uint64 `json:"file"`  // inode number of the log, 0 if the system has none
	Since int64  `json:"since"` // records that the next visit delivers again start here or later
}

// ErrCheckpoint means that the logs do not confirm a checkpoint. The caller must deliver
// everything again, which appends only what is missing.
var ErrCheckpoint = errors.New("the logs do not hold what the checkpoint names")

// A replacedError means that a log was replaced or removed during a write. A writer with
// a checkpoint gets it as an [ErrCheckpoint].
type replacedError struct{ log string }

func (e *replacedError) Error() string {
	return fmt.Sprintf("%q was replaced or removed during the write: run it again", e.log)
}

func (e *replacedError) Is(target error) bool { return target == ErrCheckpoint }

// sumBytes is how many bytes before a checkpoint are compared. They cover the last record
// and usually several before it, at the cost of one small read.
const sumBytes = 4 << 10

// Further returns, for each log, the later checkpoint of cp and other. Both must belong
// to the same logs.
func (cp Checkpoint) Further(other Checkpoint) Checkpoint {
	if cp.Messages.End < other.Messages.End {
		cp.Messages, cp.Held, cp.Counted = other.Messages, other.Held, other.Counted
	}
	if cp.Tools.End < other.Tools.End {
		cp.Tools = other.Tools
	}
	return cp
}

// Confirms reports whether both logs hold the record that cp names, at its position.
// The cost does not depend on the length of the logs.
//
// A log with another inode is another file and is not trusted even if the hash matches:
// its earlier lines may differ. The same inode proves nothing, since file systems reuse
// inodes: the hash decides.
func (r *Reader) Confirms(cp Checkpoint) bool {
	for name, at := range map[string]LogCheckpoint{messagesFile: cp.Messages, toolsFile: cp.Tools} {
		if at == (LogCheckpoint{}) {
			continue
		}
		l, err := r.openOwn(name)
		if l == nil || err != nil {
			return false
		}
		ok := l.size >= at.End && at.confirmedBy(l)
		if err := l.close(); err != nil || !ok {
			return false
		}
	}
	return true
}

// Unchanged is a cheaper, weaker [Reader.Confirms]. It compares the length and the
// inode of messages.jsonl and reads nothing.
func (r *Reader) Unchanged(cp Checkpoint) bool {
	info, err := r.s.root.Lstat(r.file(messagesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return cp.Messages == (LogCheckpoint{})
	}
	return err == nil && info.Size() >= cp.Messages.End && inode(info) == cp.Messages.File
}

func (at LogCheckpoint) confirmedBy(l *logReader) bool {
	info, err := l.file.Stat()
	if err != nil || inode(info) != at.File || at.End < 0 {
		return false
	}
	sum, err := at.sum(l)
	return err == nil && sum == at.Sum
}

// sum hashes the last bytes of a log before the checkpoint, with its numbers, so that a
// checkpoint corrupted in the cache is not confirmed.
func (at LogCheckpoint) sum(r io.ReaderAt) (string, error) {
	last := make([]byte, min(at.End, sumBytes))
	if _, err := r.ReadAt(last, at.End-int64(len(last))); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d\n", at.End, at.Since, at.File)
	h.Write(last)
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}

// checkpoint names the last record of the log. again lists the ids that the next visit
// delivers again.
func (l *logFile) checkpoint(again []string) (LogCheckpoint, error) {
	info, err := l.Refresh()
	if err != nil {
		return LogCheckpoint{}, err
	}
	at := LogCheckpoint{End: l.end, File: inode(info), Since: l.end}
	for _, id := range again {
		p, ok := l.places[id]
		if !ok {
			p.first = 0 // position unknown: the next visit looks at everything
		}
		at.Since = min(at.Since, p.first)
	}
	at.Sum, err = at.sum(l)
	return at, err
}

// held counts the messages of a log whose index may begin at a checkpoint. It returns 0,
// unknown, if this write began at a length other than the checkpoint's: git may have
// added messages that were already counted.
func (l *logFile) held(since Checkpoint, began int64) int {
	if l.from == 0 {
		return len(l.places)
	}
	if since.Held == 0 || since.Messages.End != began {
		return 0
	}
	n := since.Held
	for _, p := range l.places {
		if p.first >= since.Messages.End {
			n++
		}
	}
	return n
}

// Checkpoint names where the logs end now. messages and calls are the records that the
// next visit delivers again. It must follow a [Tx.Flush]. A log that the transaction did
// not touch keeps its part of the checkpoint passed to [Conversation.BeginAt].
func (tx *Tx) Checkpoint(messages, calls []string) (cp Checkpoint, err error) {
	cp = tx.logs.since
	c := tx.c
	if tx.counted {
		cp.Counted = countedBy(tx.doc.session)
	}
	if c.messages.places != nil {
		if cp.Messages, err = c.messages.checkpoint(messages); err != nil {
			return Checkpoint{}, err
		}
		cp.Held = c.messages.held(tx.logs.since, tx.logs.began)
	}
	if c.tools != nil && c.tools.places != nil {
		if cp.Tools, err = c.tools.checkpoint(calls); err != nil {
			return Checkpoint{}, err
		}
	}
	return cp, nil
}

func countedBy(s *schema.Session) Counted { return Counted{s.CountedBytes, s.MessageCount} }

// CheckpointNow names where the logs end, for a reader that returns later to read what
// was added.
func (r *Reader) CheckpointNow() (cp Checkpoint, err error) {
	for name, at := range map[string]*LogCheckpoint{messagesFile: &cp.Messages, toolsFile: &cp.Tools} {
		l, err := r.openOwn(name)
		if err != nil {
			return Checkpoint{}, err
		}
		if l == nil {
			continue
		}
		*at, err = l.checkpointNow()
		if err = errors.Join(err, l.close()); err != nil {
			return Checkpoint{}, err
		}
	}
	return cp, nil
}

// checkpointNow names the end of the last whole line: what follows may be a line that a
// writer is about to complete.
func (l *logReader) checkpointNow() (LogCheckpoint, error) {
	end := l.size
	for line, err := range lines.Backward(l, l.size, 0) {
		if err != nil {
			return LogCheckpoint{}, err
		}
		if !line.Terminated {
			end = line.Offset
		}
		break
	}
	whole := *l
	whole.size = end
	return whole.checkpoint(end)
}

// checkpoint names the end of a log.
func (l *logReader) checkpoint(since int64) (LogCheckpoint, error) {
	info, err := l.file.Stat()
	if err != nil {
		return LogCheckpoint{}, err
	}
	at := LogCheckpoint{End: l.size, File: inode(info), Since: since}
	at.Sum, err = at.sum(l)
	return at, err
}

// Since calls message and call with each line added to the logs after cp. ok is false if
// the logs do not confirm cp.
func (r *Reader) Since(cp Checkpoint, message, call func(line []byte)) (ok bool, err error) {
	if len(r.others()) > 0 || !r.Confirms(cp) {
		return false, nil
	}
	for _, log := range []struct {
		name string
		from int64
		f    func([]byte)
	}{{messagesFile, cp.Messages.End, message}, {toolsFile, cp.Tools.End, call}} {
		l, err := r.openOwn(log.name)
		if err != nil {
			return false, err
		}
		if l == nil {
			continue
		}
		in := bufio.NewReader(io.NewSectionReader(l, log.from, l.size-log.from))
		for err == nil {
			var line []byte
			if line, err = in.ReadBytes('\n'); err == nil { // an unterminated line does not count yet
				log.f(line)
			}
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if err = errors.Join(err, l.close()); err != nil {
			return false, err
		}
	}
	return true, nil
}
