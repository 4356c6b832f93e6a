package serve_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGitTookMessages: if git puts an older log in the place of one that just grew, the
// messages that were acknowledged meanwhile come back, once and in order.
func TestGitTookMessages(t *testing.T) {
	s := newSite(t)
	logged := make(chan string, 10)
	s.logged = func(text string) { logged <- text }
	id := s.begin("Kept", "one")
	file := filepath.Join(s.root, s.path(id), ".session/messages.jsonl")
	reset := func(text string) { // as git does
		t.Helper()
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	reader := s.socket(id, "")
	reader.next("synced")
	old := s.log(id)
	ids := []string{s.say(id, "assistant", "two"), s.say(id, "user", "three")}
	for _, want := range ids {
		if m := reader.next("message"); m.Message.ID != want {
			t.Errorf("heard %s, want %s", m.Message.ID, want)
		}
	}
	reset(old)
	for end := time.Now().Add(time.Minute); !strings.Contains(s.log(id), "three"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the messages did not come back:\n%s", s.log(id))
		}
	}
	if text := <-logged; !strings.Contains(text, "git had removed 2 new messages") {
		t.Errorf("logged %q", text)
	}

	// The last look is when the server ends.
	old = s.log(id)
	ids = append(ids, s.say(id, "assistant", "four"))
	for reader.next("message").Message.ID != ids[2] { // others come again, after a reset
	}
	reset(old)
	gone := s.begin("Gone", "one")
	s.want(http.StatusNoContent, "DELETE", "/api/sessions/"+gone, nil, nil)
	going := filepath.Join(s.root, s.path(s.begin("Going", "one")), ".session/messages.jsonl")
	if err := os.Remove(going); err != nil { // as git begins to remove a conversation
		t.Fatal(err)
	}
	s.server.Close()
	log := s.log(id)
	for i, id := range ids {
		if strings.Count(log, `{"id":"`+id) != 1 {
			t.Errorf("message %d is %d times in the log", i+2, strings.Count(log, `{"id":"`+id))
		}
	}
	if two, three, four := strings.Index(log, "two"), strings.Index(log, "three"), strings.Index(log, "four"); two > three || three > four {
		t.Errorf("not in order:\n%s", log)
	}
	if found, _ := filepath.Glob(filepath.Join(s.root, "conversations/*/*gone*")); len(found) > 0 {
		t.Errorf("removed, and there again: %s", found)
	}
	if _, err := os.Stat(going); !os.IsNotExist(err) {
		t.Errorf("the log of a conversation that is being removed: %v", err)
	}
}
