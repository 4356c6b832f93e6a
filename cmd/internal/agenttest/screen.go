//go:build unix

package agenttest

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/vt"
)

// screen is the content of a terminal of a fixed size.
type screen struct {
	mu sync.Mutex
	vt *vt.Emulator
}

// newScreen returns an empty screen. It answers the program's queries to the terminal,
// such as for the cursor position, on replies.
func newScreen(cols, rows int, replies io.Writer) *screen {
	s := &screen{vt: vt.NewEmulator(cols, rows)}
	go func() {
		_, _ = io.Copy(replies, s.vt)
		_, _ = io.Copy(io.Discard, s.vt) // the program is gone, but the emulator waits until its replies are read
	}()
	return s
}

// show draws what it reads until reading fails, and calls drawn after each part.
func (s *screen) show(r io.Reader, drawn func()) error {
	defer s.vt.InputPipe().(io.Closer).Close() // ends the replies
	buf := make([]byte, 32<<10)
	var out output
	for {
		n, err := r.Read(buf)
		s.mu.Lock()
		_, _ = s.vt.Write(out.withoutTitles(buf[:n]))
		s.mu.Unlock()
		drawn()
		if err != nil {
			return err
		}
	}
}

// output is what a program writes.
type output struct{ escape, title bool }

// withoutTitles returns the next part of the output without the strings that set a title and
// the like (OSC). The emulator would end them at the byte 0x9c, as in the title "✳ claude".
func (o *output) withoutTitles(part []byte) (rest []byte) {
	for _, b := range part {
		switch {
		case o.title:
			o.title = b != '\a' && !(o.escape && b == '\\')
		case o.escape && b == ']':
			o.title = true
		default:
			if o.escape {
				rest = append(rest, 0x1b)
			}
			if b != 0x1b {
				rest = append(rest, b)
			}
		}
		o.escape = b == 0x1b
	}
	return rest
}

// keys are the keys that press knows besides C-a to C-z.
var keys = map[string]vt.KeyPressEvent{
	"Enter": {Code: vt.KeyEnter}, "Esc": {Code: vt.KeyEscape}, "Tab": {Code: vt.KeyTab}, "S-Tab": {Code: vt.KeyTab, Mod: vt.ModShift},
	"Space": {Code: vt.KeySpace}, "Backspace": {Code: vt.KeyBackspace},
	"Up": {Code: vt.KeyUp}, "Down": {Code: vt.KeyDown}, "Left": {Code: vt.KeyLeft}, "Right": {Code: vt.KeyRight},
}

// press sends the program what a terminal sends for a key. The arrow keys differ while the
// program has requested application mode.
func (s *screen) press(name string) error {
	key, ok := keys[name]
	if letter, control := strings.CutPrefix(name, "C-"); control && len(letter) == 1 && letter[0] >= 'a' && letter[0] <= 'z' {
		key, ok = vt.KeyPressEvent{Code: rune(letter[0]), Mod: vt.ModCtrl}, true
	}
	if !ok {
		return fmt.Errorf("agenttest: no key %q", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vt.SendKey(key)
	return nil
}

// String returns the rows without trailing blanks and without blank rows at the end. A
// no-break space becomes a space, because programs put one after their prompts. Combining
// accents and joiners are missing.
func (s *screen) String() string {
	var all strings.Builder
	for _, cells := range s.cells() {
		var row strings.Builder
		for _, c := range cells {
			if c.Char != 0 {
				row.WriteRune(c.Char)
			}
		}
		all.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return strings.TrimRight(all.String(), "\n")
}
