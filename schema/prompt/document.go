package prompt

import (
	"strings"
	"unicode"
)

// Document returns the markdown file that a new conversation of the type begins with. The
// title is put on one line, without control characters; the date is written as given.
func Document(typ, title, date string) string {
	visible := func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}
	title = strings.Join(strings.Fields(strings.Map(visible, title)), " ")
	if title == "" {
		title = "Untitled"
	}
	var b strings.Builder
	b.WriteString("# " + title + "\n\n- Type: " + typ + "\n- Date: " + date + "\n")
	for _, h := range headings(typ) {
		b.WriteString("\n## " + h + "\n")
	}
	return b.String()
}

// headings returns the sections of the document for a type of conversation.
func headings(typ string) []string {
	switch typ {
	case "brainstorm":
		return []string{"Topic", "Ideas", "Decisions", "Open questions", "Next steps"}
	case "debug":
		return []string{"Symptom", "How to reproduce", "What was tried", "Cause", "Fix", "Open questions"}
	case "plan":
		return []string{"Goal", "Constraints", "Steps", "Decisions", "Risks", "Open questions"}
	case "learn":
		return []string{"Goal", "What is known", "Notes", "Exercises", "Open questions"}
	case "meeting":
		return []string{"Participants", "Agenda", "Notes", "Decisions", "Actions", "Open questions"}
	case "review":
		return []string{"Subject", "Findings", "Decisions", "Follow-up", "Open questions"}
	case "projectmanage":
		return []string{"Goal", "Status", "Tasks", "Milestones", "Risks", "Decisions", "Open questions"}
	default: // chat, and every type that a workspace adds
		return []string{"Notes", "Decisions", "Open questions"}
	}
}
