//go:build unix

package capture

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"cortext/schema"
	"cortext/store"
)

// TestNewestBranchCounts looks up a conversation that two branches record, the older one
// with one session more.
func TestNewestBranchCounts(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := store.Init(dir); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	const folder = "conversations/2026-11-22/100000-plan-move"
	s := schema.Session{
		Version: schema.Version, ID: schema.DerivedID("claude", "s0", schema.Time("2026-11-22T10:00:00.000Z").Time()),
		ConversationType: "plan", Status: schema.Paused, CreatedAt: "2026-11-22T10:00:00.000Z", Sources: []schema.Source{{Agent: "claude", NativeID: "s0"}},
	}
	s.AgentConfig.Agent = "claude"
	commit := func(branch, title, date string) {
		t.Helper()
		s.Title = title
		text, err := s.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, folder, ".session/session.json")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Setenv("GIT_COMMITTER_DATE", date)
		git("checkout", "-q", "-b", branch)
		git("add", "-f", folder)
		git("commit", "-q", "-m", title)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "root")
	git("branch", "root")
	s.Sources = append(s.Sources, schema.Source{Agent: "claude", NativeID: "s1"})
	commit("older", "older", "2026-11-23T10:00:00Z")
	git("checkout", "-q", "root")
	s.Sources = s.Sources[:1]
	commit("newer", "newer", "2026-11-24T10:00:00Z")
	git("checkout", "-q", "root")

	c := openCapture(t, dir, t.TempDir())
	if got := c.catalog.committed(t.Context(), folder, s.ID); got == nil || got.Title != "newer" {
		t.Errorf("committed outside of a scan: %v, want the newer branch's", got)
	}
	for range 20 { // the order of a map varies
		c.catalog.start(c.ws.Index.All)
		c.catalog.scan.inGit = func() branches { return c.catalog.readBranches(t.Context(), "conversations") }
		if got := c.catalog.recorded(s.ID); got == nil || got.Title != "newer" {
			t.Fatalf("recorded: %v, want the newer branch's", got)
		}
	}
	for _, id := range []string{"s0", "s1"} {
		if got, ok := c.catalog.inGit("claude", id); !ok || got.Path != folder || got.ID != s.ID {
			t.Errorf("session %s is in %v, want %s", id, got, folder)
		}
	}
	if _, ok := c.catalog.inGit("claude", "s2"); ok {
		t.Error("a session that no branch lists is in a conversation")
	}
}
