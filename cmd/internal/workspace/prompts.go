package workspace

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"cortext/cmd/internal/find"
	"cortext/resume"
	"cortext/schema/prompt"
	"cortext/store"
)

// CommandsDir holds the prompts of the conversation types.
const CommandsDir = ".workspace/commands"

// CommandFile is where the prompt of a type is in a workspace.
func CommandFile(typ string) string { return path.Join(CommandsDir, typ+".md") }

// ValidType reports whether typ can be the type of a conversation: it becomes
// part of a folder's and a file's name.
func ValidType(typ string) bool { return typ != "" && store.Slug(typ) == typ }

// CheckType says why a new conversation cannot be of the type: it has no prompt,
// neither built in nor in the workspace.
func (w *Workspace) CheckType(typ string) error {
	if ValidType(typ) {
		if _, ok := prompt.BuiltIn(typ); ok {
			return nil
		}
		ok, err := w.Store.Exists(CommandFile(typ))
		if err != nil || ok {
			return err
		}
	}
	return &TypeError{Type: typ, Near: find.NearestWord(prompt.Types(), typ)}
}

// A TypeError says that there is no such type of conversation.
type TypeError struct{ Type, Near string }

func (e *TypeError) Error() string {
	return fmt.Sprintf("there is no conversation type %q: it is one of %s, or what %s/<type>.md describes",
		e.Type, strings.Join(prompt.Types(), ", "), CommandsDir)
}

// Command returns the prompt of a type as it is now; ok is false if there is none.
func (w *Workspace) Command(typ string) (c resume.Command, ok bool, err error) {
	if !ValidType(typ) {
		return c, false, nil
	}
	c = resume.Command{Name: "/workspace." + typ, File: CommandFile(typ)}
	b, err := w.Store.ReadFile(c.File)
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
	_, c.Body = prompt.Split(w.FillSettings(text))
	return c, true, nil
}

// remindTurns is what a prompt has in the place of the setting remind_turns.
const remindTurns = "$REMIND_TURNS"

// FillSettings puts settings into a prompt. If there are to be no reminders, the
// lines about them are left out.
func (w *Workspace) FillSettings(text string) string {
	if w.Config.RemindTurns > 0 {
		return strings.ReplaceAll(text, remindTurns, strconv.Itoa(w.Config.RemindTurns))
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, remindTurns) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Types are the conversation types that have a prompt: the built-in ones, and
// those that the workspace adds.
func (w *Workspace) Types() []string {
	types := prompt.Types()
	for _, name := range w.Store.ListFiles(CommandsDir) {
		typ, ok := strings.CutSuffix(name, ".md")
		if ok && ValidType(typ) && !slices.Contains(types, typ) {
			types = append(types, typ)
		}
	}
	return types
}

// Strip takes a payload of ours out of what an agent recorded as the user's words,
// with the text of the command before it.
func (w *Workspace) Strip(text string) (rest string, ok bool) {
	before, after, ok := resume.Cut(text)
	if !ok {
		return "", false
	}
	for _, typ := range w.Types() {
		c, known, err := w.Command(typ)
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
