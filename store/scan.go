package store

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// Logs are the two logs of a conversation, open for reading their bytes. What they read
// stays the same if git replaces a log.
type Logs struct {
	Messages, Tools *Log
}

// OpenLogs opens the logs of a conversation for reading their bytes. ok is false if not
// all of its records are in these two files: then only [Reader.Whole] reads them.
func (r *Reader) OpenLogs() (logs *Logs, ok bool) {
	if len(r.others()) > 0 {
		return nil, false
	}
	// A writer writes tools.jsonl first. Opening it last makes sure that the calls of
	// every message that is read are there.
	messages, tools := r.openIn(r.sessionFolder, messagesFile), r.openIn(r.sessionFolder, toolsFile)
	return &Logs{&Log{*messages}, &Log{*tools}}, true
}

// Close closes the logs.
func (l *Logs) Close() error {
	return errors.Join(l.Messages.close(), l.Tools.close())
}

// Unread returns why one of the logs cannot be read at all, or nil: a [*StandInError], a
// [*Damage] if it is not a regular file, or the error of the system.
func (l *Logs) Unread() error {
	for _, log := range []*Log{l.Messages, l.Tools} {
		if log.standIn != "" {
			return &StandInError{log.name, log.standIn}
		}
	}
	return cmp.Or(l.Messages.err, l.Tools.err)
}

// Unread is [Logs.Unread] for the logs in all folders of the conversation.
func (r *Reader) Unread() error {
	for _, f := range r.folders() {
		logs := Logs{&Log{*r.openIn(f, messagesFile)}, &Log{*r.openIn(f, toolsFile)}}
		if err := cmp.Or(logs.Unread(), logs.Close()); err != nil {
			return err
		}
	}
	return nil
}

// A Log is an open log. A missing log is empty.
type Log struct{ logReader }

// Name returns the name of the file, relative to the workspace.
func (l *Log) Name() string { return l.name }

// Size returns the length of the log, in bytes, when it was opened.
func (l *Log) Size() int64 { return l.size }

// Err returns why the system does not let us read the log, or nil. A log that is not a
// regular file counts as empty; [Store.Check] reports it.
func (l *Log) Err() error {
	if isDamage(l.err) {
		return nil
	}
	return l.err
}

// Load reads the whole log into memory, into buf if that is large enough, and returns it.
// From then on the log is read from there: the caller must leave it as it is.
func (l *Log) Load(buf []byte) ([]byte, error) {
	if int64(cap(buf)) < l.size {
		buf = make([]byte, l.size)
	}
	buf = buf[:l.size]
	if n, err := l.ReadAt(buf, 0); n < len(buf) {
		return nil, explain(err)
	}
	l.ReaderAt = bytes.NewReader(buf)
	return buf, nil
}

// A Block is a part of a log: whole lines.
type Block struct {
	Offset int64  // of the first line
	Text   []byte // the lines; only the last line of a log may lack its newline
}

// blockSize is how many bytes are read at once. A block should fit into the
// processor's second-level cache, where it is scanned.
const blockSize = 256 << 10

var blockBuffers = sync.Pool{New: func() any { b := make([]byte, blockSize); return &b }}

// Blocks yields the lines that begin at an offset from on and before to, in blocks. The
// text of a block is valid until the next one. A line longer than [jsonl.MaxLine] is left
// out, as in [Reader.Messages]. An error comes from the disk and ends the sequence.
func (l *Log) Blocks(from, to int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		pooled := blockBuffers.Get().(*[]byte)
		defer blockBuffers.Put(pooled)
		r := blockReader{Log: l, buf: *pooled, to: min(to, l.size)}
		if err := r.begin(from); err != nil {
			yield(Block{}, err)
			return
		}
		for r.offset < r.to {
			b, err := r.next()
			if err != nil {
				yield(Block{}, err)
				return
			}
			if len(b.Text) > 0 && !yield(b, nil) {
				return
			}
		}
	}
}

// A blockReader reads the blocks of a part of a log.
type blockReader struct {
	*Log
	buf    []byte
	start  int   // where the rest of the last block begins in buf
	have   int   // where it ends
	offset int64 // of buf[start] in the log: it begins a line
	to     int64 // lines that begin here or later are not wanted
}

// begin moves to the first line that begins at an offset or later.
func (r *blockReader) begin(offset int64) error {
	r.offset = offset
	if offset == 0 || offset >= r.size {
		return nil
	}
	if err := r.read(r.buf[:1], offset-1); err != nil || r.buf[0] == '\n' {
		return err
	}
	return r.skipLine()
}

// skipLine moves past the next newline, or to the end.
func (r *blockReader) skipLine() error {
	r.start, r.have = 0, 0
	for r.offset < r.size {
		n := int(min(int64(len(r.buf)), r.size-r.offset))
		if err := r.read(r.buf[:n], r.offset); err != nil {
			return err
		}
		if at := bytes.IndexByte(r.buf[:n], '\n'); at >= 0 {
			r.offset += int64(at) + 1
			return nil
		}
		r.offset += int64(n)
	}
	return nil
}

// next returns the next block. Its text is empty if a line was left out.
func (r *blockReader) next() (Block, error) {
	r.have = copy(r.buf, r.buf[r.start:r.have])
	r.start = 0
	for scanned := 0; ; {
		n := int(min(int64(len(r.buf)), r.size-r.offset, max(r.to-r.offset, int64(r.have)+blockSize/4)))
		if err := r.read(r.buf[r.have:n], r.offset+int64(r.have)); err != nil {
			return Block{}, err
		}
		r.have = max(n, r.have)
		end := n
		if r.offset+int64(n) < r.size {
			end = scanned + bytes.LastIndexByte(r.buf[scanned:n], '\n') + 1
			if end == scanned { // the line is longer
				if n > jsonl.MaxLine {
					return Block{}, r.skipLine()
				}
				scanned = n
				if n == len(r.buf) {
					r.buf = append(r.buf, make([]byte, len(r.buf))...)
				}
				continue
			}
		}
		b := Block{r.offset, r.buf[:end]}
		if wanted := r.to - r.offset; wanted < int64(end) {
			if at := bytes.IndexByte(b.Text[wanted-1:], '\n'); at >= 0 {
				b.Text = b.Text[:int(wanted)+at]
			}
		}
		r.start = len(b.Text)
		r.offset += int64(r.start)
		if end == r.have && len(b.Text) > jsonl.MaxLine && bytes.IndexByte(b.Text, '\n') < 0 {
			b.Text = nil
		}
		return b, nil
	}
}

func (r *blockReader) read(b []byte, at int64) error {
	if len(b) == 0 {
		return nil
	}
	_, err := r.ReadAt(b, at)
	return explain(err)
}

// Record returns the record that begins at an offset, or nil if none does.
func (l *Log) Record(offset int64) ([]byte, error) {
	raw, err := recordAt(l, offset)
	return raw, explain(err)
}

// Numbers says which lines of messages.jsonl count, and which numbers their messages have.
type Numbers struct {
	Lines
	numbers []int32 // by place; 0 on a branch that was left
}

// Lines says which lines of a log count.
type Lines struct {
	places *lookup
	best   func(place int32) int64 // the offset of the line that counts among several with the same id
	apart  func(place int32) bool  // see Apart
}

// Numbers reads the links between the messages, but not their texts.
func (l *Logs) Numbers() (*Numbers, error) {
	log := io.NewSectionReader(l.Messages, 0, l.Messages.size)
	x, a, err := readLinks(log, 0)
	if err != nil {
		return nil, explain(err)
	}
	n := &Numbers{linesOf(x, log, messageLog()), make([]int32, len(x.lines))}
	path := a.Branch()
	left := a.Left(path)
	number := int32(len(x.lines))
	for k, i := range slices.Backward(path) {
		number -= left[k]
		n.numbers[i] = max(number, 1)
		number--
	}
	return n, nil
}

// Calls reads the ids of the lines of tools.jsonl.
func (l *Logs) Calls() (*Lines, error) {
	log := io.NewSectionReader(l.Tools, 0, l.Tools.size)
	x, err := newLookup(log, 0, toolHeads())
	if err != nil {
		return nil, explain(err)
	}
	lines := linesOf(x, log, toolLog())
	return &lines, nil
}

func linesOf[R any](x *lookup, log io.ReaderAt, k logKind[R]) Lines {
	lines := func(place int32) iter.Seq2[int64, R] {
		return func(yield func(int64, R) bool) {
			for _, offset := range x.offsets(place) {
				raw, err := recordAt(log, offset)
				if err != nil {
					continue
				}
				if r, err := k.parse(raw); err == nil && !yield(offset, r) {
					return
				}
			}
		}
	}
	best := func(place int32) int64 {
		var best R
		at := int64(-1)
		for offset, r := range lines(place) {
			if at < 0 || k.beats(&r, &best) {
				best, at = r, offset
			}
		}
		return at
	}
	apart := func(place int32) bool {
		var all []R
		for _, r := range lines(place) {
			if slices.ContainsFunc(all, func(o R) bool { _, ok := k.combine(&r, &o); return ok }) {
				return true
			}
			all = append(all, r)
		}
		return false
	}
	return Lines{x, best, apart}
}

// Counts reports whether the record with the given id that begins at an offset counts: no
// other line has the id, or this one is its last state.
func (l *Lines) Counts(id []byte, offset int64) bool {
	if len(id) == 0 {
		return true
	}
	place := l.places.find(id)
	if place < 0 {
		return false // git replaced what the log held
	}
	if l.places.more[place] == nil {
		return l.places.lines[place].offset == offset
	}
	return l.best(place) == offset
}

// Apart reports whether two lines of an id redact different texts, as after a merge of two
// clones: then the record to read is neither of them, and only [Reader.Whole] has it.
func (l *Lines) Apart(id []byte) bool {
	if len(id) == 0 {
		return false
	}
	place := l.places.find(id)
	return place >= 0 && l.places.more[place] != nil && l.apart(place)
}

// Number returns the number of the message with the given id, as in [schema.Message], or 0
// if it is on a branch that was left, or unknown. Messages without an id are found by the
// offset of their line.
func (n *Numbers) Number(id []byte, offset int64) int {
	place := int32(-1)
	if len(id) > 0 {
		place = n.places.find(id)
	} else if i, ok := slices.BinarySearchFunc(n.places.lines, offset, func(l line, at int64) int { return cmp.Compare(l.offset, at) }); ok {
		place = int32(i)
	}
	if place < 0 {
		return 0
	}
	return int(n.numbers[place])
}

// Whole reads every message and call of the conversation that counts, in all of its
// folders, in the order of their first lines. Messages of the branch that a resume
// continues have a number. Damaged lines are left out.
func (r *Reader) Whole() ([]schema.Message, []schema.Tool, error) {
	msgs := newest[schema.Message]{logKind: messageLog()}
	tools := newest[schema.Tool]{logKind: toolLog()}
	for i, f := range r.folders() {
		for m, err := range Undamaged(readIn(r, f, messageLog())) {
			if err != nil {
				return nil, nil, err
			}
			msgs.add(m.ID, m, i)
		}
		for t, err := range Undamaged(readIn(r, f, toolLog())) {
			if err != nil {
				return nil, nil, err
			}
			tools.add(t.ID, t, i)
		}
	}
	branch, _ := schema.Branch(slices.Clone(msgs.list))
	schema.Number(branch, msgs.list, len(msgs.list))
	numbers := make(map[string]int, len(branch))
	for _, m := range branch {
		numbers[m.ID] = m.Number
	}
	for i := range msgs.list {
		m := &msgs.list[i]
		switch {
		case m.ID != "":
			m.Number = numbers[m.ID]
		case i == 0:
			m.Number = 1
		case msgs.list[i-1].Number > 0: // a line without an id belongs to the one before it
			m.Number = msgs.list[i-1].Number + 1
		}
	}
	return msgs.list, tools.list, nil
}
