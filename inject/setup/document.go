package setup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"cortext/schema/rawjson"
)

const (
	jsonSpace = " \t\r\n"
	bom       = "\ufeff"
)

// document is a JSON text that is edited by splicing. Values are slices of text.
//
// Insertions are templates with "\n" and "\t" that adopt the file's line endings and
// indentation.
type document struct {
	bom   string
	file  []byte // the original
	text  []byte // the same, with blanks for comments where those are allowed
	root  []byte
	eol   string
	unit  string // one step of indentation
	edits []edit
}

type edit struct {
	from, to int
	with     string
}

// element is an element of an array, or a named member of an object, which begins at
// its name.
type element struct {
	name  string
	value []byte
	start int
}

// newDocument returns a document for the content of a file. An empty file counts as an
// empty object.
func newDocument(file []byte) *document {
	d := &document{eol: "\n"}
	if i := bytes.IndexByte(file, '\n'); i > 0 && file[i-1] == '\r' {
		d.eol = "\r\n"
	}
	rest, marked := bytes.CutPrefix(file, []byte(bom))
	if marked {
		d.bom = bom
	}
	if d.text = rest; len(bytes.Trim(rest, jsonSpace)) == 0 {
		d.text = []byte("{}" + d.eol)
	}
	d.file = d.text
	return d
}

func (d *document) parse() error {
	var syntax *rawjson.SyntaxError
	if err := rawjson.Valid(d.text); errors.As(err, &syntax) {
		return d.invalid(syntax)
	}
	d.root, _, _ = rawjson.Next(d.text)
	d.unit = d.step()
	return nil
}

// step returns one step of indentation: the smallest by which a line is indented more
// than the first.
func (d *document) step() string {
	outer := d.indentation(d.offset(d.root))
	step := ""
	for line := range bytes.Lines(d.root[:len(d.root)-1]) { // ignore its closing bracket
		text := bytes.TrimLeft(line, " \t")
		space, deeper := strings.CutPrefix(string(line[:len(line)-len(text)]), outer)
		if deeper && space != "" && (step == "" || len(space) < len(step)) && len(bytes.Trim(text, jsonSpace)) > 0 {
			step = space
		}
	}
	return cmp.Or(step, "  ")
}

// offset returns where value, a slice of text, begins.
func (d *document) offset(value []byte) int { return cap(d.text) - cap(value) }

// indentation returns the leading space of the line at offset at.
func (d *document) indentation(at int) string {
	line := d.text[bytes.LastIndexByte(d.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// elements returns the elements of an array or object, and none for another value. It
// has no error to return, since parse has checked the whole text.
func (d *document) elements(container []byte) []element {
	var all []element
	if container[0] == '[' {
		values, _ := rawjson.Array(container)
		for _, v := range values {
			all = append(all, element{value: v, start: d.offset(v)})
		}
		return all
	}
	members, _ := rawjson.Members(container)
	end := d.offset(container) + 1
	for _, m := range members {
		rest := bytes.TrimLeft(d.text[end:], jsonSpace+",")
		all = append(all, element{m.Name, m.Value, len(d.text) - len(rest)})
		end = d.offset(m.Value) + len(m.Value)
	}
	return all
}

// member returns the named value in object, nil if there is none or object is not an
// object. A name that occurs twice is an error, since either value could be the one
// that counts.
func (d *document) member(object []byte, name string) (value []byte, err error) {
	for _, e := range d.elements(object) {
		if e.name != name {
			continue
		}
		if value != nil {
			return nil, d.invalidAt(e.start, fmt.Sprintf("%q appears twice", name))
		}
		value = e.value
	}
	return value, nil
}

// add appends items to container in its existing layout. It removes the space inside an
// empty container.
func (d *document) add(container []byte, items ...string) {
	all := d.elements(container)
	start := d.offset(container)
	stop := start + len(container) - 1
	if len(all) == 0 {
		from := d.afterComments(start+1, stop)
		lines := from > start+1 || start == d.offset(d.root) || bytes.IndexByte(d.root, '\n') >= 0
		text := indent("\n"+strings.Join(items, ",\n")) + "\n"
		if !lines {
			text = onOneLine(text)
		}
		d.edits = append(d.edits, edit{from, stop, d.render(text, d.indentation(start))})
		return
	}
	last := all[len(all)-1]
	end := d.offset(last.value) + len(last.value)
	before := bytes.TrimRight(d.text[:last.start], jsonSpace)
	ownLine := bytes.IndexByte(d.text[len(before):last.start], '\n') >= 0
	between := ", "
	at := d.afterComments(end, stop)
	if ownLine = ownLine || at > end; ownLine {
		between = ",\n"
	}
	lines := ownLine || bytes.IndexByte(last.value, '\n') >= 0
	text := between + strings.Join(items, between)
	if at > end {
		d.edits = append(d.edits, edit{end, end, ","})
		text = text[1:]
	}
	if !lines {
		text = onOneLine(text)
	}
	d.edits = append(d.edits, edit{at, at, d.render(text, d.indentation(last.start))})
}

// afterComments returns the end of the comments between from and to, if there is nothing else
// between them, or from if there are no comments.
func (d *document) afterComments(from, to int) int {
	return from + len(bytes.TrimRight(d.file[from:to], jsonSpace))
}

func (d *document) replace(value []byte, with string) {
	start := d.offset(value)
	d.edits = append(d.edits, edit{start, start + len(value), with})
}

// indent indents all lines of a template but the first by one step.
func indent(template string) string { return strings.ReplaceAll(template, "\n", "\n\t") }

var (
	afterComma = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`,\n\t*`) })
	lineBreak  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\n\t*`) })
)

// render turns a template into text for the file. Its outermost lines get the indentation
// base.
func (d *document) render(template, base string) string {
	return strings.NewReplacer("\n", d.eol+base, "\t", d.unit).Replace(template)
}

// onOneLine removes the line breaks of a template.
func onOneLine(template string) string {
	return lineBreak().ReplaceAllString(afterComma().ReplaceAllString(template, ", "), "")
}

// apply returns the file with all edits made. Edits must not overlap.
func (d *document) apply() []byte {
	slices.SortFunc(d.edits, func(a, b edit) int { return a.from - b.from })
	out := []byte(d.bom)
	at := 0
	for _, e := range d.edits {
		out = append(append(out, d.file[at:e.from]...), e.with...)
		at = e.to
	}
	return append(out, d.file[at:]...)
}

// place returns the line and column of an offset.
func (d *document) place(at int) (line, column int) {
	line = bytes.Count(d.text[:at], []byte("\n")) + 1
	start := bytes.LastIndexByte(d.text[:at], '\n') + 1
	return line, utf8.RuneCount(d.text[start:at]) + 1
}

func (d *document) invalidAt(at int, why string) error {
	line, column := d.place(at)
	return &invalidError{line, column, why}
}

// shape returns the error for a value that is valid JSON but has the wrong shape.
func (d *document) shape(value []byte, why string) error {
	line, _ := d.place(d.offset(value))
	return fmt.Errorf("line %d: %s", line, why)
}
