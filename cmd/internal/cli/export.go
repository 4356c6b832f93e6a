package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/export"
	"cortext/cmd/internal/export/bundle"
	"cortext/cmd/internal/export/portable"
	"cortext/schema"
	"cortext/store"
)

type exportOptions struct {
	export.Options
	out, format, only string
	bundle            bool
}

func exportCommand(a *app) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export [<id>...]",
		Short: "Export conversations to files",
		Long: `Writes conversations to files that you can keep, share or import elsewhere. Without an id
it writes the current one. json and jsonl are for cortext import and other programs: they
hold everything, but the content of attachments and the conversations of sub-agents only if
you ask for them. md is for pull requests and issues. html is a self-contained page that loads
nothing and reads well on a phone and on paper. It also holds the shown branch as data for
import, including what the page folds or cuts. To edit a page by hand, export it with
--no-data.

Without -o, each conversation becomes a file session-NAME-DATE in the current folder. The
name after -o determines the format; the default is json.`,
		Example: `  cortext export "api design"
  cortext export "api design" -o design.json --redact
  cortext export "api design" --from 3 --to 9 --no-tools -o -
  cortext export hv37 q9x2 --bundle -o two.tar.zst`,
		Args: args(cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			return runExport(cmd.Context(), a, w, list, o)
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "", "write to `FILE`, or into it if it is a folder; - is standard output")
	f.StringVar(&o.format, "format", "", "the `FORMAT`: "+strings.Join(formatNames(), ", "))
	f.StringVar(&o.From, "from", "", "begin with this `MESSAGE`: a number, as shown by cortext show, or an id")
	f.StringVar(&o.To, "to", "", "end with this `MESSAGE`")
	f.StringVar(&o.only, "only", "", "export only the messages of this `ROLE`: user, assistant")
	f.BoolVar(&o.NoTools, "no-tools", false, "leave out tool calls")
	f.BoolVar(&o.NoReasoning, "no-reasoning", false, "leave out the model's reasoning")
	f.BoolVar(&o.Redact, "redact", false, "redact secrets again, by the current rules")
	f.BoolVar(&o.Subagents, "subagents", false, "include the conversations of sub-agents")
	f.BoolVar(&o.Attachments, "attachments", false, "include the content of attachments that was kept")
	f.BoolVar(&o.NoData, "no-data", false, "html: leave out the data that import reads")
	f.BoolVar(&o.bundle, "bundle", false, "pack all conversations into one file, compressed with zstd")
	f.BoolVar(&a.screen.asJSON, "json", false, "print one JSON object per file, one per line")
	return cmd
}

// onlyRoles are the values of --only.
var onlyRoles = []schema.Role{schema.User, schema.Assistant}

func formatNames() (names []string) {
	for _, f := range export.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// chosen returns the format that the options name.
func (o exportOptions) chosen() (export.Format, error) {
	name := o.format
	if name == "" {
		name = o.extension()
		switch {
		case o.bundle:
			name = "jsonl" // the format that import reads fastest
		case !slices.Contains(formatNames(), name):
			name = export.Formats()[0].Name
		}
	}
	if f, ok := export.FormatNamed(name); ok {
		return f, nil
	}
	return export.Format{}, &usageError{fmt.Sprintf("there is no format %q", name), "the formats are " + strings.Join(formatNames(), ", ")}
}

// extension returns the format that the name after -o ends in, whether there is such a format
// or not.
func (o exportOptions) extension() string {
	name := strings.TrimPrefix(strings.ToLower(filepath.Ext(o.out)), ".")
	if name == "markdown" {
		return "md"
	}
	return name
}

func runExport(ctx context.Context, a *app, w *opened, queries []string, o exportOptions) error {
	if o.Only = schema.Role(strings.ToLower(o.only)); o.Only != "" {
		if err := knownWord("--only", o.only, names(onlyRoles)); err != nil {
			return err
		}
	}
	as, err := o.chosen()
	if err != nil {
		return err
	}
	if o.NoData && as.Name != "html" {
		return &usageError{"--no-data is for html", ""}
	}
	debug.SetGCPercent(-1) // the soft memory limit still applies, but most exports end before it
	to := exportTarget{app: a, options: o, format: as, taken: map[string]bool{}}
	if o.bundle { // now, because the program that compresses takes its time to start
		to.bundle = newBundling(ctx)
	}
	entries, err := pickMany(w, queries)
	if err != nil {
		return err
	}
	if as.Name == "html" {
		o.Attachments = true
		if _, err := companion.Web.Find(); err != nil {
			a.screen.warn("the page shows Markdown as it was typed, because " + err.Error())
		}
	}
	if err := to.check(len(entries)); err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := to.export(ctx, w, e); err != nil {
			if len(entries) == 1 || to.bundle.broken() {
				return err
			}
			a.screen.report(err)
			errs = append(errs, err)
		}
	}
	if err := to.pack(); err != nil {
		return err
	}
	if len(errs) > 0 {
		return fmt.Errorf("%d of %d conversations were not exported", len(errs), len(entries))
	}
	return nil
}

// An exportTarget is where exports go.
type exportTarget struct {
	app     *app
	options exportOptions
	format  export.Format
	folder  string          // gets a file for each conversation; empty for a single file
	taken   map[string]bool // names of files written so far
	bundle  *bundling       // nil: a file for each conversation
}

// check determines where exports go before the first is made.
func (t *exportTarget) check(conversations int) error {
	out := t.options.out
	if out == "-" {
		return nil
	}
	file := t.app.file(out)
	info, err := os.Stat(file)
	switch {
	case out == "":
		t.folder = t.app.file(".")
	case err == nil && info.IsDir():
		t.folder = file
	case strings.HasSuffix(out, "/") || strings.HasSuffix(out, string(filepath.Separator)):
		t.folder = file
		return os.MkdirAll(file, 0o777)
	case conversations > 1 && !t.options.bundle:
		return &usageError{fmt.Sprintf("-o %s names one file, and there are %d conversations", out, conversations), "name a folder that exists, or end the name with a slash"}
	case t.options.format == "" && !t.options.bundle && t.options.extension() != "" && t.options.extension() != t.format.Name:
		return &usageError{fmt.Sprintf("there is no format %q", t.options.extension()), "the formats are " + strings.Join(formatNames(), ", ") + ": --format chooses one for a file with any name"}
	case errors.Is(err, fs.ErrNotExist):
		parent := filepath.Dir(file)
		if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("-o %s: there is no folder %s: create it first, or name another", out, parent)
		}
	}
	return nil
}

// export exports a conversation.
func (t *exportTarget) export(ctx context.Context, w *opened, e store.Entry) error {
	if err := fetched(ctx, t.app.terminal, w, e); err != nil {
		return err
	}
	g, err := t.format.Gather(w.Workspace, e, t.options.Options)
	if err != nil {
		return err
	}
	t.app.screen.warn(g.Warnings...)
	if g.Unasked > 0 {
		fmt.Fprintf(t.app.screen.errw, "cortext: %s of \"%s\" left out: --subagents includes them\n", count(g.Unasked, "sub-agent"), oneLine(g.Title()))
	}
	out := bytes.NewBuffer(make([]byte, 0, g.Size()))
	if err := t.format.Write(ctx, out, g); err != nil {
		return fmt.Errorf("export %q: %w", e.Path, err)
	}
	return t.put(g, out.Bytes())
}

// An exported is an entry of export --json; its fields are stable.
type exported struct {
	ID       string `json:"id"`
	File     string `json:"file"`
	Format   string `json:"format"`
	Messages int    `json:"messages"`
	Bytes    int    `json:"bytes"`
}

// put writes an export where it goes.
func (t *exportTarget) put(g *export.Gathered, content []byte) error {
	messages := g.MessageCount()
	if t.options.bundle {
		return t.bundle.add(t.name(g), g.At(), messages, content)
	}
	if t.options.out == "-" {
		_, err := t.app.screen.out.Write(content)
		return err
	}
	file := t.app.file(t.options.out)
	if t.folder != "" {
		file = filepath.Join(t.folder, t.name(g))
	}
	if err := export.WriteFile(file, content); err != nil {
		return err
	}
	return t.report(exported{g.ID, file, t.format.Name, messages, len(content)}, g.Title())
}

func (t *exportTarget) report(e exported, title string) error {
	if t.app.screen.asJSON {
		return t.app.screen.json(e)
	}
	fmt.Fprintf(t.app.screen.out, "%s: %s, %s\n", visible(e.File), oneLine(title), count(e.Messages, "message"))
	return nil
}

// zstd returns the compression for bundles.
func zstd(ctx context.Context) bundle.Zstd {
	return bundle.Zstd{Compress: companion.Compressor(ctx), Decompress: companion.Decompressor(ctx)}
}

// A bundling makes a bundle in memory.
type bundling struct {
	writer   *bundle.Writer // once it has started
	starting sync.WaitGroup
	err      error // why it could not be started or written
	out      bytes.Buffer
	newest   time.Time
	messages int
	number   int // of conversations
}

// newBundling starts a bundle, and does not wait for it.
func newBundling(ctx context.Context) *bundling {
	b := &bundling{}
	b.starting.Go(func() { b.writer, b.err = bundle.NewWriter(&b.out, zstd(ctx)) })
	return b
}

// add packs a conversation.
func (b *bundling) add(name string, at time.Time, messages int, content []byte) error {
	b.number++
	b.messages += messages
	if at.After(b.newest) {
		b.newest = at
	}
	if b.starting.Wait(); b.err == nil {
		b.err = b.writer.Add(name, at, content)
	}
	return b.err
}

// broken reports whether there is a bundle that no conversation can be added to any more.
func (b *bundling) broken() bool { return b != nil && b.err != nil }

// pack writes the bundle if the user asked for one.
func (t *exportTarget) pack() error {
	b := t.bundle
	if b == nil || b.number == 0 {
		return nil
	}
	if err := b.writer.Close(); err != nil {
		return err
	}
	if t.options.out == "-" {
		_, err := t.app.screen.out.Write(b.out.Bytes())
		return err
	}
	file := t.app.file(t.options.out)
	if t.folder != "" {
		file = filepath.Join(t.folder, "sessions-"+b.newest.UTC().Format(time.DateOnly)+bundle.Suffix)
	}
	if err := export.WriteFile(file, b.out.Bytes()); err != nil {
		return err
	}
	return t.report(exported{File: file, Format: "bundle", Messages: b.messages, Bytes: b.out.Len()}, count(b.number, "conversation"))
}

// name returns the file name for a conversation in a folder, which is unique within an
// export.
func (t *exportTarget) name(g *export.Gathered) string {
	name := portable.FileName(g.Title(), g.At(), t.format.Name)
	if t.taken[name] {
		name = strings.TrimSuffix(name, t.format.Name) + strings.ToLower(g.ID) + "." + t.format.Name
	}
	t.taken[name] = true
	return name
}
