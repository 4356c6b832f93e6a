package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
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
		Long: `Replaces text in conversations with [redacted: NAME]; without an id, in the current one.
It covers messages, reasoning, tool calls, titles, notes, tags, summaries, sub-agents,
attached text, records that wait or were set aside, backups and caches. Ids and order stay
the same, so merges still work, and a clone with the old lines gets the new ones. What that
clone has set aside stays there: run redact there as well.

--secret reads one text from standard input or, on a terminal, asks for it without
showing it. --pattern is an RE2 expression and is applied to each text after decoding.
cortext records salted hashes of what it replaced, not the text or the expression, so that
captures on this machine redact it again.

Forks and copies of a conversation may also contain the text. --linked redacts them as well.
Without it, cortext asks on a terminal and otherwise lists them.

With --yes, each argument must name a conversation: by its id, four or more characters of
the start of its id, its folder, or whole words of its title.

It reports what still contains the text: your documents, prompts, settings and hooks,
exports and other files of the workspace that git does not ignore, git's history, and the
agents' transcripts. It does not change these. If a secret is in any of them, replace it
with a new one wherever it is used.`,
		Example: "  cortext redact \"api design\" --secret < secret.txt --yes",
		Args:    args(cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			return (&redaction{a, w, o}).run(cmd, list)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.pattern, "pattern", "", "redact what matches the RE2 expression `RE`")
	f.BoolVar(&o.secret, "secret", false, "redact one text, read from standard input or the terminal")
	f.StringVar(&o.name, "name", redact.DefaultName, "put [redacted: `NAME`] in place of the text")
	f.BoolVar(&o.documents, "documents", false, "also change your documents in the conversations' folders")
	f.BoolVar(&o.linked, "linked", false, "also redact linked conversations: forks and copies")
	f.BoolVar(&o.rename, "rename", false, "also rename folders that git knows if their names contain the text")
	f.BoolVar(&o.dryRun, "dry-run", false, "only count; changes nothing")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	f.BoolVar(&a.screen.asJSON, "json", false, "print JSON")
	return cmd
}

type redactOptions struct {
	pattern, name                                  string
	secret, documents, linked, rename, dryRun, yes bool
}

// A redaction is one run of the command.
type redaction struct {
	app     *app
	w       *opened
	options redactOptions
}

func (d *redaction) run(cmd *cobra.Command, list []string) error {
	ctx, on, o := cmd.Context(), d.app.screen, d.options
	if o.secret == cmd.Flags().Changed("pattern") {
		return &usageError{"give either --pattern or --secret", "run " + cmd.CommandPath() + " --help"}
	}
	entries, err := pickMany(d.w, list)
	if err == nil && o.yes && !o.dryRun {
		err = unasked(d.w, list, entries)
	}
	if err != nil {
		return err
	}
	request, err := d.request()
	if err != nil {
		return err
	}
	r := redact.New(d.w.Workspace, d.w.capture, request)
	show := func(doing string) func(i int) {
		return func(i int) { on.progress("%s %d of %d conversations", doing, i+1, len(entries)) }
	}
	entries, left, elsewhere, err := d.withLinked(ctx, r, entries)
	if err != nil {
		return err
	}
	left = append(left, d.linkedElsewhere(cmd, request, elsewhere)...)
	found, err := r.Find(ctx, entries, show("searching"))
	on.clearLine()
	if err != nil {
		return err
	}
	if o.dryRun || !found.Anything() {
		found.Left = append(found.Left, left...)
		return d.report(ctx, r, found)
	}
	if !o.yes {
		if !d.app.terminal.present() {
			return &usageError{"redacting must be confirmed, and there is no terminal to ask on", "--yes redacts without asking"}
		}
		places, files := found.Places()
		yes, err := d.app.terminal.ask(ctx, fmt.Sprintf("Redact %s in %s of %s? This cannot be undone.", count(places, "place"), count(files, "file"), count(len(entries), "conversation")))
		if err != nil || !yes {
			return err
		}
	}
	done, err := r.Apply(ctx, entries, show("redacting"))
	on.clearLine()
	done.Left = append(done.Left, left...)
	return errors.Join(err, d.report(ctx, r, done))
}

// request reads what to redact.
func (d *redaction) request() (redact.Request, error) {
	o := d.options
	var request redact.Request
	var err error
	if o.secret {
		var text string
		if text, err = readSecret(d.app.In, d.app.screen.errw); err == nil {
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

// maxSecret is the maximum length of a secret, in bytes.
const maxSecret = 1 << 20

// readSecret reads a secret from the terminal without showing it, or from standard input. It
// prints the question to out.
func readSecret(in io.Reader, out io.Writer) (string, error) {
	if f, ok := in.(*os.File); ok && isTerminal(f) {
		fmt.Fprint(out, "Text to redact (not shown): ")
		b, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(out)
		return string(b), err
	}
	b, err := io.ReadAll(io.LimitReader(in, maxSecret+1))
	if err == nil && len(b) > maxSecret {
		err = &usageError{fmt.Sprintf("the secret has more than %d bytes", maxSecret), ""}
	}
	return string(b), err
}

// A redactedResult is what --json prints.
type redactedResult struct {
	Conversations []redactedRow `json:"conversations"`
	Files         []redact.File `json:"files"`   // files that belong to no single conversation
	Deleted       []string      `json:"deleted"` // cache files
	Left          []redact.Left `json:"left"`
	Git           *gitRow       `json:"git"` // null outside of a repository
	DryRun        bool          `json:"dry_run"`
}

// A redactedRow describes one conversation.
type redactedRow struct {
	ID      string        `json:"id"`
	Path    string        `json:"path"`
	Renamed bool          `json:"renamed"` // whether path is a new name
	Places  int           `json:"places"`
	Files   []redact.File `json:"files"`
	Left    []redact.Left `json:"left"`
}

type gitRow struct {
	Commits  int      `json:"commits"`
	Refs     []string `json:"refs"`
	Index    []string `json:"index"`
	Complete bool     `json:"complete"`
}

// The time limits for searching git, and the work tree.
const gitTime, workTreeTime = 30 * time.Second, 30 * time.Second

// inWorkTree reports which of the user's other files contain the text.
func (d *redaction) inWorkTree(ctx context.Context, r *redact.Redactor) []redact.Left {
	limited, cancel := context.WithTimeout(ctx, workTreeTime)
	defer cancel()
	left, whole := r.InWorkTree(limited)
	if !whole && ctx.Err() == nil {
		d.app.screen.warn("the work tree could not be searched completely for other files with the text")
	}
	return left
}

// report prints what was, or would be, redacted, and what still contains the text.
func (d *redaction) report(ctx context.Context, r *redact.Redactor, done *redact.Result) error {
	out := redactedResult{
		Conversations: []redactedRow{}, Files: emptyNotNull(done.Files), Deleted: emptyNotNull(done.Deleted), Left: emptyNotNull(done.Left), DryRun: d.options.dryRun,
	}
	var entries []store.Entry
	for _, c := range done.Conversations {
		entries = append(entries, c.Entry)
		out.Conversations = append(out.Conversations, redactedRow{
			ID: c.Entry.Session.ID, Path: c.Entry.Path, Renamed: c.Renamed, Places: c.Report.Places(), Files: emptyNotNull(c.Files),
			Left: emptyNotNull(append(c.Left, r.Transcripts(c.Entry)...)),
		})
	}
	out.Left = append(out.Left, d.inWorkTree(ctx, r)...)
	h, err := r.InGit(ctx, entries, gitTime)
	if err == nil {
		out.Git = &gitRow{h.Commits, emptyNotNull(h.Refs), emptyNotNull(h.Index), h.Whole}
	} else if !errors.Is(err, git.ErrNoRepository) {
		d.app.screen.warn("git could not be searched: " + err.Error())
	}
	if d.app.screen.asJSON {
		return d.app.screen.json(out)
	}
	out.print(d.app.screen)
	if h.Commits > 0 {
		fmt.Fprint(d.app.screen.errw, rewriteHelp(d.options, h.Refs))
	}
	return nil
}

func emptyNotNull[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// print prints the result for people.
func (out redactedResult) print(on screen) {
	would := ""
	if out.DryRun {
		would = "would be "
	}
	quiet := 0
	left := out.Left
	for _, row := range out.Conversations {
		left = append(left, row.Left...)
		title := visible(strings.TrimPrefix(row.Path, "conversations/")) // not the title, which may have had the text
		switch {
		case row.Places > 0:
			fmt.Fprintf(on.out, "%s: %s %sredacted\n", title, count(row.Places, "place"), would)
		case row.Renamed:
			fmt.Fprintf(on.out, "%s: the folder has a new name\n", title)
		default:
			if quiet++; quiet <= listedFirst {
				fmt.Fprintf(on.out, "%s: nothing matches\n", title)
			}
		}
		printFiles(on.out, row.Files)
	}
	if quiet > listedFirst {
		fmt.Fprintf(on.out, "nothing matches in %s more\n", count(quiet-listedFirst, "conversation"))
	}
	if len(out.Files) > 0 {
		fmt.Fprintf(on.out, "set aside: %s %sredacted\n", count(len(out.Files), "file"), would)
		printFiles(on.out, out.Files)
	}
	if n := len(out.Deleted); n > 0 {
		if would == "" {
			fmt.Fprintf(on.out, "deleted %s of the cache\n", count(n, "file"))
		} else {
			fmt.Fprintf(on.out, "%s of the cache would be deleted\n", count(n, "file"))
		}
	}
	if g := out.Git; g != nil && (g.Commits > 0 || len(g.Index) > 0 || !g.Complete) {
		fmt.Fprintf(on.errw, "git still has it: %s\n", visible(inGit(g)))
	}
	reasons := map[string]int{}
	for _, l := range left {
		if reasons[l.Why]++; reasons[l.Why] <= listedFirst {
			fmt.Fprintf(on.errw, "still has it: %s%s (%s)\n", visible(l.Path), lineList(l.Lines), l.Why)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		if n := reasons[why] - listedFirst; n > 0 {
			fmt.Fprintf(on.errw, "still has it: %s more (%s); --json lists all\n", count(n, "file"), why)
		}
	}
}

func printFiles(w io.Writer, files []redact.File) {
	for _, f := range files {
		fmt.Fprintf(w, "  %s: %s\n", visible(f.Path), count(f.Places, "place"))
	}
}

// inGit describes where in git the text is.
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

// lineList formats line numbers.
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

// rewriteHelp explains how to remove the text from git's history. refs are those that have it.
func rewriteHelp(o redactOptions, refs []string) string {
	line := "literal:TEXT==>[redacted: " + o.name + "]"
	if !o.secret {
		line = "regex:EXPRESSION==>[redacted: " + o.name + "]"
	}
	shared, then := "", ""
	if slices.Contains(refs, "cortext/own") {
		shared, then = " 'refs/cortext/*'", "  4. git update-ref -d refs/cortext/own && cortext pull, here and in every other clone\n"
	}
	steps := []string{
		"Commit and push the redacted files, then rewrite the history in a fresh clone:",
		"  1. write this line, with the text as it is in the files, into a file outside of the repository:",
		"       " + line,
		"     and another one for the beginning of a long text, which titles and summaries may have",
		"  2. git clone --mirror URL rewritten && cd rewritten",
		"     git filter-repo --replace-text FILE --replace-message FILE",
		"  3. git push --force URL 'refs/heads/*' 'refs/tags/*'" + shared,
		then + "Remotes, forks and other clones keep the old commits until they are also rewritten and garbage is collected.",
	}
	return strings.Join(steps, "\n") + "\n"
}
