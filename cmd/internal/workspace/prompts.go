package workspace

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"cortext/cmd/internal/find"
	"cortext/cmd/internal/settings"
	"cortext/resume"
	"cortext/schema"
	"cortext/schema/prompt"
	"cortext/store"
)

// commandsDir holds the prompts of the conversation types.
const commandsDir = ".workspace/commands"

// CommandFile returns the path of a type's prompt in a workspace.
func CommandFile(typ string) string { return path.Join(commandsDir, typ+".md") }

// ValidType reports whether typ can be the type of a conversation: it becomes part of
// folder and file names.
func ValidType(typ string) bool { return typ != "" && store.Slug(typ) == typ }

// Prompts are the prompts of the conversation types: the built-in ones, and those of the
// workspace, which come first.
type Prompts struct {
	store  *store.Store
	config *settings.Config // that of the workspace: prompts are committed, and the same for all users
}

// Check returns an error if a new conversation cannot be of type typ, because neither
// cortext nor the workspace has a prompt for it.
func (p Prompts) Check(typ string) error {
	if ValidType(typ) {
		if _, ok := prompt.BuiltIn(typ); ok {
			return nil
		}
		ok, err := p.store.Exists(CommandFile(typ))
		if err != nil || ok {
			return err
		}
	}
	return &TypeError{Type: typ, Near: find.NearestWord(prompt.Types(), typ)}
}

// A TypeError reports an unknown conversation type.
type TypeError struct{ Type, Near string }

func (e *TypeError) Error() string {
	return fmt.Sprintf("there is no conversation type %q: it is one of %s, or what %s/<type>.md describes",
		e.Type, strings.Join(prompt.Types(), ", "), commandsDir)
}

// Command returns the current prompt of a type; ok is false if there is none.
func (p Prompts) Command(typ string) (c resume.Command, ok bool, err error) {
	if !ValidType(typ) {
		return c, false, nil
	}
	c = resume.Command{Name: "/workspace." + typ, File: CommandFile(typ)}
	b, err := p.store.ReadFile(c.File)
	text := string(b)
	if errors.Is(err, store.ErrNotFound) {
		c.BuiltIn = true
		text, ok = prompt.BuiltIn(typ)
		if !ok {
			return resume.Command{}, false, nil
		}
	} else if err != nil {
		return resume.Command{}, false, err
	}
	_, c.Body = prompt.Split(p.Fill(text))
	return c, true, nil
}

// Describe records the command that a conversation began with, and the version of
// its prompt.
func (p Prompts) Describe(s *schema.Session, command, arguments string) error {
	c, ok, err := p.Command(s.ConversationType)
	if err != nil || !ok {
		return err
	}
	s.AgentConfig.Command = command
	s.AgentConfig.Arguments = arguments
	s.AgentConfig.SystemPromptHash = prompt.Hash(c.Body)
	return nil
}

// remindTurns is the placeholder for the setting remind_turns in a prompt.
const remindTurns = "$REMIND_TURNS"

// Fill fills settings into a prompt. Without reminders, it leaves out the lines
// about them.
func (p Prompts) Fill(text string) string {
	if p.config.RemindTurns > 0 {
		return strings.ReplaceAll(text, remindTurns, strconv.Itoa(p.config.RemindTurns))
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, remindTurns) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Types returns the conversation types that have a prompt: the built-in ones and the
// workspace's own.
func (p Prompts) Types() []string {
	types := prompt.Types()
	for _, name := range p.store.ListFiles(commandsDir) {
		typ, ok := strings.CutSuffix(name, ".md")
		if ok && ValidType(typ) && !slices.Contains(types, typ) {
			types = append(types, typ)
		}
	}
	return types
}

// Strip removes one of our payloads, with the command text before it, from what an agent
// recorded as the user's words.
func (p Prompts) Strip(text string) (rest string, ok bool) {
	before, after, ok := resume.CutPayload(text)
	if !ok {
		return "", false
	}
	for _, typ := range p.Types() {
		c, known, err := p.Command(typ)
		if err != nil || !known {
			continue
		}
		lead, _, _ := strings.Cut(strings.TrimSpace(c.Body), "$ARGUMENTS")
		if i := strings.Index(before, lead); i >= 0 && strings.TrimSpace(lead) != "" {
			before = before[:i]
			break
		}
	}
	return strings.TrimSpace(strings.TrimSpace(before) + "\n\n" + strings.TrimSpace(after)), true
}
