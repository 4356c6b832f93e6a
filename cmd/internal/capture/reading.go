package capture

import (
	"slices"

	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/store"
)

// A reading is one pass over a transcript.
type reading struct {
	segments []Segment
	homes    []*home
	subs     []inject.Subagent
	from     inject.Cursor
	reached  string       // the last message captured before; empty if unknown
	fresh    bool         // nothing was captured before
	aside    map[int]bool // segments of which records were set aside
	o        Options
	out      *Ingested

	opened   []*home               // homes opened for segments that were added
	begun    []*store.Conversation // conversations staged for commands in the transcript
	followed map[string]bool       // the From values of segments added for commands
}

// close closes what was opened for added segments.
func (in *reading) close() {
	for _, conv := range in.begun {
		conv.Discard()
	}
	closeHomes(in.opened)
}

// rehome reorders homes from the order of before to the order of now.
func rehome(homes []*home, before, now []Segment) []*home {
	ordered := make([]*home, len(now))
	for i := range now {
		for j := range before {
			if before[j].From == now[i].From && before[j].Path == now[i].Path {
				ordered[i] = homes[j]
			}
		}
	}
	return ordered
}

// leaveRemoved adds segments for conversations that were removed on other machines. Only
// the prompts that began them are known.
func (c *Capture) leaveRemoved(t *inject.Transcript, in *reading) error {
	var prompts []string
	for _, cmd := range t.Commands {
		if p := from(cmd); !slices.ContainsFunc(in.segments, func(s Segment) bool { return s.From == p }) {
			prompts = append(prompts, p)
		}
	}
	gone, err := c.ws.Removed.Prompts(t.Agent, t.NativeID, prompts)
	for _, p := range gone {
		in.segments = append(in.segments, Segment{Segment: registry.Segment{From: p}, Removed: true})
		in.homes = append(in.homes, &home{segment: &in.segments[len(in.segments)-1]})
	}
	return err
}

// leaveUnknown adds a segment for the beginning of a transcript if it belongs to a
// conversation unknown here, for example when the work tree has only a later conversation
// of the session.
func (in *reading) leaveUnknown(t *inject.Transcript, roots []string) {
	starts := false
	for _, s := range in.segments {
		if s.isOpen(t, roots) {
			return
		}
		starts = starts || s.startIn(t) != ""
	}
	if starts {
		in.segments = append(in.segments, Segment{Removed: true})
		in.homes = append(in.homes, new(home))
	}
}
