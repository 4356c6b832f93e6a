package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// git runs git in a workspace without the user's settings.
func git(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(t, dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// TestGitMerge checks that two branches that append to one conversation merge without a
// conflict or a driver, keep all messages, and resume from the newest.
func TestGitMerge(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err) // the tests need Go and git
	}
	s := newTestStore(t)
	dir := s.dir
	mustGit(t, dir, "init", "-q", "-b", "main")
	mustGit(t, dir, "config", "core.autocrlf", "true") // as on Windows: it must not affect the logs
	c := create(t, s)
	sub, err := c.Subagent("x")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	appendBatch(t, c, thread(0, 3))
	appendBatch(t, sub, thread(0, 1))
	for file, want := range map[string]string{
		messagesFile: "union", toolsFile: "union", "subagents/x/messages.jsonl": "union", "subagents/x/tools.jsonl": "union",
		sessionFile: "union", "subagents/x/session.json": "union", "summaries/a-b.json": "union",
		"../other.jsonl": "unspecified", "../session.json": "unspecified", "../summaries/a-b.json": "unspecified", "summaries/a-b.md": "unspecified",
	} {
		out := mustGit(t, dir, "check-attr", "merge", "text", "--", filepath.ToSlash(filepath.Join(c.dir, file)))
		text := "text: unset"
		if want == "unspecified" {
			text = "text: unspecified"
		}
		if !strings.Contains(out, "merge: "+want) || !strings.Contains(out, text) {
			t.Errorf("%s: %s", file, out)
		}
	}
	commit := func(message string) {
		mustGit(t, dir, "add", "-A")
		mustGit(t, dir, "commit", "-q", "-m", message)
	}
	commit("base")
	if out := mustGit(t, dir, "ls-files"); strings.Contains(out, localDir) {
		t.Errorf("git follows %s:\n%s", localDir, out)
	}
	mustGit(t, dir, "branch", "theirs")
	ours := thread(3, 7)
	appendBatch(t, c, ours)
	commit("ours")
	mustGit(t, dir, "checkout", "-q", "theirs")
	theirs := thread(13, 15)
	theirs.Messages[0].ParentID = "m2"
	appendBatch(t, c, theirs) // the same Conversation, after git replaced the files
	appendBatch(t, sub, thread(1, 2))
	commit("theirs")
	before, _ := os.ReadFile(filepath.Join(dir, c.file(messagesFile)))
	mustGit(t, dir, "checkout", "-q", "main")
	if out, err := git(t, dir, "merge", "-q", "theirs", "-m", "merge"); err != nil {
		t.Fatalf("merge: %v\n%s", err, out)
	}
	wantSound(t, s)
	after, _ := os.ReadFile(filepath.Join(dir, c.file(messagesFile)))
	if strings.Contains(string(before)+string(after), "\r") {
		t.Error("git changed line ends")
	}
	ids, h, _ := history(t, c, Limit{})
	if want := []string{"m0", "m1", "m2", "m13", "m14"}; !slices.Equal(ids, want) || h.Aside != 4 {
		t.Errorf("resumed is %v with %d aside, want %v with 4", ids, h.Aside, want)
	}
	if sess, _ := session(t, c); sess.MessageCount != 9 {
		t.Errorf("%d messages", sess.MessageCount)
	}
	if ids, _, _ := history(t, sub, Limit{}); len(ids) != 2 {
		t.Errorf("the sub-agent has %v", ids)
	}
	// Appending records that are already there, on both sides, changes nothing.
	if r := appendBatch(t, c, ours); r.Appended+r.Tools != 0 {
		t.Errorf("%+v", r)
	}
	status := mustGit(t, dir, "status", "--porcelain")
	if status != "" {
		t.Errorf("after reading and an append of nothing new: %s", status)
	}

	// session.json is merged by keeping the lines of both sides; the value set last
	// counts.
	now := start
	s.opts.Now = func() time.Time { now = now.Add(time.Minute); return now }
	for _, branch := range []string{"main", "theirs"} {
		mustGit(t, dir, "checkout", "-q", branch)
		if err := c.Edit(func(s *schema.Session) error { s.Title = "title of " + branch; s.Tags = []string{branch}; return nil }); err != nil {
			t.Fatal(err)
		}
		commit("title")
	}
	mustGit(t, dir, "merge", "-q", "main", "-m", "merge")
	wantSound(t, s)
	check := func() {
		t.Helper()
		sess, damage := session(t, c)
		if sess.Title != "title of theirs" || !slices.Equal(sess.Tags, []string{"main", "theirs"}) || len(damage) > 0 || sess.MessageCount != 9 {
			t.Errorf("%q, %q, %d messages, %v", sess.Title, sess.Tags, sess.MessageCount, damage)
		}
	}
	check()
	if err := c.Edit(func(*schema.Session) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if text := readFile(t, s, c.file(sessionFile)); strings.Count(text, `"title":`) != 1 {
		t.Errorf("the write mended nothing: %s", text)
	}
	check()

	// If git does not honour the attributes, as on a forge, it leaves markers.
	if err := os.Remove(filepath.Join(dir, AttributesFile)); err != nil {
		t.Fatal(err)
	}
	commit("no attributes")
	mustGit(t, dir, "branch", "-f", "main", "theirs")
	for _, branch := range []string{"main", "theirs"} {
		mustGit(t, dir, "checkout", "-q", branch)
		if err := c.Edit(func(s *schema.Session) error { s.Title = "new title of " + branch; return nil }); err != nil {
			t.Fatal(err)
		}
		commit("title")
	}
	if out, err := git(t, dir, "merge", "main"); err == nil || !strings.Contains(out, "session.json") {
		t.Fatalf("titles merged: %s", out)
	}
	sess, damage := session(t, c)
	if sess.Title != "new title of theirs" || len(damage) != 1 || damage[0].Kind != jsonl.Conflict {
		t.Errorf("%q, %v", sess.Title, damage)
	}
	if err := settle(c); err != nil {
		t.Fatal(err)
	}
	wantSound(t, s)
}
