package mergefile

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// A line is a line of a log, without its line ending.
type line struct {
	text []byte
	key  string // equal for lines that both sides share
	record
}

// A record describes the record in a line. It is zero if the line does not hold exactly one
// whole record.
type record struct {
	is       bool
	id       string
	at       time.Time
	rev      int
	redacted int  // number of redactions
	bare     bool // only places the record: the line before a redacted one

	message *schema.Message // of a redacted line, or
	tool    *schema.Tool
}

// combine returns two lines of one record as a line in which everything that either redacts
// is redacted; ok is false if one of them has all redactions.
func (r record) combine(o record) (text []byte, ok bool) {
	switch {
	case r.message != nil && o.message != nil:
		var m schema.Message
		if m, ok = r.message.Combine(o.message); ok {
			text = schema.AppendMessage(nil, &m)
		}
	case r.tool != nil && o.tool != nil:
		var t schema.Tool
		if t, ok = r.tool.Combine(o.tool); ok {
			text = schema.AppendTool(nil, &t)
		}
	}
	return bytes.TrimSuffix(text, []byte("\n")), ok
}

func messageLine(text []byte) record {
	m, err := schema.ParseMessage(text)
	if err != nil {
		return record{}
	}
	bare := m.Rev == 0 && m.Content == "" && m.Reasoning == "" && len(m.Blocks)+len(m.Attachments)+len(m.Redacted)+len(m.Unknown) == 0 && m.Usage == nil && m.Model == ""
	r := record{is: true, id: m.ID, at: m.Timestamp.Time(), rev: m.Rev, redacted: len(m.Redacted), bare: bare}
	if r.redacted > 0 {
		r.message = &m
	}
	return r
}

func toolLine(text []byte) record {
	t, err := schema.ParseTool(text)
	if err != nil {
		return record{}
	}
	bare := t.Rev == 0 && len(t.Input) == 0 && t.Output == "" && t.Error == "" && t.Success == nil && t.ExitCode == nil && len(t.Attachments)+len(t.Redacted)+len(t.Unknown) == 0
	r := record{is: true, id: t.ID, at: t.Timestamp.Time(), rev: t.Rev, redacted: len(t.Redacted), bare: bare}
	if r.redacted > 0 {
		r.tool = &t
	}
	return r
}

// A log is one version of a log: its lines and the torn tail that follows them.
type log struct {
	lines [][]byte
	torn  []byte
}

// mergeLogs merges two versions of a log. Lines at the start of both stay where they are. The
// rest are sorted by time, but each side's lines keep their order.
func mergeLogs(parse func([]byte) record, base, ours, theirs []byte) ([]byte, error) {
	x, y, before := split(parse, ours), split(parse, theirs), split(parse, base)
	torn, err := tornTail(before, x, y)
	if err != nil {
		return nil, err
	}
	same := 0
	for same < min(len(x.lines), len(y.lines)) && bytes.Equal(x.lines[same], y.lines[same]) {
		same++
	}
	sides := [2][]line{read(parse, x.lines[same:]), read(parse, y.lines[same:])}
	rest := [2][]line{kept(before, sides[0], sides[1]), kept(before, sides[1], sides[0])}
	if later(rest[0], rest[1]) {
		rest[0], rest[1] = rest[1], rest[0]
	}
	merged := withoutRedacted(combined(parse, interleave(rest[0], rest[1])))
	out := make([]byte, 0, len(ours)+len(theirs))
	for _, text := range x.lines[:same] {
		out = append(append(out, text...), '\n')
	}
	for _, l := range merged {
		out = append(append(out, l.text...), '\n')
	}
	return append(out, torn...), nil
}

// kept returns the lines of one side, without those that base has and the other side removed. A
// record is removed only if another one takes its place, as after a person or a program
// replaced text in all commits.
func kept(base log, side, other []line) []line {
	old, have := map[string]bool{}, map[string]bool{}
	for _, text := range base.lines {
		old[string(text)] = true
	}
	type place struct {
		id  string
		rev int
	}
	replaced := map[place]line{}
	for _, l := range other {
		have[string(l.text)] = true
		if l.id != "" && !old[string(l.text)] {
			replaced[place{l.id, l.rev}] = l
		}
	}
	return slices.DeleteFunc(slices.Clone(side), func(l line) bool {
		if !old[string(l.text)] || have[string(l.text)] {
			return false
		}
		by, found := replaced[place{l.id, l.rev}]
		return !l.is || found && l.redacted <= by.redacted
	})
}

// split splits a log into lines. A carriage return before a newline belongs to the line ending. A
// last line without a newline is a torn tail unless it is a whole record.
func split(parse func([]byte) record, raw []byte) log {
	var l log
	for text := range bytes.Lines(raw) {
		whole, ended := bytes.CutSuffix(text, []byte("\n"))
		whole = bytes.TrimSuffix(whole, []byte("\r"))
		if !ended && !parse(whole).is {
			l.torn = text
			continue
		}
		l.lines = append(l.lines, whole)
	}
	return l
}

// tornTail returns the torn tail of the merged log: either side's, unless a writer on the
// other side has set it aside since base.
func tornTail(base, x, y log) ([]byte, error) {
	switch {
	case bytes.Equal(x.torn, y.torn):
		return x.torn, nil
	case len(x.torn) > 0 && len(y.torn) > 0:
		return nil, fmt.Errorf("both sides end in the middle of a line: %w", ErrUnsure)
	}
	torn := append(slices.Clone(x.torn), y.torn...)
	if bytes.Equal(torn, base.torn) {
		return nil, nil
	}
	return torn, nil
}

// read parses lines. It drops repeated records and conflict markers.
func read(parse func([]byte) record, texts [][]byte) []line {
	lines := make([]line, 0, len(texts))
	times := map[string]int{}
	for _, text := range texts {
		l := line{text: text, record: parse(text)}
		if !l.is && jsonl.IsMarker(text) {
			continue
		}
		n := times[string(text)]
		if times[string(text)]++; n > 0 && l.id != "" {
			continue
		}
		// Lines without an id may repeat.
		l.key = fmt.Sprintf("%d %s", n, text)
		lines = append(lines, l)
	}
	return lines
}

// later reports whether x sorts after y: by the time of the first record, then by bytes.
func later(x, y []line) bool {
	return slices.CompareFunc(x, y, compareLines) > 0
}

func compareLines(a, b line) int {
	return cmp.Or(a.at.Compare(b.at), bytes.Compare(a.text, b.text))
}

// interleave merges two lists of lines. A line of both appears once: at a place consistent
// with both lists if there is one, otherwise where x has it.
func interleave(x, y []line) []line {
	inX, inY := map[string]int{}, map[string]int{}
	for i, l := range x {
		inX[l.key] = i
	}
	for i, l := range y {
		inY[l.key] = i
	}
	merged := make([]line, 0, len(x)+len(y))
	atX, atY := 0, 0
	for _, at := range append(ascending(x, inY), [2]int{len(x), len(y)}) {
		only := slices.DeleteFunc(slices.Clone(y[atY:at[1]]), func(l line) bool { _, both := inX[l.key]; return both })
		merged = byTime(merged, x[atX:at[0]], only)
		if at[0] < len(x) {
			merged = append(merged, x[at[0]])
		}
		atX, atY = at[0]+1, at[1]+1
	}
	return merged
}

// ascending returns the longest sequence of common lines that have the same order in both
// lists, as their places in x and in the other list.
func ascending(x []line, inOther map[string]int) [][2]int {
	type node struct {
		at   [2]int
		prev int
	}
	var nodes []node
	var ends []int // ends[n]: the node that ends the best sequence of n+1 lines
	for i, l := range x {
		j, both := inOther[l.key]
		if !both {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, j, func(end, j int) int { return cmp.Compare(nodes[end].at[1], j) })
		prev := -1
		if n > 0 {
			prev = ends[n-1]
		}
		nodes = append(nodes, node{[2]int{i, j}, prev})
		if n == len(ends) {
			ends = append(ends, 0)
		}
		ends[n] = len(nodes) - 1
	}
	if len(ends) == 0 {
		return nil
	}
	var run [][2]int
	for at := ends[len(ends)-1]; at >= 0; at = nodes[at].prev {
		run = append(run, nodes[at].at)
	}
	slices.Reverse(run)
	return run
}

// byTime appends the lines of x and y to merged. Each list keeps its order: byTime repeatedly
// takes the older of the two next lines. A line without an id stays with the line before it.
func byTime(merged, x, y []line) []line {
	for len(x) > 0 && len(y) > 0 {
		from := &x
		if compareLines(y[0], x[0]) < 0 {
			from = &y
		}
		n := 1
		for n < len(*from) && (*from)[n].id == "" {
			n++
		}
		merged = append(merged, (*from)[:n]...)
		*from = (*from)[n:]
	}
	return append(append(merged, x...), y...)
}

// combined replaces lines of one record that redact different texts with one that redacts all
// of them, at the place of the first.
func combined(parse func([]byte) record, lines []line) []line {
	first := map[string]int{} // the first redacted line of an id
	out := lines[:0]
	for _, l := range lines {
		at, seen := first[l.id]
		switch {
		case l.redacted == 0 || l.id == "":
		case !seen:
			first[l.id] = len(out)
		default:
			if text, ok := out[at].combine(l.record); ok {
				out[at].text, out[at].record = text, parse(text)
				continue
			}
		}
		out = append(out, l)
	}
	return out
}

// withoutRedacted removes lines that the other side still had but a redacted line replaces:
// those with a lower rev and fewer redactions. A line with a higher rev stays, because it may
// hold more; readers prefer the redacted one.
func withoutRedacted(lines []line) []line {
	best := map[string]record{}
	for _, l := range lines {
		b := best[l.id]
		if l.redacted > b.redacted || l.redacted > 0 && l.redacted == b.redacted && l.rev > b.rev {
			best[l.id] = l.record
		}
	}
	lines = slices.DeleteFunc(lines, func(l line) bool {
		b, redacted := best[l.id]
		return l.id != "" && redacted && l.redacted < b.redacted && l.rev < b.rev && !l.bare
	})
	// A reader may rely on the first line of an id having no rev.
	first := map[string]int{}
	for i, l := range lines {
		at, seen := first[l.id]
		if !seen {
			first[l.id] = i
		} else if l.bare && lines[at].rev > 0 {
			copy(lines[at+1:i+1], lines[at:i])
			lines[at] = l
			first = places(lines[:i+1])
		}
	}
	return lines
}

// places returns the index of the first line of each id.
func places(lines []line) map[string]int {
	first := map[string]int{}
	for i, l := range slices.Backward(lines) {
		first[l.id] = i
	}
	return first
}
