package slash

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/install"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/inject/claude"
)

// TestPendingFailures: every failure that could not be shown at once is shown once, in full
// and in order, however many answers that takes.
func TestPendingFailures(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	if _, err := install.Init(dir, settings.CommitOff, ""); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(workspace.Env{
		Dir: dir, Now: time.Now, Holder: "test", Agents: []inject.Agent{claude.Agent()},
		Machine: inject.Machine{Home: home, Getenv: func(string) string { return "" }},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	commands := New(w, capture.New(w), payload.New(w), compact.New(w, nil))
	var want []string
	for i, n := range []int{10, 120, 120, 120, 120, 950, 5, 5} {
		want = append(want, fmt.Sprintf("failure %d: %s", i, strings.Repeat("é ", n/3)+"."))
	}
	for _, why := range want {
		if err := w.Pending.Add(errors.New(why)); err != nil {
			t.Fatal(err)
		}
	}
	var reported []string
	for range 20 {
		text, err := commands.pendingFailures()
		if err != nil {
			t.Fatal(err)
		}
		if text == "" {
			break
		}
		if len(text) > pendingLimit || !strings.HasPrefix(text, pendingLead) {
			t.Errorf("%d bytes: %s", len(text), text)
		}
		reported = append(reported, strings.TrimPrefix(text, pendingLead))
	}
	plain := strings.NewReplacer(" ", "", "…", "", ";", "") // a cut is marked with an ellipsis
	if got, want := plain.Replace(strings.Join(reported, " ")), plain.Replace(strings.Join(want, " ")); got != want {
		t.Errorf("reported\n%s\nwant\n%s", got, want)
	}
	if text := w.Pending.Take(); text != "" {
		t.Error("left:", text)
	}
}
