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
	PromptID string // the agent's id for it; empty in old versions
	Message  string // the message that holds it
	Time     time.Time
}

// Prompted notes a prompt as it was typed: whether it is a /workspace command, and
// the first one that begins a conversation.
func (t *Transcript) Prompted(line string, c Command) {
	name, args, _ := strings.Cut(line, " ")
	typ, ok := strings.CutPrefix(name, "/workspace.")
	if !ok {
		return
	}
	t.Commands = append(t.Commands, c)
	if t.Command == "" && typ != "" && !strings.ContainsAny(typ, "\n\t/\\") && !slices.Contains(prompt.Managing(), typ) {
		t.Command, t.Arguments = name, args
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
