package store

import (
	"bytes"
	"errors"
	"os"
	"slices"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// Where the end of a log is no single thread, as after a merge, firstWindow bytes of it are
// read, then twice as many, up to mostWindow: what that does not tell is told by the
// whole.
const (
	firstWindow = 4 << 20
	mostWindow  = 64 << 20
)

// window reads the end of a conversation in which the branches of several clones, or
// branches that were left, stand among each other. ok is false where everything must be
// read.
func (c *Conversation) window(limit Limit, first, most int64) (h schema.History, damage []Damage, ok bool, err error) {
	f, size, err := c.openForReading(messagesFile)
	if f == nil {
		return h, nil, false, err
	}
	defer f.Close()
	for n := first; n < size && n <= most && !ok && err == nil; n *= 2 {
		h, damage, ok, err = c.windowOf(f, size, n, limit)
	}
	return h, damage, ok, err
}

// windowOf is window in the last n bytes of the first size ones of f.
func (c *Conversation) windowOf(f *os.File, size, n int64, limit Limit) (h schema.History, damage []Damage, ok bool, err error) {
	text := make([]byte, n)
	if _, err := f.ReadAt(text, size-n); err != nil {
		return h, nil, false, nil // reading all finds what is wrong
	}
	cut := bytes.IndexByte(text, '\n') + 1 // of the line that it begins within
	t := links{lines: map[string][][]byte{}}
	if !t.read(text[cut:]) || !t.choose() {
		return h, nil, false, nil
	}
	path, _ := schema.Branch(t.messages)
	if h, damage, ok, err = c.endOf(path, t.lines, limit); !ok || err != nil {
		return h, nil, false, err
	}
	last, parents := path[len(path)-1], parentsOf(t.messages)
	if slices.ContainsFunc(append(t.messages[:len(t.messages):len(t.messages)], t.revised...), func(m schema.Message) bool {
		return m.ID != last.ID && !parents[m.ID] && !m.Timestamp.Time().Before(last.Timestamp.Time())
	}) {
		return h, nil, false, nil // two ends, of which the beginning may show which is resumed
	}
	if newer, err := newerBefore(f, size-n+int64(cut), last.Timestamp, parents); newer || err != nil {
		return h, nil, false, nil
	}
	s, _, err := c.Session()
	if err != nil {
		return h, nil, false, err
	}
	total := max(s.MessageCount, len(t.messages))
	schema.Number(h.Messages, t.messages, total)
	counted(&h, total)
	return h, damage, true, nil
}

// links are what ties the messages of a part of a log together.
type links struct {
	messages []schema.Message    // with id, parent and time only
	revised  []schema.Message    // likewise, of later lines of messages whose first is further up
	lines    map[string][][]byte // by id
}

// read takes in the lines of a part of a log; ok is false if one of them is none of a message
// that has an id.
func (t *links) read(part []byte) (ok bool) {
	for line := range bytes.Lines(part) {
		line, ended := bytes.CutSuffix(line, []byte("\n"))
		id := ""
		if ended && len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}' {
			id = recordID(line)
		}
		if id == "" { // one without id belongs to a line that may be further up
			return false
		}
		have, known := t.lines[id]
		if !known && bytes.Contains(line, []byte(`"rev":`)) && rawjson.Get(line, "rev") != nil {
			t.revised = append(t.revised, linkIn(line, id))
			continue // its place is further up
		}
		t.lines[id] = append(have, line)
		if !known {
			t.messages = append(t.messages, linkIn(line, id))
		}
	}
	return len(t.messages) > 0
}

// choose takes of the messages with several lines the one that counts: it may name another
// parent or another time than the first. ok is false if a line is damaged.
func (t *links) choose() (ok bool) {
	for i := range t.messages {
		m := &t.messages[i]
		if all := t.lines[m.ID]; len(all) > 1 {
			best, err := bestOf(all)
			if err != nil {
				return false
			}
			m.ParentID, m.Timestamp = best.ParentID, best.Timestamp
		}
	}
	return true
}

// bestOf is the message of several lines with one id.
func bestOf(lines [][]byte) (schema.Message, error) {
	best := newest[schema.Message]{rank: messageRank, less: saysLess}
	for _, line := range lines {
		m, err := schema.ParseMessage(line)
		if err != nil {
			return m, err
		}
		best.add(m.ID, m, 0)
	}
	return best.list[0], nil
}

// linkIn reads the parent and the time of the message in a line. They are found without
// parsing where they stand as cortext writes them: behind the id.
func linkIn(line []byte, id string) schema.Message {
	m := schema.Message{ID: id}
	rest, _ := bytes.CutPrefix(line, []byte(`{"id":"`+id+`"`))
	field := func(name string) string {
		value, ok := bytes.CutPrefix(rest, []byte(`,"`+name+`":"`))
		if end := bytes.IndexAny(value, `"\`); ok && end >= 0 && value[end] == '"' {
			rest = value[end+1:]
			return string(value[:end])
		}
		return ""
	}
	m.ParentID, m.Timestamp = field("parent_id"), schema.Time(field("timestamp"))
	if m.Timestamp == "" || m.ParentID == "" && bytes.Contains(rest, []byte(`"parent_id"`)) { // written by another program
		m.ParentID, m.Timestamp = rawjson.String(rawjson.Get(line, "parent_id")), schema.Time(rawjson.String(rawjson.Get(line, "timestamp")))
	}
	return m
}

// endOf reads the end of a branch that the limit wants, with its calls; lines are those of
// the messages by their ids. ok is false where it goes on before these, or they are damaged.
func (c *Conversation) endOf(path []schema.Message, lines map[string][][]byte, limit Limit) (h schema.History, damage []Damage, ok bool, err error) {
	log, size, err := c.openForReading(toolsFile)
	if err != nil {
		return h, nil, false, err
	}
	if log != nil {
		defer log.Close()
	}
	tools := newToolFinder(log, size)
	defer tools.stop()
	h.Tools = map[string]schema.Tool{}
	b, from := budget{limit: limit}, len(path)
	follows := true // the messages from there on follow what stands before it in path
	for ; from > 0 && !b.spent && follows; from-- {
		m := &path[from-1]
		if b.spent = b.reached(m); b.spent {
			break
		}
		_, follows = lines[m.ParentID] // one without a parent follows what may stand further up
		full, err := bestOf(lines[m.ID])
		if err != nil {
			return h, nil, false, nil
		}
		*m = full
		var findErr error
		b.take(m, func(id string) *schema.Tool {
			tool, err := tools.find(id)
			findErr = errors.Join(findErr, err)
			if tool != nil {
				h.Tools[id] = *tool
			}
			return tool
		})
		if findErr != nil {
			return h, nil, false, nil
		}
	}
	if !b.spent || from == len(path) {
		return h, nil, false, nil
	}
	for _, d := range slices.Backward(tools.damage) {
		damage = append(damage, Damage{c.file(toolsFile), d})
	}
	h.Messages = path[from:]
	return h, damage, true, nil
}
