package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/search"
	"cortext/cmd/internal/stats"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/schema"
)

// completing reports whether a shell asks for completions.
func completing(args []string) bool {
	return len(args) > 1 && strings.HasPrefix(args[0], "__complete")
}

// mostCompletions is the maximum number of conversations offered.
const mostCompletions = 100

// A completer completes command lines for a shell.
type completer struct{ app *app }

// register sets up completion for the arguments and flags of all commands. Only a shell
// needs it, and looking up the flags would slow down every start.
func (c completer) register(root *cobra.Command) {
	flags := map[string]cobra.CompletionFunc{
		"type":     c.fromListing(func(w *workspace.Workspace) []string { return w.Prompts.Types() }, func(r *listing.Row) []string { return []string{r.Type} }),
		"tag":      c.fromListing(nil, func(r *listing.Row) []string { return r.Tags }),
		"model":    c.fromListing(nil, func(r *listing.Row) []string { return []string{r.Model} }),
		"agent":    words(c.app.agentNames),
		"status":   words(statusNames),
		"sort":     words(func() []string { return names(listing.Orders) }),
		"strategy": words(resume.Strategies),
		"since":    words(times),
		"until":    words(times),
		"session":  c.id,
		"in":       words(func() []string { return names(search.Fields) }),
		"by":       words(func() []string { return names(stats.Groupings) }),
		"only":     words(func() []string { return names(onlyRoles) }),

		// flags that have another meaning elsewhere
		"export format": words(formatNames),
		"init commit":   words(func() []string { return commitTimes }),
		"init agent":    words(c.app.agentNames),
		"init capture":  words(func() []string { return captures }),
	}
	unquote := func(f *pflag.Flag) (value string) { // shells show the usage unprocessed
		value, f.Usage = pflag.UnquoteUsage(f)
		return value
	}
	for _, set := range []*pflag.FlagSet{root.PersistentFlags(), root.Flags()} {
		set.VisitAll(func(f *pflag.Flag) { unquote(f) })
	}
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			value := unquote(f)
			complete := flags[cmd.Name()+" "+f.Name]
			if complete == nil && cmd.Name() != "init" {
				complete = flags[f.Name]
			}
			if complete == nil && value != "FILE" && value != "DIR" {
				complete = cobra.NoFileCompletions
			}
			if complete != nil {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, complete)
			}
		})
		if cmd.ValidArgsFunction != nil || len(cmd.ValidArgs) > 0 {
			continue
		}
		switch {
		case cmd.Name() == "new":
			cmd.ValidArgsFunction = first(flags["type"])
		case cmd.Name() == "status":
			cmd.ValidArgsFunction = c.status
		case cmd.Name() == "chat":
			cmd.ValidArgsFunction = c.chat(flags["type"])
		case cmd.Name() == "tag", cmd.Name() == "untag":
			cmd.ValidArgsFunction = then(flags["tag"], c.id)
		case cmd.Name() == "note", cmd.Name() == "set":
			cmd.ValidArgsFunction = then(cobra.NoFileCompletions, c.id)
		case cmd.Name() == "unarchive":
			cmd.ValidArgsFunction = c.archived
		case strings.Contains(cmd.Use, "<id>..."):
			cmd.ValidArgsFunction = c.id
		case strings.Contains(cmd.Use, "<id>"), strings.Contains(cmd.Use, "[query]"):
			cmd.ValidArgsFunction = first(c.id)
		case cmd.Name() != "import" && cmd.Name() != "why" && cmd.Name() != "clone": // these take files
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
}

// names returns the names of the values that a flag may have.
func names[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}

func times() []string { return []string{"today", "yesterday", "3d", "1w", "2w", "1mo"} }

// first completes the first argument only.
func first(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return then(complete, cobra.NoFileCompletions)
}

// then completes the first argument in one way and the others in another.
func then(first, others cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return others(cmd, args, typed)
		}
		return first(cmd, args, typed)
	}
}

// words completes a word, or a comma-separated list of words.
func words(list func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return after(typed, list()), cobra.ShellCompDirectiveNoFileComp
	}
}

// after returns the words that can continue a comma-separated list.
func after(typed string, words []string) (list []string) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	for _, w := range words {
		if w != "" && strings.HasPrefix(before+w, typed) {
			list = append(list, before+oneLine(w))
		}
	}
	return list
}

// inListing calls f with the listing of the workspace. Errors are silent: a shell would
// show them in the middle of the command line.
func (c completer) inListing(cmd *cobra.Command, f func(*workspace.Workspace, *listing.Listing)) {
	dir, err := c.app.folder()
	if err != nil {
		return
	}
	w, err := c.app.openAt(cmd, dir)
	if err != nil {
		return
	}
	defer w.Close()
	l, err := w.Listing(nil)
	if err != nil {
		return
	}
	defer l.Close()
	f(w.Workspace, l)
}

// fromListing completes known words and the words that conversations have, the most
// frequent first.
func (c completer) fromListing(known func(*workspace.Workspace) []string, of func(*listing.Row) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) (list []string, _ cobra.ShellCompDirective) {
		c.inListing(cmd, func(w *workspace.Workspace, l *listing.Listing) {
			times := map[string]int{}
			var words []string
			if known != nil {
				words = known(w)
			}
			for i := range l.Len() {
				r := l.Row(i)
				for _, word := range of(&r) {
					if times[word]++; times[word] == 1 && !slices.Contains(words, word) {
						words = append(words, strings.Clone(word))
					}
				}
			}
			slices.SortStableFunc(words, func(a, b string) int { return times[b] - times[a] })
			list = after(typed, words)
		})
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// id completes a conversation that is not archived.
func (c completer) id(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.conversation(cmd, typed, func(r *listing.Row) bool { return !r.Archived })
}

// archived completes an archived conversation.
func (c completer) archived(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.conversation(cmd, typed, func(r *listing.Row) bool { return r.Archived })
}

// conversation completes the short name of a conversation that is offered, or its id or folder if
// the user has typed part of that.
func (c completer) conversation(cmd *cobra.Command, typed string, offered func(*listing.Row) bool) (list []string, _ cobra.ShellCompDirective) {
	c.inListing(cmd, func(_ *workspace.Workspace, l *listing.Listing) {
		at := completed(l, typed)
		short := make(map[string]int, len(at))
		for _, i := range at {
			r := l.Row(i)
			short[shortName(r.Path)]++
		}
		for _, name := range []func(*listing.Row) string{
			func(r *listing.Row) string {
				if name := shortName(r.Path); short[name] == 1 {
					return name
				}
				return r.Folder()
			},
			func(r *listing.Row) string { return r.ID },
			(*listing.Row).Folder,
			func(r *listing.Row) string { return r.Path },
			func(r *listing.Row) string { _, name, _ := strings.Cut(r.Folder(), "/"); return name },
		} {
			for k := 0; k < len(at) && len(list) < mostCompletions; k++ {
				r := l.Row(at[k])
				if name := name(&r); offered(&r) && strings.HasPrefix(name, typed) && name != "" {
					list = append(list, fmt.Sprintf("%s\t%s, %s, %s", oneLine(name), cut(oneLine(r.Title), 60), oneLine(r.Type), oneLine(r.Status)))
				}
			}
			if len(list) > 0 {
				return
			}
		}
	})
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completed returns the positions of all conversations with a name that starts with the
// given text.
func completed(l *listing.Listing, typed string) []int {
	const top = "conversations/"
	if strings.HasPrefix(top, typed) || strings.HasPrefix(typed, top) {
		return l.Select(listing.Filter{All: true, Archived: true})
	}
	return l.Mentioning(typed)
}

// status completes the arguments of status: a conversation, then what to set.
func (c completer) status(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return c.id(cmd, args, typed)
	case 1:
		return words(func() []string { return names(schema.Statuses()) })(cmd, args, typed)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// chat completes a type after --new, otherwise a conversation.
func (c completer) chat(types cobra.CompletionFunc) cobra.CompletionFunc {
	return first(func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if cmd.Flags().Changed("new") {
			return types(cmd, args, typed)
		}
		return c.id(cmd, args, typed)
	})
}
