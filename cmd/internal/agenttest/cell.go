//go:build unix

package agenttest

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
func (t *Terminal) Cells() [][]Cell {
	s := t.screen
	s.vt.Lock()
	defer s.vt.Unlock()
	const bold = 1 << 2 // vt10x does not export its attributes
	rows := make([][]Cell, s.rows)
	for y := range rows {
		for x := range s.cols {
			g := s.vt.Cell(x, y)
			c := Cell{g.Char, color(uint32(g.FG)), color(uint32(g.BG)), g.Mode&bold != 0}
			switch c.Char {
			case secondHalf:
				c.Char = 0
			case 0, '\u00a0':
				c.Char = ' '
			}
			rows[y] = append(rows[y], c)
		}
	}
	return rows
}

// color returns the RGB value of a vt10x color: a palette color, one of xterm's 216
// colors or 24 grays, RGB itself, or a default.
func color(c uint32) uint32 {
	const defaultForeground, defaultBackground = 1 << 24, 1<<24 + 1
	switch {
	case c == defaultForeground:
		return plainForeground
	case c == defaultBackground:
		return plainBackground
	case c < 16:
		return palette[c]
	case c < 232:
		level := func(n uint32) uint32 {
			if n == 0 {
				return 0
			}
			return 55 + 40*n
		}
		c -= 16
		return level(c/36)<<16 | level(c/6%6)<<8 | level(c%6)
	case c < 256:
		gray := 8 + 10*(c-232)
		return gray<<16 | gray<<8 | gray
	}
	return c & 0xffffff
}
