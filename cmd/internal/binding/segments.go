package binding

import (
	"slices"
	"strings"
	"time"

	"cortext/inject"
	"cortext/schema"
)

// MessageFrom prefixes the From of a segment that is identified by its first message, as
// in a fork of a session, whose prompts have other ids.
const MessageFrom = "message:"

// timeFrom prefixes the From of a segment whose agent gives its prompts no ids (Claude
// Code before 2.1.197). The rest is the time when the prompt was submitted.
const timeFrom = "time:"

// submitted is the longest time between an agent's call of the hook and the timestamp of
// the prompt it writes. With a coarse clock, the timestamp may also be earlier.
const submitted = 2 * time.Second

// StartIn returns the message that a segment begins with, or "" if it begins with the
// session or before the part that was read.
func (s Segment) StartIn(t *inject.Transcript) string {
	at, byTime := strings.CutPrefix(s.From, timeFrom)
	message, byMessage := strings.CutPrefix(s.From, MessageFrom)
	for _, cmd := range t.Commands {
		switch {
		case s.From == "":
		case byTime && s.Start != "":
			if cmd.Message == s.Start {
				return s.Start
			}
		case byTime && !cmd.Time.Before(schema.Time(at).Time().Add(-submitted)), byMessage && cmd.Message == message, cmd.PromptID == s.From:
			return cmd.Message
		}
	}
	return ""
}

// OpensIn reports whether a transcript begins in a segment, judging by that segment alone.
// roots are the lines that the transcript began with before. If the transcript has lost its
// beginning, a segment that had started but does not start in it began before it.
func (s Segment) OpensIn(t *inject.Transcript, roots []string) bool {
	cut := len(roots) > 0 && !slices.Contains(t.Roots, roots[0])
	return s.From == "" || s.StartIn(t) == "" && (cut && s.Start != "" || strings.HasPrefix(s.From, MessageFrom))
}

// Begun reports whether the start of a segment was read.
func (s Segment) Begun() bool { return s.From == "" || s.Start != "" }

// InOrder sorts segments into session order and returns the index of the segment that the
// transcript begins in. roots are the lines that it began with before. Segments that have
// not started yet sort last.
func InOrder(segments []Segment, t *inject.Transcript, roots []string) int {
	place := func(s Segment) int {
		id := s.StartIn(t)
		if s.OpensIn(t, roots) {
			return -1
		}
		for i, cmd := range t.Commands {
			if cmd.Message == id {
				return i
			}
		}
		return len(t.Commands)
	}
	slices.SortStableFunc(segments, func(a, b Segment) int { return place(a) - place(b) })
	at := 0
	for i, s := range segments {
		if place(s) < 0 {
			at = i
		}
	}
	return at
}

// FirstOf returns the first segment with the same conversation as segment i. A session
// may return to a conversation.
func FirstOf(segments []Segment, i int) int {
	return slices.IndexFunc(segments, func(s Segment) bool { return s.Path == segments[i].Path && !s.Removed })
}

// Continues reports whether a session with these segments continues one that was
// captured.
func Continues(segments []Segment) bool {
	return len(segments) > 0 && segments[0].Continues()
}

// Continues reports whether the segment continues a conversation that another part began.
func (s Segment) Continues() bool { return s.After != "" || s.Fork }

// BeginsAnew reports whether a session began a conversation rather than resumed one.
func BeginsAnew(segments []Segment) bool {
	i := Opening(segments)
	return i >= 0 && segments[i].After == ""
}

// Opening returns the index of the segment that begins with the session, or -1.
func Opening(segments []Segment) int {
	return slices.IndexFunc(segments, func(s Segment) bool { return s.From == "" })
}

// HasBeginning reports whether one of the segments begins with the session.
func HasBeginning(segments []Segment) bool { return Opening(segments) >= 0 }

// FromCommand returns the From value of a segment that a command begins.
func FromCommand(cmd inject.Command) string {
	if cmd.PromptID != "" {
		return cmd.PromptID
	}
	return MessageFrom + cmd.Message
}

// FromPrompt returns the From value of a segment that a prompt begins. A prompt without an
// id is identified by its time.
func FromPrompt(id string, now time.Time) string {
	if id != "" {
		return id
	}
	return timeFrom + string(schema.NewTime(now))
}
