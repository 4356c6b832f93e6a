package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/flow"
)

type importOptions struct {
	capture.ImportOptions
	json bool
}

func (a *app) importCommand() *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Capture transcripts that agents wrote",
		Long: `Captures transcripts that agents wrote: messages, tool calls with their results,
and the conversations of sub-agents, verbatim but for secrets, which are replaced.
What a file is, its content says. A transcript that was imported before, or has
grown since, adds only what is new.`,
		Example: "  cortext import ~/.claude/projects/*/*.jsonl",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE:    func(cmd *cobra.Command, files []string) error { return a.runImport(cmd, files, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Agent, "agent", "", "the `AGENT` that wrote the files, instead of finding out: claude, opencode, gemini")
	f.StringVar(&o.Type, "type", "", "the `TYPE` of new conversations; default: that of the first /workspace.<type>, else chat")
	f.StringVar(&o.Title, "title", "", "the `TITLE` of a new conversation; default: made from what was said first")
	f.BoolVar(&o.json, "json", false, "print one JSON object for each conversation, one a line")
	return cmd
}

// imported is a line of import --json; its fields are stable.
type imported struct {
	ID        string   `json:"id"`
	Path      string   `json:"path"`
	Agent     string   `json:"agent"`
	Messages  int      `json:"messages"`
	Tools     int      `json:"tools"`
	Appended  int      `json:"appended"`
	Skipped   int      `json:"skipped"`
	Subagents int      `json:"subagents"`
	Warnings  []string `json:"warnings"`
}

func (a *app) runImport(cmd *cobra.Command, files []string, o importOptions) error {
	w, err := a.open(cmd)
	if err != nil {
		return err
	}
	defer a.close(cmd.Context(), w)
	p := progress{a: a, show: isTerminal(a.errw)}
	o.Progress = p.update
	im, err := w.NewImporter(o.ImportOptions)
	if err != nil {
		return err
	}
	return w.Store.Batch(func() error { return a.importFiles(cmd, w, im, files, &p, o) })
}

func (a *app) importFiles(cmd *cobra.Command, w *flow.Workspace, im *capture.Importer, files []string, p *progress, o importOptions) error {
	failed, tried := 0, 0
	var said []string
	defer func() { a.warnBeyond(w, said) }()
	for _, file := range files {
		agent, paths, err := im.Transcripts(a.file(file))
		if err != nil {
			if tried, failed = tried+1, failed+1; len(files) == 1 {
				return err
			}
			a.report(err)
		}
		for _, path := range paths {
			got, err := im.File(cmd.Context(), agent, path)
			p.clear()
			tried++
			var empty *capture.EmptyError
			switch {
			case errors.Is(err, context.Canceled):
				return errors.New("stopped: what was captured so far is kept, the same command goes on from there")
			case errors.As(err, &empty) && o.Agent == "": // the agent began it, and nothing was said
				if len(paths) == 1 {
					a.warn(err.Error() + ": there is nothing to capture")
				}
			case err != nil && len(files) == 1 && len(paths) == 1:
				return err
			case err != nil:
				failed++
				a.report(err)
			default:
				said = append(said, got.Warnings...)
				if err := a.printImported(got, o.json); err != nil {
					return err
				}
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d transcripts were not imported", failed, tried)
	}
	return nil
}

// warnBeyond warns of what did not work while messages were captured, but for what
// was said already.
func (a *app) warnBeyond(w *flow.Workspace, said []string) {
	for _, text := range w.TakeWarnings() {
		if !slices.ContainsFunc(said, func(part string) bool { return strings.Contains(text, part) }) {
			a.warn(text)
		}
	}
}

func (a *app) printImported(got *capture.Imported, asJSON bool) error {
	if asJSON {
		return a.printJSON(importedOf(got))
	}
	fmt.Fprintf(a.out, "%s: %d messages (%d new), %d tool calls", visible(got.Path), got.Messages, got.Appended, got.Tools)
	if got.Subagents > 0 {
		fmt.Fprintf(a.out, ", %d sub-agents", got.Subagents)
	}
	fmt.Fprintln(a.out)
	a.warn(got.Warnings...)
	return nil
}

func importedOf(got *capture.Imported) imported {
	return imported{got.ID, got.Path, got.Agent, got.Messages, got.Tools, got.Appended, got.Skipped, got.Subagents, append([]string{}, got.Warnings...)}
}

// progress shows on a terminal how far a long import is.
type progress struct {
	a       *app
	show    bool
	percent int64
}

// progressFrom is the size in bytes from which progress is worth a line.
const progressFrom = 1 << 20

func (p *progress) update(file string, done, total int64) {
	if !p.show || total < progressFrom {
		return
	}
	percent := done * 100 / total
	if percent == p.percent {
		return
	}
	p.percent = percent
	fmt.Fprintf(p.a.errw, "\r\x1b[K%3d %% of %s", percent, oneLine(file))
}

func (p *progress) clear() {
	if p.percent > 0 {
		fmt.Fprint(p.a.errw, "\r\x1b[K")
	}
	p.percent = 0
}
