package capture

import (
	"fmt"
	"slices"

	"cortext/inject"
)

// warnings collects what failed while messages were captured, each text once.
type warnings struct {
	texts  []string // not taken yet
	raised int      // number of warnings, repeated ones included
}

// add keeps a warning for [Capture.TakeWarnings].
func (w *warnings) add(text string) {
	w.raised++
	if !slices.Contains(w.texts, text) {
		w.texts = append(w.texts, text)
	}
}

// take returns each text once.
func (w *warnings) take() []string {
	list := w.texts
	w.texts = nil
	return list
}

// unread warns of unreadable parts of a transcript. It mentions a line cut off at the
// end only if the user asks for everything. A hook or `sync` may run while the agent
// writes the line, and captures it the next time.
func (w *warnings) unread(transcript string, t *inject.Transcript, mode Mode) {
	parts := t.Unread
	if t.Torn != "" && mode == PutBack {
		parts = append(slices.Clone(parts), t.Torn)
	}
	for _, part := range parts {
		w.add(transcript + ": " + part + ": this part of the transcript is not captured")
	}
}

// unregistered warns that the registry could not be written. The sources in session.json
// also record which conversation a session goes into, so nothing is lost unless git removes
// them.
func (w *warnings) unregistered(err error) {
	if err != nil {
		w.add(fmt.Sprintf("the user's state cannot be written (%v): messages are captured, but cortext will not notice if git later removes them from the work tree; make the folder writable", err))
	}
}
