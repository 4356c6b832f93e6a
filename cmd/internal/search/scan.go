package search

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"cortext/cmd/internal/search/needle"
	"cortext/schema/jsonl"
)

// chunk is the size, in bytes, of the parts of a log that are searched at the same time.
const chunk = 8 << 20

// scan returns the records of a log in which terms occur, in order, whether they count or
// not.
func (r *reading) scan(k *kind) ([]record, error) {
	needles := make([]*needle.Needle, len(r.terms))
	for i, t := range r.terms {
		needles[i] = t.needle
	}
	return r.scanFor(k, needles, func(*record) bool { return true })
}

// occurs reports whether a term occurs in the logs, in records that count or not.
func (r *reading) occurs(term int) (bool, error) {
	needles := []*needle.Needle{r.terms[term].needle}
	for _, k := range r.kinds {
		some := false
		_, err := r.scanFor(k, needles, func(f *record) bool {
			some = some || f.terms>>term&1 != 0
			return !some
		})
		if some || err != nil {
			return some, err
		}
	}
	return false, nil
}

// scanFor returns the records in which terms occur, in the lines where one of the needles
// may be. It ends when goOn returns false.
func (r *reading) scanFor(k *kind, needles []*needle.Needle, goOn func(*record) bool) ([]record, error) {
	if err := k.log.Err(); err != nil {
		return nil, err
	}
	n := int((k.log.Size() + chunk - 1) / chunk)
	lists := make([][]record, n)
	errs := make([]error, n)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var mu sync.Mutex
	one := func(i int) {
		s := scanner{reading: r, kind: k, needles: needles}
		s.found = func(f record) bool {
			lists[i] = append(lists[i], f)
			mu.Lock()
			defer mu.Unlock()
			if !goOn(&f) {
				stop()
			}
			return ctx.Err() == nil
		}
		errs[i] = s.scan(int64(i)*chunk, int64(i+1)*chunk)
	}
	if n == 1 {
		one(0)
	} else {
		var group sync.WaitGroup
		slots := make(chan struct{}, runtime.GOMAXPROCS(0))
		for i := range n {
			slots <- struct{}{}
			group.Go(func() {
				if ctx.Err() == nil {
					one(i)
				}
				<-slots
			})
		}
		group.Wait()
	}
	return slices.Concat(lists...), errors.Join(errs...)
}

// A scanner searches a part of a log.
type scanner struct {
	*reading
	kind    *kind
	needles []*needle.Needle
	found   func(record) bool // false ends the search
}

func (s *scanner) scan(from, to int64) error {
	for b, err := range s.kind.log.Blocks(from, to) {
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
		from, end := bytes.LastIndexByte(text[:at], '\n')+1, bytes.IndexByte(text[at:], '\n')
		to := len(text)
		if end >= 0 {
			to = at + end
		}
		if !s.line(text[from:to:to], offset+int64(from), end >= 0) {
			return false
		}
		for i, n := range s.needles {
			if next[i] >= 0 && next[i] <= to {
				next[i] = n.Next(text, to+1)
			}
		}
	}
}

// line searches one line.
func (s *scanner) line(text []byte, offset int64, terminated bool) bool {
	return jsonl.Split(text, offset, 0, terminated, func(rec jsonl.Record, err error) bool {
		if err != nil {
			return true
		}
		f, passages, err := s.kind.parse(rec.Raw)
		if err != nil || !s.match(&f, passages) {
			return true
		}
		f.kind, f.offset = s.kind, rec.Offset
		return s.found(f)
	})
}
