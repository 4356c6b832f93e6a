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
	"golang.org/x/term"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/redact"
	"cortext/store"
)

func redactCommand(a *app) *cobra.Command {
	var o redactOptions
	cmd := &cobra.Command{
		Use:   "redact [<id>...] {--pattern RE | --secret}",
		Short: "Redact text that is already saved",
		Long: `Replaces text in conversations by [redacted: NAME]; without an id, in the current one.
It covers messages, reasoning, tool calls, titles, notes, tags, summaries, sub-agents,
attached text, records that wait or were set aside, backups and caches. Ids and order
stay, so merges work, and a clone that still has the old lines takes the new ones.

--secret reads one text from standard input or, on a terminal, asks for it without
showing it. --pattern is an RE2 expression and is applied to each text after decoding.
cortext remembers salted hashes of what it replaced, not the text or the expression, so
that captures on this machine redact it again.

It says what still has the text: your documents, git's history, and the agents'
transcripts, which it does not touch. A secret that was in any of these should be
replaced by a new one.`,
		Example: "  cortext redact \"api design\" --secret < secret.txt --yes",
		Args:    args(cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			return runRedact(cmd, a, w, list, o)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.pattern, "pattern", "", "redact what matches the RE2 expression `RE`")
	f.BoolVar(&o.secret, "secret", false, "redact one text, read from standard input or the terminal")
	f.StringVar(&o.name, "name", redact.DefaultName, "`NAME` to put in place of the text")
	f.BoolVar(&o.documents, "documents", false, "also change your documents in the conversations' folders")
	f.BoolVar(&o.rename, "rename", false, "also change the name of a folder that git knows, if it has the text")
	f.BoolVar(&o.dryRun, "dry-run", false, "only count; changes nothing")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

type redactOptions struct {
	pattern, name                                string
	secret, documents, rename, dryRun, yes, json bool
}

func runRedact(cmd *cobra.Command, a *app, w *opened, list []string, o redactOptions) error {
	if o.secret == cmd.Flags().Changed("pattern") {
		return &usageError{"give either --pattern or --secret", "run " + cmd.CommandPath() + " --help"}
	}
	entries, err := pickMany(w, list)
	if err != nil {
		return err
	}
	request, err := a.redaction(o)
	if err != nil {
		return err
	}
	r := redact.New(w.Workspace, w.capture, request)
	found, err := a.findAll(cmd.Context(), r, entries)
	if err != nil {
		return err
	}
	places, files, deleted := totals(found)
	named := slices.ContainsFunc(found, func(r *redact.Report) bool { return r.Named })
	if o.dryRun || places+deleted == 0 && !named {
		return a.redacted(cmd.Context(), r, found, o)
	}
	if !o.yes {
		if !a.terminal.present() {
			return &usageError{"redacting has to be confirmed, and there is no terminal to ask on", "--yes redacts without asking"}
		}
		yes, err := a.terminal.ask(cmd.Context(), fmt.Sprintf("Redact %s in %s of %s? This cannot be undone.", count(places, "place"), count(files, "file"), count(len(entries), "conversation")))
		if err != nil || !yes {
			return err
		}
	}
	var errs []error
	var done []*redact.Report
	for _, e := range entries {
		report, err := r.Apply(cmd.Context(), e)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		done = append(done, report)
	}
	return errors.Join(append(errs, a.redacted(cmd.Context(), r, done, o))...)
}

// redaction reads what to redact.
func (a *app) redaction(o redactOptions) (redact.Request, error) {
	var request redact.Request
	var err error
	if o.secret {
		var text string
		if text, err = a.readSecret(); err == nil {
			request, err = redact.ForText(text, o.name)
		}
	} else {
		request, err = redact.ForPattern(o.pattern, o.name)
	}
	request.Documents, request.Rename = o.documents, o.rename
	var input *redact.InputError
	if errors.As(err, &input) {
		return request, &usageError{input.Why, input.Hint}
	}
	return request, err
}

// maxSecret is the length, in bytes, of the longest secret that is read.
const maxSecret = 1 << 20

// readSecret reads a secret from the terminal without showing it, or from standard input.
func (a *app) readSecret() (string, error) {
	if f, ok := a.In.(*os.File); ok && isTerminal(f) {
		fmt.Fprint(a.screen.errw, "Text to redact (it is not shown): ")
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(a.screen.errw)
		return string(b), err
	}
	b, err := io.ReadAll(io.LimitReader(a.In, maxSecret+1))
	if err == nil && len(b) > maxSecret {
		err = &usageError{fmt.Sprintf("the secret has more than %d bytes", maxSecret), ""}
	}
	return string(b), err
}

// findAll looks for the text in conversations.
func (a *app) findAll(ctx context.Context, r *redact.Redactor, entries []store.Entry) (found []*redact.Report, err error) {
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a.screen.progress("searching %d of %d conversations", i+1, len(entries))
		report, err := r.Find(e)
		if err != nil {
			a.screen.clearLine()
			return nil, err
		}
		found = append(found, report)
	}
	a.screen.clearLine()
	return found, nil
}

func totals(reports []*redact.Report) (places, files, deleted int) {
	for _, r := range reports {
		places, files, deleted = places+r.Places(), files+len(r.Files), deleted+len(r.Deleted)
	}
	return places, files, deleted
}

// A redactedRow is what --json prints for a conversation.
type redactedRow struct {
	ID      string        `json:"id"`
	Path    string        `json:"path"`
	Places  int           `json:"places"`
	Files   []redact.File `json:"files"`
	Deleted []string      `json:"deleted"`
	Renamed bool          `json:"renamed"` // path is the new one
	Left    []redact.Left `json:"left"`
	Git     *gitRow       `json:"git"` // null outside of a repository
	DryRun  bool          `json:"dry_run"`
}

type gitRow struct {
	Commits  int      `json:"commits"`
	Refs     []string `json:"refs"`
	Index    []string `json:"index"`
	Complete bool     `json:"complete"`
}

// gitTime is how long git is searched for each conversation.
const gitTime = 20 * time.Second

// redacted reports what was redacted, or would be, and what still has the text.
func (a *app) redacted(ctx context.Context, r *redact.Redactor, reports []*redact.Report, o redactOptions) error {
	rows := []redactedRow{}
	history := false
	for _, report := range reports {
		e := report.Entry
		row := redactedRow{
			ID: e.Session.ID, Path: e.Path, Places: report.Places(), Files: emptyNotNull(report.Files), Deleted: emptyNotNull(report.Deleted), Renamed: report.Renamed != "",
			Left: emptyNotNull(append(report.Left, r.Transcripts(e)...)), DryRun: o.dryRun,
		}
		h, err := r.InGit(ctx, e, gitTime)
		if err == nil {
			row.Git = &gitRow{h.Commits, emptyNotNull(h.Refs), emptyNotNull(h.Index), h.Whole}
			history = history || h.Commits > 0 || len(h.Index) > 0
		} else if !errors.Is(err, git.ErrNoRepository) {
			a.screen.warn("git could not be searched: " + err.Error())
		}
		rows = append(rows, row)
		if !o.json {
			a.printRedacted(row, e)
		}
	}
	if o.json {
		return a.screen.json(rows)
	}
	if history {
		fmt.Fprint(a.screen.errw, rewriteHelp(o))
	}
	return nil
}

func emptyNotNull[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (a *app) printRedacted(row redactedRow, e store.Entry) {
	title := visible(strings.TrimPrefix(e.Path, "conversations/")) // the title may have had the text
	switch {
	case row.Renamed && row.Places == 0:
		fmt.Fprintf(a.screen.out, "%s: the folder has a new name\n", title)
	case row.Places+len(row.Deleted) == 0:
		fmt.Fprintf(a.screen.out, "%s: nothing matches\n", title)
	case row.DryRun:
		fmt.Fprintf(a.screen.out, "%s: %s would be redacted\n", title, count(row.Places, "place"))
	default:
		fmt.Fprintf(a.screen.out, "%s: %s redacted\n", title, count(row.Places, "place"))
	}
	for _, f := range row.Files {
		fmt.Fprintf(a.screen.out, "  %s: %s\n", visible(f.Path), count(f.Places, "place"))
	}
	if n := len(row.Deleted); n > 0 {
		verb := "deleted"
		if row.DryRun {
			verb = "would be deleted"
		}
		fmt.Fprintf(a.screen.out, "  %s of the cache %s\n", count(n, "file"), verb)
	}
	if g := row.Git; g != nil && (g.Commits > 0 || len(g.Index) > 0 || !g.Complete) {
		fmt.Fprintf(a.screen.errw, "git still has it: %s\n", visible(inGit(g)))
	}
	for _, l := range row.Left {
		fmt.Fprintf(a.screen.errw, "still has it: %s%s (%s)\n", visible(l.Path), lineList(l.Lines), l.Why)
	}
}

// inGit says where git has the text.
func inGit(g *gitRow) string {
	var parts []string
	if g.Commits > 0 {
		parts = append(parts, count(g.Commits, "commit"))
		if n := len(g.Refs); n > 0 {
			parts[0] += " in " + strings.Join(g.Refs[:min(n, 5)], ", ")
			if n > 5 {
				parts[0] += fmt.Sprintf(" and %d more", n-5)
			}
		} else {
			parts[0] += " in the reflog"
		}
	}
	if n := len(g.Index); n > 0 {
		parts = append(parts, count(n, "staged file"))
	}
	if !g.Complete {
		parts = append(parts, "it was not searched completely")
	}
	return strings.Join(parts, ", ")
}

// lineList names lines.
func lineList(lines []int) string {
	const most = 10
	if len(lines) == 0 {
		return ""
	}
	text := ", line"
	if len(lines) > 1 {
		text += "s"
	}
	for i, n := range lines[:min(len(lines), most)] {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %d", n)
	}
	if len(lines) > most {
		text += fmt.Sprintf(" and %d more", len(lines)-most)
	}
	return text
}

// rewriteHelp says how to remove the text from git's history.
func rewriteHelp(o redactOptions) string {
	line := "literal:TEXT==>[redacted: " + o.name + "]"
	if !o.secret {
		line = "regex:EXPRESSION==>[redacted: " + o.name + "]"
	}
	steps := []string{
		"Commit the redacted files, then rewrite the history in a fresh clone:",
		"  1. write this line, with the text as it is in the files, into a file outside of the repository:",
		"       " + line,
		"  2. git filter-repo --replace-text FILE",
		"  3. git push --force --all && git push --force --tags",
		"Remotes, forks and other clones keep the old commits until they are rewritten, too, and garbage is collected.",
	}
	return strings.Join(steps, "\n") + "\n"
}
