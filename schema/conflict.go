package schema

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"cortext/schema/jsonl"
	"cortext/schema/rawjson"
)

// maxSides bounds the sides of a conflict: each is read as a whole file.
const maxSides = 8

// parseBroken reads a session.json that is not JSON, as the error strict says. If the
// file holds the markers of a merge conflict, it reads each side separately. If a union
// merge joined two spellings of the file, it reads the members one by one.
func parseBroken(b []byte, strict error) (*Session, error) {
	if tooMany := (*rawjson.LimitError)(nil); errors.As(strict, &tooMany) {
		return nil, strict
	}
	if members, err := rawjson.Members(b); err == nil { // JSON, but not strict
		if newer := (*VersionError)(nil); errors.As(checkVersions(members), &newer) {
			return nil, newer
		}
		return nil, strict
	}
	texts, first, err := conflictSides(b)
	if err != nil {
		return nil, err
	}
	repair := &Repair{Conflict: int64(first)}
	var sides []side
	var all []rawjson.Member
	for _, text := range texts {
		members, err := rawjson.StrictMembers(text, MaxSessionMembers)
		if err != nil {
			whole := false
			if members, whole = looseMembers(text); !whole {
				repair.Partial = true
			}
		}
		if all = append(all, members...); len(all) > MaxSessionMembers {
			return nil, &rawjson.LimitError{Limit: MaxSessionMembers}
		}
		s := side{members: members}
		for _, m := range members {
			if t := Time(rawjson.String(m.Value)).Time(); m.Name == "last_active" && t.After(s.active) {
				s.active = t
			}
		}
		repair.Doubled = repair.Doubled || duplicateName(members) != ""
		sides = append(sides, s)
	}
	if first < 0 && (!repair.Doubled || !enclosed(b)) {
		return nil, strict // cut off, or broken by hand
	}
	if err = checkVersions(all); err == nil {
		var s *Session
		if s, err = mergeSides(sides); err == nil {
			s.Repair = repair
			return s, nil
		}
		if s = mergeValid(sides); s != nil {
			s.Repair = &Repair{Doubled: repair.Doubled, Conflict: repair.Conflict, Partial: true}
			return s, nil
		}
	}
	if newer := (*VersionError)(nil); first >= 0 && !errors.As(err, &newer) {
		err = fmt.Errorf("conflict marker at byte %d: %w", first, err)
	}
	return nil, err
}

// mergeValid makes a session from the sides that are valid by themselves, or returns nil
// if there are none.
func mergeValid(sides []side) *Session {
	var valid []side
	for _, one := range sides {
		if _, err := mergeSides([]side{one}); err == nil {
			valid = append(valid, one)
		}
	}
	if len(valid) == 0 {
		return nil
	}
	s, err := mergeSides(valid)
	if err != nil {
		return nil
	}
	return s
}

// enclosed reports whether b begins and ends like an object.
func enclosed(b []byte) bool {
	b = bytes.TrimSpace(b)
	return bytes.HasPrefix(b, []byte("{")) && bytes.HasSuffix(b, []byte("}"))
}

// A region of a file is a run of lines that all sides share, or a conflict.
type region struct {
	common []byte
	sides  [][]byte // nil if it is not a conflict
}

// conflictSides returns the file as each side of a merge had it, without the lines that
// both sides replaced, and the offset of the first conflict marker, or -1 if there is
// none. It knows the markers of git and of jj.
func conflictSides(b []byte) (texts [][]byte, first int, err error) {
	regions, first := splitConflicts(b)
	n := 1
	for _, p := range regions {
		n = max(n, len(p.sides))
	}
	if n > maxSides {
		return nil, first, fmt.Errorf("conflict marker at byte %d: more than %d sides", first, maxSides)
	}
	texts = make([][]byte, n)
	for _, p := range regions {
		for i := range texts {
			texts[i] = append(texts[i], p.common...)
			if i < len(p.sides) {
				texts[i] = append(texts[i], p.sides[i]...)
			}
		}
	}
	return texts, first, nil
}

// The kinds of lines in a conflict.
const (
	taken   = iota // lines of a side
	dropped        // lines that the sides replaced
	differs        // jj: lines of a side and those that it replaced, distinguished by their first byte
)

func splitConflicts(b []byte) (regions []region, first int) {
	first = -1
	length := 0 // length of the markers of the open conflict, 0 if there is none
	lines := taken
	regions = []region{{}}
	begin := func(kind int) { // starts a new side
		lines = kind
		last := &regions[len(regions)-1]
		last.sides = append(last.sides, nil)
	}
	at := 0
	for line := range bytes.Lines(b) {
		c, n := jsonl.Marker(line)
		offset := at
		at += len(line)
		last := &regions[len(regions)-1]
		switch {
		case c == 0 || length == 0 && c != '<' && c != '|' && c != '=' && c != '>':
			if length == 0 {
				last.common = append(last.common, line...)
				continue
			}
			if lines == differs {
				switch line[0] {
				case '-':
					continue
				case '+', ' ':
					line = line[1:]
				}
			}
			if lines == dropped {
				continue
			}
			if len(last.sides) == 0 {
				begin(taken)
			}
			side := &last.sides[len(last.sides)-1]
			*side = append(*side, line...)
			continue
		case length == 0 && c == '<':
			length, lines = n, taken
			regions = append(regions, region{})
		case length != n: // a conflict inside what both sides replaced, or a leftover marker
		case c == '|' || c == '-':
			if c == '|' && len(last.sides) == 0 {
				begin(taken) // the first side is empty
			}
			lines = dropped
		case c == '=':
			if len(last.sides) == 0 {
				begin(taken)
			}
			begin(taken)
		case c == '+':
			begin(taken)
		case c == '%':
			begin(differs)
		case c == '>':
			length = 0
			regions = append(regions, region{})
		}
		if first < 0 {
			first = offset
		}
	}
	return regions, first
}

// looseMembers reads the members of a text that is not an object as a whole. A member
// begins with its name on a new line, at the smallest indentation of such lines, and
// continues over lines that are indented deeper and a closing bracket. If lines are left over,
// as when somebody's editor indented one side differently, but there is nothing between braces
// but members, those count. whole is false if lines are left over then, too.
func looseMembers(text []byte) (members []rawjson.Member, whole bool) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	top := -1
	for _, line := range lines {
		if n, c := indentation(line); c == '"' && (top < 0 || n < top) {
			top = n
		}
	}
	whole = true
	at := 0
	for i := 0; i < len(lines); i++ {
		from := at
		at += len(lines[i])
		n, c := indentation(lines[i])
		if n != top || c != '"' {
			whole = whole && (c == 0 || n < top && len(bytes.Trim(lines[i], space+"{}")) == 0)
			continue
		}
		for i+1 < len(lines) {
			n, c := indentation(lines[i+1])
			if n < top || n == top && c != '}' && c != ']' {
				break
			}
			i++
			at += len(lines[i])
			if n == top {
				break
			}
		}
		next, all := sequence(text[from:at], space, MaxSessionMembers+1-len(members)) // more are rejected
		members, whole = append(members, next...), whole && all
	}
	if text = bytes.TrimSpace(text); !whole && bytes.Contains(text, []byte("\n")) {
		if all, ok := sequence(text, space+"{}", MaxSessionMembers+1); ok {
			return all, true
		}
	}
	return members, whole
}

const space = " \t\r\n"

// sequence reads members that follow each other, up to a number of them, with nothing but bytes
// of between and commas between them. A comma may be missing, as between the last member of one
// side and the first of the other. all is false if there is something else.
func sequence(text []byte, between string, most int) (members []rawjson.Member, all bool) {
	text = bytes.TrimLeft(text, between)
	for len(text) > 0 && len(members) < most {
		m, rest, err := rawjson.NextMember(text)
		if err != nil || !utf8.ValidString(m.Name) || rawjson.Strict(m.Value) != nil {
			return members, false
		}
		members = append(members, m)
		text = bytes.TrimLeft(rest, between)
		text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte(",")), between)
	}
	return members, true
}

// indentation returns the indentation of a line and its first byte, 0 if the line is
// blank.
func indentation(line []byte) (n int, c byte) {
	rest := bytes.TrimLeft(line, " \t")
	if rest = bytes.TrimRight(rest, "\r\n"); len(rest) == 0 {
		return len(line), 0
	}
	return len(line) - len(bytes.TrimLeft(line, " \t")), rest[0]
}

// SalvageSession reads the members of a broken session.json one by one, and skips those
// that it cannot read, such as the last one of a file that was cut off. It returns nil
// if nothing useful is left, or if a later cortext wrote the file.
func SalvageSession(b []byte) *Session {
	members, _ := looseMembers(b)
	if len(members) == 0 || len(members) > MaxSessionMembers || checkVersions(members) != nil {
		return nil
	}
	s := mergeValid([]side{{members: members}})
	if s != nil {
		s.CountedBytes = 0
	}
	return s
}
