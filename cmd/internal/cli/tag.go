package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/organise"
)

func tagCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tag [<tag>[,<tag>...] [<id>...]]",
		Short: "Tag conversations, or list the tags in use",
		Long: `Adds tags to conversations; without an id, to the current one. Quote the words of a
query. Without arguments, it lists the tags in use and how many conversations have each.`,
		Example: "  cortext tag backend,urgent \"api design\"",
		Args:    args(cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			if len(list) == 0 {
				return listTags(a, w)
			}
			tags, err := organise.ParseTags(list[0])
			if err == nil {
				err = wantsWords(w, list[0], "tag")
			}
			if err != nil {
				return err
			}
			shown := oneLine(strings.Join(tags, ", "))
			return edit{organise.Tag(tags), "tagged " + shown, "already tagged " + shown}.applyTo(cmd.Context(), a, w, list[1:])
		}),
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print JSON")
	return cmd
}

// A tagCount is a tag and the number of conversations with it.
type tagCount struct {
	Tag           string `json:"tag"`
	Conversations int    `json:"conversations"`
}

// listTags prints the tags in use, most used first.
func listTags(a *app, w *opened) error {
	all, err := w.Store.Outlines()
	if err != nil {
		return err
	}
	counts := []tagCount{}
	at := map[string]int{} // tags that differ only in case count as one
	for _, e := range all {
		for i, tag := range e.Session.Tags {
			same := func(t string) bool { return strings.EqualFold(t, tag) }
			if slices.ContainsFunc(e.Session.Tags[:i], same) {
				continue // a merge keeps the spellings of both sides
			}
			key := strings.ToLower(tag)
			if _, ok := at[key]; !ok {
				at[key] = len(counts)
				counts = append(counts, tagCount{Tag: tag})
			}
			counts[at[key]].Conversations++
		}
	}
	slices.SortStableFunc(counts, func(a, b tagCount) int {
		return cmp.Or(b.Conversations-a.Conversations, strings.Compare(strings.ToLower(a.Tag), strings.ToLower(b.Tag)))
	})
	if a.screen.asJSON {
		return a.screen.json(counts)
	}
	if len(counts) == 0 {
		fmt.Fprintln(a.screen.errw, "no conversation has a tag yet: cortext tag TAG ID adds one")
	}
	a.screen.printTags(counts)
	return nil
}

// printTags prints each tag and how many conversations have it. On a terminal, it cuts tags
// to the width.
func (s screen) printTags(counts []tagCount) {
	longest, longestCount := 0, 0
	for i, c := range counts {
		counts[i].Tag = oneLine(c.Tag)
		longest = max(longest, textWidth(counts[i].Tag))
		longestCount = max(longestCount, len(count(c.Conversations, "conversation")))
	}
	if width := widthOf(s.out); width > 0 {
		longest = min(longest, max(width-gap-longestCount, 1))
	}
	for _, c := range counts {
		tag := c.Tag
		if textWidth(tag) > longest {
			tag = cutRight(tag, longest)
		}
		pad := strings.Repeat(" ", max(longest-textWidth(tag), 0)+gap)
		fmt.Fprintf(s.out, "%s%s%s\n", tag, pad, count(c.Conversations, "conversation"))
	}
}
