package search

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"cortext/cmd/internal/search/needle"
	"cortext/schema/jsonl"
	"cortext/store/parallel"
)

// chunk is the size, in bytes, of the parts of a log that are searched in parallel.
const chunk = 8 << 20

// scan returns the records of a log in which terms occur, in order, whether they count or
// not.
func (r *reading) scan(k *searchedLog) ([]record, error) {
	return r.scanFor(k, r.all(), func(*record) bool { return true })
}

// occurs reports whether a term occurs in the logs, in records that count or not.
func (r *reading) occurs(term int) (bool, error) {
	for _, k := range r.searched {
		some := false
		_, err := r.scanFor(k, 1<<term, func(f *record) bool {
			some = some || f.terms>>term&1 != 0
			return !some
		})
		if some || err != nil {
			return some, err
		}
	}
	return false, nil
}

// scanFor returns the records in which terms occur, in the lines where one of a set of
// terms may be. It ends when goOn returns false.
func (r *reading) scanFor(k *searchedLog, terms uint64, goOn func(*record) bool) ([]record, error) {
	if err := k.file.Err(); err != nil {
		return nil, err
	}
	var needles []termNeedle
	for i, t := range r.terms {
		for _, n := range t.needles {
			if terms>>i&1 != 0 {
				needles = append(needles, termNeedle{n, 1 << i})
			}
		}
	}
	var spans []span
	all := []span{{0, k.file.Size()}}
	if r.index != nil {
		all = r.index.within(k.chain, k.file.Size(), terms)
	}
	wanted := int64(0)
	for _, s := range all {
		wanted += s.to - s.from
	}
	if wanted > k.file.Size()/2 {
		if err := k.load(); err != nil {
			return nil, err
		}
	}
	if k.text != nil {
		return r.scanText(k, needles, all, goOn), nil
	}
	for _, s := range all {
		for ; s.to-s.from > chunk; s.from += chunk {
			spans = append(spans, span{s.from, s.from + chunk})
		}
		spans = append(spans, s)
	}
	lists := make([][]record, len(spans))
	errs := make([]error, len(spans))
	var stopped atomic.Bool
	var mu sync.Mutex
	eachSpan(spans, func(i int) {
		s := scanner{reading: r, log: k, needles: needles}
		s.found = func(f record) bool {
			lists[i] = append(lists[i], f)
			mu.Lock()
			defer mu.Unlock()
			if !goOn(&f) {
				stopped.Store(true)
			}
			return !stopped.Load()
		}
		if !stopped.Load() {
			errs[i] = s.scan(spans[i].from, spans[i].to)
		}
	})
	return slices.Concat(lists...), errors.Join(errs...)
}

// scanText is scanFor for some parts of a log that is in memory. The records are valid until
// the log is searched again.
func (r *reading) scanText(k *searchedLog, needles []termNeedle, parts []span, goOn func(*record) bool) []record {
	list := &k.memory.found
	*list = (*list)[:0]
	s := scanner{reading: r, log: k, needles: needles}
	s.found = func(f record) bool {
		*list = append(*list, f)
		return goOn(&f)
	}
	for _, p := range parts {
		if !s.block(k.text[p.from:p.to], p.from) {
			break
		}
	}
	return *list
}

// eachSpan calls f for each span, in parallel if there is much to search.
func eachSpan(spans []span, f func(i int)) {
	size := int64(0)
	for _, s := range spans {
		size += s.to - s.from
	}
	if size <= chunk {
		for i := range spans {
			f(i)
		}
		return
	}
	parallel.Each(len(spans), f)
}

// A scanner searches a part of a log.
type scanner struct {
	*reading
	log     *searchedLog
	needles []termNeedle
	found   func(record) bool // false ends the search
	past    int               // lines of a regular log that were passed
}

// A termNeedle is a needle of a term, which is the only one in a set.
type termNeedle struct {
	*needle.Needle
	term uint64
}

func (s *scanner) scan(from, to int64) error {
	for b, err := range s.log.file.Blocks(from, to) {
		if err != nil {
			return err
		}
		if !s.block(b.Text, b.Offset) {
			return nil
		}
	}
	return nil
}

// block searches whole lines that begin at an offset of the log. It returns false if found
// did.
func (s *scanner) block(text []byte, offset int64) bool {
	next := make([]int, len(s.needles)) // where each needle may be; -1 if nowhere
	for i, n := range s.needles {
		next[i] = n.Next(text, 0)
	}
	for {
		at := -1
		for _, n := range next {
			if n >= 0 && (at < 0 || n < at) {
				at = n
			}
		}
		if at < 0 {
			return true
		}
		from, to, terminated := s.lineAt(text, offset, at)
		var terms uint64 // those that may be in the line
		for i, n := range next {
			if n >= 0 && n <= to {
				terms |= s.needles[i].term
			}
		}
		if !s.line(jsonl.Line{Text: text[from:to:to], Offset: offset + int64(from), Terminated: terminated}, terms, at-from) {
			return false
		}
		for i, n := range s.needles {
			if next[i] >= 0 && next[i] <= to {
				next[i] = n.Next(text, to+1)
			}
		}
	}
}

// lineAt returns the bounds of the line at a place in a block, without its newline.
func (s *scanner) lineAt(text []byte, offset int64, at int) (from, to int, terminated bool) {
	if s.log.checked && s.log.regular {
		starts := s.log.memory.starts
		for s.past < len(starts) && int64(starts[s.past]) <= offset+int64(at) {
			s.past++
		}
		from, to = int(int64(starts[s.past-1])-offset), len(text)-1
		if s.past < len(starts) {
			to = int(int64(starts[s.past])-offset) - 1
		}
		return from, to, true
	}
	from, to = bytes.LastIndexByte(text[:at], '\n')+1, len(text)
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		return from, at + end, true
	}
	return from, to, false
}

// line searches a line for the terms that may be in it. None is in it before from.
func (s *scanner) line(line jsonl.Line, terms uint64, from int) bool {
	if p, ok := s.log.plain(line.Text); ok && line.Terminated && (s.log.isRegular() || whole(line.Text)) {
		f := record{isCall: s.log.isCall, log: s.log, offset: line.Offset}
		if s.matchPlain(&f, line.Text, &p, candidates{terms, from}); f.terms == 0 {
			return true
		}
		if f.id, f.messageID = p.id, p.messageID; s.log.text == nil {
			f.id, f.messageID = bytes.Clone(p.id), bytes.Clone(p.messageID)
		}
		return s.found(f)
	}
	return jsonl.Split(line, func(rec jsonl.Record, err error) bool {
		if err != nil {
			return true
		}
		f, passages, err := s.log.parse(rec.Raw)
		if err != nil || !s.match(&f, passages) {
			return true
		}
		f.log, f.offset = s.log, rec.Offset
		return s.found(f)
	})
}
