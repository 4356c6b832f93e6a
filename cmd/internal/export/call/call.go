// Package call describes tool calls for readers: the call and its outcome in one line, and
// an edit as a diff. It knows the tools of every agent, but no output format.
package call

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/clip"
	"cortext/schema/rawjson"
)

// A Result is how a call ended.
type Result int

// The results.
const (
	None Result = iota // no outcome is known
	Done
	Failed
)

// A Call describes a tool call.
type Call struct {
	Name     string // the tool's name
	Argument string // the main argument on one line, such as a file, command or pattern; only a file is whole
	Outcome  string // the result on one line
	Result   Result

	File           string // the file that it reads or changes
	Command        string // the shell command
	Written        string // the content that it wrote to the file
	Patch          string // in the agent's own format
	Diff           []Hunk
	Added, Removed int // numbers of lines

	Output string
	Input  string // the whole input, indented; empty if the fields above cover it
}

// Describe describes a call. Files below root are named relative to it.
func Describe(t *schema.Tool, root string) Call {
	in := fields(t.Input)
	c := Call{Name: t.Name, Output: t.Output, File: within(root, in.file())}
	switch notes.Outcome(*t) {
	case notes.OK:
		c.Result = Done
	case notes.Failed:
		c.Result = Failed
	}
	c.Argument = c.File
	switch schema.KindOf(t.Name) {
	case schema.EditTool:
		c.edits(in)
	case schema.WriteTool:
		c.Written = in.text("content", "filetext", "text")
		c.Added = lineCount(c.Written)
	case schema.PatchTool:
		c.Patch = in.text("patchtext", "patch", "input", "diff")
		c.patched()
	case schema.ShellTool:
		if c.Command = in.text("command", "cmd"); c.Command == "" {
			c.Command = strings.Join(in.list("command"), " ")
		}
		c.Argument = c.Command
	default:
		if said := in.text("pattern", "query", "url", "subject", "description", "prompt", "question", "skill", "command"); said != "" {
			c.Argument = said
		}
		if schema.KindOf(t.Name) != schema.ReadTool || c.File == "" {
			c.Input = indented(t.Input)
		}
	}
	if c.Argument == "" {
		c.Argument = texts(t.Input)
	}
	most := mostArgument
	if c.Argument == c.File {
		most = MostPath
	}
	c.Argument = line(c.Argument, most)
	if c.Diff == nil && c.Written == "" && c.Patch == "" && c.Command == "" && c.File == "" {
		c.Input = indented(t.Input)
	}
	c.Outcome = c.outcome(t)
	return c
}

// indented returns an input as indented JSON, or "" if it is an empty object.
func indented(input []byte) string {
	if len(input) <= len("{}") {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, input, "", "  ") != nil {
		return string(input)
	}
	return b.String()
}

// MostPath is the length in bytes of the longest file name that is shown whole.
const MostPath = 4096

const (
	mostArgument = 300 // bytes
	mostOutcome  = 120
)

// outcome summarizes the result of a call in a few words.
func (c *Call) outcome(t *schema.Tool) string {
	switch {
	case c.Result == Failed:
		if said := line(notes.ErrorLine(*t), mostOutcome); said != "" {
			return said
		}
		if t.ExitCode != nil {
			return fmt.Sprintf("exit code %d", *t.ExitCode)
		}
		return "failed"
	case c.Result == None:
		return "no result"
	case c.Added+c.Removed > 0:
		return Changed(c.Added, c.Removed)
	case strings.TrimSpace(t.Output) == "":
		return "no output"
	}
	if n := lineCount(t.Output); n > 1 {
		return fmt.Sprintf("%d lines", n)
	}
	return line(t.Output, mostOutcome)
}

// Changed formats the numbers of added and removed lines.
func Changed(added, removed int) string {
	switch {
	case removed == 0:
		return fmt.Sprintf("+%d", added)
	case added == 0:
		return fmt.Sprintf("−%d", removed)
	}
	return fmt.Sprintf("+%d −%d", added, removed)
}

// edits computes the diff of an edit.
func (c *Call) edits(in input) {
	add := func(in input) {
		before, after := in.text("oldstring", "oldstr", "old"), in.text("newstring", "newstr", "new", "newsource")
		hunks := diff(before, after)
		c.Diff = append(c.Diff, hunks...)
		for _, h := range hunks {
			for _, l := range h {
				switch l.Op {
				case '+':
					c.Added++
				case '-':
					c.Removed++
				}
			}
		}
	}
	edits := in.objects("edits")
	if len(edits) == 0 {
		edits = []input{in}
	}
	for _, e := range edits {
		add(e)
	}
}

// patched counts the lines of a patch and finds its first file.
func (c *Call) patched() {
	for l := range strings.Lines(c.Patch) {
		switch {
		case strings.HasPrefix(l, "*** ") && strings.Contains(l, " File: "):
			if _, name, _ := strings.Cut(strings.TrimSpace(l), " File: "); c.File == "" {
				c.File, c.Argument = name, name
			}
		case strings.HasPrefix(l, "+++ "):
			if c.File == "" {
				c.File = strings.TrimPrefix(strings.TrimSpace(l[4:]), "b/")
				c.Argument = c.File
			}
		case strings.HasPrefix(l, "--- "):
		case strings.HasPrefix(l, "+"):
			c.Added++
		case strings.HasPrefix(l, "-"):
			c.Removed++
		}
	}
}

// within makes a file's name relative to a folder if the file is inside it.
func within(root, file string) string {
	if root == "" {
		return file
	}
	if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/"); ok && path.Clean(rest) == rest {
		return rest
	}
	return file
}

func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// line returns a text on one line of at most n bytes.
func line(s string, n int) string {
	cut := len(s) > 4*n
	if cut {
		s = clip.Head(s, 4*n)
	}
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > n {
		s, cut = clip.Head(s, n), true
	}
	if cut {
		s += "…"
	}
	return s
}

// input has the members of a call's input, by their names in lower case without underscores.
type input map[string][]byte

func fields(raw []byte) input {
	in := input{}
	members, err := rawjson.Members(raw)
	if err != nil {
		return in
	}
	for _, m := range members {
		name := strings.ToLower(strings.ReplaceAll(m.Name, "_", ""))
		if _, ok := in[name]; !ok {
			in[name] = m.Value
		}
	}
	return in
}

// text returns the first of the named members that is a text.
func (in input) text(names ...string) string {
	for _, name := range names {
		if v := in[name]; len(v) > 0 && v[0] == '"' {
			if s := rawjson.String(v); s != "" {
				return s
			}
		}
	}
	return ""
}

// file returns the file that the call is about.
func (in input) file() string {
	return in.text("filepath", "absolutepath", "notebookpath", "path", "file")
}

// list returns the texts in a member that is a list.
func (in input) list(name string) (list []string) {
	items, err := rawjson.Array(in[name])
	if err != nil {
		return nil
	}
	for _, item := range items {
		list = append(list, rawjson.String(item))
	}
	return list
}

func (in input) objects(name string) (list []input) {
	items, err := rawjson.Array(in[name])
	if err != nil {
		return nil
	}
	for _, item := range items {
		list = append(list, fields(item))
	}
	return list
}

// texts returns all texts in an input.
func texts(raw []byte) string {
	var all []string
	members, err := rawjson.Members(raw)
	if err != nil {
		return ""
	}
	for _, m := range members {
		if len(m.Value) > 2 && m.Value[0] == '"' && len(m.Value) < mostArgument {
			all = append(all, rawjson.String(m.Value))
		}
	}
	return strings.Join(all, " ")
}

// Root returns the folder that contains most files of the calls, or "". It is usually the
// project's folder on the machine where the conversation took place.
func Root(tools map[string]schema.Tool) string {
	below := map[string]int{} // number of files below each folder
	files := 0
	for _, t := range tools {
		file := fields(t.Input).file()
		if !path.IsAbs(file) {
			continue
		}
		files++
		for dir := path.Dir(path.Clean(file)); dir != "/"; dir = path.Dir(dir) {
			below[dir]++
		}
	}
	root := ""
	for dir, n := range below {
		if n*10 < files*8 || strings.Count(dir, "/") < 2 {
			continue
		}
		if len(dir) > len(root) || len(dir) == len(root) && dir < root {
			root = dir
		}
	}
	return root
}
