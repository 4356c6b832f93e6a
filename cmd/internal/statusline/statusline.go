// Package statusline writes the line that an agent shows below its prompt: the conversation
// of the session, and whether it is saved.
package statusline

import (
	"fmt"
	"slices"
	"strings"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/shown"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
)

// titleWidth is how many characters of a title are shown.
const titleWidth = 40

// Line returns the line for a session. It reads only the uncaptured part of the transcript.
func Line(w *workspace.Workspace, c *capture.Capture, agent inject.Agent, s inject.Status) string {
	parts := append(conversation(w, c, agent, s), window(s))
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
}

// conversation names the session's conversation, how long ago it was stopped, and what has
// not been saved yet.
func conversation(w *workspace.Workspace, c *capture.Capture, agent inject.Agent, s inject.Status) []string {
	if w.Removed.Skipped(agent.Name(), s.NativeID) {
		return []string{"not saved: you skipped this session"}
	}
	b, ok := c.Cached(agent.Name(), s.NativeID)
	if !ok || len(b.Segments) == 0 {
		return []string{"no conversation: /workspace.chat starts one"}
	}
	in := b.CurrentSegment()
	e, err := w.Entry(in.Path)
	gone := in.Removed
	if err != nil && !gone { // no hook has noticed it yet
		gone, _ = w.Removed.Segment(agent.Name(), s.NativeID, in.Segment)
	}
	switch {
	case gone:
		return []string{"not saved: its conversation was removed"}
	case err != nil:
		return []string{"not in this work tree: its messages are waiting"}
	}
	parts := []string{shown.Cut(shown.Line(e.Session.DisplayTitle()), titleWidth)}
	if w.Config.RemindTurns > 0 {
		parts = append(parts, turns(b.Turns))
	}
	switch {
	case e.Waiting || slices.Contains(w.Store.Kept().WaitingPaths(), in.Path):
		parts = append(parts, "messages wait")
	case capture.Unsaved(w, agent, s.NativeID, b):
		parts = append(parts, "not saved yet")
	default:
		parts = append(parts, "saved")
	}
	return parts
}

func turns(n int) string {
	if n == 1 {
		return "1 turn since stop"
	}
	return fmt.Sprintf("%d turns since stop", n)
}

// window says how full the context window is.
func window(s inject.Status) string {
	if s.Used == 0 || s.Window == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s tokens (%d%%)", thousands(s.Used), thousands(s.Window), (100*s.Used+s.Window/2)/s.Window)
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	if n >= 999_500 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
	}
	return fmt.Sprintf("%dk", (n+500)/1000)
}
