package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cortext/cmd/internal/interrupt"
	"cortext/inject"
)

// TestCanceled checks that a command that was interrupted before it had looked at everything
// does not print a result as if it had.
func TestCanceled(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, ".workspace"), 0o700), os.MkdirAll(filepath.Join(dir, "conversations", "2026-01-01", "1000-chat-x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"check"}, {"check", "--json"}, {"stats"}, {"stats", "--json"}, {"repair"}} {
		var out, errw bytes.Buffer
		p := Process{Args: append([]string{"-C", dir}, args...), Machine: inject.Machine{Home: dir, Getenv: os.Getenv}, In: bytes.NewReader(nil), Out: &out, Err: &errw, Interrupts: new(interrupt.Interrupts), Now: time.Now}
		if code := Main(ctx, p); code == 0 || out.Len() > 0 {
			t.Errorf("%q exits with %d and prints %q, %q", args, code, out.String(), errw.String())
		}
	}
}
