//go:build unix

package agenttest

import (
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// inTerminal runs a shell script in a terminal until the test ends.
func inTerminal(t *testing.T, script string) *Terminal {
	t.Helper()
	term, err := Start(exec.Command("sh", "-c", script), 40, 6)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.Close() })
	return term
}

func waitFor(t *testing.T, term *Terminal, text string) {
	t.Helper()
	if err := term.WaitFor(text, patience); err != nil {
		t.Fatal(err)
	}
}

func press(t *testing.T, term *Terminal, key string) {
	t.Helper()
	if err := term.Key(key); err != nil {
		t.Fatal(err)
	}
}

func submit(t *testing.T, term *Terminal, text string) {
	t.Helper()
	if err := term.Submit(text, patience); err != nil {
		t.Fatal(err)
	}
}

// wantAsked compares the newest turn of each main request, without what the agent added
// before the text.
func wantAsked(t *testing.T, s *Server, want ...string) {
	t.Helper()
	var asked []string
	for _, r := range s.Main() {
		turns := r.Turns()
		lines := strings.Split(strings.TrimSpace(turns[len(turns)-1].Text), "\n")
		asked = append(asked, lines[len(lines)-1])
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

func TestTerminalSubmits(t *testing.T) {
	term := inTerminal(t, `stty -echo; echo ready; read -r line; echo "read: $line"`)
	waitFor(t, term, "ready")
	const text = "a text that is too long for a line of this terminal"
	if err := term.Submit(text, submitPause); err == nil || !strings.Contains(err.Error(), "ready") {
		t.Errorf("submitted what is not shown: %v", err)
	}
	press(t, term, "Enter")
	waitFor(t, term, "read: a text")

	// The terminal wraps the text.
	term = inTerminal(t, `printf 'say: '; read -r line; echo "read $line"`)
	submit(t, term, text+" @@HANG@@")
	waitFor(t, term, "read a text")
}

func TestTerminalTypesAndWaits(t *testing.T) {
	term := inTerminal(t, `stty size; printf 'name? '; read -r name; echo "hello $name"; exit 3`)
	waitFor(t, term, "6 40")
	waitFor(t, term, "name?")
	if err := term.Type("Anna"); err != nil {
		t.Fatal(err)
	}
	press(t, term, "Enter")
	waitFor(t, term, "hello Anna")
	var exit *exec.ExitError
	if err := term.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("exited with %v", err)
	}
	err := term.WaitFor("never", patience)
	if err == nil || !strings.Contains(err.Error(), "hello Anna") {
		t.Errorf("waiting on a program that has ended: %v", err)
	}
}

func TestTerminalControlKeys(t *testing.T) {
	// noflsh: otherwise C-c discards output that is not drawn yet, including "after".
	term := inTerminal(t, `stty noflsh; trap 'caught=yes' INT; echo ready; while [ -z "$caught" ]; do sleep 0.1; done; echo after; cat; echo at end`)
	waitFor(t, term, "ready")
	press(t, term, "C-c")
	waitFor(t, term, "after")
	press(t, term, "C-d")
	waitFor(t, term, "at end")
	if err := term.Key("Hyper"); err == nil {
		t.Error("an unknown key was pressed")
	}
}

func TestTerminalKill(t *testing.T) {
	term := inTerminal(t, `trap '' HUP INT TERM; sleep 600 & echo ready; wait`)
	waitFor(t, term, "ready")
	if err := term.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := term.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("exited with %v", err)
	}
	// The background sleep also had the terminal open: the end of reading shows that it
	// is gone.
	if err := term.WaitFor("never", patience); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Error(err)
	}
	if err := term.Kill(); err != nil {
		t.Errorf("killed again: %v", err)
	}
}

func TestTerminalAnswersPrograms(t *testing.T) {
	term := inTerminal(t, `stty raw -echo; printf 'ab\033[6n'; head -c 6 | tr '\033' E; stty sane`)
	waitFor(t, term, "E[1;3R")
}

func TestKeys(t *testing.T) {
	for _, c := range []struct{ key, modes, want string }{
		{"Enter", "", "\r"}, {"Esc", "", "\x1b"}, {"C-a", "", "\x01"}, {"C-z", "", "\x1a"}, {"Space", "", " "}, {"Tab", "", "\t"},
		{"Up", "", "\x1b[A"}, {"Up", "\x1b[?1h", "\x1bOA"}, {"S-Tab", "", "\x1b[Z"}, {"Backspace", "", "\x7f"},
	} {
		sent, replies := io.Pipe()
		s := newScreen(20, 4, replies)
		s.vt.Write([]byte(c.modes))
		go s.press(c.key)
		got := make([]byte, len(c.want))
		if _, err := io.ReadFull(sent, got); string(got) != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.key, got, err)
		}
	}
}

// TestScreen: a screen is the same however its output is split into reads.
func TestScreen(t *testing.T) {
	for _, c := range []struct{ name, output, want string }{
		{"rows", "one  \r\n\r\ntwo\r\n", "one\n\ntwo"},
		{"moves and erases", "abcdef\x1b[3Dx\x1b[K\x1b[2;3Hy", "abcx\n  y"},
		{"alternate screen", "shell\x1b[?1049h\x1b[Hprogram\x1b[?1049l", "shell"},
		{"title", "\x1b]0;✳ a title\aok", "ok"},
		{"keyboard modes", "abc\x1b[>1u\x1b[?u\x1b[<ud\x1b[>4;2me\x1b[2 qf\x1b[?2026$pg", "abcdefg"},
		{"wide", "日本\x1b[5Gx 🎉!", "日本x 🎉!"},
		{"no width", "e\u0301 a\ufe0f\u200db", "e ab"},
		{"no-break space", "❯\u00a0go", "❯ go"},
		{"box", "╭─╮\r\n│ │", "╭─╮\n│ │"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 1000} {
				s := newScreen(20, 4, io.Discard)
				s.show(&slow{strings.NewReader(c.output), size}, func() {})
				if got := s.String(); got != c.want {
					t.Errorf("read by %d bytes:\n%q, want\n%q", size, got, c.want)
				}
			}
		})
	}
}

// slow reads at most size bytes at a time.
type slow struct {
	r    io.Reader
	size int
}

func (s *slow) Read(p []byte) (int, error) { return s.r.Read(p[:min(s.size, len(p))]) }
