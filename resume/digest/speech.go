package digest

import (
	"slices"
	"strings"

	"cortext/schema"
)

// A turn is what the user asked and what the agent made of it.
type turn struct {
	prompt      string // as typed; "" where the conversation begins with the agent
	closing     bool   // the prompt only takes leave, or steers the program
	replies     []reply
	interrupted bool
	failure     string // the error that ended it, on one line
}

// A reply is a message of the agent.
type reply struct {
	text    string
	calls   []schema.Tool
	midWork bool // calls follow the text
	aside   bool // it only takes note of something that ended in the background
}

// turns arranges the speech of a conversation. System messages are no speech,
// but one of them tells of an interruption.
func turns(h schema.History) []turn {
	all := []turn{{}}
	noticed := false
	for _, m := range h.Messages {
		last := &all[len(all)-1]
		text := strings.TrimSpace(m.Content)
		switch m.Role {
		case schema.System:
			last.interrupted = last.interrupted || interruption(text)
			noticed = strings.HasPrefix(text, "<task-notification>")
		case schema.User:
			if interruption(text) {
				last.interrupted = true
				continue
			}
			if text == "" || shellLine(text) {
				continue
			}
			name, _ := slash(text)
			closes := name != "" && idle(name) || name == "" && farewell(bare(text))
			all = append(all, turn{prompt: text, closing: closes})
		case schema.Assistant:
			if synthetic(text) {
				text = ""
			}
			if failed(text) {
				last.failure, text = plain(text).text, ""
			}
			r := reply{text: text, midWork: len(m.ToolCalls) > 0 && !endsInText(m), aside: noticed && !slices.ContainsFunc(m.ToolCalls, works)}
			for _, c := range m.ToolCalls {
				if t, ok := h.Tools[c.ID]; ok {
					r.calls = append(r.calls, t)
				}
			}
			if text != "" || len(m.ToolCalls) > 0 {
				last.replies = append(last.replies, r)
				last.failure, last.interrupted = "", false
				noticed = r.aside && r.midWork
			}
			last.interrupted = last.interrupted || m.FinishReason == "interrupted"
		}
	}
	return all
}

// works reports whether a call does more than read what ran in the background.
func works(c schema.ToolCall) bool {
	return c.Name != "Read" && c.Name != "TaskOutput" && c.Name != "BashOutput"
}

// shellLine reports whether a prompt was for the shell, not for the agent: "!ls".
func shellLine(text string) bool {
	return len(text) > 1 && text[0] == '!' && (text[1] >= 'a' && text[1] <= 'z' || strings.IndexByte("./~$", text[1]) >= 0) && !strings.Contains(text, "\n")
}

func endsInText(m schema.Message) bool {
	return len(m.Blocks) > 0 && m.Blocks[len(m.Blocks)-1].Type == schema.TextBlock
}

func interruption(text string) bool {
	return strings.HasPrefix(text, "[Request interrupted by user") || text == "Request cancelled." || text == "Operation cancelled by user"
}

// synthetic reports whether an agent's program, not the model, wrote text.
func synthetic(text string) bool {
	switch text {
	case "No response requested.", "(no content)", "[No response requested]":
		return true
	}
	return false
}

// failed reports whether text is the agent's program telling of an error of the
// service.
func failed(text string) bool {
	for _, p := range []string{"API Error", "Prompt is too long", "Credit balance is too low", "Invalid API key", "Claude AI usage limit reached",
		"You've hit your limit", "You've reached your usage limit", "Claude usage limit reached"} {
		if strings.HasPrefix(text, p) {
			return len(text) < 2000
		}
	}
	return false
}
