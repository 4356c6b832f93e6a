package cli

import "github.com/clipperhouse/displaywidth"

// The functions below take text in which control characters are escaped.

// textWidth returns the width of a text in terminal columns.
func textWidth(s string) int { return displaywidth.String(s) }

// cutRight shortens a text to a width at its end.
func cutRight(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return displaywidth.TruncateString(s, width, "…")
}

// cutLeft shortens a text to a width at its beginning.
func cutLeft(s string, width int) string {
	is := textWidth(s)
	if is <= width {
		return s
	}
	from := 0
	for g := displaywidth.StringGraphemes(s); is >= width && g.Next(); {
		is -= g.Width()
		from += len(g.Value())
	}
	return "…" + s[from:]
}
