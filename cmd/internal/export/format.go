package export

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"cortext/cmd/internal/export/forge"
	"cortext/cmd/internal/export/portable"
	"cortext/cmd/internal/workspace"
	"cortext/store"
	"cortext/store/atomicfile"
)

// A Format is an export format.
type Format struct {
	Name  string // also the file extension
	lines bool   // whether it writes the lines of the logs as they are
	write func(context.Context, io.Writer, *Gathered) error
}

// Gather reads the parts of a conversation that the format writes. It skips damaged lines
// with a warning.
func (f Format) Gather(w *workspace.Workspace, e store.Entry, o Options) (*Gathered, error) {
	g := gatherer{w: w, entry: e, options: o, attachments: map[string]bool{}}
	g.lines = f.lines && !o.filters() && !o.Redact && !o.Attachments
	return g.gather()
}

// Write writes a conversation.
func (f Format) Write(ctx context.Context, w io.Writer, g *Gathered) error { return f.write(ctx, w, g) }

// Formats lists the formats. The first is the default.
func Formats() []Format {
	return []Format{
		{"json", false, func(_ context.Context, w io.Writer, g *Gathered) error { return portable.WriteJSON(w, &g.Conversation) }},
		{"jsonl", true, func(_ context.Context, w io.Writer, g *Gathered) error {
			return portable.WriteLines(w, &g.Conversation)
		}},
		{"md", false, func(_ context.Context, w io.Writer, g *Gathered) error {
			return forge.Write(w, &forge.Input{Session: g.Session, History: historyOf(&g.Conversation), LeftOut: g.LeftOut})
		}},
		{"html", false, writePage},
	}
}

// FormatNamed looks up a format by name.
func FormatNamed(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// WriteFile replaces a user's file atomically: a failure leaves the old file. It writes
// directly to anything that is not a regular file, such as a pipe.
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
		file = at // replace the target of a symbolic link, not the link
	}
	dir, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	_, err = atomicfile.Calls{NoSync: true}.Replace(dir, filepath.Base(file), content, 0o666, ".") // no sync: the user can export again
	return err
}
