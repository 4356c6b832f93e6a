package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/shown"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/schema"
)

// A screen prints results to out and everything else to errw.
type screen struct {
	out, errw io.Writer
	now       func() time.Time
	home      string // the user's home folder; empty if there is none
	asJSON    bool   // --json
}

// printed is standard output. It remembers the first error, because most prints ignore theirs.
type printed struct {
	io.Writer
	failed error
}

func (p *printed) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	p.failed = cmp.Or(p.failed, err)
	return n, err
}

// warn prints warnings, one per line.
func (s screen) warn(texts ...string) {
	for _, t := range texts {
		fmt.Fprintf(s.errw, "cortext: warning: %s\n", visible(t))
	}
}

// warnNotFetched warns about the conversations that a command passed over, because a partial
// clone lacks their logs, and returns the other errors. done says what was not done with them.
func (s screen) warnNotFetched(err error, done string) error {
	missing, rest := git.WithoutNotFetched(err)
	for _, m := range missing {
		s.warn(fmt.Sprintf("%d files of conversations were not %s because they are not fetched; to fetch them, run %s", len(m.Paths), done, m.Command()))
	}
	return rest
}

// report prints an error and what to do next.
func (s screen) report(err error) {
	if errors.Is(err, errSilent) {
		return
	}
	err = git.JoinNotFetched(err)
	text := err.Error()
	if above := (*git.ShownError)(nil); errors.As(err, &above) {
		text = strings.Replace(text, above.Error(), "git failed, as it says above", 1)
	}
	fmt.Fprintf(s.errw, "cortext: error: %s\n", visible(text))
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(s.errw, "cortext: hint: %s\n", visible(hint))
	}
	var missing *workspace.NotFoundError
	var ambiguous *workspace.AmbiguousError
	switch {
	case errors.As(err, &missing) && len(missing.Near) > 0:
		fmt.Fprintln(s.errw, "the nearest are:")
		_ = s.tableOn(s.errw).print(slices.Values(plainRows(missing.Near)))
	case errors.As(err, &ambiguous):
		s.numbered(s.errw, ambiguous)
	}
}

// hint prints what to do next.
func (s screen) hint(text string) { fmt.Fprintf(s.errw, "cortext: hint: %s\n", visible(text)) }

// json prints v on one line.
func (s screen) json(v any) error {
	return safely(s.out, func(out io.Writer) error {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	})
}

// safely calls print, which writes JSON, with a stream. For a terminal, it escapes what could
// control it.
func safely(out io.Writer, print func(io.Writer) error) error {
	if !isTerminal(out) {
		return print(out)
	}
	var all bytes.Buffer
	if err := print(&all); err != nil {
		return err
	}
	_, err := out.Write(shown.JSON(all.Bytes()))
	return err
}

// ago formats the time since a conversation was last active.
func (s screen) ago(of *schema.Session) string {
	return s.agoTime(of.LastActive.Time())
}

// agoTime formats the time since t, or returns "" for the zero time.
func (s screen) agoTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return resume.Ago(s.now(), t)
}

// paused prints the conversations that were paused in favor of another.
func (s screen) paused(titles []string) {
	for _, t := range titles {
		fmt.Fprintf(s.errw, "paused \"%s\": only one conversation is active at a time\n", oneLine(t))
	}
}

// progress replaces the current line on a terminal. clearLine removes it.
func (s screen) progress(format string, args ...any) {
	if obeys(s.errw) {
		fmt.Fprintf(s.errw, "\r\x1b[K"+format, args...)
	}
}

// examined shows the progress of checking all files.
func (s screen) examined(done, of int) {
	if done < of {
		s.progress("checking conversations: %d of %d", done, of)
	} else {
		s.clearLine()
	}
}

func (s screen) clearLine() {
	if obeys(s.errw) {
		fmt.Fprint(s.errw, "\r\x1b[K")
	}
}

// visible, oneLine and cut make text from files safe for a terminal.
func visible(s string) string       { return shown.Text(s) }
func oneLine(s string) string       { return shown.Line(s) }
func cut(s string, most int) string { return shown.Cut(s, most) }

// count formats a number of things, such as "1 session" or "2 sessions".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := behind(stream).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// obeys reports whether a stream is a terminal that obeys escape sequences.
func obeys(stream any) bool { return isTerminal(stream) && os.Getenv("TERM") != "dumb" }

// bold formats a heading on a terminal, unless NO_COLOR is set.
func bold(w io.Writer, s string) string {
	if !obeys(w) || os.Getenv("NO_COLOR") != "" {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}
