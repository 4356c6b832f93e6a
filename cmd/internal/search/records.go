package search

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"cortext/schema"
	"cortext/store"
)

// A record is a message or a call in which terms occur.
type record struct {
	terms     uint64 // the set of terms
	texts     int    // passages with at least one
	id        []byte
	messageID []byte
	isCall    bool
	number    int // of the message; 0 if none, or on a branch that was left

	// Where to read it again.
	log    *searchedLog // nil if it is not in the conversation's own logs
	offset int64
	held   []passage // if log is nil
}

// A searchedLog is one of the two logs of a conversation, with the functions that read its
// lines.
type searchedLog struct {
	file   *store.Log
	plain  func(line []byte) (p plainLine, ok bool)
	parse  func(line []byte) (record, []passage, error)
	chain  []entry // what the index covers of the log
	isCall bool
	memory *logMemory
	text   []byte // the whole log, if it is in memory

	checked, regular bool // what isRegular has found
}

// load reads the log into memory, unless it is large.
func (k *searchedLog) load() error {
	if k.text != nil || k.file.Size() > chunk || k.file.Size() == 0 {
		return nil
	}
	text, err := k.file.Load(k.memory.text)
	if err == nil {
		k.memory.text, k.text = text, text
	}
	return err
}

// isRegular reports whether the whole log is in memory and [regular].
func (k *searchedLog) isRegular() bool {
	if int64(len(k.text)) < k.file.Size() {
		return false
	}
	if !k.checked {
		k.checked, k.regular = true, k.memory.read(k.text, k.isCall)
	}
	return k.regular
}

// A memory is what the search of one conversation leaves for that of the next.
type memory struct {
	messages, tools logMemory
	found           []record
}

// A logMemory is the memory for one log of a conversation.
type logMemory struct {
	text  []byte
	found []record
	regular
}

func parseMessage(line []byte) (record, []passage, error) {
	m, err := schema.ParseMessage(line)
	return record{id: []byte(m.ID), messageID: []byte(m.ID)}, messagePassages(&m), err
}

func parseTool(line []byte) (record, []passage, error) {
	t, err := schema.ParseTool(line)
	return record{id: []byte(t.ID), messageID: []byte(t.MessageID), isCall: true}, toolPassages(&t), err
}

// A reading searches the records of one conversation.
type reading struct {
	*Query
	c     *store.Reader
	entry store.Entry
	index *lookup // nil if there is none
	use   *memory
	whole bool // decode every record

	logs            *store.Logs // nil if they are not open
	messages, tools searchedLog
	searched        []*searchedLog // those of the two that this search reads
}

// open opens the logs that are searched. ok is false if not all records are in them.
func (r *reading) open() (ok bool) {
	if r.whole {
		return false
	}
	if r.logs, ok = r.c.OpenLogs(); !ok {
		return false
	}
	r.messages = searchedLog{file: r.logs.Messages, memory: &r.use.messages, plain: plainMessage, parse: parseMessage}
	r.tools = searchedLog{file: r.logs.Tools, memory: &r.use.tools, plain: plainTool, parse: parseTool, isCall: true}
	if r.In != Tools {
		r.searched = append(r.searched, &r.messages)
	}
	if r.In == Tools || r.In == "" {
		r.searched = append(r.searched, &r.tools)
	}
	if r.index != nil {
		for _, k := range r.searched {
			k.chain = r.index.covering(k.file.Name(), k.file.State(), k.file)
			r.index.note(r.entry, k.isCall, k.file, k.chain)
		}
	}
	return true
}

// unread returns why a log could not be searched, or nil; see [store.Logs.Unread].
func (r *reading) unread() error {
	if r.logs != nil {
		return r.logs.Unread()
	}
	return r.c.Unread()
}

func (r *reading) close() {
	if r.logs != nil {
		_ = r.logs.Close()
	}
}

// match completes a record with the terms in its passages. ok is false if there are none.
func (q *Query) match(r *record, passages []passage) (ok bool) {
	for _, p := range passages {
		if q.In.searched(p.place) {
			r.add(q.in(p.text))
		}
	}
	return r.terms != 0
}

// add adds the set of terms that are in a text of the record.
func (r *record) add(terms uint64) {
	if terms != 0 {
		r.terms |= terms
		r.texts++
	}
}

// records returns the records that count and in which terms occur, in the order of their
// lines. It may return none if some term neither occurs in them nor is in the set have.
func (r *reading) records(have uint64) ([]record, error) {
	rare := r.rarest(have)
	if !r.open() {
		return r.decoded()
	}
	if rare >= 0 && len(r.terms) > 1 {
		if some, err := r.occurs(rare); err != nil || !some {
			return nil, err
		}
	}
	all := r.use.found[:0]
	for _, k := range r.searched {
		list, err := r.scan(k)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	r.use.found = all
	for i := range all {
		have |= all[i].terms
	}
	if have != r.all() || len(all) == 0 {
		return nil, nil
	}
	return r.counting(all)
}

// rarest returns the term that is likely to be the rarest of those that are not in a set,
// or -1.
func (q *Query) rarest(have uint64) int {
	best := -1
	for i, t := range q.terms {
		if have>>i&1 == 0 && (best < 0 || t.weight() > q.terms[best].weight()) {
			best = i
		}
	}
	return best
}

// weight is greater for terms that are likely to be rarer; see [needle.Needle.Weight].
func (t *term) weight() int {
	least := t.needles[0].Weight()
	for _, n := range t.needles[1:] {
		least = min(least, n.Weight())
	}
	return least
}

// counting returns the records that count, with the numbers of their messages.
func (r *reading) counting(all []record) ([]record, error) {
	someCalls := slices.ContainsFunc(all, func(f record) bool { return f.isCall })
	counted := []*searchedLog{&r.messages}
	if someCalls {
		counted = append(counted, &r.tools)
	}
	if ok, err := areRegular(counted); err != nil {
		return nil, err
	} else if ok {
		r.use.messages.number(all)
		return all, nil
	}
	numbers, err := r.logs.Numbers()
	if err != nil {
		return nil, err
	}
	calls := &store.Lines{}
	if someCalls {
		if calls, err = r.logs.Calls(); err != nil {
			return nil, err
		}
	}
	for _, f := range all {
		if !f.isCall && numbers.Apart(f.id) || f.isCall && calls.Apart(f.id) {
			return r.decoded()
		}
	}
	list := all[:0]
	for _, f := range all {
		if f.isCall {
			f.number = numbers.Number(f.messageID, -1)
			if calls.Counts(f.id, f.offset) {
				list = append(list, f)
			}
		} else if numbers.Counts(f.id, f.offset) {
			f.number = numbers.Number(f.id, f.offset)
			list = append(list, f)
		}
	}
	return list, nil
}

// areRegular loads logs and reports whether all of them are [regular].
func areRegular(logs []*searchedLog) (ok bool, err error) {
	for _, k := range logs {
		if err := k.load(); err != nil || !k.isRegular() {
			return false, err
		}
	}
	return true, nil
}

// decoded returns the records that count and in which terms occur. It decodes every record, as is
// necessary for a conversation in several folders.
func (r *reading) decoded() ([]record, error) {
	msgs, tools, err := r.c.Whole()
	if err != nil {
		return nil, err
	}
	var all []record
	numbers := map[string]int{}
	for i := range msgs {
		m := &msgs[i]
		numbers[m.ID] = m.Number
		f := record{id: []byte(m.ID), messageID: []byte(m.ID), number: m.Number, held: messagePassages(m)}
		if r.match(&f, f.held) {
			all = append(all, f)
		}
	}
	for i := range tools {
		t := &tools[i]
		f := record{id: []byte(t.ID), messageID: []byte(t.MessageID), isCall: true, number: numbers[t.MessageID], held: toolPassages(t)}
		if r.match(&f, f.held) {
			all = append(all, f)
		}
	}
	return all, nil
}

// hits returns at most this many hits in records, taken from those with the
// most terms.
func (r *reading) hits(all []record, most int) ([]Hit, error) {
	byNumber := func(a, b *record) int {
		return cmp.Or(
			cmp.Compare(uint(a.number-1), uint(b.number-1)), // those without a number come last
			bytes.Compare(a.messageID, b.messageID),
			cmp.Compare(bit(a.isCall), bit(b.isCall)),
			bytes.Compare(a.id, b.id),
		)
	}
	best := func(a, b *record) int {
		return cmp.Or(cmp.Compare(count(b.terms), count(a.terms)), byNumber(a, b))
	}
	if most == 0 {
		most = math.MaxInt
	}
	var list []*record // the best ones, best first; equally good ones in order
	for i := range all {
		f := &all[i]
		if len(list) == most && best(f, list[most-1]) >= 0 {
			continue
		}
		at := len(list)
		if most < math.MaxInt {
			for at > 0 && best(f, list[at-1]) < 0 {
				at--
			}
		}
		if list = slices.Insert(list, at, f); len(list) > most {
			list = list[:most]
		}
	}
	slices.SortStableFunc(list, byNumber)
	var hits []Hit
	for _, f := range list {
		passages, err := f.read()
		if err != nil {
			return nil, err
		}
		for _, p := range passages {
			if len(hits) < most && r.In.searched(p.place) && r.in(p.text) != 0 {
				hits = append(hits, Hit{Place: p.place, Message: f.number, MessageID: string(f.messageID), Sentence: r.sentence(p.text)})
			}
		}
	}
	return hits, nil
}

// read returns the passages of a record.
func (f *record) read() (passages []passage, err error) {
	if f.log == nil {
		return f.held, nil
	}
	if text := f.log.text; text != nil { // faster
		line, _, _ := bytes.Cut(text[f.offset:], []byte("\n"))
		if p, ok := f.log.plain(line); ok && whole(line) {
			return p.passages(), nil
		}
	}
	raw, err := f.log.file.Record(f.offset)
	if err != nil || raw == nil {
		return nil, err
	}
	_, passages, err = f.log.parse(raw)
	return passages, err
}
