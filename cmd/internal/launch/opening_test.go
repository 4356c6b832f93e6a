package launch

import (
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// TestOpening: what a resumed conversation's screen begins with says how much was loaded.
func TestOpening(t *testing.T) {
	l := &Launcher{ws: &workspace.Workspace{Env: workspace.Env{Now: time.Now}}}
	for want, p := range map[string]*resume.Payload{
		"No messages yet, 7 tokens.":          {Tokens: 7},
		"Loaded: its only message, 7 tokens.": {Tokens: 7, Included: 1, Original: 1},
		"Loaded: all 2 messages, 7 tokens.":   {Tokens: 7, Included: 2, Original: 2},
		"Loaded: 2 of 3 messages, 7 tokens.":  {Tokens: 7, Included: 2, Original: 3, LeftOut: []resume.LeftOut{{What: "messages"}}},
	} {
		got := l.opening(&payload.Built{Entry: store.Entry{Session: &schema.Session{}}, Payload: p, Last: time.Now()})
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}
