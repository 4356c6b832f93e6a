//go:build unix

package agenttest

import (
	"image/color"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// A Cell is a character on the screen with its colors, each 0xRRGGBB.
type Cell struct {
	Char       rune // 0 in the cell after a wide character
	Foreground uint32
	Background uint32
	Bold       bool
}

// The default colors, and the 16 colors that a program selects by number.
const (
	plainForeground = 0xd8dbe0
	plainBackground = 0x171a1f
)

var palette = [16]uint32{
	0x171a1f, 0xe06c75, 0x8fca7a, 0xe0c07a, 0x6ea8f0, 0xc792ea, 0x6cc5d0, 0xc8ccd2,
	0x7a818c, 0xf08a92, 0xa8dc95, 0xf0d49a, 0x8fbef5, 0xd8aef5, 0x8fd8e0, 0xffffff,
}

// Cells returns the screen's cells by row.
func (t *Terminal) Cells() [][]Cell { return t.screen.cells() }

func (s *screen) cells() [][]Cell {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := make([][]Cell, s.vt.Height())
	for y := range rows {
		for x := range s.vt.Width() {
			at := s.vt.CellAt(x, y)
			c := Cell{0, rgb(at.Style.Fg, plainForeground), rgb(at.Style.Bg, plainBackground), at.Style.Attrs&uv.AttrBold != 0}
			if at.Style.Attrs&uv.AttrReverse != 0 {
				c.Foreground, c.Background = c.Background, c.Foreground
			}
			if at.Content != "" { // else it is in the cell before
				if c.Char, _ = utf8.DecodeRuneInString(at.Content); c.Char == '\u00a0' || at.Width == 0 {
					c.Char = ' '
				}
			}
			rows[y] = append(rows[y], c)
		}
	}
	return rows
}

// rgb returns the RGB value of a color; plain if it is the default.
func rgb(c color.Color, plain uint32) uint32 {
	switch c := c.(type) {
	case nil:
		return plain
	case ansi.BasicColor:
		return palette[c]
	case ansi.IndexedColor:
		if int(c) < len(palette) {
			return palette[c]
		}
	}
	r, g, b, _ := c.RGBA()
	return r>>8<<16 | g>>8<<8 | b>>8
}
