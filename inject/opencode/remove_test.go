package opencode

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// store is a stand-in for the program that keeps sessions as files in $HOME.
const store = `case $1 in --pure) shift;; esac
cd "${0%/*}/home" || exit 9
case "$1 $2" in
"--version ") echo VERSION;;
"session delete") test -e "$3" || { echo "Error: Session not found: $3" >&2; exit 1; }; test ! -e stuck || { echo "database is locked" >&2; exit 1; }; rm "$3";;
*) exit 8;;
esac`

func TestDelete(t *testing.T) {
	id := sessionID("11111111-2222-4333-8444-555555555555", time.UnixMilli(1795300845226))
	for _, c := range []struct {
		name, version, id string
		has, stays        bool
		problem           string // part of the error
	}{
		{"there", "1.18.33", id, true, false, ""},
		{"there, before --pure", "1.3.2", id, true, false, ""},
		{"gone already", "1.18.33", id, false, false, ""},
		{"no command for it", "1.1.65", id, true, true, "cannot delete"},
		{"no id", "1.18.33", "--help", false, false, "not an OpenCode session id"},
		{"a path", "1.18.33", "ses_/../x", false, false, "not an OpenCode session id"},
		{"locked", "1.18.33", id, true, true, "database is locked"},
	} {
		s := newStage(t, strings.Replace(store, "VERSION", c.version, 1))
		file := filepath.Join(s.home, id)
		if c.has {
			s.write(t, file, "")
		}
		if c.name == "locked" {
			s.write(t, filepath.Join(s.home, "stuck"), "")
		}
		err := deleteSession(context.Background(), machine(s.home, s.env), c.id)
		if (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := os.Stat(file); (err == nil) != c.stays {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	s := newStage(t, "echo 1.18.33; test \"$1\" = --version || exec sleep 60")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := deleteSession(ctx, machine(s.home, s.env), id); err == nil {
		t.Error("a program that hangs is no error")
	}
	if err := deleteSession(context.Background(), machine(s.home, map[string]string{"CORTEXT_OPENCODE": "/nowhere/x"}), id); err == nil {
		t.Error("no program is no error")
	}
}
