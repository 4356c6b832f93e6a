package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/shell"
)

type listOptions struct {
	filterFlags
	search, sort, format string
	limit, offset        int
	reverse, all         bool
	refresh              bool

	template *template.Template // of format
}

func listCommand(a *app) *cobra.Command {
	o := listOptions{filterFlags: filterFlags{known: a.agentNames()}}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List conversations, most recent first",
		Long: `Lists the active and paused conversations of the workspace, the most recently
active first. Notes on standard error give the number of hidden conversations (completed or
archived), and name those with messages waiting outside the work tree, with the command that
puts them back. The first column is a short name that cortext resume and cortext show
accept.

--format takes a template in the syntax of Go's text/template, as docker and gh do. Its
fields are {{.ID}}, {{.ConversationID}}, {{.Path}}, {{.Title}}, {{.Type}}, {{.Status}},
{{.Archived}}, {{.Agent}} (where it began), {{.LastAgent}}, {{.Model}}, {{.Provider}},
{{.CreatedAt}}, {{.LastActive}}, {{.MessageCount}}, {{.Tokens}}, {{.Summary}},
{{.Description}}, {{.Tags}}, {{.Waiting}}, {{.Workspace}}. The functions are json, join,
lower, upper, ago, and those of Go: {{json .}} prints all fields. Each conversation is
printed on its own line.`,
		Example: "  cortext list --type plan,debug --since \"2 weeks ago\"\n  cortext list --status all --sort tokens --limit 10\n  cortext list --all --format '{{.ID}} {{.Title}}'",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runList(a, cmd, &o)
		},
	}
	f := cmd.Flags()
	o.define(cmd, "active and paused")
	f.StringVar(&o.search, "search", "", "only conversations with all `WORDS` in the title, folder, tags, first message or summary")
	f.StringVar(&o.sort, "sort", string(listing.ByLastActive), "sort by `ORDER`: "+orList(names(listing.Orders))+"; the newest or largest first")
	f.BoolVar(&o.reverse, "reverse", false, "reverse the order")
	f.IntVar(&o.limit, "limit", 0, "list at most `N` conversations")
	f.IntVar(&o.offset, "offset", 0, "leave out the first `N` conversations")
	f.BoolVar(&o.all, "all", false, "list the conversations of every workspace on this machine")
	f.BoolVar(&o.refresh, "refresh", false, "check all files first, to see manual edits from the last minute")
	f.BoolVar(&a.screen.asJSON, "json", false, "print an array of JSON objects")
	f.StringVar(&o.format, "format", "", "print each conversation with `TEMPLATE`, such as '{{.ID}} {{.Title}}'")
	return cmd
}

// agentNames lists the names of the agents.
func (a *app) agentNames() []string {
	names := make([]string, len(a.Agents))
	for i, agent := range a.Agents {
		names[i] = agent.Name()
	}
	return names
}

// check rejects invalid flags.
func (o *listOptions) check(on screen) (err error) {
	switch {
	case o.limit < 0:
		return &usageError{"--limit must not be negative", ""}
	case o.offset < 0:
		return &usageError{"--offset must not be negative", ""}
	case on.asJSON && o.format != "":
		return &usageError{"--json and --format cannot be combined", ""}
	}
	if err := knownWord("--sort", o.sort, names(listing.Orders)); err != nil {
		return err
	}
	o.sort = strings.ToLower(o.sort)
	return nil
}

func runList(a *app, cmd *cobra.Command, o *listOptions) error {
	err := o.check(a.screen)
	if err == nil && o.format != "" {
		o.template, err = parseFormat(o.format, a.Now)
	}
	if err != nil {
		return err
	}
	f, err := o.filter(a.Now())
	if err != nil {
		return err
	}
	sel := selection{named: o.all}
	if err := sel.open(a, cmd); err != nil {
		return err
	}
	defer sel.close(cmd.Context(), a)
	if o.refresh {
		for _, w := range sel.workspaces {
			if err := w.RefreshListing(a.screen.examined); err != nil {
				return err
			}
		}
	}
	if err := sel.choose(f, o, a.screen.examined); err != nil {
		return err
	}
	err = printList(a, &sel, o)
	for i, l := range sel.listings {
		if w := sel.workspaces[i].Workspace; l.Stale() && w.CanRefreshListing() {
			_ = a.hooks().Later(w, "refresh") // on failure the next list tries again
		}
	}
	return err
}

// printList prints the selection, and notices about what it contains.
func printList(a *app, sel *selection, o *listOptions) error {
	var missing error
	for i, w := range sel.workspaces {
		entries, unread := sel.remarkable(i)
		a.screen.warn(unread...)
		sel.waiting = append(sel.waiting, a.notices(w).listed(entries))
		missing = errors.Join(missing, unlisted(sel.listings[i]))
	}
	err := a.pager.show(func(out io.Writer) error {
		if a.screen.asJSON {
			return safely(out, sel.printJSON)
		}
		rows, err := sel.rows()
		if err != nil {
			return err
		}
		if o.template != nil {
			return printFormat(out, o.template, rows)
		}
		t := a.screen.tableOn(out)
		if o.all {
			a.screen.nameWorkspaces(t)
		}
		return t.print(rows)
	})
	if err == nil && missing == nil {
		tellHidden(a.screen.errw, sel, o)
	}
	return errors.Join(err, missing)
}

// tellHidden prints how many conversations are not shown, and how to see them.
func tellHidden(w io.Writer, sel *selection, o *listOptions) {
	total := 0
	for _, l := range sel.listings {
		total += l.Len()
	}
	shown, matching, hidden, archived := sel.counts()
	switch {
	case total == 0:
		for _, in := range sel.workspaces {
			if in.Tree.Hides() {
				fmt.Fprintln(w, "git has conversations, but none is in the sparse checkout:", shell.Quote("git", "-C", in.Store.Root(), "sparse-checkout", "add", "conversations"))
				return
			}
		}
		fmt.Fprintln(w, "no conversations yet: "+hintToBegin)
		return
	case matching == 0 && (o.narrows() || o.search != ""):
		fmt.Fprintln(w, "no conversation matches these filters")
	case shown == 0 && matching > 0:
		fmt.Fprintf(w, "there are only %s: lower --offset\n", count(matching, "conversation"))
	case shown < matching-o.offset:
		fmt.Fprintf(w, "%d more: --offset %d shows the next\n", matching-o.offset-shown, o.offset+shown)
	}
	if hidden > 0 {
		what, flags := "completed", "--status all"
		switch {
		case archived == hidden:
			what, flags = "archived", "--archived"
		case archived > 0:
			what, flags = "completed or archived", "--status all --archived"
		}
		fmt.Fprintf(w, "%d more %s %s: %s shows them\n", hidden, isOrAre(hidden), what, flags)
	}
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// printJSON prints rows as one array.
func printJSON(out io.Writer, rows iter.Seq[row]) error {
	w := bufio.NewWriterSize(out, 1<<16)
	b := []byte{'['}
	for r := range rows {
		if len(b) == 0 {
			b = append(b, ',')
		}
		if _, err := w.Write(r.Append(b)); err != nil {
			return err
		}
		b = b[:0]
	}
	if _, err := w.Write(append(b, "]\n"...)); err != nil {
		return err
	}
	return w.Flush()
}

// unlisted returns an error if conversations are missing because their folder cannot be
// read.
func unlisted(l *listing.Listing) error {
	days := l.Unreadable()
	if len(days) == 0 {
		return nil
	}
	for i, day := range days {
		days[i] = "conversations/" + day
	}
	return fmt.Errorf("the conversations in %s are not listed because it cannot be read: make it readable", strings.Join(days, ", "))
}
