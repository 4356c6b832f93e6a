package inject

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cortext/schema/prompt"
)

// A Command is a prompt that is a /workspace command.
type Command struct {
	Name      string // "plan" of "/workspace.plan the release"
	Arguments string // "the release"
	PromptID  string // the agent's id for it; empty in old versions
	Message   string // the message that holds it
	Time      time.Time
}

// CommandPrefix begins the prompts that are commands of ours.
const CommandPrefix = "/workspace."

// ParseCommand takes a prompt apart that is a /workspace command.
func ParseCommand(prompt string) (c Command, ok bool) {
	rest, ok := strings.CutPrefix(prompt, CommandPrefix)
	if end := strings.IndexAny(rest, " \t\n"); end >= 0 {
		c.Arguments = strings.TrimSpace(rest[end:])
		rest = rest[:end]
	}
	c.Name = rest
	return c, ok
}

// Line is the command's first word as it was typed.
func (c Command) Line() string { return CommandPrefix + c.Name }

// Begins reports whether the command begins a conversation.
func (c Command) Begins() bool {
	return c.Name != "" && !strings.ContainsAny(c.Name, "/\\") && !slices.Contains(prompt.Managing(), c.Name)
}

// Prompted notes a prompt as it was typed: whether it is a /workspace command, and
// the first one that begins a conversation.
func (t *Transcript) Prompted(line string, c Command) {
	typed, ok := ParseCommand(line)
	if !ok {
		return
	}
	c.Name, c.Arguments = typed.Name, typed.Arguments
	t.Commands = append(t.Commands, c)
	if t.Command == "" && c.Begins() {
		t.Command, t.Arguments = c.Line(), c.Arguments
	}
}

// maxFailure is the length in bytes of a failure's first line: enough to tell
// failures apart.
const maxFailure = 200

// Failure is the first line of what a tool that failed gave, cut.
func Failure(output string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(output), "\n")
	line = strings.TrimSpace(line)
	if len(line) > maxFailure {
		i := maxFailure
		for i > 0 && !utf8.RuneStart(line[i]) {
			i--
		}
		line = line[:i]
	}
	return line
}
