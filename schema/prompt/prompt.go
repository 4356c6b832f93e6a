// Package prompt holds the prompts behind the commands /workspace.<type>, one for each
// type of conversation, and the document that such a conversation keeps. A workspace may
// change the prompts and add types of its own in .workspace/commands/<type>.md; the
// functions here work on those files too.
//
// The package reads no files, clock or environment.
package prompt

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
)

//go:embed commands
var commands embed.FS

// Types returns the types of conversation that have a built-in prompt, in the order in
// which they are offered.
func Types() []string {
	return []string{"brainstorm", "debug", "plan", "learn", "meeting", "review", "projectmanage", "chat"}
}

// Managing returns the names of the /workspace commands that manage conversations and
// start none: cortext itself carries them out.
func Managing() []string {
	return []string{"resume", "stop-conversation", "sessions", "session", "context", "compact"}
}

// Manages reports whether the user's input only manages conversations: it is one of the
// [Managing] commands, or a similar command of an agent without arguments, which could
// ask for more.
func Manages(typed string) bool {
	switch strings.TrimSpace(typed) {
	case "/exit", "/quit", "/clear", "/new", "/resume", "/sessions", "/rewind", "/compact", "/compress":
		return true
	}
	name, _, _ := strings.Cut(typed, " ")
	name, ok := strings.CutPrefix(strings.TrimSpace(name), "/workspace.")
	return ok && slices.Contains(Managing(), name)
}

// BuiltIn returns the built-in file .workspace/commands/<typ>.md with its
// frontmatter; ok is false for a type that has none.
func BuiltIn(typ string) (file string, ok bool) {
	if !slices.Contains(Types(), typ) {
		return "", false
	}
	lead, err := commands.ReadFile("commands/" + typ + ".md")
	if err != nil {
		return "", false
	}
	stop, err := commands.ReadFile("commands/stopping.md")
	if err != nil {
		return "", false
	}
	return normal(string(lead)) + "\n" + strings.ReplaceAll(normal(string(stop)), "<type>", typ), true
}

// Split separates the YAML frontmatter from a command file: front is the text between the
// two lines "---", body the text after them. A file that does not begin with a closed
// frontmatter is all body. Both use LF line endings.
func Split(file string) (front, body string) {
	file = normal(strings.TrimPrefix(file, "\ufeff"))
	rest, ok := strings.CutPrefix(file, "---\n")
	if !ok {
		return "", file
	}
	for at := 0; at < len(rest); {
		line, _, ended := strings.Cut(rest[at:], "\n")
		next := at + len(line)
		if ended {
			next++
		}
		if strings.TrimRight(line, " \t") == "---" {
			return rest[:at], rest[next:]
		}
		at = next
	}
	return "", file
}

// Fill replaces each $ARGUMENTS in body with the arguments as typed; placeholders inside
// the arguments are not replaced. A body without the placeholder gets the arguments at
// its end. Anything else that an agent would expand ($1, !`x`, @file) stays as it is.
func Fill(body, args string) string {
	body = normal(body)
	if strings.Contains(body, "$ARGUMENTS") {
		return strings.ReplaceAll(body, "$ARGUMENTS", args)
	}
	if args == "" {
		return body
	}
	return strings.TrimRight(body, "\n") + "\n\nARGUMENTS: " + args
}

// Hash identifies the wording of a command: "sha256:" and the digest of its body in hex.
// Converting LF to CRLF on checkout does not change it.
func Hash(body string) string {
	sum := sha256.Sum256([]byte(normal(body)))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// normal converts line endings to LF, which the built-in prompts use.
func normal(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

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
