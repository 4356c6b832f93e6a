package cli

import (
	"os"
	"time"

	"golang.org/x/term"

	"cortext/resume"
)

// terminalWidth returns how many characters a line of a terminal has, or 0 if the stream
// is none.
func terminalWidth(stream any) int {
	f, ok := stream.(*os.File)
	if !ok || !isTerminal(f) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// cells returns how wide a text is on a terminal, or a greater number.
func cells(s string) (n int) {
	for _, r := range s {
		n += cellsOf(r)
	}
	return n
}

// cellsOf counts every character as wide that may be.
func cellsOf(r rune) int {
	if r >= 0x1100 && r != '…' {
		return 2
	}
	return 1
}

// fit shortens a text to a width.
func fit(s string, width int) string {
	if cells(s) <= width {
		return s
	}
	used := 1
	for i, r := range s {
		if used += cellsOf(r); used > width {
			if width < 1 {
				return ""
			}
			return s[:i] + "…"
		}
	}
	return s
}

// since says when something was.
func (s screen) since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return resume.Ago(s.now(), t)
}
