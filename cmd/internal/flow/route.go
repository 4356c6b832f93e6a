package flow

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/lifecycle"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A route leads the messages of a native session into the conversations that its
// parts belong to.
type route struct {
	w      *Workspace
	parts  []part
	at     int            // the part that the next message belongs to
	starts map[string]int // message -> the part that begins with it
	open   map[string]*store.Conversation
	until  string // the message that the next reading begins with
	// untilPart is the part that it is in.
	untilPart int
	// partOf tells which part a message is in; nil where there is only one.
	partOf map[string]int
	// again are the records that the next reading will give again, by the
	// conversation that they are in.
	again map[string]*ids
	// subagents is how far the transcripts of sub-agents were read.
	subagents map[string]mark
}

// ids name records.
type ids struct{ messages, calls []string }

// newRoute prepares the capture of t, which begins in the part at.
func (w *Workspace) newRoute(parts []part, at int, t *inject.Transcript) *route {
	r := &route{w: w, parts: parts, at: at, starts: map[string]int{}, open: map[string]*store.Conversation{}, until: t.Next.Message, untilPart: at, again: map[string]*ids{}, subagents: map[string]mark{}}
	if len(parts) > 1 {
		r.partOf = map[string]int{}
	}
	for i, p := range parts {
		if id := p.startIn(t); id != "" {
			r.starts[id] = i
			r.parts[i].Start = id
		}
	}
	return r
}

// messageFrom begins the From of a part that begins with a message: in a fork of a
// session, whose prompts have other ids.
const messageFrom = "message:"

// timeFrom begins the From of a part whose agent gives its prompts no ids (Claude
// Code before 2.1.197): what follows is when the prompt was submitted.
const timeFrom = "time:"

// submitted is the longest that an agent takes to write down a prompt after it
// told the hook, and before, if its clock is coarse.
const submitted = 2 * time.Second

// startIn is the message that a part begins with, empty if it begins with the
// session or further up than was read.
func (p part) startIn(t *inject.Transcript) string {
	at, byTime := strings.CutPrefix(p.From, timeFrom)
	message, byMessage := strings.CutPrefix(p.From, messageFrom)
	for _, c := range t.Commands {
		switch {
		case p.From == "":
		case byTime && !c.Time.Before(schema.Time(at).Time().Add(-submitted)), byMessage && c.Message == message, c.PromptID == p.From:
			return c.Message
		}
	}
	return ""
}

// inOrder sorts parts as they stand in the session and returns the one that the
// transcript begins in. A part whose beginning is not there yet comes last.
func inOrder(parts []part, t *inject.Transcript) int {
	place := func(p part) int {
		id := p.startIn(t)
		if p.From == "" || id == "" && strings.HasPrefix(p.From, messageFrom) {
			return -1 // it begins further up than the transcript does
		}
		for i, c := range t.Commands {
			if c.Message == id {
				return i
			}
		}
		return len(t.Commands)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return place(a) - place(b) })
	at := 0
	for i, p := range parts {
		if place(p) < 0 {
			at = i
		}
	}
	return at
}

// from is where the part of a session begins that a prompt begins.
func (w *Workspace) from(e inject.Event) string {
	if e.PromptID != "" {
		return e.PromptID
	}
	return timeFrom + string(schema.NewTime(w.env.Now()))
}

// conversation opens the conversation of a part.
func (r *route) conversation(i int) (*store.Conversation, error) {
	p := r.parts[i]
	if c := r.open[p.Path]; c != nil {
		return c, nil
	}
	c, err := r.w.Store.Conversation(p.Path)
	if err != nil {
		return nil, err
	}
	c.Since(p.Mark)
	r.open[p.Path] = c
	return c, nil
}

// give appends a batch, each message to its conversation.
func (r *route) give(b inject.Batch, done func(store.Result)) error {
	var out schema.Batch
	flush := func() error {
		if r.parts[r.at].Removed {
			out = schema.Batch{}
		}
		if len(out.Messages)+len(out.Tools) == 0 {
			return nil
		}
		c, err := r.conversation(r.at)
		if err != nil {
			return err
		}
		result, err := c.Append(out)
		out = schema.Batch{}
		if err == nil {
			done(result)
			if result.Appended > 0 {
				r.w.note(lifecycle.Message, c.Path())
			}
		}
		return err
	}
	calls, loose := callsByMessage(b)
	for _, m := range b.Messages {
		next, starts := r.starts[m.ID]
		if !starts {
			next = r.at
			if above, ok := r.partOf[m.ParentID]; ok {
				next = above // a rewind leads back into an earlier part
			}
		}
		if next != r.at {
			if err := flush(); err != nil {
				return err
			}
			r.at = next
		}
		if after := r.parts[r.at].After; after != "" && after != m.ID && (starts || m.ParentID == "") {
			m.ParentID = after
		}
		if m.ID == r.until {
			r.untilPart = r.at
			r.until = ""
		}
		if r.partOf != nil {
			r.partOf[m.ID] = r.at
		}
		if r.until == "" {
			at := r.parts[r.at].Path
			if r.again[at] == nil {
				r.again[at] = &ids{}
			}
			r.again[at].add(m.ID, calls[m.ID])
		}
		out.Messages = append(out.Messages, m)
		out.Tools = append(out.Tools, calls[m.ID]...)
	}
	out.Tools = append(out.Tools, loose...)
	return flush()
}

func (a *ids) add(message string, calls []schema.Tool) {
	a.messages = append(a.messages, message)
	for _, t := range calls {
		a.calls = append(a.calls, t.ID)
	}
}

// readsFiles reports whether a tool's output is the file that its input names: the
// agents call it Read, read and read_file.
func readsFiles(tool string) bool {
	return slices.Contains([]string{"read", "readfile", "readmanyfiles"}, strings.ReplaceAll(strings.ToLower(tool), "_", ""))
}

// callsByMessage sorts the calls of a batch; loose are those whose message is not
// in it.
func callsByMessage(b inject.Batch) (calls map[string][]schema.Tool, loose []schema.Tool) {
	calls = make(map[string][]schema.Tool, len(b.Messages))
	for i := range b.Messages {
		calls[b.Messages[i].ID] = nil
	}
	for _, t := range b.Tools {
		if readsFiles(t.Name) && bytes.Contains(t.Input, []byte(payloadDir)) && t.Output != "" {
			// The agent read what a resume had put there; it is not captured again.
			t.Output = fmt.Sprintf("[the payload of a resume, %d bytes]", len(t.Output))
		}
		if _, ok := calls[t.MessageID]; ok {
			calls[t.MessageID] = append(calls[t.MessageID], t)
		} else {
			loose = append(loose, t)
		}
	}
	return calls, loose
}

// close closes the conversations and marks in each what the next reading needs to
// look at.
func (r *route) close() error {
	var errs []error
	for path, c := range r.open {
		again := r.again[path]
		if again == nil {
			again = &ids{}
		}
		m, err := c.MarkBefore(again.messages, again.calls)
		for i := range r.parts {
			if r.parts[i].Path == path {
				r.parts[i].Mark = m
			}
		}
		errs = append(errs, err, c.Close())
	}
	return errors.Join(errs...)
}
