package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/hook"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/search"
	"cortext/cmd/internal/workspace"
)

type searchOptions struct {
	filterFlags
	in                   string
	limit                int
	regexp, all, allHits bool
}

func searchCommand(a *app) *cobra.Command {
	o := searchOptions{filterFlags: filterFlags{known: a.agentNames()}}
	cmd := &cobra.Command{
		Use:   "search <words>",
		Short: "Search messages and tool calls",
		Long: `Searches titles, summaries, messages, and the inputs and outputs of tool calls. A
conversation matches if every word occurs anywhere in it, even as part of a longer word. An
argument with spaces, or text in quotation marks, is a phrase. Case matters only if you type
an upper-case letter. Words match letters with marks both composed (NFC) and decomposed
(NFD); a regular expression matches only what is stored.

The best match comes first: conversations with all words in title and summary, then those
with all words in one message or call, then those with more hits, then the most recent.
Each hit has the number of its message, for cortext show --around. Completed conversations
are also searched, archived ones only with --archived. Of a sub-agent's conversation, only
the answer is searched, as the output of a call.`,
		Example: "  cortext search torn write --in assistant\n  cortext search --regexp 'panic: .*nil' --since 2w\n  cortext show hv37 --around 12",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			return runSearch(a, cmd, words, &o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.regexp, "regexp", false, "each argument is a regular expression")
	f.StringVar(&o.in, "in", "", "search only in `FIELD`: user, assistant or tools")
	o.define(cmd, "any")
	f.IntVar(&o.limit, "limit", 0, "show at most `N` conversations")
	f.BoolVar(&o.all, "all", false, "search every workspace on this machine")
	f.BoolVar(&o.allHits, "all-hits", false, "show every hit, not only the best of each conversation")
	f.BoolVar(&a.screen.asJSON, "json", false, "print an array of JSON objects, one for each conversation")
	return cmd
}

// query parses the words of the command line.
func (o *searchOptions) query(words []string) (*search.Query, error) {
	in := search.Field(strings.ToLower(o.in))
	if in != "" {
		if err := knownWord("--in", o.in, names(search.Fields)); err != nil {
			return nil, err
		}
	}
	parse := search.ParseArguments
	if o.regexp {
		parse = search.ParseRegexps
	}
	q, err := parse(words)
	if err != nil {
		return nil, &usageError{err.Error(), ""}
	}
	q.In = in
	return q, nil
}

// hitsShown is the number of hits shown for a conversation without --all-hits.
const hitsShown = 3

func runSearch(a *app, cmd *cobra.Command, words []string, o *searchOptions) error {
	if o.limit < 0 {
		return &usageError{"--limit must not be negative", ""}
	}
	q, err := o.query(words)
	if err != nil {
		return err
	}
	filter, err := o.filter(a.Now())
	if err != nil {
		return err
	}
	filter.All = filter.All || len(filter.Statuses) == 0
	sel := selection{named: o.all}
	if err := sel.open(a, cmd); err != nil {
		return err
	}
	defer sel.close(cmd.Context(), a)
	sources, err := sel.sources(filter, a.screen.examined)
	if err != nil {
		return err
	}
	hits := hitsShown
	if o.allHits {
		hits = 0
	}
	var results []*search.Result
	failed := q.Run(cmd.Context(), sources, hits, func(r *search.Result) {
		if o.all {
			r.Row.Workspace = sel.workspaces[r.Source].Here.Workspace()
		}
		results = append(results, r)
	})
	slices.SortFunc(results, (*search.Result).Compare)
	hidden := 0
	if o.limit > 0 && len(results) > o.limit {
		hidden = len(results) - o.limit
		results = results[:o.limit]
	}
	if a.screen.asJSON {
		err = a.screen.json(foundRows(results))
	} else {
		err = showFound(a.screen, results)
	}
	if hidden > 0 && !a.screen.asJSON {
		fmt.Fprintf(a.screen.errw, "%s not shown: leave out --limit to see them\n", count(hidden, "more conversation"))
	}
	if n := sel.archivedBeside(sources, filter); n > 0 && !a.screen.asJSON {
		fmt.Fprintf(a.screen.errw, "%d more %s archived: --archived searches them, too\n", n, isOrAre(n))
	}
	err = errors.Join(err, a.screen.warnNotFetched(failed, "searched"))
	searched := 0
	for i, source := range sources {
		searched += len(source.Rows)
		updateIndex(cmd.Context(), a.hooks(), sel.workspaces[i], source)
		err = errors.Join(err, source.Index.Close(), unlisted(sel.listings[i]))
	}
	if err == nil && len(results) == 0 {
		if searched == 0 && o.narrows() {
			return &nothingFoundError{words: words, filtered: true}
		}
		return &nothingFoundError{words: words, searched: searched}
	}
	return err
}

// sources returns the conversations that a filter selects, with the index of each
// workspace. The caller must close the indexes.
func (s *selection) sources(f listing.Filter, progress func(done, of int)) (list []search.Source, err error) {
	for _, w := range s.workspaces {
		l, err := w.Listing(progress)
		if err != nil {
			return nil, err
		}
		s.listings = append(s.listings, l)
		list = append(list, sourceOf(w.Workspace, l, f))
	}
	return list, nil
}

// archivedBeside returns how many more conversations than the sources a filter would select if it
// included archived ones.
func (s *selection) archivedBeside(sources []search.Source, f listing.Filter) (n int) {
	if f.Archived {
		return 0
	}
	f.Archived = true
	for i, source := range sources {
		n += len(s.listings[i].Select(f)) - len(source.Rows)
	}
	return n
}

// sourceOf returns the conversations that a filter selects, with the index of their
// workspace. The caller must close the index.
func sourceOf(w *workspace.Workspace, list *listing.Listing, f listing.Filter) search.Source {
	source := search.Source{Store: w.Store, Open: w.Open, Index: search.OpenIndex(w.Store.Cache)}
	source.Complete = len(w.Store.Kept().WaitingPaths()) == 0 && !w.Tree.IsSparse()
	for _, i := range list.Select(f) {
		source.Rows = append(source.Rows, list.Row(i))
	}
	return source
}

// muchNew is how many bytes of new text make a separate process update the index, so that
// the prompt returns at once.
const muchNew = 32 << 20

// updateIndex adds the new text that a search found to the index. The index is only a
// cache, so failures are not reported.
func updateIndex(ctx context.Context, hooks hook.Program, w *opened, from search.Source) {
	switch bytes, ok := from.Index.New(); {
	case !ok:
	case bytes > muchNew:
		if from.Index.CanUpdate() {
			_ = hooks.Later(w.Workspace, "index")
		}
	default:
		_ = from.Index.Update(ctx, from.Open)
	}
}

// nothingFoundError reports that no conversation matches a search.
type nothingFoundError struct {
	words    []string
	searched int
	filtered bool // the filters leave nothing to search
}

func (e *nothingFoundError) Error() string {
	if e.filtered {
		return "nothing is searched: no conversation matches these filters"
	}
	return fmt.Sprintf("nothing matches %.100q in %s", strings.Join(e.words, " "), count(e.searched, "conversation"))
}

// foundRow is a conversation in the output of search --json; its fields are stable.
type foundRow struct {
	ID         string   `json:"id"`
	Path       string   `json:"path"`
	Title      string   `json:"title"`
	Type       string   `json:"type"`
	Status     string   `json:"status"`
	Agent      string   `json:"agent"`
	LastActive string   `json:"last_active"`
	HitCount   int      `json:"hit_count"`           // texts with at least one of the words
	Hits       []hitRow `json:"hits"`                // the best of them
	Workspace  string   `json:"workspace,omitempty"` // the absolute path of its folder, with --all
}

type hitRow struct {
	In        string   `json:"in"`         // title, summary, user, assistant, system, tool input or tool output
	Message   int      `json:"message"`    // its number, or 0 if it has none or is on an abandoned branch
	MessageID string   `json:"message_id"` // "" if there is none
	Text      string   `json:"text"`       // the surrounding sentence
	Matches   [][2]int `json:"matches"`    // byte ranges of the words in text
}

func foundRows(results []*search.Result) []foundRow {
	rows := []foundRow{}
	for _, r := range results {
		row := foundRow{
			ID: r.Row.ID, Path: r.Row.Path, Title: r.Row.Title, Type: r.Row.Type, Status: r.Row.Status, Agent: r.Row.Agent,
			HitCount: r.Count, Hits: []hitRow{}, Workspace: r.Row.Workspace,
		}
		if !r.Row.LastActive.IsZero() {
			row.LastActive = r.Row.LastActive.UTC().Format("2006-01-02T15:04:05.000Z")
		}
		for _, h := range r.Hits {
			row.Hits = append(row.Hits, hitRow{string(h.Place), h.Message, h.MessageID, h.Text, h.Matches})
		}
		rows = append(rows, row)
	}
	return rows
}

// showFound prints conversations with their hits.
func showFound(on screen, results []*search.Result) error {
	w := bufio.NewWriter(on.out)
	width := widthOf(on.out)
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(w)
		}
		about := []string{}
		for _, s := range []string{r.Row.Type, r.Row.LastAgent(), on.agoTime(r.Row.LastActive), r.Row.Folder(), on.fromHome(r.Row.Workspace, "~")} {
			if s != "" {
				about = append(about, oneLine(s))
			}
		}
		title, rest := fitHead(oneLine(r.Row.Title), strings.Join(about, ", "), width)
		fmt.Fprintln(w, bold(on.out, title)+rest)
		left := r.Count
		for _, h := range r.Hits {
			left--
			if h.Place != search.InTitle {
				showHit(w, on, h, width)
			}
		}
		if left > 0 {
			fmt.Fprintf(w, "  %d more\n", left)
		}
	}
	return w.Flush()
}

// fitHead shortens a title, and what comes after it on its line. A width of 0 is no limit.
func fitHead(title, rest string, width int) (string, string) {
	rest = strings.Repeat(" ", gap) + rest
	if width > 0 {
		title = cutRight(title, width)
		room := width - textWidth(title)
		if room <= gap+1 {
			return title, "" // no more than a mark that something is cut off
		}
		rest = cutRight(rest, room)
	}
	return title, rest
}

// showHit prints a hit on one line.
func showHit(w *bufio.Writer, on screen, h search.Hit, width int) {
	label := "  "
	switch {
	case h.Message > 0:
		label += fmt.Sprintf("#%d ", h.Message)
	case h.MessageID != "":
		label += "(left) "
	}
	label += string(h.Place) + "  "
	parts := h.Parts()
	for i, p := range parts {
		parts[i] = oneLine(p)
	}
	if width > 0 {
		parts = fitParts(parts, width-len(label))
	}
	fmt.Fprint(w, label)
	for i, p := range parts {
		if i%2 == 1 {
			p = bold(on.out, p)
		}
		fmt.Fprint(w, p)
	}
	fmt.Fprintln(w)
}

// fitParts shortens parts so that they fit a width and the first match stays visible.
func fitParts(parts []string, width int) []string {
	if len(parts) > 1 {
		// The text before the match gets a third of the line.
		room := max(width/3, width-textWidth(strings.Join(parts[1:], "")))
		for r := []rune(parts[0]); textWidth(parts[0]) > room && len(r) > 1; {
			r = r[1:]
			parts[0] = "…" + string(r)
		}
	}
	for i, p := range parts {
		parts[i] = cutRight(p, width)
		width -= textWidth(parts[i])
	}
	return parts
}
