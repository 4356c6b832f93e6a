//go:build unix

package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// A bare is a workspace and a home with OpenCode conversations, but without OpenCode.
type bare struct {
	tb                     testing.TB
	cortext, home, project string
	turns                  int
}

// recorded is the session that the conversations are copied from. It begins with
// /workspace.brainstorm API design.
const recorded = "ses_dff9b6187ffeOJTeBSCOKhGxQq"

// newBare creates a workspace with the given number of conversations in OpenCode's
// database, held in dir, or in the workspace if dir is empty.
func newBare(tb testing.TB, cortext string, conversations int, dir string) *bare {
	tb.Helper()
	b := &bare{tb: tb, cortext: cortext, home: tb.TempDir(), project: filepath.Join(tb.TempDir(), "project")}
	b.check(os.MkdirAll(b.project, 0o755))
	b.check(os.MkdirAll(filepath.Dir(b.database()), 0o700))
	raw, err := os.ReadFile("../../testdata/agents/opencode/1.18.33/store/transcript.db")
	b.check(err)
	b.check(os.WriteFile(b.database(), raw, 0o600))
	if dir == "" {
		dir = b.project
	}
	statements := []string{`delete from session where id != '` + recorded + `'`, fmt.Sprintf(`update session set directory = '%s', project_id = 'global'`, dir)}
	for table, ids := range map[string][]string{"session": {"id"}, "message": {"id", "session_id"}, "part": {"id", "message_id", "session_id"}} {
		if table != "session" {
			statements = append(statements, fmt.Sprintf(`delete from %s where session_id != '%s'`, table, recorded))
		}
		statements = append(statements, fmt.Sprintf(`create temp table many_%s as with recursive n(n) as (select 1 union all select n + 1 from n where n < %d)
			select t.*, n from n, %[1]s t where n < %[2]d`, table, conversations))
		for _, id := range ids {
			statements = append(statements, fmt.Sprintf(`update many_%s set %s = substr(%[2]s, 1, length(%[2]s) - 6) || printf('%%06d', n)`, table, id))
		}
		statements = append(statements, fmt.Sprintf(`alter table many_%s drop column n`, table), fmt.Sprintf(`insert into %s select * from many_%[1]s`, table))
	}
	b.sql(append(statements, fmt.Sprintf(`update session set directory = '%s' where id = '%s'`, b.project, recorded))...)
	b.run("init")
	return b
}

func (b *bare) check(err error) {
	b.tb.Helper()
	if err != nil {
		b.tb.Fatal(err)
	}
}

func (b *bare) database() string { return filepath.Join(b.home, ".local/share/opencode/opencode.db") }

// sql changes the database as OpenCode does.
func (b *bare) sql(statements ...string) {
	b.tb.Helper()
	db, err := sql.Open("sqlite", "file:"+b.database()+"?_pragma=busy_timeout(2000)")
	b.check(err)
	defer db.Close()
	db.SetMaxOpenConns(1) // for temporary tables
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			b.tb.Fatalf("%s: %v", s, err)
		}
	}
}

// try runs cortext in the workspace.
func (b *bare) try(args ...string) (stdout, stderr string, code int) {
	b.tb.Helper()
	cmd := exec.Command(b.cortext, args...)
	cmd.Dir = b.project
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home}
	var out, errw bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errw
	if err := cmd.Run(); cmd.ProcessState == nil {
		b.tb.Fatal(err)
	}
	return out.String(), errw.String(), cmd.ProcessState.ExitCode()
}

// run is try that must succeed.
func (b *bare) run(args ...string) string {
	b.tb.Helper()
	out, errw, code := b.try(args...)
	if code != 0 {
		b.tb.Fatalf("cortext %q: exit code %d\n%s%s", args, code, out, errw)
	}
	return out
}

// grow adds a turn to the recorded session.
func (b *bare) grow() {
	b.tb.Helper()
	b.turns++
	b.turn(b.turns)
}

// turn writes a turn into the recorded session.
func (b *bare) turn(n int) {
	b.tb.Helper()
	at := 1795303000000 + int64(n)*1000
	var all []string
	for i, role := range []string{"user", "assistant"} {
		id, at := fmt.Sprintf("2006%08d%04d", n, i), at+int64(i)
		all = append(all,
			fmt.Sprintf(`insert into message values ('msg_%s', '%s', %d, %[3]d, '{"role":"%s","time":{"created":%[3]d},"agent":"build","modelID":"m"}')`, id, recorded, at, role),
			fmt.Sprintf(`insert into part values ('prt_%s', 'msg_%[1]s', '%s', %d, %[3]d, '{"type":"text","text":"%s turn %d of it"}')`, id, recorded, at, role, n))
	}
	b.sql(append(all, fmt.Sprintf(`update session set time_updated = max(time_updated, %d) where id = '%s'`, at+1, recorded))...)
}

// conversation returns the id of the conversation with the recorded session.
func (b *bare) conversation() string {
	b.tb.Helper()
	var all []struct{ ID, Path string }
	b.check(json.Unmarshal([]byte(b.run("list", "--json")), &all))
	for _, one := range all {
		raw, err := os.ReadFile(filepath.Join(b.project, one.Path, ".session/session.json"))
		b.check(err)
		if bytes.Contains(raw, []byte(recorded)) {
			return one.ID
		}
	}
	b.tb.Fatal("it is not there")
	return ""
}

// captured checks that each turn is in the conversation once.
func (b *bare) captured(id string) {
	b.tb.Helper()
	if n := strings.Count(b.run("show", id, "--json"), ` of it"`); n != 2*b.turns {
		b.tb.Errorf("%d of %d messages captured", n, 2*b.turns)
	}
}

// TestOpenCodeStoreFaults: an unreadable database is reported, with exit code 1. Other
// agents' sessions are still captured, and commands on other conversations still work.
// Once it is readable again, nothing is missing.
func TestOpenCodeStoreFaults(t *testing.T) {
	t.Parallel()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	b := newBare(t, filepath.Join(bin, "cortext"), 1, "")
	b.run("sync")
	id := b.conversation()
	claude := newClaudeSession(b)
	b.run("sync")
	healthy, err := os.ReadFile(b.database())
	b.check(err)
	for _, c := range []struct {
		name, says string
		harm       func() (mend func())
	}{
		{"locked", "is locked by another program", func() (mend func()) {
			b.sql("pragma journal_mode = wal")
			db, err := sql.Open("sqlite", "file:"+b.database()+"?_pragma=locking_mode(exclusive)")
			b.check(err)
			db.SetMaxOpenConns(1)
			_, err = db.Exec("update session set title = title")
			b.check(err)
			return func() { db.Close() }
		}},
		{"truncated", "opencode.db: is damaged", func() func() {
			b.check(os.Truncate(b.database(), int64(len(healthy)/2)))
			return nil
		}},
		{"garbage", "is not an SQLite database", func() func() {
			b.check(os.WriteFile(b.database(), bytes.Repeat([]byte("garbage "), 2000), 0o600))
			return nil
		}},
		{"a column with another name", `has no column "data" in the table "message": this version of OpenCode stores sessions differently`, func() func() {
			b.sql("alter table message rename column data to content")
			return nil
		}},
		{"no column", `has no column "directory" in the table "session"`, func() func() {
			b.sql("alter table session drop column directory")
			return nil
		}},
		{"no table", `has no table "part"`, func() func() {
			b.sql("drop table part")
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.grow()
			claude.grow()
			mend := c.harm()
			out, said, code := b.try("sync")
			if code != 1 || !strings.Contains(said, c.says) || !strings.Contains(said, b.database()) {
				t.Errorf("sync: exit code %d, said %q", code, said)
			}
			if !strings.Contains(out, "1 with new messages (2 messages captured)") {
				t.Errorf("sync: %s", out)
			}
			claude.captured()
			claude.grow()
			if _, said, code := b.try("stop", claude.title); code != 0 || !strings.Contains(said, c.says) {
				t.Errorf("stop: exit code %d, said %q", code, said)
			}
			claude.captured()
			if _, said, _ := b.try("resume", claude.title, "-p", "go on", "--agent", "claude"); !strings.Contains(said, c.says) || !strings.Contains(said, "is not on this machine's PATH") {
				t.Errorf("resume: said %q", said)
			}
			if mend != nil {
				mend()
			}
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(b.database() + suffix)
			}
			b.check(os.WriteFile(b.database(), healthy, 0o600))
			for turn := b.turns; turn > 0; turn-- {
				b.turn(turn)
			}
			b.run("sync")
			b.captured(id)
		})
	}
}

// A claudeSession is a Claude Code session in the workspace.
type claudeSession struct {
	*bare
	title, file string
	turns       int
}

func newClaudeSession(b *bare) *claudeSession {
	b.tb.Helper()
	c := &claudeSession{bare: b, title: "of claude", file: filepath.Join(b.home, ".claude/projects/p/aaaaaaaa-0000-4000-8000-000000000001.jsonl")}
	b.check(os.MkdirAll(filepath.Dir(c.file), 0o700))
	c.line("user", "u-0", "/workspace.chat of claude")
	return c
}

func (c *claudeSession) line(role, id, text string) {
	c.tb.Helper()
	f, err := os.OpenFile(c.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	c.check(err)
	_, err = fmt.Fprintf(f, `{"type":%q,"uuid":%q,"parentUuid":null,"sessionId":"aaaaaaaa-0000-4000-8000-000000000001","cwd":%q,"timestamp":"2026-11-21T12:00:00.000Z","message":{"role":%[1]q,"id":"m%[2]s","model":"m","content":%[4]q}}`+"\n", role, id, c.project, text)
	c.check(errors.Join(err, f.Close()))
}

// grow adds a turn.
func (c *claudeSession) grow() {
	c.tb.Helper()
	c.turns++
	c.line("user", fmt.Sprintf("u-%d", c.turns), "asked in claude")
	c.line("assistant", fmt.Sprintf("a-%d", c.turns), "said in claude")
}

func (c *claudeSession) captured() {
	c.tb.Helper()
	if n := strings.Count(c.run("show", c.title, "--json"), ` in claude"`); n != 2*c.turns {
		c.tb.Errorf("%d of %d messages of Claude Code captured", n, 2*c.turns)
	}
}

// BenchmarkOpenCode compares capturing one new turn from a store of 1,000 conversations
// with a store of one. The other conversations were held elsewhere, or are all in this
// workspace. With -short there are 100.
func BenchmarkOpenCode(b *testing.B) {
	cortext := build(b, "cortext/cmd/cortext")
	for _, stores := range []struct{ name, dir string }{{"elsewhere", "/home/dev/shop"}, {"here", ""}} {
		b.Run(stores.name, func(b *testing.B) {
			others := 1000
			if testing.Short() {
				others = 100
			}
			one, many := newBare(b, cortext, 1, stores.dir), newBare(b, cortext, others, stores.dir)
			title := map[*bare]string{}
			for _, w := range []*bare{one, many} {
				w.run("sync")
				title[w] = w.conversation()
			}
			for b.Loop() {
				for _, what := range []string{"sync", "stop"} {
					var times [2][]time.Duration
					for range 20 {
						for i, w := range []*bare{one, many} {
							w.grow()
							args := []string{what}
							if what == "stop" {
								args = append(args, title[w])
							}
							begun := time.Now()
							w.run(args...)
							times[i] = append(times[i], time.Since(begun))
						}
					}
					for _, t := range times {
						slices.Sort(t)
					}
					b.ReportMetric(float64(times[1][10])/float64(times[0][10]), what+"-x-one")
					b.ReportMetric(float64(times[0][10].Milliseconds()), what+"-ms")
				}
			}
			for _, w := range []*bare{one, many} {
				w.captured(title[w])
			}
		})
	}
}
