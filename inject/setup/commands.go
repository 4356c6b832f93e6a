// Package setup generates what cortext puts into a project for an agent: slash
// commands, from one source, and hooks. Its functions are pure and work on file
// contents.
//
// It never replaces what a user wrote. Our command files carry a marker with the hash
// of the rest, so that we recognize and keep edited ones. Hooks are spliced into a
// JSON settings file, whose other bytes stay as they are.
package setup

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cortext/inject"
	"cortext/schema/prompt"
)

// A Form describes an agent's slash commands.
type Form struct {
	Agent string                   // its name in cortext init
	Path  func(name string) string // returns the path of the command's file, relative to the project

	// Spell returns the file without its marker, in two parts. The marker, a line
	// that begins with "#", goes between them. front is the source's frontmatter
	// without its dashes.
	Spell func(name, front, body string) (before, rest string)
}

// A File is a file of a project. Path is relative to the project and has slashes.
type File struct{ Path, Text string }

// commands holds the texts of the commands that cortext itself executes. The answer of
// cortext reaches the model next to the prompt; these texts only say what to do with it.
//
//go:embed commands
var commands embed.FS

// plainName matches names that are safe in a path and in the marker.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9-]+$`) })

// Commands returns the files of the slash commands: one for each type, in the given
// order, then the managing commands. A type gets no file if its name has characters
// other than a-z, 0-9 and "-", or is that of a managing command.
func Commands(f Form, types []inject.Type) []File {
	own := map[string]string{}
	for _, name := range prompt.Managing() {
		text, _ := commands.ReadFile("commands/" + name + ".md") // embedded: a test finds a missing one
		own[name] = strings.ReplaceAll(string(text), "--agent AGENT", "--agent "+f.Agent)
	}
	var files []File
	for _, t := range types {
		if _, taken := own[t.Name]; taken || !plainName().MatchString(t.Name) {
			continue
		}
		files = append(files, f.generated(t.Name, t.Source,
			"from .workspace/commands/"+t.Name+".md ", "; edit that file, then run cortext init --agent "+f.Agent))
	}
	for _, name := range prompt.Managing() {
		files = append(files, f.generated(name, own[name], "", ""))
	}
	return files
}

// Managing returns the text of a command that cortext itself executes, without its
// frontmatter; ok is false for any other.
func Managing(name, agent string) (text string, ok bool) {
	if !slices.Contains(prompt.Managing(), name) {
		return "", false
	}
	b, _ := commands.ReadFile("commands/" + name + ".md") // embedded
	_, body := prompt.Split(strings.ReplaceAll(string(b), "--agent AGENT", "--agent "+agent))
	return body, true
}

// generated returns the command file for source, with the marker.
func (f Form) generated(name, source, from, advice string) File {
	front, body := prompt.Split(source)
	before, rest := f.Spell(name, front, body)
	return stamped(f.Path(name), before, rest, from, advice)
}

// Stamped returns a file with our marker between the two parts of its text.
func Stamped(path, before, rest string) File { return stamped(path, before, rest, "", "") }

// StampedScript is Stamped for a JavaScript file.
func StampedScript(path, text string) File {
	return File{path, scriptMark + "(sha256:" + hash(text) + ")\n" + text}
}

func stamped(path, before, rest, from, advice string) File {
	return File{path, before + mark + from + "(sha256:" + hash(before+rest) + ")" + advice + "\n" + rest}
}

// Markdown formats a command as Markdown with frontmatter, like the source. To a YAML
// parser the marker is a comment.
func Markdown(_, front, body string) (before, rest string) {
	return "---\n", front + "---\n" + body
}

// Marks at the beginning and end of a command's text, for agents that store or report
// only the expansion of a command. The user's input follows the end mark.
const (
	CommandMark = "<!-- cortext: /workspace."
	TypedMark   = "<!-- cortext: typed: -->"
)

// Arguments is the placeholder for a command's arguments in the sources. argumentsAt
// replaces it for agents that append the arguments to the text, since a placeholder of
// their own would alter the arguments.
const (
	Arguments   = "$ARGUMENTS"
	argumentsAt = "(what is typed after the command: it stands at the end of this text)"
)

// Expansion returns the text that an agent substitutes for /workspace.<name>, with
// marks by which we recognize it. body is the command's own text; escape breaks up what
// the agent would act on in it.
func Expansion(name, body string, escape func(string) string) string {
	return CommandMark + name + " -->\n" + escape(strings.ReplaceAll(body, Arguments, argumentsAt)) + "\n\n" + TypedMark
}

// mark is the beginning of the marker; markHash finds the hash in it.
const mark = "# generated by cortext "

var markHash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(sha256:([0-9a-f]{64})\)`) })

// marks are the possible beginnings of the marker: JavaScript comments look different.
var marks = []string{mark, scriptMark}

const scriptMark = "// generated by cortext "

// marker looks for the marker in the frontmatter of text or, without one, in the
// comment at its beginning. It returns the hash in the marker and the text without
// its line.
func marker(text string) (sum, rest string, ok bool) {
	text = normal(text)
	front, _ := prompt.Split(text)
	if front == "" {
		front = comment(text)
	}
	for line := range strings.Lines(front) {
		for _, mark := range marks {
			if !strings.HasPrefix(line, mark) {
				continue
			}
			if m := markHash().FindStringSubmatch(line); m != nil {
				sum = m[1]
			}
			return sum, strings.Replace(text, line, "", 1), true
		}
	}
	return "", "", false
}

// comment returns the comment lines at the beginning of a text.
func comment(text string) string {
	end := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") {
			break
		}
		end += len(line)
	}
	return text[:end]
}

// Marked reports whether cortext generated the file, whether or not it was edited
// since.
func Marked(text string) bool {
	_, _, ok := marker(text)
	return ok
}

// Owned reports whether cortext generated the file and nobody edited it since. A
// checkout that turned LF into CRLF is not an edit.
func Owned(text string) bool {
	sum, rest, ok := marker(text)
	return ok && sum == hash(rest)
}

// Change returns the change that turns the file into want. have is its current text, if
// it exists.
func Change(have string, exists bool, want File) inject.Change {
	c := inject.Change{Path: want.Path, Text: want.Text, Action: inject.Keep}
	switch {
	case !exists:
		c.Action = inject.Create
	case normal(have) == normal(want.Text):
		c.Action = inject.Same // except perhaps for CRLF
	case !Marked(have):
		c.Notes = []string{"it is not cortext's"}
	case Owned(have):
		c.Action = inject.Update
	default:
		c.Notes = []string{"you have edited it: delete it, and cortext makes a new one"}
	}
	return c
}

// Changes returns the change for each file; read returns a file's current text.
func Changes(files []File, read inject.ReadFile) (list []inject.Change, err error) {
	for _, f := range files {
		have, ok, err := read(f.Path)
		if err != nil {
			return nil, err
		}
		list = append(list, Change(have, ok, f))
	}
	return list, nil
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(normal(text)))
	return hex.EncodeToString(sum[:])
}

// normal converts line ends to LF.
func normal(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// Field returns the value of the named field in a YAML frontmatter, on one line.
func Field(front, name string) string {
	var text []string
	within := false
	for line := range strings.Lines(front) {
		value, ok := strings.CutPrefix(line, name+":")
		switch {
		case ok:
			within = true
			text = append(text, strings.TrimLeft(strings.TrimSpace(value), "|>-+"))
		case within && strings.TrimLeft(line, " \t") != line:
			text = append(text, line)
		default:
			within = false
		}
	}
	value := strings.Join(strings.Fields(strings.Join(text, " ")), " ")
	if bare, _, ok := strings.Cut(value, " #"); ok && name != "description" { // people write descriptions with an unquoted #
		value = bare
	}
	return unquote(value)
}

// unquote removes the quotes of a YAML scalar.
func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	inner := s[1 : len(s)-1]
	switch s[0] {
	case '\'':
		return strings.ReplaceAll(inner, "''", "'")
	case '"':
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(inner)
	}
	return s
}
