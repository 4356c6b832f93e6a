// Package summary decides which ranges of a conversation to summarize and which
// summaries are still valid. It also writes summaries without a model.
package summary

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"cortext/resume/excerpt"
	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

// Options control what is summarized. A field that is 0 or less has its default.
type Options struct {
	Threshold     int // leave shorter conversations alone; default 50
	Keep          int // messages at the end that are not summarized; default 20
	RangeMessages int // approximate messages per summary; default 50
}

// RangeMessages is the approximate number of messages per summary, unless [Options]
// overrides it.
const RangeMessages = 50

func (o Options) withDefaults() Options {
	for _, f := range []struct {
		v    *int
		want int
	}{{&o.Threshold, 50}, {&o.Keep, 20}, {&o.RangeMessages, RangeMessages}} {
		if *f.v <= 0 {
			*f.v = f.want
		}
	}
	return o
}

// A Range is a run of a history's messages, by index: from Start up to but not
// including End.
type Range struct {
	Start, End int
	Open       bool // it will grow: a summary of it soon covers too little
}

// A Draft is the text of a summary. Method is one of the schema's words; Model is the
// model that wrote it, or empty.
type Draft struct{ Content, Method, Model string }

// New makes the summary record for r. It condenses content of more than maxTokens.
// The record's date is at or, if that is the zero time, the date of the last message,
// so that the same messages give the same bytes in every clone. New returns nil if
// nothing is left of the content, or if r is not a range of h with ids.
func New(h schema.History, r Range, d Draft, maxTokens int, at time.Time) *schema.Summary {
	first, last := Ends(h, r)
	whole := strings.TrimSpace(Plain(d.Content))
	content := Condense(whole, maxTokens)
	if content == "" || first == "" || content != whole && d.Method != schema.Extracted && endsMidSentence(content) {
		return nil
	}
	msgs := h.Messages[r.Start:r.End]
	if at.IsZero() {
		at = lastTime(msgs)
	}
	return &schema.Summary{
		Version: schema.Version, First: first, Last: last, MessageCount: len(msgs), CreatedAt: schema.NewTime(at),
		Content: content, Tokens: tokens.Count(content), Method: d.Method, Model: strings.Join(strings.Fields(Plain(d.Model)), " "),
		SourceTokens: sourceTokens(h, msgs), Members: schema.MembersHash(msgs),
	}
}

// endsMidSentence reports whether content is cut within a sentence.
func endsMidSentence(content string) bool {
	pieces := strings.Split(content, excerpt.Gap)
	return slices.ContainsFunc(pieces[:len(pieces)-1], func(p string) bool {
		return strings.TrimSpace(p) != "" && !strings.HasSuffix(p, "\n") && !EndsSentence(strings.TrimSpace(p))
	})
}

// Ends returns the ids that identify a summary's range, or empty ids if r is not a
// range of h with ids.
func Ends(h schema.History, r Range) (first, last string) {
	if r.Start < 0 || r.End > len(h.Messages) || r.Start >= r.End || h.Messages[r.Start].ID == "" {
		return "", ""
	}
	at := r.End - 1
	for h.Messages[at].ID == "" {
		at--
	}
	return h.Messages[r.Start].ID, h.Messages[at].ID
}

// lastTime returns the time of the last message that has one, else the beginning of
// 1970.
func lastTime(msgs []schema.Message) time.Time {
	for _, m := range slices.Backward(msgs) {
		if t := m.Timestamp.Time(); !t.IsZero() {
			return t
		}
	}
	return time.Unix(0, 0)
}

// sourceTokens returns the tokens of messages and their calls, as recorded in the
// log.
func sourceTokens(h schema.History, msgs []schema.Message) int64 {
	sum := int64(0)
	for i := range msgs {
		sum += int64(max(msgs[i].Tokens, 0))
		for _, c := range h.Calls(&msgs[i]) {
			sum += int64(max(c.Tokens, 0))
		}
	}
	return sum
}

// Valid returns the range of h that s summarizes. ok is false if its messages, their
// order or their number changed.
func Valid(s *schema.Summary, h schema.History) (r Range, ok bool) {
	if s == nil || s.First == "" || s.Last == "" || s.Members == "" {
		return Range{}, false
	}
	first := slices.IndexFunc(h.Messages, func(m schema.Message) bool { return m.ID == s.First })
	if first < 0 || s.MessageCount < 1 || s.MessageCount > len(h.Messages)-first {
		return Range{}, false
	}
	r = Range{Start: first, End: first + s.MessageCount}
	if r.End < len(h.Messages) && h.Messages[r.End].ID == "" {
		return Range{}, false // a record without id belongs to the range before it
	}
	last := r.End - 1
	for last > first && h.Messages[last].ID == "" {
		last--
	}
	if h.Messages[last].ID != s.Last || schema.MembersHash(h.Messages[first:r.End]) != s.Members {
		return Range{}, false
	}
	return r, true
}

// Plain removes what a terminal or editor interprets instead of displaying: control
// characters except line breaks and tabs, and characters that change the writing
// direction. It replaces invalid UTF-8.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u2028' || r == '\u2029': // line and paragraph separators
			return '\n'
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, lineEnds.Replace(rawjson.Text(text)))
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")
