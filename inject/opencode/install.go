package opencode

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cortext/inject"
	"cortext/inject/setup"
	"cortext/schema/prompt"
)

// form describes OpenCode's commands: Markdown with frontmatter, in which the marker
// is a comment.
var form = setup.Form{Agent: Name, Spell: spell, Path: func(name string) string { return ".opencode/commands/workspace." + name + ".md" }}

// Install returns the files of the slash commands and, if requested or already
// installed, of the plugin, each with the action to take.
func (agent) Install(o inject.InstallOptions, read inject.ReadFile) ([]inject.Change, error) {
	changes, err := commandChanges(setup.Commands(form, o.Types), read)
	if err != nil {
		return nil, err
	}
	want := pluginFile(o.AfterTool)
	have, ok, err := read(want.Path)
	if err != nil {
		return nil, err
	}
	if o.Plugin || ok && setup.Owned(have) {
		changes = append(changes, setup.Change(have, ok, want))
	}
	return changes, nil
}

//go:embed commands
var commands embed.FS

// elsewhere tells the model, which calls cortext from a shell, where else to find it.
const elsewhere = "If the shell does not find cortext, call `~/.local/state/cortext/bin/cortext` instead.\n"

// spell formats a command's file. Its first and last lines show whoever reads the
// session what was typed: the program stores only the expansion of a command
// (FACTS.md, "Slash commands").
//
// The managing commands have their own texts here. Without the plugin, only the model
// can execute them, by calling cortext with its bash tool. A text that calls cortext
// itself (!`…`) could not pass the session, and would hand the user's text to a
// shell.
func spell(name, front, body string) (before, rest string) {
	if own, err := commands.ReadFile("commands/" + name + ".md"); err == nil {
		front, body = prompt.Split(string(own))
	} else if !slices.Contains(prompt.Managing(), name) {
		body = strings.TrimRight(body, "\n") + "\n\n" + elsewhere
	}
	return "---\n", usable(front) + "---\n" + setup.Expansion(name, body, func(text string) string {
		text = strings.ReplaceAll(text, setup.TypedMark, "<!-- cortext:"+breaker+" typed: -->")
		return strings.TrimRight(unexpanded(text), "\n")
	}) + "\n"
}

// modelField matches a line of frontmatter that names a model.
var modelField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^model[ \t]*:`) })

// usable returns the frontmatter without a model name that only another agent knows.
// OpenCode's models are called <provider>/<model>; a command with any other name does
// not run.
func usable(front string) string {
	var b strings.Builder
	for line := range strings.Lines(front) {
		if !modelField().MatchString(line) || strings.Contains(line, "/") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// breaker breaks up what the program would act on, as in $_1, !_`cmd` and _@name.
const breaker = "_"

// unexpanded breaks up what the program would act on in a command's text, since it
// has no way to quote it (1.18.33): $1 and so on, the arguments by number; !`cmd`,
// which it runs; @name, a file that it attaches or an agent that it calls. $ARGUMENTS
// stays; its value may begin with a backtick, end with "!", or be empty.
func unexpanded(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c, before, after := text[i], text[:i], text[i+1:]
		filled := strings.HasSuffix(before, setup.Arguments)
		if c == '`' && filled || c == '@' && (filled || !isWord(before)) && isName(after) {
			b.WriteString(breaker)
		}
		b.WriteByte(c)
		if c == '$' && after != "" && after[0] >= '0' && after[0] <= '9' || c == '!' && (strings.HasPrefix(after, "`") || strings.HasPrefix(after, setup.Arguments)) {
			b.WriteString(breaker)
		}
	}
	return b.String()
}

// isWord reports whether an @ after this text means nothing to the program.
func isWord(before string) bool {
	if before == "" {
		return false
	}
	c := before[len(before)-1]
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '`'
}

// isName reports whether the text after an @ begins with a name.
func isName(after string) bool {
	return after != "" && !strings.ContainsRune(" \t\r\n`,", rune(after[0]))
}

//go:embed plugin/cortext.js
var plugin string

// pluginFile returns the plugin's file. Hook parses what the plugin sends to cortext.
func pluginFile(afterTool bool) setup.File {
	text := plugin
	if afterTool {
		text = strings.Replace(text, "const AFTER_TOOL = false", "const AFTER_TOOL = true", 1)
	}
	return setup.StampedScript(".opencode/plugins/cortext.js", text)
}
