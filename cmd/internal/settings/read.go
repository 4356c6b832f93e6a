package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Limits for a file. A workspace's file comes with a clone, so anyone may have written it.
const (
	maxBytes    = 64 << 10
	maxSettings = 100
	maxWarnings = 10 // of each kind; the rest is only counted
)

// A reader reads the settings of one file and collects its problems.
type reader struct {
	name     string // name of the file
	settings []setting
	found    map[string]*yaml.Node // by name; nil for a setting that has no usable value
	lines    map[string]int        // line of each setting, by name
	count    int                   // number of settings and of lines that are not settings
	problems []string
	unknown  []string
}

// read parses a file's text and sets the fields that settings are bound to.
func read(name string, text []byte, settings []setting) *reader {
	r := &reader{name: name, settings: settings, found: map[string]*yaml.Node{}, lines: map[string]int{}}
	r.file(text)
	return r
}

// warnings returns the first problems and unknown settings, with the number of the rest.
func (r *reader) warnings() []string {
	return slices.Concat(r.firstOf(r.problems, "problems"), r.firstOf(r.unknown, "unknown settings"))
}

// firstOf returns the first warnings of a list and a line with the number of the rest.
func (r *reader) firstOf(list []string, what string) []string {
	if more := len(list) - maxWarnings; more > 0 {
		list = append(list[:maxWarnings:maxWarnings], fmt.Sprintf("%s: and %d more %s", r.name, more, what))
	}
	return list
}

// reset gives a setting the value that it had before the file was read.
func (r *reader) reset(s *setting) {
	s.reset()
	delete(r.lines, s.name)
}

func (r *reader) problem(line int, format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf("%s:%d: %s", r.name, line, fmt.Sprintf(format, args...)))
}

// file reads the whole file. If it is not YAML, file reads it entry by entry, so that a
// problem in one line, such as a conflict marker, does not affect the others.
func (r *reader) file(b []byte) {
	root, err := parse(b)
	if err == nil {
		r.mapping(root, 0)
		return
	}
	for first, text := range entries(b) {
		if r.full(first) {
			return
		}
		root, err := parse(text)
		if err != nil {
			r.count++
			r.broken(first, text, err)
			continue
		}
		r.mapping(root, first-1)
	}
	if len(r.problems) == 0 {
		line, why := explain(err)
		r.problem(line, "%s", why)
	}
}

// full reports whether the maximum number of settings was read, and warns if so.
func (r *reader) full(line int) bool {
	if r.count < maxSettings {
		return false
	}
	if r.count == maxSettings {
		r.count++
		r.problem(line, "only the first %d settings are read", maxSettings)
	}
	return true
}

// parse returns the settings in a YAML text, or nil if it has none. It leaves them
// undecoded, because yaml's own check for duplicates takes quadratic time.
func parse(b []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(withoutComments(b))).Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	root := doc.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, errNotSettings
	}
	return root, nil
}

// withoutComments empties the lines of a text that are comments, if all others are plain
// settings, so that no "#" can be part of a value. Every start reads the settings, and yaml
// takes most of its time for the comments that cortext init writes.
func withoutComments(b []byte) []byte {
	short := make([]byte, 0, len(b))
	for line := range bytes.Lines(b) {
		switch {
		case line[0] == '#':
			short = append(short, '\n')
		case line[0] == '\n' || isPlain(line):
			short = append(short, line...)
		default:
			return b
		}
	}
	return short
}

// isPlain reports whether a line is a setting with a simple value, such as "commit: off".
func isPlain(line []byte) bool {
	name, value, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(": "))
	return ok && isWord(name) && isWord(value)
}

// isWord reports whether a text consists of lower-case letters, digits and underscores, and
// begins with a letter or digit.
func isWord(text []byte) bool {
	for i, c := range text {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '_' || i == 0) {
			return false
		}
	}
	return len(text) > 0
}

var errNotSettings = errors.New("settings have the form name: value")

// entries returns the entries of a file, each with the number of its first line. An entry
// is a line that is not indented with spaces, and the indented lines after it. Comments
// are left out.
func entries(b []byte) func(yield func(line int, text []byte) bool) {
	return func(yield func(int, []byte) bool) {
		first, n := 0, 0
		var text []byte
		for line := range bytes.Lines(b) {
			n++
			if text != nil && (line[0] == ' ' || isBlank(line)) {
				text = append(text, line...)
				continue
			}
			if text != nil && !yield(first, text) {
				return
			}
			first, text = n, line
			if line[0] == '#' || isBlank(line) {
				text = nil
			}
		}
		if text != nil {
			yield(first, text)
		}
	}
}

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// broken warns of an entry that is not YAML or not a setting.
func (r *reader) broken(first int, text []byte, err error) {
	head, _, _ := strings.Cut(string(text), "\n")
	for _, marker := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
		if strings.HasPrefix(head, marker) {
			r.problem(first, "%s is a conflict marker: resolve the merge", quote(head))
			return
		}
	}
	line, why := explain(err)
	last := first + bytes.Count(bytes.TrimRight(text, "\n"), []byte("\n"))
	name, _, _ := strings.Cut(head, ":")
	if s := r.setting(strings.TrimSpace(name)); s != nil {
		r.found[s.name] = nil // even if another line is valid
		r.reset(s)
		why += fmt.Sprintf(": %s is %s", s.name, s.value())
	}
	r.problem(min(first+line-1, last), "%s: %s", quote(head), why)
}

// yamlError matches the messages of package yaml.
var yamlError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`) })

// explain splits an error of package yaml into line and reason; line is 1 if the error
// names none.
func explain(err error) (line int, why string) {
	m := yamlError().FindStringSubmatch(err.Error())
	if m == nil {
		return 1, err.Error()
	}
	line, _ = strconv.Atoi(m[1])
	return max(line, 1), m[2]
}

func (r *reader) setting(name string) *setting { return named(r.settings, name) }

// mapping reads the settings in a text that begins after line before of the file.
func (r *reader) mapping(root *yaml.Node, before int) {
	if root == nil {
		return
	}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		line := before + key.Line
		if r.full(line) {
			return
		}
		r.count++
		s := r.setting(key.Value)
		switch {
		case key.Kind != yaml.ScalarNode || key.Anchor != "" || key.ShortTag() == "!!merge":
			r.problem(line, "%s is not the name of a setting", describe(key))
		case s == nil:
			r.unknown = append(r.unknown, fmt.Sprintf("%s:%d: unknown setting %s", r.name, line, quote(key.Value)))
		default:
			r.one(s, value, line)
		}
	}
}

// one reads the value of one setting.
func (r *reader) one(s *setting, v *yaml.Node, line int) {
	before, again := r.found[s.name]
	if again && before != nil && same(before, v) {
		return
	}
	r.found[s.name] = v
	switch {
	case again:
		r.reset(s)
		r.found[s.name] = nil
		r.problem(line, "%s is set more than once: using %s", s.name, s.value())
	case v.Kind == yaml.ScalarNode && v.Anchor == "" && v.ShortTag() == "!!null": // empty
	case v.Kind != yaml.ScalarNode || v.Anchor != "" || !s.set(v):
		r.problem(line, "%s is %s, not %s: using %s", s.name, describe(v), s.allowed, s.value())
	default:
		r.lines[s.name] = line
	}
}

func same(a, b *yaml.Node) bool {
	return a.Kind == yaml.ScalarNode && b.Kind == yaml.ScalarNode && a.Value == b.Value
}

// describe describes a value for display. Anchors and aliases are rejected, because they
// let a short file expand to a huge one.
func describe(v *yaml.Node) string {
	switch {
	case v.Kind == yaml.AliasNode:
		return "an alias (" + quote("*"+v.Value) + ")"
	case v.Anchor != "":
		return "an anchor (" + quote("&"+v.Anchor) + ")"
	case v.Kind == yaml.SequenceNode:
		return "a list"
	case v.Kind == yaml.MappingNode:
		return "a mapping"
	}
	return quote(v.Value)
}

// quote shortens and quotes text from the file.
func quote(s string) string {
	const most = 40
	s = strings.TrimRight(s, " \t\r")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
