// Package summary decides which ranges of a conversation are summed up, which summary holds,
// and what stands in one that no model makes.
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

// Options say what is summed up. A field that is not above 0 has its default.
type Options struct {
	Threshold     int // a conversation of at most so many messages is left alone; 50
	Keep          int // so many messages at the end are not summed up; 20
	RangeMessages int // about how many messages one summary covers; 50
}

// RangeMessages is about how many messages one summary covers, unless [Options] say.
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

// A Range is a run of the messages of a history, by their indexes: from Start up
// to but not including End.
type Range struct {
	Start, End int
	Open       bool // it will take in more messages: a summary of it is soon too short
}

// A Draft is the text of a summary: Method is one of the schema's words, Model who wrote
// it, or empty.
type Draft struct{ Content, Method, Model string }

// New makes the record of a summary of r. Content that has more than maxTokens is
// condensed. Its date is at, or if that is the zero time, that of the last message: then the same messages
// make the same bytes in every clone. nil if nothing is left of it, or if r is no
// range of h that can be named.
func New(h schema.History, r Range, d Draft, maxTokens int, at time.Time) *schema.Summary {
	first, last := Ends(h, r)
	whole := strings.TrimSpace(Plain(d.Content))
	content := Condense(whole, maxTokens)
	if content == "" || first == "" || content != whole && d.Method != schema.Extracted && torn(content) {
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

// torn reports whether text was left out within a sentence.
func torn(content string) bool {
	pieces := strings.Split(content, excerpt.Gap)
	return slices.ContainsFunc(pieces[:len(pieces)-1], func(p string) bool {
		return strings.TrimSpace(p) != "" && !strings.HasSuffix(p, "\n") && !EndsSentence(strings.TrimSpace(p))
	})
}

// Ends returns the ids by which a summary names its range; empty if r is no range of
// h that can be named.
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

// lastTime is that of the last message that has one, else the beginning of 1970, as
// for a conversation without any.
func lastTime(msgs []schema.Message) time.Time {
	for _, m := range slices.Backward(msgs) {
		if t := m.Timestamp.Time(); !t.IsZero() {
			return t
		}
	}
	return time.Unix(0, 0)
}

// sourceTokens is how many tokens messages and their calls have, as the log says.
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

// Valid returns the range of h that s sums up; ok is false if its messages, their
// order or number are no longer what they were.
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
		return Range{}, false // a line without id is of the range before it
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

// Plain leaves out what a terminal or an editor obeys instead of showing it: control
// characters but for line breaks and tabs, and those that turn the direction of
// writing. What is not UTF-8 is replaced.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u2028' || r == '\u2029': // separators of lines and paragraphs
			return '\n'
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, lineEnds.Replace(rawjson.Text(text)))
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")
