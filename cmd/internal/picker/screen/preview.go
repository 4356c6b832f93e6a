package screen

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// restAfter is how long the cursor rests before its conversation is read.
const restAfter = 40 * time.Millisecond

// mostKept is how many previews are kept.
const mostKept = 256

// seen identifies the state of a conversation. The preview of an earlier state is shown
// until the new one is loaded.
type seen struct {
	id       string
	messages int
	active   time.Time
}

func seenOf(r *listing.Row) seen { return seen{r.ID, r.Messages, r.LastActive} }

type kept struct {
	preview picker.Preview
	of      seen
	err     error
}

// previews loads and caches previews of the conversations at the cursor.
type previews struct {
	asked seen // the conversation the cursor was on last
	stop  context.CancelFunc
	kept  map[string]kept // by id
	shown *bool           // the user's choice; nil: the layout's default
}

func newPreviews() previews { return previews{kept: map[string]kept{}} }

// A rested message says that the cursor may have rested on a conversation.
type rested struct{ row listing.Row }

// previewed is a loaded preview.
type previewed struct {
	row     listing.Row
	preview picker.Preview
	err     error
}

// rest waits until the cursor has rested on a conversation.
func (p *previews) rest(row *listing.Row) tea.Cmd {
	if row == nil || seenOf(row) == p.asked {
		return nil
	}
	p.asked = seenOf(row)
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	if k, ok := p.kept[row.ID]; ok && k.of == p.asked {
		return nil
	}
	return tea.Tick(restAfter, func(time.Time) tea.Msg { return rested{*row} })
}

// load reads a conversation if the cursor is still on it.
func (p *previews) load(m *model, at rested) tea.Cmd {
	if m.o.Preview == nil || seenOf(&at.row) != p.asked {
		return nil
	}
	ctx, stop := context.WithCancel(m.ctx)
	p.stop = stop
	row := cloned(at.row)
	return func() tea.Msg { // not counted as work: reading a long conversation takes seconds
		defer stop()
		preview, err := m.o.Preview(ctx, row)
		return previewed{row, preview, err}
	}
}

func (p *previews) keep(msg previewed) {
	of := seenOf(&msg.row)
	if msg.err != nil && of != p.asked { // cancelled
		return
	}
	if len(p.kept) >= mostKept {
		clear(p.kept)
	}
	p.kept[msg.row.ID] = kept{msg.preview, of, msg.err}
}

// toggle shows or hides the preview.
func (p *previews) toggle(now layout) {
	show := now.preview == nowhere
	p.shown = &show
}
