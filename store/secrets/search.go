package secrets

import (
	"cmp"
	"slices"
	"strings"
)

// A span is a part of a text that a rule replaces.
type span struct {
	start, end int
	rule       int
}

const (
	// reach is the length of text that a pattern is applied to first. If a match comes
	// within margin of its end, the pattern is applied to more, up to maxReach.
	reach    = 512
	margin   = 128
	maxReach = reach << 6
	// nearTail is the length of the longest token found by a rule with near.
	nearTail = 96
)

// search returns the findings of all rules in s, unsorted.
func (r *Redactor) search(s string) ([]span, error) {
	if r.texts != nil {
		return r.texts.search(s), nil
	}
	q := query{r: r, s: s}
	if err := r.index().scan(s, q.hit); err != nil {
		return nil, err
	}
	return q.found, nil
}

// index returns the index of all keywords. The first call builds it and lists the rules.
func (r *Redactor) index() *index {
	r.prepare.Do(func() {
		rules := r.source()
		r.rules = make([]lazyRule, len(rules))
		for i := range rules {
			r.rules[i].Rule = rules[i]
		}
		r.keywords = newIndex(r.rules)
	})
	return r.keywords
}

// A query is the state of one search.
type query struct {
	r     *Redactor
	s     string
	found []span
	done  []int // per rule: keywords before this offset can be skipped
}

// hit tries the rules of a keyword found at s[at:].
func (q *query) hit(w *keyword, at int) error {
	if insideMarker(q.s, at) {
		return nil
	}
	if q.done == nil {
		q.done = make([]int, len(q.r.rules))
	}
	end := at + len(w.text)
	for _, id := range w.rules {
		rule := &q.r.rules[id]
		if at < q.done[id] && rule.near == 0 {
			continue
		}
		if rule.find != nil {
			if start, stop, ok := rule.find(q.s, at, end); ok {
				q.add(int(id), start, stop)
			}
			continue
		}
		if rule.findAll != nil {
			for _, part := range rule.findAll(q.s, at, end) {
				q.add(int(id), part.start, part.stop)
			}
			continue
		}
		if err := q.match(int(id), at, end); err != nil {
			return err
		}
	}
	return nil
}

// match applies the regexp of a rule to a keyword found at s[at:end].
func (q *query) match(id, at, end int) error {
	rule := &q.r.rules[id]
	from := at
	switch {
	case rule.near > 0:
		if _, err := rule.regexp(); err != nil {
			return err
		}
		q.matchNear(id, end)
		return nil
	case rule.named:
		var ok bool
		if from, ok = namedValue(q.s, at, end, rule.qualifiers); !ok || from < q.done[id] {
			return nil
		}
	case rule.before > 0:
		for from > q.done[id] && at-from < rule.before && strings.IndexByte(rule.lead, q.s[from-1]) >= 0 {
			from--
		}
	}
	if !rule.loose && !rule.leftOpen(q.s, from) {
		return nil
	}
	re, err := rule.regexp()
	if err != nil {
		return err
	}
	for size := reach; ; size *= 4 {
		to := min(from+size, len(q.s))
		m := re.FindStringSubmatchIndex(q.s[from:to])
		if m == nil {
			return nil
		}
		start, stop := group(m)
		if from+m[1] > to-margin && to < len(q.s) {
			if size < maxReach {
				continue
			}
			for stop == m[1] && from+stop < len(q.s) && isToken(q.s[from+stop]) {
				stop, m[1] = stop+1, m[1]+1
			}
		}
		q.accept(id, from+start, from+stop)
		return nil
	}
}

// matchNear accepts all matches that start within rule.near bytes after end. It does not
// search again what it searched for an earlier keyword.
func (q *query) matchNear(id, end int) {
	rule := &q.r.rules[id]
	limit := min(end+rule.near, len(q.s))
	from, to := max(end, q.done[id]), min(limit+nearTail, len(q.s))
	for from < limit && strings.Contains(q.s[from:to], rule.mark) {
		m := rule.re.FindStringSubmatchIndex(q.s[from:to])
		if m == nil || from+m[0] >= limit {
			break
		}
		start, stop := group(m)
		if !q.accept(id, from+start, from+stop) {
			stop = start + 1
		}
		from += stop
	}
	q.done[id] = max(q.done[id], limit)
}

// group returns the first group of a match, or the whole match if it has no group.
func group(m []int) (start, stop int) {
	if len(m) > 2 && m[2] >= 0 {
		return m[2], m[3]
	}
	return m[0], m[1]
}

// accept adds a finding unless its value or the text around it shows that it is not a
// secret. It reports whether it did.
func (q *query) accept(id, start, stop int) bool {
	rule := &q.r.rules[id]
	value := q.s[start:stop]
	if !rule.loose && !rule.leftOpen(q.s, start) || !rule.rightOpen(q.s, stop) {
		return false
	}
	if placeholder(value) || entropy(value) < leastEntropy(value) || rule.check != nil && !rule.check(value) {
		return false
	}
	q.add(id, start, stop)
	return true
}

func (q *query) add(id, start, stop int) {
	q.found = append(q.found, span{start, stop, id})
	q.done[id] = max(q.done[id], stop)
}

// leftOpen reports whether a value may start at s[at:]: the text before it must not
// belong to the same word.
func (rule *Rule) leftOpen(s string, at int) bool {
	if at == 0 {
		return true
	}
	c := s[at-1]
	if !isAlnum(c) && !(rule.separate && strings.IndexByte("_+/-", c) >= 0) {
		return true
	}
	// The end of "%3D" or of the terminal sequence ESC[32m is not part of a word.
	if at >= 3 && s[at-3] == '%' && isHex(s[at-2]) && isHex(c) {
		return true
	}
	if c != 'm' {
		return false
	}
	i := at - 2
	for i >= 0 && at-i < 16 && (isDigit(s[i]) || s[i] == ';') {
		i--
	}
	return i >= 1 && s[i] == '[' && s[i-1] == 0x1b
}

// rightOpen reports whether a value may end at s[:at].
func (rule *Rule) rightOpen(s string, at int) bool {
	return at >= len(s) || !isAlnum(s[at]) && !(rule.separate && strings.IndexByte("_+/=-", s[at]) >= 0)
}

// insideMarker reports whether s[at:] starts inside a replacement.
func insideMarker(s string, at int) bool {
	const longest = 64
	head := s[max(0, at-longest):at]
	i := strings.LastIndexByte(head, '[')
	return i >= 0 && strings.HasPrefix(s[at-len(head)+i:], markerStart) && strings.IndexByte(head[i:], ']') < 0
}

// merge sorts spans and joins those that overlap. The rule with the highest precedence
// names the result.
func merge(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.rule, b.rule))
	})
	joined := spans[:1]
	for _, sp := range spans[1:] {
		last := &joined[len(joined)-1]
		if sp.start >= last.end {
			joined = append(joined, sp)
			continue
		}
		last.end = max(last.end, sp.end)
		last.rule = min(last.rule, sp.rule)
	}
	return joined
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isLetter(c) || isDigit(c) }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' }

// isToken reports whether c may be part of a token.
func isToken(c byte) bool { return isBase64(c) || strings.IndexByte("-._~=", c) >= 0 }
