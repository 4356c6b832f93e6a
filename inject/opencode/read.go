package opencode

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/inject"
	"cortext/schema"
)

// A reading is the result of the first pass over a session. Its messages are rebuilt
// for each use, so that they need not all be in memory.
type reading struct {
	src    *source
	o      inject.Options
	t      *inject.Transcript
	places []placed // of the rows that were read, in order
	asked  int      // the last prompt among them
	taken  int      // the first one that the user reverted
}

// A placed holds the place of a row and what may depend on it.
type placed struct {
	place
	anchor inject.Anchor // if it has no line, nothing can depend on it
}

// read makes the first pass over a session.
func read(src *source, o inject.Options) (*inject.Transcript, error) {
	r := &reading{src: src, o: o, asked: -1, taken: -1, t: &inject.Transcript{
		Agent: Name, NativeID: src.meta.ID, Version: src.meta.Version, Parent: src.meta.Parent,
		WorkingDir: src.meta.Dir, Calls: map[string]string{}, Release: src.release,
	}}
	if o.Head > 0 {
		return r.head()
	}
	w := newWalk(src, o)
	if w.on {
		messages, parts, err := src.before(w.from)
		if err != nil {
			return nil, err
		}
		if messages != o.From.Head || parts != o.From.Tail {
			return nil, inject.ErrCursor
		}
	}
	size := int64(0)
	err := w.each(func(it *item) error {
		if o.Progress != nil {
			size += int64(it.Size())
			o.Progress(size)
		}
		r.note(w, it)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if w.on && src.meta.Revert != "" && !w.revert.on {
		return nil, inject.ErrCursor // what was reverted begins before the cursor
	}
	r.finish(w)
	r.t.Next, err = r.next()
	return r.t, err
}

// head reads the first message alone.
func (r *reading) head() (*inject.Transcript, error) {
	for row, err := range r.src.rows(place{}) {
		if err != nil {
			return nil, err
		}
		r.t.Roots = []string{row.id}
		break
	}
	r.t.Each = func(func(string, inject.Batch) error) error { return nil }
	return r.t, nil
}

// note takes properties of the session from an item.
func (r *reading) note(w *walk, it *item) {
	t, m := r.t, &it.Message
	if it.id != "" {
		if len(r.places) == 0 && !w.on {
			t.Roots = []string{it.id}
		}
		p := placed{place: it.place}
		switch {
		case it.kind == ours:
			p.anchor = inject.Anchor{Line: m.ID, Message: m.ParentID, Ours: true}
		case it.kind > ours:
			p.anchor = inject.Anchor{Line: m.ID, Message: m.ID}
		}
		r.places = append(r.places, p)
		if w.revert.on && r.taken < 0 {
			r.taken = len(r.places) - 1
		}
	}
	if it.kind <= ours {
		return
	}
	t.Messages++
	for _, s := range it.started {
		if t.Calls[s.NativeID] == "" {
			t.Calls[s.NativeID] = s.ToolCallID
		}
	}
	for _, c := range m.ToolCalls {
		t.AddTool(c.Name)
	}
	t.AddTime(m.Timestamp.Time())
	switch it.kind {
	case asked:
		r.asked = len(r.places) - 1
		t.Permission = it.mode
		r.t.Prompted(m.Content, inject.Command{PromptID: m.ID, Message: m.ID, Time: m.Timestamp.Time()})
	case answered:
		t.LastReply = m.Content
		if m.Model != "" {
			t.Model, t.Provider = m.Model, nil
			if it.runsAt != "" {
				t.Provider = &schema.Provider{Type: it.runsAt, Model: m.Model}
			}
		}
	}
}

// finish resolves what is only known once the whole session is read.
func (r *reading) finish(w *walk) {
	t := r.t
	if t.Command == "" && !w.on && !isDefaultTitle(r.src.meta.Title) {
		t.Title = r.src.meta.Title // the model's, if not the user's: they look the same
	}
	for _, warning := range r.src.warnings {
		w.losses.Damaged(warning)
	}
	w.losses.Report(t)
	if w.titled > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("%d prompts have no text: their titles replace it", w.titled))
	}
	t.Each = r.each
}

// isDefaultTitle reports whether OpenCode gave the session this title before a model
// or the user named it (1.18.33).
func isDefaultTitle(title string) bool {
	for _, prefix := range []string{"New session - ", "Child session - "} {
		if at, ok := strings.CutPrefix(title, prefix); ok {
			_, err := time.Parse(time.RFC3339, at)
			return err == nil
		}
	}
	return false
}

// each is the second pass: it builds the messages.
func (r *reading) each(emit func(sub string, b inject.Batch) error) error {
	batcher := inject.Batcher{Emit: func(b inject.Batch) error { return emit("", b) }}
	err := newWalk(r.src, r.o).each(func(it *item) error {
		if it.kind <= ours {
			return nil
		}
		return batcher.Add(&it.MessageBuilder)
	})
	if err != nil {
		return err
	}
	if r.src.check != nil {
		if err := r.src.check(); err != nil {
			return err
		}
	}
	return batcher.Flush()
}

// maxAnchors is how many messages before the cursor we remember: users nearly always
// go back to one of these.
const maxAnchors = 64

// next returns the cursor from which a later reading can continue. It is before the
// last prompt, or before what the user reverted. Earlier rows may still change (a
// call of a killed turn, an output that OpenCode drops); [source].before detects
// that.
func (r *reading) next() (c inject.Cursor, err error) {
	if len(r.places) == 0 {
		c = r.o.From // nothing new
		c.Size = r.src.size
		return c, nil
	}
	c.Size = r.src.size
	at := max(r.asked, 0)
	if r.taken >= 0 {
		at = min(at, r.taken)
	}
	p := r.places[at].place
	if p.at <= 0 {
		return c, nil
	}
	c.Offset, c.Message = p.at, p.id
	c.Head, c.Tail, err = r.src.before(p)
	c.Anchors = slices.Clone(r.o.From.Anchors)
	for _, p := range r.places[:at] {
		if p.anchor.Line != "" {
			c.Anchors = append(c.Anchors, p.anchor)
		}
	}
	c.Anchors = c.Anchors[max(0, len(c.Anchors)-maxAnchors):]
	return c, err
}
