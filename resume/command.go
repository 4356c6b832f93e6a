package resume

import (
	"cmp"
	"fmt"
	"strings"

	"cortext/schema"
	"cortext/schema/prompt"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

// A Command is the current form of the prompt that began the conversation. The zero
// value means that the conversation has none.
type Command struct {
	Name    string // as typed: /workspace.brainstorm
	File    string // relative to the workspace, with slashes: .workspace/commands/brainstorm.md
	Body    string // the prompt without its frontmatter
	BuiltIn bool   // the file is missing: Body is the built-in text
}

// A commandPart is the beginning of a payload: the text of the command, or a
// reference to it.
type commandPart struct {
	text      string // with its arguments filled in; "" without a command
	reference string // can replace text, with the arguments
	show      string // the command line that shows text
	arguments string
	referred  bool // the reference replaces the text
}

// newCommandPart renders the command of s in full.
func newCommandPart(c Command, s *schema.Session) commandPart {
	// Arguments are data outside the fence, so block markers in them are defused.
	p := commandPart{arguments: defuse(rawjson.Text(s.AgentConfig.Arguments))}
	text := prompt.Fill(c.Body, p.arguments)
	if c.Body == "" || strings.TrimSpace(text) == "" {
		return p
	}
	p.text = paragraph(text)
	file, name := oneLine(c.File), oneLine(c.Name)
	p.reference, p.show = unnamedReference, commandLine(s, "resume", " --print")
	switch {
	case file != "" && !c.BuiltIn && !tokens.Exceed(shellWord(file), maxName):
		p.reference, p.show = "Read "+file+" first and follow it.", "cat "+shellWord(file)
	case name != "" && !tokens.Exceed(name, maxName):
		p.reference = "The text of " + name + ", which began this conversation, does not fit here."
	}
	return p
}

// unnamedReference replaces a command whose name is too long.
const unnamedReference = "The command that began this conversation does not fit here."

// render returns the command as a paragraph.
func (p *commandPart) render() string {
	switch {
	case !p.referred:
		return p.text
	case p.arguments == "":
		return paragraph(p.reference)
	}
	return paragraph(p.reference + "\n\nARGUMENTS: " + p.arguments)
}

// paragraph strips empty lines around text and adds one at the end, which keeps the
// text's tokens apart from those of the block.
func paragraph(text string) string {
	return strings.TrimRight(strings.TrimLeft(rawjson.Text(text), "\n"), " \t\r\n") + "\n\n"
}

// warnings returns what the user should know about the command.
func warnings(s *schema.Session, c Command) []Warning {
	var ws []Warning
	where := oneLine(cmp.Or(c.File, c.Name))
	empty := strings.TrimSpace(c.Body) == ""
	switch {
	case empty && where != "":
		ws = append(ws, Warning{"command-missing", fmt.Sprintf("the command %s has no text: the conversation continues without it", where)})
	case c.BuiltIn:
		ws = append(ws, Warning{"command-missing", fmt.Sprintf("the command %s is missing; the built-in text is used", where)})
	}
	if was := s.AgentConfig.SystemPromptHash; !empty && was != "" && was != prompt.Hash(c.Body) {
		ws = append(ws, Warning{"prompt-drift", fmt.Sprintf("the command %s has changed since this conversation began; the current text is used", where)})
	}
	return ws
}
