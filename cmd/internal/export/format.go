package export

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"cortext/cmd/internal/export/forge"
	"cortext/cmd/internal/export/page"
	"cortext/cmd/internal/export/portable"
	"cortext/store/atomicfile"
)

// A Format is one that conversations are exported in.
type Format struct {
	Name  string // also the ending of the file
	write func(io.Writer, *Gathered) error
}

// Write writes a conversation.
func (f Format) Write(w io.Writer, g *Gathered) error { return f.write(w, g) }

// Formats lists the formats, that of import first.
func Formats() []Format {
	return []Format{
		{"json", func(w io.Writer, g *Gathered) error { return portable.WriteJSON(w, &g.Conversation) }},
		{"jsonl", func(w io.Writer, g *Gathered) error { return portable.WriteLines(w, &g.Conversation) }},
		{"md", func(w io.Writer, g *Gathered) error {
			return forge.Write(w, &forge.Input{Session: g.Session, History: History(&g.Conversation), LeftOut: g.LeftOut, Root: g.Root})
		}},
		{"html", func(w io.Writer, g *Gathered) error { return page.New().Page(w, PageOf(g)) }},
	}
}

// FormatNamed returns the format with a name.
func FormatNamed(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// PageOf returns what a page shows of a conversation: the branch that a resume continues.
func PageOf(g *Gathered) *page.Input {
	in := pageOf(&g.Conversation, g.Root)
	in.Content = g.Content
	return in
}

func pageOf(c *portable.Conversation, root string) *page.Input {
	in := &page.Input{Session: c.Session, History: History(c), LeftOut: c.LeftOut, Root: root}
	for i := range c.Subagents {
		sub := page.Subagent{Input: *pageOf(&c.Subagents[i].Conversation, root)}
		if links := sub.Session.Links; links != nil {
			sub.Call = links.ToolCallID
		}
		in.Subagents = append(in.Subagents, sub)
	}
	return in
}

// WriteFile writes a file of the user's as a whole: a failure leaves the old one. What is no
// regular file, such as a pipe, is written to as it is.
func WriteFile(file string, content []byte) error {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		return errors.Join(err, f.Close())
	}
	if at, err := filepath.EvalSymlinks(file); err == nil {
		file = at // a link stays a link
	}
	dir, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	return atomicfile.Write(dir, filepath.Base(file), content, 0o666, ".")
}
