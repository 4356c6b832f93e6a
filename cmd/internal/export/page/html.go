package page

import (
	"bufio"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strings"

	"cortext/cmd/internal/export/call"
	"cortext/cmd/internal/export/highlight"
	"cortext/cmd/internal/shown"
)

// An html writes HTML.
type html struct {
	out    *bufio.Writer
	buf    []byte
	render Markdown // nil: Markdown is shown as typed
}

func newHTML(to io.Writer, render Markdown) *html {
	return &html{out: bufio.NewWriterSize(to, 1<<16), render: render}
}

// end writes what is buffered, and returns the first error of all writes.
func (h *html) end() error { return h.out.Flush() }

// raw writes HTML.
func (h *html) raw(s string) { _, _ = h.out.WriteString(s) } // bufio keeps the error for Flush

// text writes text with HTML escaped.
func (h *html) text(s string) {
	h.buf = AppendText(h.buf[:0], s)
	h.write(h.buf)
}

// write writes HTML.
func (h *html) write(b []byte) { _, _ = h.out.Write(b) }

// mostMarkdown is the maximum number of bytes of Markdown to render. Longer texts, such as
// pasted logs, are shown as typed.
const mostMarkdown = 256 << 10

// markdown renders a message's text.
func (h *html) markdown(s string) {
	s = shown.Clean(s)
	if len(s) > mostMarkdown {
		h.pre(s, "")
		return
	}
	if h.render != nil {
		if text, ok := h.render(h.buf[:0], s); ok {
			h.buf = text
			h.write(text)
			return
		}
	}
	h.buf = appendPlain(h.buf[:0], s)
	h.write(h.buf)
}

// pre writes a text unchanged, coloured by the name of a language or file. It cuts a long
// text in the middle.
func (h *html) pre(text, name string) {
	head, tail, left := shorten(shown.Clean(text))
	h.raw("<pre tabindex=\"0\"><code>")
	h.buf = AppendCode(h.buf[:0], head, name)
	h.write(h.buf)
	if left > 0 {
		h.raw("</code></pre><p class=\"soft\">… " + size(left) + " left out …</p><pre tabindex=\"0\"><code>")
		h.buf = AppendCode(h.buf[:0], tail, name)
		h.write(h.buf)
	}
	h.raw("</code></pre>")
}

// mostLines is the maximum number of lines of a diff that are shown.
const mostLines = 800

// diff writes the diff of an edit, with the old and the new text coloured as code.
func (h *html) diff(c *call.Call) {
	var old, changed []string
	for _, hunk := range c.Diff {
		for _, l := range hunk {
			if l.Op != '+' {
				old = append(old, l.Text)
			}
			if l.Op != '-' {
				changed = append(changed, l.Text)
			}
		}
	}
	before, after := codeLines(old, c.File), codeLines(changed, c.File)
	h.raw("<pre class=\"diff\" tabindex=\"0\"><code>")
	shown := 0
	for i, hunk := range c.Diff {
		if i > 0 {
			h.raw("<span class=\"gap\">⋯</span>")
		}
		for _, l := range hunk {
			var code []byte
			if l.Op != '+' {
				code, before = next(before)
			}
			if l.Op != '-' {
				code, after = next(after)
			}
			if shown++; shown > mostLines {
				continue
			}
			switch l.Op {
			case '+':
				h.raw("<span class=\"add\">+ ")
			case '-':
				h.raw("<span class=\"del\">- ")
			default:
				h.raw("<span>  ")
			}
			h.write(code)
			h.raw("\n</span>")
		}
	}
	h.raw("</code></pre>")
	if shown > mostLines {
		h.raw("<p class=\"soft\">… " + count(shown-mostLines, "line") + " left out</p>")
	}
}

func next(lines [][]byte) ([]byte, [][]byte) {
	if len(lines) == 0 {
		return nil, nil
	}
	return lines[0], lines[1:]
}

// codeLines returns lines of code as HTML. It reads them as one text, because comments and
// strings may span lines.
func codeLines(lines []string, file string) (list [][]byte) {
	for i := range lines {
		lines[i] = strings.ReplaceAll(shown.Clean(lines[i]), "\n", " ")
	}
	text := strings.Join(lines, "\n")
	l, ok := highlight.Language(file)
	if !ok || len(text) > mostCode {
		for _, l := range lines {
			list = append(list, AppendText(nil, l))
		}
		return list
	}
	for _, parts := range l.Lines(text) {
		var b []byte
		for _, p := range parts {
			b = appendPart(b, p)
		}
		list = append(list, b)
	}
	return list
}

// data writes the conversation as data, with the hash of the page before it.
func (h *html) data(data, sum []byte) {
	h.raw(dataBegin + hex.EncodeToString(sum) + dataLines)
	encoded := base64.NewEncoder(base64.StdEncoding, h.out)
	packed := zlib.NewWriter(encoded)
	_, _ = packed.Write(data) // bufio keeps the error for Flush
	_ = packed.Close()
	_ = encoded.Close()
	h.raw(dataEnd + "\n")
}
