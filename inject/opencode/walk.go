package opencode

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema"
)

// A source is one session from any store.
type source struct {
	meta     meta
	warnings []string
	size     int64 // the result of Stat

	// rows yields the messages from a place on; the zero place is the beginning.
	rows func(from place) iter.Seq2[row, error]

	// before identifies what precedes a place: its results change only if that
	// changes.
	before func(p place) (messages, parts string, err error)

	// calls returns the agent's ids for the calls before a place.
	calls func(p place) (map[string]bool, error)

	check   func() error // whether to trust what was read; may be nil
	release func() error // may be nil
}

// A meta has the properties of a session.
type meta struct {
	ID, Parent, Version, Title, Dir string
	Payload                         string // id of a payload of ours at its beginning
	Revert                          string // first message that the user reverted, while that can be undone
	RevertPart                      string // the message itself stays, up to this part
}

// A kind is the role of a message in a history.
type kind int

const (
	nothing kind = iota // leave it out
	ours                // put there by cortext
	asked               // what the user said
	answered
	event // said by nobody, but seen by the model
)

// An item is the result of one row.
type item struct {
	place
	inject.MessageBuilder
	kind    kind
	started []inject.Subagent // sub-agents, with their calls
	mode    string
	runsAt  string // provider of the model that answered
}

// A walk goes through the messages of a session in order.
type walk struct {
	src     *source
	o       inject.Options
	from    place
	on      bool            // it continues from a cursor
	parent  string          // the preceding message
	ids     map[string]bool // of messages
	calls   map[string]bool // ids assigned to calls
	earlier map[string]bool // ids of calls before the cursor; nil if not read yet
	losses  inject.Losses
	kept    int // messages
	titled  int // prompts that have only their title left
	err     error

	compaction compaction
	revert     revert
}

// A compaction is a point where OpenCode shortened its context: a message that
// requests it, one with the summary, and one that makes the model continue. All
// earlier messages stay in place.
type compaction struct {
	overflow bool
	summed   bool     // the preceding message was the summary
	typed    []string // the user's last input
}

// A revert is what the user reverted and may still restore.
type revert struct {
	on    bool
	above string // the parent message
	last  int64  // time of the last reverted message
}

func newWalk(src *source, o inject.Options) *walk {
	w := &walk{src: src, o: o, ids: map[string]bool{}, calls: map[string]bool{}}
	if o.From.Offset > 0 {
		w.on = true
		w.from = place{o.From.Offset, o.From.Message}
		if n := len(o.From.Anchors); n > 0 {
			w.parent = o.From.Anchors[n-1].Message
		}
	}
	return w
}

// each yields every message.
func (w *walk) each(give func(*item) error) error {
	for r, err := range w.src.rows(w.from) {
		if err != nil {
			return err
		}
		it := w.take(r)
		if w.err != nil {
			return w.err
		}
		if err := give(it); err != nil {
			return err
		}
	}
	if it := w.undoEvent(); it != nil {
		return give(it)
	}
	return nil
}

// take turns a row into an item.
func (w *walk) take(r row) *item {
	r.id = w.unique(r.id)
	i := parseInfo(r.info)
	if i.Created <= 0 {
		i.Created = r.created
	}
	parts := make([]part, len(r.parts))
	for n, p := range r.parts {
		parts[n] = parsePart(p)
	}
	it := &item{place: r.place, mode: i.Mode, runsAt: i.Provider}
	it.Message = schema.Message{ID: r.id, ParentID: w.parent, Timestamp: stamp(i.Created), Source: w.src.meta.ID}
	undone := r.id != "" && r.id == w.src.meta.Revert && !w.revert.on // the first message that the user has undone
	if undone && w.src.meta.RevertPart == "" {
		w.beginRevert(i)
	}
	c := content{w, it}
	switch i.Role {
	case "user":
		if len(parts) == 0 && i.Title != "" { // the folder with its parts is lost
			parts = []part{{Type: "text", Text: i.Title}}
			w.titled++
		}
		w.user(c, parts)
	case "assistant":
		w.assistant(c, i, parts)
	default:
		w.losses.Unknown("message " + cmp.Or(i.Role, "(no role)"))
	}
	it.Finish()
	if it.kind > ours {
		w.kept++
		w.parent = r.id
	}
	switch {
	case w.revert.on:
		w.revert.last = max(w.revert.last, i.Created)
	case undone: // only its last parts
		w.beginRevert(i)
	}
	return it
}

func (w *walk) unique(id string) string {
	if id == "" {
		id = fmt.Sprintf("message-%d", len(w.ids)+1)
	}
	for n := 2; w.ids[id]; n++ {
		base, _, _ := strings.Cut(id, "#")
		id = fmt.Sprintf("%s#%d", base, n)
	}
	w.ids[id] = true
	return id
}

func (w *walk) user(c content, parts []part) {
	p := w.prompt(parts)
	state := w.compaction
	w.compaction.summed = false
	switch {
	case w.isOurs(c.id, p):
		c.kind = ours
	case len(p.typed) == 0 && !p.other && p.compacts:
		w.compaction.overflow = p.overflow
	case state.summed && state.overflow && isCopy(p.typed, state.typed):
		// The prompt that did not fit, repeated under another id.
	case len(p.typed) > 0 || p.other:
		c.kind, c.Role = asked, schema.User
		w.compaction.typed = p.typed
		c.user(parts)
	case len(p.synthetic) > 0 && !p.continues:
		c.Role = schema.System
		if c.event(p.synthetic); !c.IsEmpty() {
			c.kind = event
		}
	}
	if c.kind == asked && c.IsEmpty() && len(p.typed) > 0 {
		c.kind = nothing // it only had cortext's own text, or none
	}
}

// isCopy reports whether the user typed the same text before. In a copy, a text with a
// picture's name replaces the picture.
func isCopy(again, typed []string) bool {
	if len(typed) == 0 {
		return false
	}
	again = slices.DeleteFunc(slices.Clone(again), func(s string) bool {
		return strings.HasPrefix(s, "[Attached ") && !slices.Contains(typed, s)
	})
	return slices.Equal(again, typed)
}

func (w *walk) assistant(c content, i info, parts []part) {
	if !i.Summary {
		c.kind, c.Role = answered, schema.Assistant
		c.assistant(i, parts)
		return
	}
	w.compaction.summed = true
	if w.kept > 0 || w.on || w.o.Continues {
		return // this session has the messages that it summarizes
	}
	c.kind, c.Role = event, schema.System
	for _, v := range parts {
		if v.Type == "text" {
			c.AddText(v.Text)
		}
	}
}

// beginRevert records that the reverted messages begin after the current parent.
func (w *walk) beginRevert(i info) {
	w.revert = revert{on: true, above: w.parent, last: i.Created}
}

// undoEvent returns an event whose parent is the message before the reverted ones, so
// that the continuing branch is the one without them. They stay in the session until
// the user continues, and are then deleted.
func (w *walk) undoEvent() *item {
	r := w.revert
	if !r.on || r.above == "" || r.above == w.parent || stamp(r.last) == "" {
		return nil
	}
	it := &item{kind: event}
	it.Message = schema.Message{
		ID: w.unique(w.src.meta.Revert + "#undone"), ParentID: r.above, Timestamp: stamp(r.last + 1),
		Role: schema.System, Content: "The user took back what came after this.", Source: w.src.meta.ID,
	}
	return it
}

// calledBefore reports whether a call before the cursor has the id.
func (w *walk) calledBefore(id string) bool {
	if !w.on {
		return false
	}
	if w.earlier == nil {
		earlier, err := w.src.calls(w.from)
		if err != nil {
			w.err = err
		}
		if w.earlier = earlier; earlier == nil {
			w.earlier = map[string]bool{}
		}
	}
	return w.earlier[id]
}
