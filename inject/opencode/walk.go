package opencode

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema"
)

// A source is one session, wherever it is kept.
type source struct {
	meta     meta
	warnings []string
	size     int64 // what stat tells

	// rows yields the messages from a place on; the zero place is the beginning.
	rows func(from place) iter.Seq2[row, error]

	// before tells what stands before a place: the same as long as nothing in it
	// changes.
	before func(p place) (messages, parts string, err error)

	// calls are the agent's ids of the calls before a place.
	calls func(p place) (map[string]bool, error)

	check   func() error // whether what was read is to be trusted; may be nil
	release func() error // may be nil
}

// meta is what is known about a session as a whole.
type meta struct {
	ID, Parent, Version, Title, Dir string
	Payload                         string // the id of a payload of ours that it began with
	Revert                          string // the first message that the user took back, while it can be undone
	RevertPart                      string // the message itself stays, up to this part
}

// A kind is what a message is in a history.
type kind int

const (
	nothing kind = iota // it is left out
	ours                // what cortext itself put there
	asked               // what the user said
	answered
	event // what nobody said, and the model saw
)

// An item is what one row becomes.
type item struct {
	place
	kind    kind
	message schema.Message
	tools   []schema.Tool
	blobs   []inject.Blob
	started []inject.Subagent // sub-agents, with the calls
	mode    string
	runsAt  string // the provider of the model that answered
}

func (it *item) size() int {
	n := len(it.message.Content) + len(it.message.Reasoning)
	for i := range it.tools {
		n += len(it.tools[i].Input) + len(it.tools[i].Output)
	}
	return n
}

// A walk goes through the messages of a session in their order.
type walk struct {
	src     *source
	o       inject.Options
	from    place
	on      bool            // it goes on from a cursor
	parent  string          // the message before
	ids     map[string]bool // of messages
	calls   map[string]bool // ids given to calls
	earlier map[string]bool // ids of calls before the cursor; nil: not looked up
	unknown map[string]int
	kept    int // messages
	titled  int // prompts of which the title alone is left
	err     error

	compaction compaction
	revert     revert
}

// A compaction is where OpenCode shortened its context: a message that asks for it,
// one that sums up, and one that lets the model go on. All that was said before
// stays where it is.
type compaction struct {
	overflow bool
	summed   bool     // the summary was the message before
	typed    []string // what the user typed last
}

// A revert is what the user took back and may still bring again.
type revert struct {
	on    bool
	above string // the message that it hangs on
	last  int64  // the time of the last one taken back
}

func newWalk(src *source, o inject.Options) *walk {
	w := &walk{src: src, o: o, ids: map[string]bool{}, calls: map[string]bool{}, unknown: map[string]int{}}
	if o.From.Offset > 0 {
		w.on = true
		w.from = place{o.From.Offset, o.From.Message}
		if n := len(o.From.Anchors); n > 0 {
			w.parent = o.From.Anchors[n-1].Message
		}
	}
	return w
}

// each gives every message.
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
	if it := w.takenBack(); it != nil {
		return give(it)
	}
	return nil
}

// take makes an item of a row.
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
	it := &item{place: r.place, mode: i.Mode, runsAt: i.Provider, message: schema.Message{ID: r.id, ParentID: w.parent, Timestamp: stamp(i.Created), Source: w.src.meta.ID}}
	w.reverted(r.id, i, false)
	c := content{w: w, m: &it.message, it: it}
	switch i.Role {
	case "user":
		if len(parts) == 0 && i.Title != "" { // the folder of its parts is lost
			parts = []part{{Type: "text", Text: i.Title}}
			w.titled++
		}
		w.user(&c, it, parts)
	case "assistant":
		w.assistant(&c, it, i, parts)
	default:
		if i.Role == "" {
			i.Role = "(no role)"
		}
		w.unknown["message "+i.Role]++
	}
	c.close()
	if it.kind > ours {
		w.kept++
		w.parent = r.id
	}
	w.reverted(r.id, i, true)
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

func (w *walk) user(c *content, it *item, parts []part) {
	p := w.prompt(parts)
	state := w.compaction
	w.compaction.summed = false
	switch {
	case w.isOurs(it.id, p):
		it.kind = ours
	case len(p.typed) == 0 && !p.other && p.compacts:
		w.compaction.overflow = p.overflow
	case state.summed && state.overflow && isCopy(p.typed, state.typed):
		// The prompt that did not fit any more, again under another id.
	case len(p.typed) > 0 || p.other:
		it.kind, it.message.Role = asked, schema.User
		w.compaction.typed = p.typed
		c.user(parts)
	case len(p.synthetic) > 0 && !p.continues:
		it.message.Role = schema.System
		if c.event(p.synthetic); len(c.texts) > 0 {
			it.kind = event
		}
	}
	if it.kind == asked && len(c.texts) == 0 && len(it.message.Blocks) == 0 && len(p.typed) > 0 {
		it.kind = nothing // it held what cortext put there, or an empty text
	}
}

// isCopy reports whether the user typed the same before. In a copy a picture is a
// text that names it.
func isCopy(again, typed []string) bool {
	if len(typed) == 0 {
		return false
	}
	again = slices.DeleteFunc(slices.Clone(again), func(s string) bool {
		return strings.HasPrefix(s, "[Attached ") && !slices.Contains(typed, s)
	})
	return slices.Equal(again, typed)
}

func (w *walk) assistant(c *content, it *item, i info, parts []part) {
	if !i.Summary {
		it.kind, it.message.Role = answered, schema.Assistant
		c.assistant(i, parts)
		return
	}
	w.compaction.summed = true
	if w.kept > 0 || w.on || w.o.Continues {
		return // what it sums up is there
	}
	it.kind, it.message.Role = event, schema.System
	for _, v := range parts {
		if v.Type == "text" {
			c.addText(v.Text)
		}
	}
}

// reverted notes where what the user took back begins and ends.
func (w *walk) reverted(id string, i info, done bool) {
	m := w.src.meta
	if m.Revert == "" || w.revert.on && !done {
		return
	}
	if w.revert.on {
		w.revert.last = max(w.revert.last, i.Created)
		return
	}
	if id == m.Revert && done == (m.RevertPart != "") {
		w.revert = revert{on: true, above: w.parent, last: i.Created}
	}
}

// takenBack is an event that hangs on the message before those that the user took
// back: with it the branch that goes on is the one without them. They are in the
// session until the user goes on, and deleted then.
func (w *walk) takenBack() *item {
	r := w.revert
	if !r.on || r.above == "" || r.above == w.parent || stamp(r.last) == "" {
		return nil
	}
	return &item{kind: event, message: schema.Message{
		ID: w.unique(w.src.meta.Revert + "#undone"), ParentID: r.above, Timestamp: stamp(r.last + 1),
		Role: schema.System, Content: "The user took back what came after this.", Source: w.src.meta.ID,
	}}
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
