//go:build unix

package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cortext/cmd/internal/agenttest"
)

// stored lists the titles of OpenCode's own sessions.
func (s *stage) stored() (titles []string) {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.home.Dir, ".local/share/opencode/opencode.db")+"?mode=ro&_pragma=busy_timeout(2000)")
	s.check(err)
	defer db.Close()
	rows, err := db.Query("select title from session")
	s.check(err)
	defer rows.Close()
	for rows.Next() {
		var title string
		s.check(rows.Scan(&title))
		titles = append(titles, title)
	}
	s.check(rows.Err())
	return titles
}

// unused checks that nothing is left of a launch without messages: OpenCode's session is
// removed once cortext has ended.
func (s *stage) unused(title string) {
	s.t.Helper()
	for end := time.Now().Add(patience); len(s.stored()) > 0 || len(s.noted()) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("OpenCode has the sessions %q; launches %q are noted", s.stored(), s.noted())
		}
	}
	if c := s.show(title); c.Session.Status != "paused" || len(c.Session.Sources) != 1 {
		s.t.Errorf("status %s, sources %v", c.Session.Status, c.Session.Sources)
	}
	s.clean()
}

// noted lists the notes of launches.
func (s *stage) noted() []string {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.home.Dir, ".local/state/cortext/launches/*/*.json"))
	s.check(err)
	return list
}

// slowly blocks OpenCode from deleting sessions until the file go exists.
func (s *stage) slowly() (release func()) {
	s.t.Helper()
	name, gate := filepath.Join(s.bin, "opencode"), filepath.Join(s.bin, "go")
	real, err := os.Readlink(name)
	s.check(err)
	s.check(os.Remove(name))
	s.check(os.WriteFile(name, []byte("#!/bin/sh\ncase \"$*\" in *delete*) while ! test -e "+gate+"; do sleep 0.05; done;; esac\nexec "+real+" \"$@\"\n"), 0o755))
	return func() { s.check(os.WriteFile(gate, nil, 0o600)) }
}

// background starts a program; end ends it with SIGTERM and returns its output.
func (s *stage) background(ready, name string, args ...string) (end func() string) {
	s.t.Helper()
	out := filepath.Join(s.t.TempDir(), "out")
	f, err := os.Create(out)
	s.check(err)
	defer f.Close()
	cmd := s.command(name, args...)
	cmd.Stdout, cmd.Stderr = f, f
	s.check(cmd.Start())
	s.t.Cleanup(func() { cmd.Process.Kill() })
	printed := func() string {
		raw, err := os.ReadFile(out)
		s.check(err)
		return string(raw)
	}
	for end := time.Now().Add(patience); !strings.Contains(printed(), ready); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%s says %q", name, printed())
		}
	}
	return func() string {
		s.t.Helper()
		s.check(cmd.Process.Signal(syscall.SIGTERM))
		defer time.AfterFunc(patience, func() { cmd.Process.Kill() }).Stop()
		if err := cmd.Wait(); err != nil {
			s.t.Errorf("%s: %v\n%s", name, err, printed())
		}
		return printed()
	}
}

// hung waits until a turn hangs.
func (s *stage) hung() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.check(s.server.AwaitHang(ctx))
}

// TestOpenCodeLaunch: an unused launch leaves nothing, even if everything was killed. A
// used launch is captured by watch as it continues, and after kill -9 and the loss of
// OpenCode's database.
func TestOpenCodeLaunch(t *testing.T) {
	t.Parallel()
	s := newStageFor(t, []string{"opencode"})
	s.history("small", 10_000, hostileToOpenCode)
	launch := func() *agenttest.Terminal {
		term := s.terminal("cortext", "resume", "small", "--agent", "opencode")
		s.wait(term, agenttest.OpenCodeReady)
		s.opened(term, "small")
		return term
	}
	// The user does not wait for OpenCode to start again and delete the session: the
	// prompt is back before that, and the next command finds the note of the session.
	release := s.slowly()
	term := launch()
	s.exit(term)
	s.wait(term, "No new messages in opencode: small (paused, ")
	if s.run("cortext", "list"); len(s.stored()) != 1 || len(s.noted()) != 1 {
		t.Fatalf("OpenCode has the sessions %q; launches %q are noted", s.stored(), s.noted())
	}
	release()
	s.unused("small")

	// The user may also leave with Ctrl-C twice.
	term = launch()
	s.check(term.Key("C-c"))
	s.check(term.WaitForNot(agenttest.OpenCodeReady, patience))
	_ = term.Key("C-c")
	if err := term.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v; the screen:\n%s", err, term.Screen())
	}
	s.unused("small")

	term = launch()
	s.check(term.Kill())
	if n := len(s.stored()); n != 1 {
		t.Fatalf("OpenCode has %d sessions", n)
	}
	s.run("cortext", "sync")
	s.unused("small")
	if n := len(s.server.Requests()); n != 0 {
		t.Errorf("%d requests were sent before the user typed", n)
	}

	end := s.background("watching", "cortext", "watch")
	printed := s.run("cortext", "resume", "small", "--print")
	s.answers("in the terminal", "here-i-am")
	s.answers("made again", "done-at-last")
	term = launch()
	s.enter(term, "in the terminal, @notes.md", "here-i-am")
	s.wasPayload(0, printed)
	s.unsent()
	s.untouched()
	want := []string{"user: turn 0:", "user: in the terminal", "assistant: here-i-am"}
	s.once(s.kept("small", "here-i-am"), want...)
	if c := s.show("small"); c.Session.Status != "active" || len(c.Session.Sources) != 2 {
		t.Errorf("status %s, sources %v", c.Session.Status, c.Session.Sources)
	}
	s.check(term.Submit("never answered @@HANG@@", patience))
	s.hung()
	s.wait(term, strings.TrimSpace(agenttest.HangText))
	s.check(term.Kill())
	s.run("cortext", "sync")
	want = append(want, "user: never answered")
	s.once(s.show("small"), want...)
	s.clean()
	if list := s.stored(); len(list) != 1 || !strings.HasSuffix(list[0], "small") {
		t.Errorf("OpenCode has the sessions %q", list)
	}

	// If its data is deleted while nothing runs, a new session recreates it.
	s.check(os.RemoveAll(filepath.Join(s.home.Dir, ".local/share/opencode")))
	cmd := s.command("cortext", "resume", "small", "--agent", "opencode", "-p", "made again")
	cmd.Env = append(cmd.Env, "PWD="+s.home.Dir) // as below -C, or in a subfolder
	s.play(cmd)
	want = append(want, "user: made again", "assistant: done-at-last")
	s.once(s.show("small"), want...)
	s.answers("seen by watch", "indeed")
	s.play(s.command("opencode", "run", "--command", "workspace.chat", "seen", "by", "watch"))
	for end := time.Now().Add(patience); !strings.Contains(s.run("cortext", "list"), "seen by watch") && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	s.once(s.kept("seen by watch", "indeed"), "user: /workspace.chat seen by watch", "assistant: indeed")
	if out := end(); strings.Contains(out, "error") || !strings.Contains(out, "captured 2 messages") {
		t.Errorf("watch said %s", out)
	}
	s.clean()
}
