package cli

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"

	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// A column of the table of conversations. On a narrow terminal, columns with a lower rank
// are dropped first. Those of rank 0 always stay.
type column struct {
	head  string
	rank  int
	most  int // width on a terminal
	right bool
	cell  func(*row) string
}

// A table prints conversations, one per line, in columns.
type table struct {
	out     io.Writer
	width   int // of the terminal, or 0 in a pipe
	columns []column
}

// sampled is how many rows determine the widths of columns, so that the first page of a
// long list does not wait for the last.
const sampled = 1000

// leastTitle is the minimum width of the title on a narrow terminal.
const leastTitle = 24

// tableOn returns a table for a stream.
func (s screen) tableOn(w io.Writer) *table { return s.tableOf(w, widthOf(w)) }

// tableOf returns a table of the given width.
func (s screen) tableOf(w io.Writer, width int) *table {
	t := &table{out: w, width: width}
	when, count := func(r *row) string { return s.agoTime(r.active) }, func(r *row) string { return count(r.MessageCount, "message") }
	if t.width > 0 {
		count = func(r *row) string { return strconv.Itoa(r.MessageCount) }
	}
	if t.width > 0 && t.width < 100 {
		when = s.briefSince
	}
	t.columns = []column{
		{head: "ID", most: 15, cell: func(r *row) string { return oneLine(r.short()) }},
		{head: "WHEN", most: 16, cell: when},
		{head: "STATUS", rank: 3, most: 18, cell: func(r *row) string { return oneLine(r.state()) }},
		{head: "AGENT", rank: 4, most: 12, cell: func(r *row) string { return oneLine(r.LastAgent) }},
		{head: "MSGS", rank: 1, most: 12, right: t.width > 0, cell: count},
		{head: "TYPE", rank: 2, most: 14, cell: func(r *row) string { return oneLine(r.Type) }},
		{head: "TITLE", cell: func(r *row) string { return oneLine(r.Title) }},
	}
	return t
}

// nameWorkspaces adds a column for the workspace to a table.
func (s screen) nameWorkspaces(t *table) {
	last := len(t.columns) - 1
	t.columns = slices.Insert(t.columns, last, column{head: "WORKSPACE", rank: 5, most: 30, cell: func(r *row) string { return oneLine(s.fromHome(r.Workspace, "~")) }})
}

// table prints conversations.
func (s screen) table(entries []store.Entry) {
	_ = s.tableOn(s.out).print(slices.Values(plainRows(entries)))
}

// numbered prints the first candidates with numbers, and the number of the rest.
func (s screen) numbered(w io.Writer, of *workspace.AmbiguousError) {
	t, n := s.tableOn(w), 0
	t.columns = slices.Insert(t.columns, 0, column{head: "NO", most: 2, right: true, cell: func(*row) string { n++; return strconv.Itoa(n) }})
	first := of.Candidates[:min(len(of.Candidates), mostNumbered)]
	_ = t.print(slices.Values(plainRows(first)))
	if rest := of.Count() - len(first); rest > 0 {
		fmt.Fprintf(w, "and %d more\n", rest)
	}
}

// print prints rows. On a terminal, it adds a heading and cuts rows to the width.
func (t *table) print(rows iter.Seq[row]) error {
	next, stop := iter.Pull(rows)
	defer stop()
	var cells [][]string
	for r, ok := next(); ok; r, ok = next() {
		cells = append(cells, t.cells(&r))
		if len(cells) == sampled {
			break
		}
	}
	if len(cells) == 0 {
		return nil
	}
	shown, widths := t.fit(cells)
	w := bufio.NewWriter(t.out)
	if t.width > 0 {
		heads := make([]string, len(t.columns))
		for i, c := range t.columns {
			heads[i] = c.head
		}
		fmt.Fprintln(w, bold(t.out, t.line(heads, shown, widths)))
	}
	for _, c := range cells {
		fmt.Fprintln(w, t.line(c, shown, widths))
	}
	for r, ok := next(); ok; r, ok = next() {
		if _, err := fmt.Fprintln(w, t.line(t.cells(&r), shown, widths)); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (t *table) cells(r *row) []string {
	cells := make([]string, len(t.columns))
	for i, c := range t.columns {
		cells[i] = c.cell(r)
	}
	return cells
}

// fit returns the indexes of the columns that fit the terminal, and the width of each
// column. A width of 0 means that the last column has no limit.
func (t *table) fit(cells [][]string) (shown, widths []int) {
	last := len(t.columns) - 1
	widths = make([]int, len(t.columns))
	for i, c := range t.columns[:last] {
		for _, row := range cells {
			widths[i] = max(widths[i], textWidth(row[i]))
		}
		if widths[i] > 0 || t.width == 0 { // on a terminal, empty columns are left out
			shown = append(shown, i)
		}
		if t.width > 0 {
			widths[i] = min(max(widths[i], len(c.head)), c.most)
		}
	}
	shown = append(shown, last)
	if t.width == 0 {
		return shown, widths
	}
	for {
		used, least := 0, -1
		for at, i := range shown[:len(shown)-1] {
			used += widths[i] + gap
			if rank := t.columns[i].rank; rank > 0 && (least < 0 || rank < t.columns[shown[least]].rank) {
				least = at
			}
		}
		widths[last] = max(t.width-used, 1)
		if widths[last] >= leastTitle || least < 0 {
			return shown, widths
		}
		shown = slices.Delete(shown, least, least+1)
	}
}

// gap is the space between columns.
const gap = 2

// line lays out the cells of a row.
func (t *table) line(cells []string, shown, widths []int) string {
	var b strings.Builder
	for at, i := range shown {
		cell, width := cells[i], widths[i]
		is := textWidth(cell)
		if t.width > 0 && is > width {
			cell = cutRight(cell, width)
			is = textWidth(cell)
		}
		if at == len(shown)-1 {
			b.WriteString(cell)
			break
		}
		pad := strings.Repeat(" ", max(width-is, 0))
		if t.columns[i].right {
			cell, pad = pad+cell, ""
		}
		b.WriteString(cell + pad + strings.Repeat(" ", gap))
	}
	return strings.TrimRight(b.String(), " ")
}

// widthOf returns the width of a terminal, or 0 if the stream is not a terminal.
func widthOf(stream any) int {
	width, _ := sizeOf(stream)
	return width
}

// sizeOf returns the size of a terminal, or 0 and 0 if the stream is not a terminal.
func sizeOf(stream any) (width, height int) {
	f, ok := behind(stream).(*os.File)
	if !ok || !isTerminal(f) {
		return 0, 0
	}
	if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width, height
	}
	return 80, 24
}

// briefSince is agoTime for narrow terminals.
func (s screen) briefSince(r *row) string {
	if r.active.IsZero() {
		return ""
	}
	d := max(s.now().Sub(r.active), 0)
	const day = 24 * time.Hour
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"y", 365 * day}, {"mo", 30 * day}, {"d", day}, {"h", time.Hour}, {"m", time.Minute}} {
		if n := int(d / u.size); n > 0 {
			return fmt.Sprintf("%d%s ago", n, u.name)
		}
	}
	return "just now"
}

// fromHome shortens a path below the user's home folder, which it calls name.
func (s screen) fromHome(dir, name string) string {
	if rest, ok := strings.CutPrefix(dir, s.home+string(os.PathSeparator)); ok && len(s.home) > 1 {
		return name + "/" + filepath.ToSlash(rest)
	}
	return dir
}

// The functions below take text in which control characters are escaped.

// textWidth returns how many terminal columns a text takes at most. Some terminals draw
// joined emoji, and joined letters of Indian scripts, as one character, others one by one.
func textWidth(s string) int {
	joined := displaywidth.String(s)
	if joined == len(s) {
		return joined // ASCII
	}
	apart := 0
	for _, r := range s {
		apart += displaywidth.Rune(r)
	}
	return max(joined, apart)
}

// cutRight shortens a text to a width at its end.
func cutRight(s string, width int) string {
	if width <= 0 {
		return ""
	}
	for most := width; ; most-- {
		if cut := displaywidth.TruncateString(s, most, "…"); textWidth(cut) <= width || most == 1 {
			return cut
		}
	}
}

// cutLeft shortens a text to a width at its beginning.
func cutLeft(s string, width int) string {
	is := textWidth(s)
	if is <= width {
		return s
	}
	from := 0
	for g := displaywidth.StringGraphemes(s); is >= width && g.Next(); {
		is -= textWidth(g.Value())
		from += len(g.Value())
	}
	return "…" + s[from:]
}
