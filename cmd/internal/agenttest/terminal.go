//go:build unix

package agenttest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/creack/pty"
)

// Terminal is a program in a pseudo-terminal, with the screen it draws.
type Terminal struct {
	cmd    *exec.Cmd
	tty    *os.File
	screen *screen
	exited chan struct{} // closed once the program has been waited for
	err    error         // of that wait

	mu    sync.Mutex
	drawn chan struct{} // closed and replaced after each drawing
	ended bool          // nothing more will be drawn
}

// Start runs the program in a terminal of the given size, in its own session and process
// group. The caller must call Close.
func Start(cmd *exec.Cmd, cols, rows int) (*Terminal, error) {
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		return nil, fmt.Errorf("agenttest: start %s in a terminal: %w", cmd.Path, err)
	}
	if tty, err = pollable(tty); err != nil {
		return nil, errors.Join(fmt.Errorf("agenttest: the terminal of %s: %w", cmd.Path, err), cmd.Process.Kill(), cmd.Wait())
	}
	t := &Terminal{
		cmd:    cmd,
		tty:    tty,
		screen: newScreen(cols, rows, tty),
		exited: make(chan struct{}),
		drawn:  make(chan struct{}),
	}
	go func() {
		// Reading fails once no process has the terminal open, on Linux with EIO.
		t.screen.show(tty, t.announce)
		t.end()
	}()
	go func() {
		t.err = cmd.Wait()
		close(t.exited)
	}()
	return t, nil
}

// pollable returns a terminal as a file whose Close ends a pending Read. Package pty leaves
// the file in blocking mode (v1.1.24), in which Close takes effect only after the program's
// next output.
func pollable(tty *os.File) (*os.File, error) {
	defer tty.Close()
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(tty.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	return os.NewFile(uintptr(fd), tty.Name()), nil
}

// Type writes the text unchanged. Programs treat text and Enter written together as a
// paste, so wait for the text on the screen, then press [Terminal.Key] Enter.
func (t *Terminal) Type(text string) error {
	if _, err := t.tty.WriteString(text); err != nil {
		return fmt.Errorf("agenttest: type: %w", err)
	}
	return nil
}

// Submit types a single line, waits until its end is on the screen, and presses Enter. It
// adds a space after a trailing directive: OpenCode and Gemini CLI take what follows an
// "@" as the beginning of a file name, and Enter would select one.
func (t *Terminal) Submit(text string, within time.Duration) error {
	if strings.HasSuffix(text, "@@") {
		text += " "
	}
	if err := t.Type(text); err != nil {
		return err
	}
	end := []rune(squeeze(text))
	end = end[max(0, len(end)-submitSeen):]
	err := t.await(fmt.Sprintf("%q typed", text), within, func(shown string) bool {
		return strings.Contains(squeeze(shown), string(end))
	})
	if err != nil {
		return err
	}
	time.Sleep(submitPause)
	return t.Key("Enter")
}

const (
	// submitSeen is how much of the end of a text must appear on the screen.
	submitSeen = 20
	// submitPause exceeds the 30 ms after a text in which Gemini CLI takes Enter as a
	// newline. On a busy machine it once submitted a text shown 100 ms before without its
	// last letter.
	submitPause = 500 * time.Millisecond
)

// squeeze removes blanks and box lines, which appear within a text where the screen
// breaks it.
func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r >= 0x2500 && r <= 0x257f {
			return -1
		}
		return r
	}, text)
}

// Key presses a key: Enter, Esc, Tab, S-Tab, Space, Backspace, Up, Down, Left, Right, or
// C-a to C-z. Programs take a letter typed right after Esc as Alt with that letter, so
// wait for the effect of Esc first.
func (t *Terminal) Key(name string) error {
	return t.screen.press(name)
}

// WaitFor waits until the text is in [Terminal.Screen]. If the time runs out first, or
// the program stops drawing, the error contains the screen.
func (t *Terminal) WaitFor(text string, within time.Duration) error {
	return t.await(fmt.Sprintf("%q", text), within, func(shown string) bool { return strings.Contains(shown, text) })
}

// WaitForNot waits until the text is gone from [Terminal.Screen], like WaitFor.
func (t *Terminal) WaitForNot(text string, within time.Duration) error {
	return t.await(fmt.Sprintf("a screen without %q", text), within, func(shown string) bool { return !strings.Contains(shown, text) })
}

func (t *Terminal) await(what string, within time.Duration, found func(shown string) bool) error {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		t.mu.Lock()
		drawn, ended := t.drawn, t.ended
		t.mu.Unlock()
		shown := t.Screen()
		if found(shown) {
			return nil
		}
		if ended {
			return fmt.Errorf("agenttest: the program ended without %s; its screen:\n%s", what, shown)
		}
		select {
		case <-drawn:
		case <-deadline.C:
			return fmt.Errorf("agenttest: no %s within %v; the screen:\n%s", what, within, shown)
		}
	}
}

// Screen returns the text on the screen, one line per row.
func (t *Terminal) Screen() string { return t.screen.String() }

// Wait waits until the program has exited; its error is that of [exec.Cmd.Wait]. Its last
// output may not be drawn yet: see [Terminal.WaitFor].
func (t *Terminal) Wait() error {
	<-t.exited
	return t.err
}

// Ended reports whether the program ends within a time.
func (t *Terminal) Ended(within time.Duration) bool {
	select {
	case <-t.exited:
		return true
	case <-time.After(within):
		return false
	}
}

// Kill ends the program and its process group with SIGKILL and waits for them. If the
// program has exited, Kill leaves its remaining children alone: their group id may belong
// to others by then.
func (t *Terminal) Kill() error {
	select {
	case <-t.exited:
		return nil
	default:
	}
	// The program leads its own session, so its id is its group's.
	if err := syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("agenttest: kill: %w", err)
	}
	<-t.exited
	for range killPolls { // the other processes of the group are not our children
		if syscall.Kill(-t.cmd.Process.Pid, 0) != nil {
			break
		}
		time.Sleep(killPoll)
	}
	return nil
}

// Kill waits this long for the rest of a group. A process that nobody reaps remains.
const (
	killPolls = 200
	killPoll  = 10 * time.Millisecond
)

// HangUp closes the terminal, as happens when its window is closed or its connection is
// lost.
func (t *Terminal) HangUp() error { return t.tty.Close() }

// Close kills the program if it still runs and releases the terminal.
func (t *Terminal) Close() error {
	return errors.Join(t.Kill(), t.tty.Close())
}

// announce wakes everything that waits for the screen.
func (t *Terminal) announce() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.drawn)
	t.drawn = make(chan struct{})
}

// end announces that nothing more will be drawn.
func (t *Terminal) end() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.announce()
}
