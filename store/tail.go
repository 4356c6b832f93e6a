package store

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"iter"
	"slices"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/schema/rawjson"
	"cortext/store/internal/lines"
)

// errNotOneThread means that the end of a log does not show the order of its messages by
// itself.
var errNotOneThread = errors.New("not one thread")

// tail reads the end of a conversation. ok is false if that is not enough and everything
// must be read.
func (r historyReader) tail() (h schema.History, damage []Damage, ok bool, err error) {
	log, err := r.openOwn(messagesFile)
	if log == nil {
		return h, nil, false, err
	}
	defer log.close()
	toolsLog, err := r.openOwn(toolsFile)
	if err != nil {
		return h, nil, false, err
	}
	if toolsLog != nil {
		defer toolsLog.close()
	}
	tools := newToolFinder(toolsLog)
	defer tools.stop()

	t := tailReader{budget: budget{limit: r.limit}, tools: tools}
	t.newer = func(end int64, last schema.Time) (*bool, error) {
		return r.s.newer.of(log, func(log *io.SectionReader) (*bool, error) {
			newer, err := newerInSamples(log, end, last)
			return &newer, err
		})
	}
	if err := t.read(log); err != nil {
		return h, nil, false, nil // reading everything reports what is wrong
	}
	h = schema.History{Messages: t.messages, Tools: map[string]schema.Tool{}}
	slices.Reverse(h.Messages)
	for i := range h.Messages {
		for _, call := range h.Messages[i].ToolCalls {
			tool, err := tools.find(call.ID)
			if err != nil {
				return h, nil, false, nil
			}
			if tool != nil {
				h.Tools[call.ID] = *tool
			}
		}
	}
	total := len(h.Messages)
	if !t.all {
		sess, _, err := r.Session()
		if err != nil {
			return h, nil, false, err
		}
		if log.size <= readThrough && sess.LastActive.Time().After(t.last().Time()) {
			return h, nil, false, nil // a newer message may be anywhere
		}
		if newer, err := newerBefore(log, t.start, t.last(), parentsOf(t.messages, t.next)); newer || err != nil {
			return h, nil, false, nil
		}
		total = max(total, sess.MessageCount)
	}
	schema.Number(h.Messages, h.Messages, total)
	setCounts(&h, total)
	for _, found := range []struct {
		name   string
		damage []jsonl.Damage
	}{{messagesFile, t.damage}, {toolsFile, tools.damage}} {
		for _, d := range slices.Backward(found.damage) {
			damage = append(damage, Damage{r.file(found.name), d})
		}
	}
	return h, damage, true, nil
}

// parentsOf returns the ids of the messages that others follow.
func parentsOf(msgs []schema.Message, more ...*schema.Message) map[string]bool {
	parents := map[string]bool{}
	for i := range msgs {
		parents[msgs[i].ParentID] = true
	}
	for _, m := range more {
		if m != nil {
			parents[m.ParentID] = true
		}
	}
	return parents
}

// A tailReader collects messages from the last to the first.
type tailReader struct {
	budget
	tools    *toolFinder
	newer    func(end int64, last schema.Time) (*bool, error) // [newerInSamples]
	messages []schema.Message
	revs     map[string]schema.Message // later revs of messages whose first line comes earlier
	seen     map[string]bool
	leaf     *schema.Message // the last message with an id: no other follows it
	next     *schema.Message // the message with an id that was read last: it comes next
	start    int64           // offset of the first message examined
	all      bool            // the whole file was read
	damage   []jsonl.Damage
}

// read collects messages until the budget is spent or it reaches the start of the file.
func (t *tailReader) read(log *logReader) error {
	t.seen, t.revs = map[string]bool{}, map[string]schema.Message{}
	for rec, err := range recordsBackward(log) {
		var m schema.Message
		if err == nil {
			m, err = parseRecord(rec, messageLog())
		}
		var d *jsonl.Damage
		switch {
		case errors.As(err, &d):
			t.damage = append(t.damage, *d)
			continue
		case err != nil:
			return err
		case m.Rev > 0 && m.ID != "":
			if old, ok := t.revs[m.ID]; ok {
				m = messageLog().choose(m, old)
			}
			t.revs[m.ID] = m
			continue
		case t.spent && m.ID == "":
			continue
		}
		t.start = rec.Offset
		t.spent = t.spent || t.reached(&m)
		done := t.spent // the record just read belongs to m: is that in the thread?
		if t.leaf == nil && m.ID != "" {
			if newer, err := t.newer(rec.Offset, m.Timestamp); err != nil || *newer {
				return cmp.Or(err, errNotOneThread)
			}
		}
		if err := t.add(m); err != nil {
			return err
		}
		if done || t.spent && m.ID != "" {
			return t.checkFirst()
		}
	}
	t.all = !t.spent
	return t.checkFirst()
}

// add puts a message before those already read, if they follow it, unless the budget is
// spent.
func (t *tailReader) add(m schema.Message) error {
	if m.ID != "" {
		if t.seen[m.ID] || t.next != nil && t.next.ParentID != "" && t.next.ParentID != m.ID {
			return errNotOneThread
		}
		t.seen[m.ID] = true
		if rev, ok := t.revs[m.ID]; ok {
			m = rev
			delete(t.revs, m.ID)
		}
		t.next = &m
		if t.leaf == nil {
			t.leaf = &m
		}
	}
	if t.spent {
		return nil
	}
	t.messages = append(t.messages, m)
	return t.take(&m, t.tools.find)
}

// checkFirst rejects a first message whose parent comes after it, and an end that is
// older than a later line of an earlier message.
func (t *tailReader) checkFirst() error {
	if t.next != nil && t.seen[t.next.ParentID] {
		return errNotOneThread
	}
	for _, m := range t.revs {
		if !m.Timestamp.Time().Before(t.last().Time()) {
			return errNotOneThread
		}
	}
	return nil
}

// last returns the time of the newest message.
func (t *tailReader) last() schema.Time {
	if t.leaf == nil {
		return ""
	}
	return t.leaf.Timestamp
}

// recordsBackward yields the records of a log from last to first, and a [*jsonl.Damage]
// for anything else. Line numbers are unknown. A record is valid only until the next one.
func recordsBackward(l *logReader) iter.Seq2[jsonl.Record, error] {
	return func(yield func(jsonl.Record, error) bool) {
		type item struct {
			rec jsonl.Record
			err error
		}
		var items []item
		for line, err := range lines.Backward(l, l.size, jsonl.MaxLine) {
			if err == nil && line.Text == nil && line.Size > 1 {
				err = &jsonl.Damage{Offset: line.Offset, Kind: jsonl.TooLong}
			}
			if err != nil {
				if !yield(jsonl.Record{}, err) {
					return
				}
				continue
			}
			items = items[:0]
			jsonl.Split(jsonl.Line{Text: line.Text, Offset: line.Offset, Terminated: line.Terminated}, func(rec jsonl.Record, err error) bool {
				items = append(items, item{rec, err})
				return true
			})
			for _, i := range slices.Backward(items) {
				if !yield(i.rec, i.err) {
					return
				}
			}
		}
	}
}

// A toolFinder finds tool lines, reading tools.jsonl backward from its end and no further
// than it must.
type toolFinder struct {
	log    *logReader // nil if there is none
	next   func() (jsonl.Record, error, bool)
	stop   func()
	found  map[string]schema.Tool
	seen   map[string][]int64 // offsets of calls not requested yet
	damage []jsonl.Damage
}

func newToolFinder(log *logReader) *toolFinder {
	t := &toolFinder{log: log, found: map[string]schema.Tool{}, seen: map[string][]int64{}, stop: func() {}}
	if log != nil {
		t.next, t.stop = iter.Pull2(recordsBackward(log))
	}
	return t
}

// find returns the line of a call that has the greatest rev of those read so far, or nil
// if the log has none.
func (t *toolFinder) find(id string) (*schema.Tool, error) {
	if t.log == nil {
		return nil, nil
	}
	for _, offset := range t.seen[id] {
		raw, err := recordAt(t.log, offset)
		if err != nil {
			return nil, err
		}
		t.take(jsonl.Record{Offset: offset, Raw: raw})
	}
	delete(t.seen, id)
	for {
		if tool, ok := t.found[id]; ok {
			return &tool, nil
		}
		rec, err, ok := t.next()
		if !ok {
			return nil, nil
		}
		var d *jsonl.Damage
		switch {
		case errors.As(err, &d):
			t.damage = append(t.damage, *d)
		case err != nil:
			return nil, err
		default:
			got := recordID(rec.Raw)
			if _, again := t.found[got]; got == id || again {
				t.take(rec)
			} else {
				t.seen[got] = append(t.seen[got], rec.Offset)
			}
		}
	}
}

// take records the tool line rec.
func (t *toolFinder) take(rec jsonl.Record) {
	tool, err := parseRecord(rec, toolLog())
	if d := (*jsonl.Damage)(nil); errors.As(err, &d) {
		t.damage = append(t.damage, *d)
		return
	}
	if old, ok := t.found[tool.ID]; ok {
		tool = toolLog().choose(tool, old)
	}
	t.found[tool.ID] = tool
}

const (
	readThrough  = 64 << 20 // length up to which a log is read entirely if session.json knows about something newer than its end
	searchWindow = 1 << 20  // bytes before the end of a log that are searched for a newer message
	probeBytes   = 8 << 10  // bytes read at each earlier sample
	evenProbes   = 64       // samples spread over the whole log, besides those near the end
)

var timestampName = []byte(`"timestamp":"`)

// newerBefore reports whether the last megabyte before end has a message at least as new
// as last that no other message follows. If so, two clones were merged, and the
// newest message may not be at the end. named holds the ids that messages after end
// follow.
func newerBefore(r io.ReaderAt, end int64, last schema.Time, named map[string]bool) (bool, error) {
	from := max(end-searchWindow, 0)
	window := make([]byte, end-from)
	if _, err := r.ReadAt(window, from); err != nil {
		return false, err
	}
	return newestIn(window, last) && newerLeafIn(window, last, named), nil
}

// newerInSamples looks for an earlier message at least as new as last, at distances that
// grow by half and at places spread evenly over the log. It finds a branch that is at
// least half as long as what was appended after it, or that takes a fiftieth of the log.
func newerInSamples(r io.ReaderAt, end int64, last schema.Time) (bool, error) {
	var places []int64
	for distance := int64(searchWindow); distance <= end; distance += distance / 2 {
		places = append(places, end-distance)
	}
	for n := range int64(evenProbes) {
		places = append(places, (end-searchWindow)*n/evenProbes)
	}
	probe := make([]byte, probeBytes)
	for _, at := range places {
		if at < 0 {
			continue // it lies entirely in the last megabyte
		}
		n, err := r.ReadAt(probe[:min(probeBytes, end-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if newestIn(probe[:n], last) {
			return true, nil
		}
	}
	return false, nil
}

// newerLeafIn reports whether a part of a log contains a message that is not older than
// last, is not in named, and is not followed by another message of that part.
func newerLeafIn(part []byte, last schema.Time, named map[string]bool) bool {
	var newer []string
	parents := map[string]bool{}
	for line := range bytes.Lines(part) {
		if line[0] != '{' || line[len(line)-1] != '\n' || rawjson.Valid(line) != nil {
			continue // cut off, or damaged
		}
		parents[rawjson.String(rawjson.Get(line, "parent_id"))] = true
		if at := schema.Time(rawjson.String(rawjson.Get(line, "timestamp"))).Time(); !at.Before(last.Time()) && !at.IsZero() {
			newer = append(newer, recordID(line))
		}
	}
	return slices.ContainsFunc(newer, func(id string) bool { return !parents[id] && !named[id] })
}

// newestIn reports whether a part of a log contains a timestamp that is not before
// last. In texts the quotes of the name are escaped, so a text cannot be mistaken for
// one.
func newestIn(part []byte, last schema.Time) bool {
	for {
		i := bytes.Index(part, timestampName)
		if i < 0 {
			return false
		}
		part = part[i+len(timestampName):]
		end := bytes.IndexByte(part, '"')
		if end < 0 {
			return false
		}
		if at := schema.Time(part[:end]); !at.Time().Before(last.Time()) && !at.Time().IsZero() {
			return true
		}
	}
}
