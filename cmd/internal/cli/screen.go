package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"cortext/cmd/internal/shown"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// A screen prints: results on out, all else on errw.
type screen struct {
	out, errw io.Writer
	now       func() time.Time
}

// warn prints warnings, one per line.
func (s screen) warn(texts ...string) {
	for _, t := range texts {
		fmt.Fprintf(s.errw, "cortext: warning: %s\n", visible(t))
	}
}

// report prints an error and what to do next.
func (s screen) report(err error) {
	if errors.Is(err, errSilent) {
		return
	}
	fmt.Fprintf(s.errw, "cortext: error: %s\n", visible(err.Error()))
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(s.errw, "cortext: hint: %s\n", visible(hint))
	}
	var missing *workspace.NotFoundError
	var ambiguous *workspace.AmbiguousError
	switch {
	case errors.As(err, &missing) && len(missing.Near) > 0:
		fmt.Fprintln(s.errw, "the nearest are:")
		s.tableOn(s.errw, missing.Near)
	case errors.As(err, &ambiguous):
		s.tableOn(s.errw, ambiguous.Candidates)
	}
}

// hint prints what to do next.
func (s screen) hint(text string) { fmt.Fprintf(s.errw, "cortext: hint: %s\n", visible(text)) }

// json prints v on one line.
func (s screen) json(v any) error {
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// table prints conversations, one per line.
func (s screen) table(entries []store.Entry) { s.tableOn(s.out, entries) }

// tableOn is table on another stream.
func (s screen) tableOn(w io.Writer, entries []store.Entry) {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, e := range entries {
		status := workspace.ShownStatus(e)
		if e.Session.Archived {
			status += ", archived"
		}
		if len(e.Damage) > 0 && !isNewer(e) {
			status += ", damaged"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", oneLine(strings.TrimPrefix(e.Path, "conversations/")), oneLine(status), s.ago(e.Session), count(e.Session.MessageCount, "message"), oneLine(e.Session.ConversationType), oneLine(e.Session.DisplayTitle()))
	}
	tw.Flush()
}

// ago says when a conversation was last active.
func (s screen) ago(of *schema.Session) string {
	if t := of.LastActive.Time(); !t.IsZero() {
		return resume.Ago(s.now(), t)
	}
	return ""
}

// paused reports the conversations that were paused in favor of another.
func (s screen) paused(titles []string) {
	for _, t := range titles {
		fmt.Fprintf(s.errw, "paused %q: one conversation is active at a time\n", oneLine(t))
	}
}

// progress shows a line on a terminal, in place of the last one. clearLine removes it.
func (s screen) progress(format string, args ...any) {
	if isTerminal(s.errw) {
		fmt.Fprintf(s.errw, "\r\x1b[K"+format, args...)
	}
}

func (s screen) clearLine() {
	if isTerminal(s.errw) {
		fmt.Fprint(s.errw, "\r\x1b[K")
	}
}

// visible, oneLine and cut make text from files safe for a terminal.
func visible(s string) string       { return shown.Text(s) }
func oneLine(s string) string       { return shown.Line(s) }
func cut(s string, most int) string { return shown.Cut(s, most) }

// count counts things, such as "1 session" or "2 sessions".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// bold formats a heading on a terminal, unless NO_COLOR is set.
func bold(w io.Writer, s string) string {
	if !isTerminal(w) || os.Getenv("NO_COLOR") != "" {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}
