package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/export"
	"cortext/cmd/internal/export/bundle"
	"cortext/inject"
)

type importOptions struct {
	capture.ImportOptions
	keepIDs bool
}

func importCommand(a *app) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Import transcripts and exports",
		Long: `Imports agents' transcripts: messages, tool calls with their results, and the
conversations of sub-agents. Everything is stored verbatim, except that secrets
are redacted. import detects the agent from the content of each file. Importing a
transcript again adds only what is new.

It also imports what cortext export wrote in any format, bundles, and folders of such
files; - is standard input. Each export becomes a new conversation with a new id and new
times. With --keep-ids it stays the same conversation: if this workspace already has it,
import adds the missing messages.

From Markdown, import reads what you see in it, so you can edit it first. From a page, it
reads the data that the page holds. It says what a format does not carry.`,
		Example: "  cortext import ~/.claude/projects/*/*.jsonl\n  cortext import session-api-design-2025-11-22.json",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE:    func(cmd *cobra.Command, files []string) error { return runImport(a, cmd, files, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Agent, "agent", "", "the `AGENT` that wrote the files: claude, opencode, gemini (default: detect)")
	f.StringVar(&o.Type, "type", "", "the `TYPE` of new conversations (default: from the first /workspace.<type> command, or chat)")
	f.StringVar(&o.Title, "title", "", "the `TITLE` of a new conversation (default: the first words of the conversation)")
	f.BoolVar(&o.keepIDs, "keep-ids", false, "keep the ids and times of exported conversations")
	f.BoolVar(&a.screen.asJSON, "json", false, "print one JSON object per conversation, one per line")
	return cmd
}

func runImport(a *app, cmd *cobra.Command, files []string, o importOptions) error {
	w, err := a.open(cmd)
	if err != nil {
		return err
	}
	defer a.close(cmd.Context(), w)
	if o.keepIDs && (o.Type != "" || o.Title != "") {
		return &usageError{"--keep-ids also keeps the type and title: leave out --type and --title", ""}
	}
	r := importRun{app: a, w: w, importOptions: o, budget: bundle.NewBudget(bundle.Default()), progress: progress{out: a.screen.errw, now: w.Env.Now, show: obeys(a.screen.errw)}}
	o.Progress, o.Program = r.progress.update, thisProgram()
	if r.im, err = w.capture.NewImporter(o.ImportOptions); err != nil {
		return err
	}
	defer r.im.Close()
	defer func() { a.notices(w).captured(r.warned) }()
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
	return fmt.Sprintf("%s %d %d", file, info.Size(), info.ModTime().UnixNano()) // on some file systems all files have the same time
}

// An importRun is one call of import.
type importRun struct {
	app *app
	w   *opened
	importOptions
	documents     *export.Importer // nil until there is an export to import
	im            *capture.Importer
	budget        *bundle.Budget
	progress      progress
	tried, failed int
	foreign       int      // files in folders that are neither transcripts nor exports
	inFolder      bool     // the file is in a folder that the user named
	alone         bool     // the user named one file
	warned        []string // warnings already printed
	next          string   // the file that the user named after the one being imported
	copied        string   // the file that holds standard input, if that is being imported as a transcript
}

func (r *importRun) files(ctx context.Context, files []string) error {
	r.alone = len(files) == 1
	for i := range files {
		if files[i] != standardInput {
			files[i] = r.app.file(files[i])
		}
	}
	r.progress.start(files)
	for i, file := range files {
		r.next = ""
		if i+1 < len(files) {
			r.next = files[i+1]
		}
		r.im.Next(r.next)
		if err := r.named(ctx, file); err != nil {
			return err
		}
		r.progress.next(file)
	}
	if r.failed > 0 {
		return fmt.Errorf("%d of %d %s were not imported", r.failed, r.tried, r.kind())
	}
	return nil
}

// kind returns what the files are called.
func (r *importRun) kind() string {
	if r.documents != nil || r.foreign > 0 {
		return "files"
	}
	return "transcripts"
}

// oneFile imports the transcripts in a file. An error ends the command.
func (r *importRun) oneFile(ctx context.Context, file string) error {
	if r.Agent == "" && beginsAsText(file) { // it may quote transcripts
		if done, err := r.document(ctx, file); done || err != nil {
			return err
		}
	}
	agent, paths, err := r.im.Transcripts(file)
	if err != nil && r.Agent == "" && errors.As(err, new(*inject.FileError)) {
		if done, docErr := r.document(ctx, file); done || docErr != nil {
			return docErr
		}
	}
	if foreign := (*inject.FileError)(nil); r.inFolder && errors.As(err, &foreign) {
		r.foreign++
		r.progress.clear()
		r.app.screen.warn(err.Error() + ": skipped")
		return nil
	}
	if err != nil {
		if err := r.fail(err); err != nil {
			return err
		}
	}
	r.app.collectFor(file, r.next)
	for _, path := range paths {
		take := r.im.File
		if r.copied != "" {
			take = r.im.Copy
		}
		got, err := take(ctx, agent, path)
		r.progress.clear()
		r.tried++
		var empty *capture.EmptyError
		switch {
		case errors.Is(err, context.Canceled):
			return errors.New("stopped: what was captured so far is kept, run the same command to continue")
		case errors.As(err, &empty) && r.Agent == "": // the agent created it, and it has no messages
			if len(paths) == 1 {
				r.app.screen.warn(r.shown(err).Error() + ": there is nothing to capture")
			}
		case err != nil && r.alone && len(paths) == 1:
			return err
		case err != nil:
			r.failed++
			r.app.screen.report(r.shown(err))
		default:
			r.warned = append(r.warned, got.Warnings...)
			list := got.Each()
			if r.app.screen.asJSON { // one entry per transcript
				list = []capture.Imported{*got}
			}
			for _, one := range list {
				if err := printImported(r.app.screen, &one); err != nil {
					return err
				}
			}
		}
	}
	return nil
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
	File      string   `json:"file,omitempty"`  // of an export
	Lacks     string   `json:"lacks,omitempty"` // what its format does not carry
}

func importedOf(got *capture.Imported) imported {
	return imported{got.ID, got.Path, got.Agent, got.Messages, got.Tools, got.Appended, got.Skipped, got.Subagents, emptyNotNull(got.Warnings), "", ""}
}

func printImported(on screen, got *capture.Imported) error {
	if on.asJSON {
		return on.json(importedOf(got))
	}
	fmt.Fprintf(on.out, "%s: %s (%d new), %s", visible(got.Path), count(got.Messages, "message"), got.Appended, count(got.Tools, "tool call"))
	if got.Subagents > 0 {
		fmt.Fprintf(on.out, ", %s", count(got.Subagents, "sub-agent"))
	}
	fmt.Fprintln(on.out)
	on.warn(got.Warnings...)
	return nil
}
