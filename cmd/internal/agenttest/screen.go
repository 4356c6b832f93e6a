//go:build unix

package agenttest

import (
	"bufio"
	"io"
	"strings"

	"github.com/hinshun/vt10x"
)

// screen is the content of a terminal of a fixed size.
type screen struct {
	vt         vt10x.Terminal
	cols, rows int
}

// newScreen returns an empty screen. It answers the program's queries to the terminal,
// such as for the cursor position, on replies.
func newScreen(cols, rows int, replies io.Writer) *screen {
	return &screen{
		vt:   vt10x.New(vt10x.WithSize(cols, rows), vt10x.WithWriter(replies)),
		cols: cols, rows: rows,
	}
}

// show draws what it reads until reading fails, and calls drawn after each part.
func (s *screen) show(r io.Reader, drawn func()) error {
	in := bufio.NewReader(&sieve{in: bufio.NewReader(r)})
	for {
		err := s.vt.Parse(in)
		drawn()
		if err != nil {
			return err
		}
	}
}

// String returns the rows without trailing blanks and without blank rows at the end. A
// no-break space becomes a space, because programs put one after their prompts. Combining
// accents and joiners are missing.
func (s *screen) String() string {
	s.vt.Lock()
	defer s.vt.Unlock()
	var all strings.Builder
	for y := range s.rows {
		var row strings.Builder
		for x := range s.cols {
			switch c := s.vt.Cell(x, y).Char; c {
			case 0, '\u00a0':
				row.WriteRune(' ')
			case secondHalf:
			default:
				row.WriteRune(c)
			}
		}
		all.WriteString(strings.TrimRight(row.String(), " "))
		all.WriteByte('\n')
	}
	return strings.TrimRight(all.String(), "\n")
}
