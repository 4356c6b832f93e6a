// Package prompt holds the prompts behind the commands /workspace.<type>, one
// for each type of conversation, and the document that such a conversation
// keeps. A workspace may change the prompts and add types of its own in
// .workspace/commands/<type>.md; the functions here work on those files too.
//
// The package reads no file, no clock and no environment.
package prompt

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"slices"
	"strings"
)

//go:embed commands
var commands embed.FS

// Types returns the types of conversation that have a built-in prompt, in the
// order in which they are offered.
func Types() []string {
	return []string{"brainstorm", "debug", "plan", "learn", "meeting", "review", "projectmanage", "chat"}
}

// Managing returns the names of the /workspace commands that manage conversations
// and begin none: cortext itself carries them out.
func Managing() []string {
	return []string{"resume", "stop-conversation", "sessions", "session", "context", "compact"}
}

// Manages reports whether what a user typed only manages conversations: one of the
// [Managing] commands, or a command of the agents to that end without words behind it,
// which may ask for more.
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

// Split takes the YAML frontmatter off a command file: front is what stands
// between the two lines "---", body is what follows. A file that does not begin
// with a closed frontmatter is all body. Lines end in LF in both.
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

// Fill puts the arguments, as they were typed, in the place of each $ARGUMENTS
// of body; what they hold is not filled in again. A body without the placeholder
// gets them at its end. Everything else that an agent would expand ($1, !`x`,
// @file) stays as it is.
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

// Hash identifies the wording of a command: "sha256:" and the digest of its body
// in hex. A checkout that turned LF into CRLF does not change it.
func Hash(body string) string {
	sum := sha256.Sum256([]byte(normal(body)))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// normal makes lines end in LF, which is how the built-in prompts are written.
func normal(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
