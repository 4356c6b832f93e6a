//go:build unix

package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/agenttest"
)

// picture is the README's picture. scripts/picture.sh recreates it.
const picture = "../../.github/resume.svg"

const pictureColumns, pictureRows = 108, 19

// TestPicture: the README's picture is what a terminal shows when the conversation in
// testdata/workspace is resumed in the real agent. With -update the test replaces the
// picture.
func TestPicture(t *testing.T) {
	s := newStage(t)
	s.project = filepath.Join(s.home.Dir, "shop") // which the agent shows as ~/shop
	s.check(os.CopyFS(s.project, os.DirFS(fixture)))
	s.check(s.home.TrustClaude(s.project))
	program, err := clocked()
	s.check(err)
	s.check(os.Remove(filepath.Join(s.bin, "cortext")))
	s.check(os.Symlink(program, filepath.Join(s.bin, "cortext")))
	s.env = append(s.env, "CORTEXT_CLOCK=2026-11-24T20:30:00Z", "TZ=UTC", "PS1=$ ")

	term, err := agenttest.Start(s.command("bash", "--noprofile", "--norc"), pictureColumns, pictureRows)
	s.check(err)
	t.Cleanup(func() { term.Close() })
	s.wait(term, "$")
	s.check(term.Submit("cortext list", patience))
	s.wait(term, "API design\n$")
	s.check(term.Type(`cortext resume "api design"`))
	s.wait(term, `api design"`)
	shell := trimmed(term.Cells())
	s.check(term.Key("Enter"))
	s.wait(term, "You said last: ")
	s.check(term.Type("404 with a problem body. Then finish step 4."))
	s.wait(term, "finish step 4.")
	s.check(term.WaitForNot("/effort", patience)) // shown for some seconds

	want, err := os.ReadFile(picture)
	if err != nil && !*update {
		t.Fatal(err)
	}
	drawn := func() string { return svg(shell, trimmed(term.Cells())) }
	got := drawn()
	for end := time.Now().Add(patience); got != string(want) && time.Now().Before(end); got = drawn() {
		time.Sleep(2 * time.Second) // the agent is still drawing
		if *update && got == drawn() {
			s.check(os.WriteFile(picture, []byte(got), 0o644))
			break
		}
	}
	if got != string(want) && !*update {
		t.Errorf("%s is not what the terminal shows (scripts/picture.sh makes it again):\n%s", picture, term.Screen())
	}
	s.check(term.Key("C-c")) // clears the input
	s.check(term.WaitForNot("finish step 4.", patience))
	s.check(term.Type("/exit"))
	s.wait(term, "❯ /exit")
	s.check(term.Key("Enter"))
	s.wait(term, "No new messages in claude")
}

// trimmed returns the rows without blank rows at the end.
func trimmed(rows [][]agenttest.Cell) [][]agenttest.Cell {
	for len(rows) > 0 && !slices.ContainsFunc(rows[len(rows)-1], func(c agenttest.Cell) bool { return c.Char != ' ' }) {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// The size of a cell in the picture, and the space around and between screens.
const (
	cellWidth, cellHeight = 8, 18
	baseline              = 13
	margin, gap           = 16, 14
)

// svg draws terminal screens, one below the other.
func svg(screens ...[][]agenttest.Cell) string {
	var body strings.Builder
	width, y := pictureColumns*cellWidth+2*margin, margin
	for i, rows := range screens {
		if i > 0 {
			fmt.Fprintf(&body, "<path d=\"M0 %d H%d\" stroke=\"#3a404a\"/>\n", y+gap/2, width)
			y += gap
		}
		for _, row := range rows {
			for x := 0; x < len(row); {
				n := alike(row[x:])
				drawRun(&body, row[x:x+n], margin+x*cellWidth, y)
				x += n
			}
			y += cellHeight
		}
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" width="%d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="A terminal: cortext list, then cortext resume, which opens the conversation in Claude Code">
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}</style>
<rect width="%[1]d" height="%[2]d" rx="8" fill="#171a1f"/>
`, width, y+margin) + body.String() + "</svg>\n"
}

// alike counts the cells at the beginning of row that are drawn together: a single wide
// character or block, or other cells as long as they look the same.
func alike(row []agenttest.Cell) int {
	alone := func(i int) bool { return blocks[row[i].Char] != 0 || i+1 < len(row) && row[i+1].Char == 0 }
	n := 1
	switch {
	case len(row) > 1 && row[1].Char == 0:
		return 2
	case alone(0):
		return 1
	}
	look := func(c agenttest.Cell) agenttest.Cell { c.Char = 0; return c }
	for n < len(row) && look(row[n]) == look(row[0]) && !alone(n) {
		n++
	}
	return n
}

// blocks maps block elements to the quarters of a cell that they fill: 1 and 2 the upper
// ones, 4 and 8 the lower ones. Fonts leave gaps between them.
var blocks = map[rune]uint8{'▘': 1, '▝': 2, '▀': 3, '▖': 4, '▌': 5, '▞': 6, '▛': 7, '▗': 8, '▚': 9, '▐': 10, '▜': 11, '▄': 12, '▙': 13, '▟': 14, '█': 15}

// drawRun draws cells that look the same, with the upper left corner at x and y.
func drawRun(w *strings.Builder, cells []agenttest.Cell, x, y int) {
	first, width := cells[0], len(cells)*cellWidth
	if first.Background != 0x171a1f {
		fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", x, y, width, cellHeight, first.Background)
	}
	if filled := blocks[first.Char]; filled != 0 {
		const halfWidth, halfHeight = cellWidth / 2, cellHeight / 2
		for i := range 4 {
			if filled&(1<<i) != 0 {
				fmt.Fprintf(w, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", x+i%2*halfWidth, y+i/2*halfHeight, halfWidth, halfHeight, first.Foreground)
			}
		}
		return
	}
	for len(cells) > 0 && cells[len(cells)-1].Char == ' ' {
		cells = cells[:len(cells)-1]
	}
	var text strings.Builder
	for _, c := range cells {
		if c.Char != 0 {
			text.WriteRune(c.Char)
		}
	}
	if len(cells) == 0 {
		return
	}
	weight := ""
	if first.Bold {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(w, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\" fill=\"#%06x\"%s>%s</text>\n", x, y+baseline, len(cells)*cellWidth, first.Foreground, weight, html.EscapeString(text.String()))
}
