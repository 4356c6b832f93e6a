package store

import (
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// A branch locates, in a log, the messages of the branch that a resume continues.
type branch struct {
	first  []int64           // by message, oldest first: the offset of its first line
	more   map[int64][]int64 // offsets of further lines of a message, by that of its first
	left   []int32           // [schema.Ancestry.Left]
	total  int               // messages in the log
	damage []jsonl.Damage
}

// readBranch finds the branch in a log of about this many messages. It reads the whole
// log but keeps only the links between messages, some 100 bytes each.
func readBranch(log *io.SectionReader, about int) (*branch, error) {
	x, a, err := readLinks(log, about)
	if err != nil {
		return nil, err
	}
	path := a.Branch()
	b := &branch{left: a.Left(path), total: len(x.lines), damage: x.damage, first: make([]int64, len(path)), more: map[int64][]int64{}}
	for k, i := range path {
		b.first[k] = x.lines[i].offset
		if more := x.more[i]; more != nil {
			b.more[b.first[k]] = more
		}
	}
	return b, nil
}

// readLinks reads which message follows which, in a log of about this many messages.
func readLinks(log *io.SectionReader, about int) (*lookup, *schema.Ancestry, error) {
	x, err := newLookup(log, about, messageHeads())
	if err != nil {
		return nil, nil, err
	}
	for i := range x.more { // if a message has several lines, the one that counts may name another parent
		m, err := messageLog().at(log, x.offsets(i))
		if err != nil {
			return nil, nil, err
		}
		x.lines[i] = x.line(head{id: []byte(m.ID), parent: []byte(m.ParentID), at: []byte(m.Timestamp)}, x.lines[i].offset)
	}
	a := &schema.Ancestry{
		Parents: make([]int32, len(x.lines)),
		At:      func(i int32) time.Time { return x.lines[i].at() },
		ID: func(i int32) string {
			m, _ := messageLog().at(log, x.offsets(i)) // an unreadable one sorts first
			return m.ID
		},
	}
	for i, l := range x.lines {
		switch {
		case l.id == 0 && i > 0:
			a.Parents[i] = schema.Attached
		case l.id == 0 || l.parent == 0:
			a.Parents[i] = schema.Unnamed
		case i > 0 && x.lines[i-1].id == l.parent: // nearly always
			a.Parents[i] = int32(i) - 1
		default:
			if a.Parents[i] = *x.slot(l.parent) - 1; a.Parents[i] < 0 {
				a.Parents[i] = schema.Absent
			}
		}
	}
	return x, a, nil
}

// A logCache keeps the result for the log that was read last, since one command reads a
// log several times.
type logCache[T any] struct {
	sync.Mutex
	name  string
	info  fs.FileInfo
	found *T
}

// get returns the result for the log of that name. It is nil if there is none, or if info
// no longer matches the log.
func (c *logCache[T]) get(name string, info fs.FileInfo) *T {
	c.Lock()
	defer c.Unlock()
	if c.name != name || !sameState(info, c.info) {
		return nil
	}
	return c.found
}

// of returns the result of find for a log.
func (c *logCache[T]) of(l *logReader, find func(*io.SectionReader) (*T, error)) (*T, error) {
	info, err := l.file.Stat()
	if err != nil {
		return nil, err
	}
	found := c.get(l.name, info)
	if found != nil {
		return found, nil
	}
	if found, err = find(io.NewSectionReader(l, 0, info.Size())); err == nil {
		c.Lock()
		defer c.Unlock()
		c.name, c.info, c.found = l.name, info, found
	}
	return found, err
}

// branch reads the end of the branch that a resume continues, wherever its messages and
// their calls are in the logs. ok is false if everything must be read.
func (r historyReader) branch() (h schema.History, damage []Damage, ok bool, err error) {
	log, err := r.openOwn(messagesFile)
	if log == nil {
		return h, nil, false, err
	}
	defer log.close()
	sess, _, err := r.Session()
	if err != nil {
		return h, nil, false, err
	}
	found, err := r.s.branch.of(log, func(log *io.SectionReader) (*branch, error) { return readBranch(log, sess.MessageCount) })
	if err != nil {
		return h, nil, false, nil // reading everything reports what is wrong
	}
	tool, toolDamage, done, err := r.callFinder(sess.MessageCount)
	if err != nil {
		return h, nil, false, nil
	}
	defer done()

	h.Tools = map[string]schema.Tool{}
	b, from := budget{limit: r.limit}, len(found.first)
	h.Messages = make([]schema.Message, 0, min(from, max(r.limit.Messages, r.limit.Tokens/100))) // otherwise growing it is a tenth of the work
	for ; from > 0 && !b.spent; from-- {
		first := found.first[from-1]
		m, err := messageLog().at(log, append([]int64{first}, found.more[first]...))
		if err != nil {
			return h, nil, false, nil
		}
		if b.spent = b.reached(&m); b.spent {
			break
		}
		h.Messages = append(h.Messages, m)
		err = b.take(&m, func(id string) (*schema.Tool, error) {
			t, err := tool(id)
			if t != nil {
				h.Tools[id] = *t
			}
			return t, err
		})
		if err != nil {
			return h, nil, false, nil
		}
	}
	if from == 0 {
		return h, nil, false, nil
	}
	number := found.total
	for i := range h.Messages {
		number -= int(found.left[len(found.left)-1-i])
		h.Messages[i].Number = max(number, 1)
		number--
	}
	slices.Reverse(h.Messages)
	setCounts(&h, found.total)
	for _, d := range found.damage {
		damage = append(damage, Damage{log.name, d})
	}
	return h, append(damage, toolDamage...), true, nil
}

// callFinder returns a function that finds a call in tools.jsonl, or nil if no call has
// that id, and the damage found there. The caller must call done at the end.
func (r historyReader) callFinder(about int) (find func(id string) (*schema.Tool, error), damage []Damage, done func(), err error) {
	log, err := r.openOwn(toolsFile)
	if log == nil {
		return func(string) (*schema.Tool, error) { return nil, nil }, nil, func() {}, err
	}
	x, err := r.s.calls.of(log, func(log *io.SectionReader) (*lookup, error) { return newLookup(log, about, toolHeads()) })
	if err != nil {
		_ = log.close()
		return nil, nil, nil, err
	}
	for _, d := range x.damage {
		damage = append(damage, Damage{log.name, d})
	}
	return func(id string) (*schema.Tool, error) {
		place := x.find([]byte(id))
		if place < 0 {
			return nil, nil
		}
		t, err := toolLog().at(log, x.offsets(place))
		return &t, err
	}, damage, func() { _ = log.close() }, nil
}
