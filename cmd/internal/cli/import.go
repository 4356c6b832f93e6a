package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

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
		Short: "Import transcript files",
		Long: `Imports transcripts that an agent wrote: messages, tool calls with their results, and
the conversations of sub-agents. Everything is stored verbatim, except that secrets
are redacted. import detects the agent from the content of each file. Importing a
transcript again adds only what is new.`,
		Example: "  cortext import ~/.claude/projects/*/*.jsonl",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE:    func(cmd *cobra.Command, files []string) error { return a.runImport(cmd, files, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Agent, "agent", "", "the `AGENT` that wrote the files: claude, opencode, gemini (default: detect)")
	f.StringVar(&o.Type, "type", "", "the `TYPE` of new conversations (default: that of the first /workspace.<type> command, or chat)")
	f.StringVar(&o.Title, "title", "", "the `TITLE` of a new conversation (default: the first words of the conversation)")
	f.BoolVar(&o.json, "json", false, "print one JSON object per conversation, one per line")
	return cmd
}

// imported is an entry of import --json; its fields are stable.
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
	r := importRun{app: a, importOptions: o, progress: progress{out: a.errw, now: w.Env.Now, show: isTerminal(a.errw)}}
	o.Progress, o.Program = r.progress.update, thisProgram()
	if r.im, err = w.NewImporter(o.ImportOptions); err != nil {
		return err
	}
	defer r.im.Close()
	defer func() { a.warnBeyond(w, r.warned) }()
	return w.Store.Batch(func() error { return r.files(cmd.Context(), files) })
}

// thisProgram identifies this build of cortext, or returns "" if it cannot.
func thisProgram() string {
	file, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", file, info.Size(), info.ModTime().UnixNano()) // some file systems give all files the same time
}

// An importRun is one call of import.
type importRun struct {
	*app
	importOptions
	im            *capture.Importer
	progress      progress
	tried, failed int
	alone         bool     // the user named one file
	warned        []string // warnings already printed
}

func (r *importRun) files(ctx context.Context, files []string) error {
	r.alone = len(files) == 1
	for i := range files {
		files[i] = r.file(files[i])
	}
	r.progress.start(files)
	for _, file := range files {
		if err := r.oneFile(ctx, file); err != nil {
			return err
		}
		r.progress.next(file)
	}
	if r.failed > 0 {
		return fmt.Errorf("%d of %d transcripts were not imported", r.failed, r.tried)
	}
	return nil
}

// oneFile imports the transcripts in a file. An error ends the command.
func (r *importRun) oneFile(ctx context.Context, file string) error {
	agent, paths, err := r.im.Transcripts(file)
	if err != nil {
		r.tried, r.failed = r.tried+1, r.failed+1
		if r.alone {
			return err
		}
		r.report(err)
	}
	for _, path := range paths {
		got, err := r.im.File(ctx, agent, path)
		r.progress.clear()
		r.tried++
		var empty *capture.EmptyError
		switch {
		case errors.Is(err, context.Canceled):
			return errors.New("stopped: what was captured so far is kept, the same command goes on from there")
		case errors.As(err, &empty) && r.Agent == "": // the agent created it, and it has no messages
			if len(paths) == 1 {
				r.warn(err.Error() + ": there is nothing to capture")
			}
		case err != nil && r.alone && len(paths) == 1:
			return err
		case err != nil:
			r.failed++
			r.report(err)
		default:
			r.warned = append(r.warned, got.Warnings...)
			list := got.Each()
			if r.json { // one entry per transcript
				list = []capture.Imported{*got}
			}
			for _, one := range list {
				if err := r.printImported(&one, r.json); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// warnBeyond prints the warnings raised while capturing messages, except those in said.
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

// A progress shows on a terminal how far a long import has got.
type progress struct {
	out  io.Writer
	now  func() time.Time
	show bool

	files, done   int   // files in total, and files done
	bytes, passed int64 // bytes of all files, and of the files done
	began, last   time.Time
	shown         bool
}

const (
	progressAfter = 500 * time.Millisecond // show progress of imports that take longer than this
	progressEvery = 100 * time.Millisecond
)

// start sets the files to count and looks up the size of each.
func (p *progress) start(files []string) {
	if !p.show {
		return
	}
	p.began, p.files = p.now(), len(files)
	for _, file := range files {
		p.bytes += fileSize(file)
	}
}

// next records that a file is done.
func (p *progress) next(file string) {
	if p.show {
		p.done++
		p.passed += fileSize(file)
	}
}

func fileSize(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// update shows the progress, with done bytes of the current file done.
func (p *progress) update(_ string, done, _ int64) {
	now := p.now()
	if !p.show || now.Sub(p.began) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, true
	fmt.Fprint(p.out, "\r\x1b[K"+p.line(now.Sub(p.began), min(p.passed+done, p.bytes)))
}

// line returns the line to show after some time, with done bytes done.
func (p *progress) line(took time.Duration, done int64) string {
	const mega = 1 << 20
	text := fmt.Sprintf("%d of %d files, %d of %d MB", p.done, p.files, done/mega, p.bytes/mega)
	if done > 0 {
		left := time.Duration(float64(took) * float64(p.bytes-done) / float64(done))
		text += fmt.Sprintf(", %s left", max(left.Round(time.Second), time.Second))
	}
	return text
}

// clear clears the line for the next output.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.shown = false
}
