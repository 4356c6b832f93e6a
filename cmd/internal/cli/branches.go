package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/shell"
	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// branches prints the branches of a conversation, if there are several, and the
// conversations that it was forked from and into.
func branches(w io.Writer, on screen, found *history.Shown) {
	s := found.Entry.Session
	if l := s.Links; l != nil && l.MessageID != "" {
		fmt.Fprintf(w, "forked from: %s\n", oneLine(l.Parent))
	}
	if s.Links != nil {
		for _, id := range s.Links.Related {
			fmt.Fprintf(w, "related: %s\n", oneLine(id))
		}
	}
	if len(found.Branches) == 0 {
		return
	}
	fmt.Fprintf(w, "branches: (%s)\n", shell.Quote("cortext", "resume", s.ID, "--branch")+" N")
	for _, b := range found.Branches {
		fmt.Fprintln(w, on.branch(b))
	}
}

// branch describes a branch on one line.
func (s screen) branch(b history.Branch) string {
	from := "from the beginning"
	if b.After > 0 {
		from = fmt.Sprintf("after message %d", b.After)
	}
	newest := ""
	if b.Newest {
		newest = ", resumed by default"
	}
	words := oneLine(b.Words)
	if b.LastWords != "" {
		words += "; last: " + oneLine(b.LastWords)
	}
	return fmt.Sprintf("%3d  %s, %s, %s%s: %s", b.Number, from, count(b.Messages, "message"), resume.Ago(s.now(), b.Last.Time()), newest, words)
}

// branch asks the user which branch to resume if the conversation was continued in several
// places. Without a terminal it prints a note. It asks about each new branch until it gets
// an answer, and returns 0 for the newest branch.
func (c chooser) branch(ctx context.Context, e store.Entry) (int, error) {
	list, err := history.Continued(c.w.Conversations, e)
	if err != nil || len(list) == 0 {
		return 0, nil // building the payload reports what cannot be read
	}
	var unknown []string // the branches that the user was not asked about
	for _, b := range list {
		name := "branches/" + schema.PathElement(e.Session.ID+"-"+b.End)
		if !b.Newest && !c.w.Registry.Suggested(name, c.w.Here.Place()) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return 0, nil
	}
	n, err := c.askBranch(ctx, list)
	if err != nil {
		return 0, err
	}
	for _, name := range unknown {
		c.w.Registry.Suggest(name, c.w.Here.Place())
	}
	return n, nil
}

// askBranch asks the user for one of the branches, or prints a note.
func (c chooser) askBranch(ctx context.Context, list []history.Branch) (int, error) {
	if !c.app.terminal.present() {
		c.app.screen.warn("the conversation was continued in several places: using the newest branch; cortext show lists them, --branch chooses another or all")
		return 0, nil
	}
	fmt.Fprintln(c.app.screen.out, "It was continued in several places:")
	newest := 0
	for _, b := range list {
		if b.Newest {
			newest = b.Number
		}
		fmt.Fprintln(c.app.screen.out, c.app.screen.branch(b))
	}
	fmt.Fprintln(c.app.screen.out, "all  the one resumed by default, with the others in the history, marked")
	for {
		fmt.Fprintf(c.app.screen.out, "Which branch? [%d] ", newest)
		line, err := c.app.terminal.line(ctx)
		if err != nil || line == "" {
			return 0, err
		}
		if line == "all" {
			return history.AllBranches, nil
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(list) {
			if n == newest {
				n = 0
			}
			return n, nil
		}
		fmt.Fprintf(c.app.screen.out, "there is no branch %s, only 1 to %d, and all\n", visible(line), len(list))
	}
}
