package inject

import (
	"slices"
	"strings"
	"time"

	"cortext/schema/clip"
	"cortext/schema/prompt"
)

// A Command is a /workspace command in a prompt.
type Command struct {
	Name      string // "plan" of "/workspace.plan the release"
	Arguments string // "the release"
	PromptID  string // the agent's id for it; empty in old versions
	Message   string // the message with the command
	Time      time.Time
}

// CommandPrefix is the beginning of prompts that are our commands.
const CommandPrefix = "/workspace."

// ParseCommand splits a prompt that is a /workspace command.
func ParseCommand(prompt string) (c Command, ok bool) {
	rest, ok := strings.CutPrefix(prompt, CommandPrefix)
	if end := strings.IndexAny(rest, " \t\n"); end >= 0 {
		c.Arguments = strings.TrimSpace(rest[end:])
		rest = rest[:end]
	}
	c.Name = rest
	return c, ok
}

// Line returns the command's first word as typed.
func (c Command) Line() string { return CommandPrefix + c.Name }

// Begins reports whether the command begins a conversation.
func (c Command) Begins() bool {
	return c.Name != "" && !strings.ContainsAny(c.Name, "/\\") && !slices.Contains(prompt.Managing(), c.Name)
}

// Prompted adds a prompt, as typed, to Commands if it is a /workspace command. The
// first one that begins a conversation also sets Command and Arguments.
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

// maxFailure is how many bytes of a failure's first line to keep: enough to distinguish
// failures.
const maxFailure = 200

// Failure returns the first line of a failed tool's output, cut to maxFailure.
func Failure(output string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(output), "\n")
	line = strings.TrimSpace(line)
	return clip.Head(line, maxFailure)
}
