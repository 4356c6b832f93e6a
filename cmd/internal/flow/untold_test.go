package flow

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/schema"
	"cortext/store"
)

// TestUntoldIsTold: every failure that could not be shown at once is shown once, in full
// and in order, however many answers that takes.
func TestUntoldIsTold(t *testing.T) {
	w := newWorld(t, 1).open()
	defer w.Close()
	var want []string
	for i, n := range []int{10, 120, 120, 120, 120, 950, 5, 5} {
		want = append(want, fmt.Sprintf("failure %d: %s", i, strings.Repeat("é ", n/3)+"."))
	}
	for _, why := range want {
		if err := w.Pending.Add(errors.New(why)); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	for range 20 {
		text, err := w.tellUntold()
		if err != nil {
			t.Fatal(err)
		}
		if text == "" {
			break
		}
		if len(text) > untoldLimit || !strings.HasPrefix(text, untoldLead) {
			t.Errorf("%d bytes: %s", len(text), text)
		}
		told = append(told, strings.TrimPrefix(text, untoldLead))
	}
	plain := strings.NewReplacer(" ", "", "…", "", ";", "") // a cut is marked with an ellipsis
	if got, want := plain.Replace(strings.Join(told, " ")), plain.Replace(strings.Join(want, " ")); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
	if text := w.Pending.Take(); text != "" {
		t.Error("left:", text)
	}
}

// TestMarkStoppedFails: it is an error if a session cannot record that its conversation
// is stopped.
func TestMarkStoppedFails(t *testing.T) {
	world := newWorld(t, 1)
	w := world.open()
	defer w.Close()
	file := filepath.Join(world.home, ".local/state/cortext/sessions/claude/s1.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("{"), 0o600)); err != nil {
		t.Fatal(err)
	}
	e := store.Entry{Session: &schema.Session{Sources: []schema.Source{{Agent: "claude", NativeID: "s1"}, {Agent: "another", NativeID: "s2"}}}}
	if err := w.markStopped(e); err == nil || !strings.Contains(err.Error(), "s1.json") {
		t.Error(err)
	}
}
