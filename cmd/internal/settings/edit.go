package settings

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Set sets a setting in a file. It returns the value as the file now spells it, and whether
// the file changed. It keeps comments and the order of lines. The error is a [*NameError],
// a [*ValueError] or, if the file must be corrected first, a [*BrokenError].
func Set(f File, name, value string) (spelled string, changed bool, err error) {
	c := Default()
	s := named(c.table(), name)
	switch {
	case s == nil:
		return "", false, &NameError{name}
	case !s.set(&yaml.Node{Kind: yaml.ScalarNode, Value: value}):
		return "", false, &ValueError{name, value, s.allowed}
	}
	err = f.update(func(before []byte) ([]byte, error) {
		text := before
		if text == nil {
			text = []byte(f.header())
		}
		text, err := editor{f.Name, name}.set(text, s.value())
		changed = err == nil && !bytes.Equal(text, before)
		return text, err
	})
	return s.value(), changed, err
}

// Unset removes a setting from a file, so that lower layers decide. found is false if the
// file did not set it.
func Unset(f File, name string) (found bool, err error) {
	c := Default()
	if named(c.table(), name) == nil {
		return false, &NameError{name}
	}
	text, err := f.Read()
	if text == nil && err == nil {
		return false, nil
	}
	return found, f.update(func(text []byte) ([]byte, error) {
		changed, err := editor{f.Name, name}.unset(text)
		found = err == nil && !bytes.Equal(changed, text)
		return changed, err
	})
}

// header returns the comment at the top of a new file.
func (f File) header() string {
	if f.store != nil {
		return "# Settings of this workspace. Settings not listed here have their defaults.\n\n"
	}
	return "# Your own settings, in every workspace. They override " + WorkspaceFile + ".\n\n"
}

// A BrokenError reports a file that cannot be edited before the user corrects it.
type BrokenError struct {
	File string
	Line int
	Why  string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s:%d: %s: correct the file first", e.File, e.Line, e.Why)
}

// An editor changes one setting in the text of a file. It changes bytes at the positions
// that package yaml reports, and verifies the result, because those positions are not exact
// for all of YAML.
type editor struct {
	file string // file name in messages
	name string // name of the setting
}

// set returns the text with the new value.
func (e editor) set(text []byte, value string) ([]byte, error) {
	root, entries, err := e.entries(text)
	if err != nil {
		return nil, err
	}
	changed := slices.Clone(text)
	switch {
	case len(entries) > 0:
		for _, at := range slices.Backward(entries) { // set every occurrence if the file repeats the setting
			if changed = at.replace(changed, value); changed == nil {
				return nil, e.broken(at.key.Line, "the value of "+e.name+" is spelled in a way that cannot be replaced")
			}
		}
	case root != nil && root.Style&yaml.FlowStyle != 0:
		at := offset(text, root.Line, root.Column) + 1
		pair := e.name + ": " + value
		if len(root.Content) > 0 {
			pair += ", "
		}
		changed = slices.Insert(changed, min(at, len(changed)), []byte(pair)...)
	default:
		changed = e.add(changed, root, value)
	}
	return changed, e.check(text, changed, value)
}

// add adds a line at the end.
func (e editor) add(text []byte, root *yaml.Node, value string) []byte {
	end := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		end = "\r\n"
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, end...)
	}
	indent := ""
	if root != nil && len(root.Content) > 0 {
		indent = strings.Repeat(" ", root.Content[0].Column-1)
	}
	return append(text, indent+e.name+": "+value+end...)
}

// unset returns the text without the setting.
func (e editor) unset(text []byte) ([]byte, error) {
	root, entries, err := e.entries(text)
	if err != nil {
		return nil, err
	}
	changed := slices.Clone(text)
	for _, at := range slices.Backward(entries) {
		if root.Style&yaml.FlowStyle != 0 {
			changed = at.replace(changed, "~") // an empty setting counts as not set
		} else {
			changed = slices.Delete(changed, offset(changed, at.key.Line, 1), offset(changed, at.end, 1))
		}
		if changed == nil {
			return nil, e.broken(at.key.Line, "the value of "+e.name+" is spelled in a way that cannot be removed")
		}
	}
	return changed, e.check(text, changed, "")
}

// entries returns the places of the setting in the text, and its root.
func (e editor) entries(text []byte) (root *yaml.Node, list []entry, err error) {
	root, err = parse(text)
	if err != nil {
		r := read(e.file, text, nil) // its error is more specific, for example about an unresolved merge
		line, why := explain(err)
		if len(r.problems) > 0 {
			rest := strings.TrimPrefix(r.problems[0], e.file+":")
			if n, tail, ok := strings.Cut(rest, ": "); ok {
				_, _ = fmt.Sscan(n, &line)
				why = tail
			}
		}
		return nil, nil, e.broken(line, why)
	}
	if root == nil {
		return nil, nil, nil
	}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Value != e.name {
			continue
		}
		at := entry{key: key, value: value, flow: root.Style&yaml.FlowStyle != 0}
		last := bytes.Count(text, []byte("\n")) + 2
		if i+2 < len(root.Content) {
			last = root.Content[i+2].Line
		}
		at.end = endOf(text, key.Line, last)
		list = append(list, at)
	}
	return root, list, nil
}

func (e editor) broken(line int, why string) error { return &BrokenError{e.file, line, why} }

// check verifies that an edit changed only the value of the setting. value is "" for a
// removal.
func (e editor) check(before, after []byte, value string) error {
	c := Default()
	r := read(e.file, after, c.table())
	_, set := r.lines[e.name]
	was, _ := pairs(before, e.name)
	is, err := pairs(after, e.name)
	switch {
	case err != nil || !slices.Equal(was, is):
	case value == "" && !set, set && named(r.settings, e.name).value() == value:
		return nil
	case r.count > maxSettings:
		return e.broken(1, fmt.Sprintf("only the first %d settings are read", maxSettings))
	}
	return e.broken(1, "the file cannot be edited without changing another setting")
}

// pairs lists the settings in a text except one.
func pairs(text []byte, except string) (list []string, err error) {
	root, err := parse(text)
	if root == nil || err != nil {
		return nil, err
	}
	for i := 0; i < len(root.Content); i += 2 {
		if key := root.Content[i]; key.Value != except {
			list = append(list, describe(key)+": "+describe(root.Content[i+1]))
		}
	}
	return list, nil
}

// An entry is a place in the text where a setting is set.
type entry struct {
	key, value *yaml.Node
	flow       bool // inside braces
	end        int  // the line after the entry
}

// endOf returns the line after an entry that begins in line first. The next entry begins in
// line last, and the blank lines and comments above it belong to it.
func endOf(text []byte, first, last int) int {
	end := first + 1
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if n > first && n < last && !isBlank(line) && line[0] != '#' {
			end = n + 1
		}
		if n >= last {
			break
		}
	}
	return end
}

// replace returns the text with a new value in the entry, or nil if it cannot tell where
// the value ends.
func (at entry) replace(text []byte, value string) []byte {
	colon := at.colon(text)
	if colon < 0 {
		return nil
	}
	v := at.value
	if v.Kind == yaml.ScalarNode && v.Value == "" && v.Style == 0 && v.Anchor == "" && v.ShortTag() == "!!null" {
		return slices.Insert(text, colon, []byte(" "+value)...)
	}
	start := offset(text, v.Line, v.Column)
	if n := token(text[start:], v); n > 0 {
		return slices.Replace(text, start, start+n, []byte(value)...)
	}
	if at.flow {
		return nil
	}
	rest, end := value, "\n"
	if v.LineComment != "" && !strings.Contains(v.LineComment, "\n") {
		rest += " " + v.LineComment
	}
	if line, _, _ := bytes.Cut(text[colon:], []byte("\n")); bytes.HasSuffix(line, []byte("\r")) {
		end = "\r\n"
	}
	return slices.Replace(text, colon, offset(text, at.end, 1), []byte(" "+rest+end)...)
}

// colon returns the offset after the colon of the entry, or -1.
func (at entry) colon(text []byte) int {
	start := offset(text, at.key.Line, at.key.Column)
	n := token(text[start:], at.key)
	if n == 0 {
		return -1
	}
	rest := bytes.TrimLeft(text[start+n:], " \t")
	if len(rest) == 0 || rest[0] != ':' {
		return -1
	}
	return len(text) - len(rest) + 1
}

// token returns the length of the scalar at the start of a text, or 0 if there is something
// else, such as an alias or a multi-line value.
func token(text []byte, v *yaml.Node) int {
	if v.Kind != yaml.ScalarNode || v.Anchor != "" || len(text) == 0 {
		return 0
	}
	switch quote := text[0]; {
	case v.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 && (quote == '\'' || quote == '"'):
		for i := 1; i < len(text) && text[i] != '\n'; i++ {
			switch {
			case quote == '"' && text[i] == '\\', quote == '\'' && text[i] == quote && i+1 < len(text) && text[i+1] == quote:
				i++
			case text[i] == quote:
				return i + 1
			}
		}
	case v.Style == 0 && bytes.HasPrefix(text, []byte(v.Value)):
		return len(v.Value)
	}
	return 0
}

// offset returns the offset of a line and column, which count from 1; columns are
// characters. Past the end it returns the length of the text.
func offset(text []byte, line, column int) int {
	at := 0
	for range line - 1 {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	rest := text[at:]
	for range column - 1 {
		_, n := utf8.DecodeRune(rest)
		rest = rest[n:]
	}
	return len(text) - len(rest)
}
