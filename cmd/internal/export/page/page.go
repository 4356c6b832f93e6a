// Package page renders a conversation as HTML: a self-contained page, or a range of
// messages as a fragment.
// Everything in a conversation is data. Text and any HTML in Markdown is escaped, and links
// lead only to http, https and mailto. A page allows only its own script and style, and
// loads nothing.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"time"

	"cortext/cmd/internal/export/call"
	"cortext/cmd/internal/shown"
	"cortext/schema"
)

// An Input is the content of a page.
type Input struct {
	Session   *schema.Session
	History   schema.History
	Subagents []Subagent
	LeftOut   []string                                      // descriptions of what is missing, a few words each
	Root      string                                        // files below it are shown relative to it; empty: the folder that contains most of them
	Content   func(sha256 string) (content []byte, ok bool) // returns the content of an attachment; may be nil
	Data      []byte                                        // the conversation as data, which the page holds for an import; empty: none
	Markdown  Markdown                                      // nil: messages are shown as typed
}

// A Subagent is the conversation of a sub-agent, below the call that started it.
type Subagent struct {
	Call string // id of the call, empty if unknown
	Input
}

// A Markdown renders Markdown and appends the HTML. ok is false if that fails. The HTML
// must be as safe as the page's.
type Markdown func(dst []byte, text string) (html []byte, ok bool)

//go:embed style.css
var style string

//go:embed script.js
var script string

// Style returns the style sheet that fragments need.
func Style() string { return style }

// policy returns the Content-Security-Policy of a page. It allows the page's own style and
// script, by hash, and images embedded in the page.
func policy() string {
	return "default-src 'none'; style-src '" + hash(style) + "'; script-src '" + hash(script) + "'; img-src data:; base-uri 'none'; form-action 'none'"
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Write writes a whole page.
func Write(to io.Writer, in *Input) error {
	page := sha256.New()
	w := newWriter(newHTML(io.MultiWriter(to, page), in.Markdown), in)
	title := shown.Clean(in.Session.DisplayTitle())
	w.out.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"")
	w.out.text(policy())
	w.out.raw("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n" + generator + "\n<title>")
	w.out.text(title)
	w.out.raw("</title>\n<style>" + style + "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#talk\">To the conversation</a>\n<div class=\"page\">\n")
	turns := turnsOf(&in.History)
	for i := range turns {
		w.tally(&turns[i])
	}
	w.index(turns)
	w.out.raw("<div class=\"column\">\n")
	w.head(turns)
	w.out.raw("<div class=\"bar\" role=\"search\" hidden><input id=\"find\" type=\"search\" placeholder=\"Search\" aria-label=\"Search the conversation\"><output id=\"found\"></output>" +
		"<button id=\"fold\" type=\"button\" aria-pressed=\"false\">Unfold all</button><button id=\"only\" type=\"button\" aria-pressed=\"false\">Only the talk</button>" +
		"<button id=\"theme\" type=\"button\" aria-label=\"Light or dark\">◐</button></div>\n<main id=\"talk\">\n")
	if len(turns) == 0 {
		w.out.raw("<p class=\"soft\">No message yet.</p>\n")
	}
	for i := range turns {
		w.turn(&turns[i])
	}
	for _, sub := range w.subagents[""] {
		w.subagent(sub)
	}
	w.out.raw("</main>\n<footer>Written by cortext.")
	if n := in.History.Aside; n > 0 {
		w.out.raw(" " + count(n, "message") + " on other branches " + isAre(n) + " not shown.")
	}
	for _, left := range in.LeftOut {
		w.out.raw(" Left out: ")
		w.out.text(shown.Clean(left))
		w.out.raw(".")
	}
	if len(in.Data) > 0 {
		w.out.raw(" The page also holds the conversation as data, for cortext import.")
	}
	w.out.raw("</footer>\n</div>\n</div>\n<script>" + script + "</script>\n")
	if len(in.Data) > 0 {
		_ = w.out.end() // to the hash; bufio keeps the error
		w.out.data(in.Data, page.Sum(nil))
	}
	w.out.raw("</body>\n</html>\n")
	return w.out.end()
}

// WriteMessages writes the messages numbered first to last, inclusive, as a fragment: sections
// like those of a page.
func WriteMessages(to io.Writer, in *Input, first, last int) error {
	w := newWriter(newHTML(to, in.Markdown), in)
	for _, t := range turnsOf(&in.History) {
		if t.has(first, last) {
			w.tally(&t)
			t.within(first, last)
			w.turn(&t)
		}
	}
	return w.out.end()
}

func newWriter(out *html, in *Input) *writer {
	if in.Root == "" {
		in.Root = call.Root(in.History.Tools)
	}
	w := &writer{in: in, out: out, loose: in.History.LooseCalls(), calls: map[string]*call.Call{}, subagents: map[string][]*Subagent{}}
	for i := range in.Subagents {
		sub := &in.Subagents[i]
		w.subagents[sub.Call] = append(w.subagents[sub.Call], sub)
	}
	return w
}

// A writer writes one page.
type writer struct {
	in        *Input
	out       *html
	loose     map[string][]string
	calls     map[string]*call.Call
	subagents map[string][]*Subagent // by the id of the call that started them
	prefix    string                 // prefix of ids within a sub-agent
	nested    int                    // number of sub-agents written so far
	joined    bool                   // a card of calls is open
	within    bool                   // the element of an answer is open
}

// count formats a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// clock and date format a time in UTC, as in the files.
func clock(t time.Time) string { return t.UTC().Format("15:04") }
func date(t time.Time) string  { return t.UTC().Format("2 January 2006") }

// lasting formats a duration in a few characters.
func lasting(d time.Duration) string {
	switch {
	case d < time.Second:
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
