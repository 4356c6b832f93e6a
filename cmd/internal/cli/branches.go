package cli

import (
	"fmt"
	"io"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/shell"
	"cortext/resume"
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
		from := "from the beginning"
		if b.After > 0 {
			from = fmt.Sprintf("after message %d", b.After)
		}
		newest := ""
		if b.Newest {
			newest = ", resumed by default"
		}
		fmt.Fprintf(w, "%3d  %s, %s, %s%s: %s\n", b.Number, from, count(b.Messages, "message"), resume.Ago(on.now(), b.Last.Time()), newest, oneLine(b.Words))
	}
}
