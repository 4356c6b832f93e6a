package program

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/inject"
)

// store is a stand-in for the program that keeps sessions as files in $HOME and
// exports them with something on standard error, as the program does.
const store = `case $1 in --pure) shift;; esac
cd "${0%/*}/home" || exit 9
case "$1 $2" in
"--version ") echo VERSION;;
"export "*) echo "Exporting session: $2" >&2; test -e "$2" || { echo "Error: Session not found: $2" >&2; exit 1; }; cat "$2";;
"session delete") test -e "$3" || { echo "Error: Session not found: $3" >&2; exit 1; }; test ! -e stuck || { echo "database is locked" >&2; exit 1; }; rm "$3";;
*) exit 8;;
esac`

func TestDiscard(t *testing.T) {
	now := time.UnixMilli(1795300845226)
	id := SessionID("11111111-2222-4333-8444-555555555555", now)
	document := Document(inject.Request{Payload: "payload", NativeID: "11111111-2222-4333-8444-555555555555"}, now, "1.18.33", "")
	for _, c := range []struct {
		name, version, id, have string
		stays                   bool
		problem                 string // part of the error
	}{
		{"ours", "1.18.33", id, document, false, ""},
		{"ours, before --pure", "1.3.2", id, document, false, ""},
		{"gone already", "1.18.33", id, "", false, ""},
		{"a turn came", "1.18.33", id, strings.Replace(document, `"messages":[`, `"messages":[{"info":{"id":"msg_1"}},`, 1), true, "more than was put there"},
		{"a part came", "1.18.33", id, strings.Replace(document, `"parts":[`, `"parts":[{},`, 1), true, "more than was put there"},
		{"another text", "1.18.33", id, strings.Replace(document, "payload\"}]", "other\"}]", 1), true, "more than was put there"},
		{"no message", "1.18.33", id, `{"info":{"id":"` + id + `"},"messages":[]}`, true, "more than was put there"},
		{"another session", "1.18.33", id, strings.Replace(document, id, "ses_x", 1), true, "more than was put there"},
		{"cut", "1.18.33", id, document[:200], true, "cannot be read"},
		{"no command for it", "1.1.65", id, document, true, "cannot delete"},
		{"no id", "1.18.33", "--help", "", false, "no session id"},
		{"a path", "1.18.33", "ses_/../x", "", false, "no session id"},
		{"locked", "1.18.33", id, document, true, "database is locked"},
	} {
		s := newStage(t, strings.Replace(store, "VERSION", c.version, 1))
		file := filepath.Join(s.home, id)
		if c.have != "" {
			s.write(t, file, c.have)
		}
		if c.name == "locked" {
			s.write(t, filepath.Join(s.home, "stuck"), "")
		}
		err := Discard(context.Background(), machine(s.home, s.env), c.id)
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
	if err := Discard(ctx, machine(s.home, s.env), id); err == nil {
		t.Error("a program that hangs is no error")
	}
	if err := Discard(context.Background(), machine(s.home, map[string]string{"CORTEXT_OPENCODE": "/nowhere/x"}), id); err == nil {
		t.Error("no program is no error")
	}
}
