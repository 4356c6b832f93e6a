package screen

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"cortext/cmd/internal/picker"
)

// start runs the picker, with keys that the user typed before the list is there. The list comes
// when ready is closed.
func start(t *testing.T, keys string, ready <-chan struct{}, failed error) (picker.Choice, error) {
	t.Helper()
	in, keyboard, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer keyboard.Close()
	if _, err := keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	return Run(t.Context(), picker.Terminal{In: in, Out: &out}, func(context.Context, func(done, of int)) (picker.Options, error) {
		<-ready
		return options(conversations()), failed
	})
}

// TestLeaveEarly: the keys that leave do so before the list is there.
func TestLeaveEarly(t *testing.T) {
	const wheelUp = "\x1b[<64;10;5M"
	never := make(chan struct{})
	defer close(never)
	for keys, want := range map[string]picker.Kind{"\x03": picker.Interrupted, "\x1b": picker.Left, "x\x03": picker.Interrupted, wheelUp + wheelUp + "\x03": picker.Interrupted} {
		if choice, err := start(t, keys, never, nil); err != nil || choice.Kind != want {
			t.Errorf("%q: %+v, error %v", keys, choice, err)
		}
	}
}

// TestNothingToShow: an error of the loader is the picker's.
func TestNothingToShow(t *testing.T) {
	ready := make(chan struct{})
	close(ready)
	broken := errors.New("session.json: unexpected end")
	if _, err := start(t, "", ready, broken); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// TestTypedEarly: what is typed before the list is there filters it, and the size of the screen
// is not lost.
func TestTypedEarly(t *testing.T) {
	first := &starting{ready: make(chan loaded, 1)}
	for _, msg := range []tea.Msg{
		tea.WindowSizeMsg{Width: 80, Height: 24},
		tea.KeyPressMsg{Code: 'p', Text: "p"}, tea.KeyPressMsg{Code: 'a', Text: "a"}, tea.KeyPressMsg{Code: 'y', Text: "y"},
	} {
		if next, cmd := first.Update(msg); next != first || cmd != nil {
			t.Fatalf("%v leads to %v", msg, next)
		}
	}
	first.load(t.Context(), func(_ context.Context, progress func(done, of int)) (picker.Options, error) {
		progress(1000, 25_000)
		return options(conversations()), nil
	}, func(p progress) { first.Update(p) })
	if text := first.View().Content; strings.TrimSpace(text) != "Checking conversations: 1,000 of 25,000" {
		t.Errorf("meanwhile it shows %q", text)
	}
	next, _ := first.Update(first.Init()())
	m, ok := next.(*model)
	if !ok || m.words.String() != "pay" || m.width != 80 || m.height != 24 || m.chosen() == nil || m.chosen().Title != "Payment service" {
		t.Fatalf("it goes on with %+v", next)
	}
	if text := m.View().Content; !strings.Contains(text, "1 of 10") {
		t.Errorf("it shows %q", text)
	}
}
