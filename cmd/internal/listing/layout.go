package listing

import "sort"

// A layout is the order of the rows of a view: those of the index that are left, and those
// that were added.
type layout struct {
	spans []span
	runs  []int // the spans of rows of the index
	n     int
}

// A span is a run of rows: of the index from row base on, or one that was added.
type span struct{ at, base, added int } // base or added is -1

// addOne adds a row that was added, by its number among them.
func (l *layout) addOne(added int) {
	l.spans = append(l.spans, span{l.n, -1, added})
	l.n++
}

// addRun adds the rows of the index from one to another, which is not included.
func (l *layout) addRun(from, end int) {
	if from < end {
		l.runs = append(l.runs, len(l.spans))
		l.spans = append(l.spans, span{l.n, from, -1})
		l.n += end - from
	}
}

// find returns where the row at the given position is: in the index, or among those added.
func (l *layout) find(i int) (base, added int) {
	k := sort.Search(len(l.spans), func(k int) bool { return l.spans[k].at > i }) - 1
	if s := l.spans[k]; s.base < 0 {
		return -1, s.added
	} else {
		return s.base + i - s.at, -1
	}
}

// end returns the position after a span.
func (l *layout) end(k int) int {
	if k+1 < len(l.spans) {
		return l.spans[k+1].at
	}
	return l.n
}

// left returns how many rows from a position on are consecutive in the index.
func (l *layout) left(at int) int {
	k := sort.Search(len(l.spans), func(k int) bool { return l.spans[k].at > at }) - 1
	return l.end(k) - at
}

// position returns the position of a row of the index.
func (l *layout) position(base int) (int, bool) {
	k := sort.Search(len(l.runs), func(k int) bool { return l.spans[l.runs[k]].base > base }) - 1
	if k < 0 {
		return 0, false
	}
	s := l.spans[l.runs[k]]
	at := s.at + base - s.base
	return at, at < l.end(l.runs[k])
}
