//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The exit codes of commands that a signal ended.
const (
	exitINT  = 128 + int(syscall.SIGINT)
	exitTERM = 128 + int(syscall.SIGTERM)
)

// A desk is a workspace with its own home, in which cortext runs as a process.
type desk struct {
	t         *testing.T
	dir, home string
	env       []string
}

// newDesk creates a workspace whose settings cause a warning: a process that has printed
// it is ready for signals and has the workspace open.
func newDesk(t *testing.T) *desk {
	t.Helper()
	if _, err := built(); err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: t.TempDir(), home: t.TempDir()}
	d.env = append(os.Environ(), "HOME="+d.home, "XDG_STATE_HOME="+filepath.Join(d.home, "state"), "CORTEXT_SESSION=", "CORTEXT_HOOKS=",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	d.run("init", "--commit", "stop")
	config, err := os.OpenFile(filepath.Join(d.dir, ".workspace/config.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = config.WriteString("ready: yes\n")
	d.must(errors.Join(err, config.Close()))
	return d
}

// opened is what a process in newDesk's workspace prints once it is ready.
const opened = `unknown setting "ready"`

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(binDir, "cortext"), args...)
	cmd.Dir, cmd.Env = d.dir, d.env
	return cmd
}

// run runs a command that must succeed and returns its standard output.
func (d *desk) run(args ...string) string {
	d.t.Helper()
	cmd := d.command(args...)
	var errw bytes.Buffer
	cmd.Stderr = &errw
	out, err := cmd.Output()
	if err != nil {
		d.t.Fatalf("cortext %q: %v\n%s%s", args, err, out, errw.String())
	}
	return string(out)
}

// conversation captures a session with the given number of turns and returns its
// messages.jsonl.
func (d *desk) conversation(turns int) string {
	d.t.Helper()
	file := filepath.Join(d.t.TempDir(), "s1.jsonl")
	d.transcript(file, "s1", turns)
	d.run("import", "--title", "first topic", file)
	logs, err := filepath.Glob(filepath.Join(d.dir, "conversations/*/*/.session/messages.jsonl"))
	if err != nil || len(logs) != 1 {
		d.t.Fatal(logs, err)
	}
	return logs[0]
}

// transcript writes a Claude Code session held in the workspace.
func (d *desk) transcript(file, id string, turns int) {
	d.t.Helper()
	var b strings.Builder
	parent := "null"
	for i := range 2 * turns {
		role, body := "user", fmt.Sprintf(`"question %d %s"`, i, strings.Repeat("x ", 100))
		if i%2 == 1 {
			role, body = "assistant", fmt.Sprintf(`[{"type":"text","text":"answer %d"}]`, i)
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"id":"m-%s-%d","model":"m","role":%[2]q,"content":%[5]s},"uuid":"%[3]s-%[4]d","timestamp":"2025-11-22T10:00:00.000Z","cwd":%[6]q,"sessionId":%[3]q,"version":"2.1.329"}`+"\n",
			parent, role, id, i, body, d.dir)
		parent = fmt.Sprintf(`"%s-%d"`, id, i)
	}
	d.must(os.MkdirAll(filepath.Dir(file), 0o755))
	d.must(os.WriteFile(file, []byte(b.String()), 0o600))
}

// hold locks a file, like a process that writes to it, until the test ends.
func (d *desk) hold(file string) (release func()) {
	d.t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	d.must(err)
	d.must(syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	release = sync.OnceFunc(func() { f.Close() })
	d.t.Cleanup(release)
	return release
}

// A child is a running cortext process.
type child struct {
	d      *desk
	cmd    *exec.Cmd
	mu     sync.Mutex
	output bytes.Buffer
}

func (c *child) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.output.Write(b)
}

func (c *child) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.output.String()
}

// start starts a command. child.String has its standard error, and its standard output
// unless configure redirects that.
func (d *desk) start(configure func(*exec.Cmd), args ...string) *child {
	d.t.Helper()
	c := &child{d: d, cmd: d.command(args...)}
	c.cmd.Stdout, c.cmd.Stderr = c, c
	if configure != nil {
		configure(c.cmd)
	}
	d.must(c.cmd.Start())
	d.t.Cleanup(func() { c.cmd.Process.Kill() })
	return c
}

// until waits for a condition.
func (c *child) until(what string, ok func() bool) {
	c.d.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			c.d.t.Fatalf("%q: no %s; it says %q", c.cmd.Args[1:], what, c)
		}
	}
}

func (c *child) says(text string) {
	c.d.t.Helper()
	c.until(text, func() bool { return strings.Contains(c.String(), text) })
}

// ended sends signals and checks that the process exits by itself with code. A process
// that the signal kills before it is handled has a different code.
func (c *child) ended(code int, signals ...os.Signal) {
	c.d.t.Helper()
	for _, s := range signals {
		c.d.must(c.cmd.Process.Signal(s))
		time.Sleep(20 * time.Millisecond) // otherwise they may arrive in any order
	}
	// In this time nothing that the tests make a process wait for ends by itself, except
	// locks, which end with a different code.
	defer time.AfterFunc(30*time.Second, func() { c.cmd.Process.Kill() }).Stop()
	_ = c.cmd.Wait()
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.d.t.Errorf("%q after %v: %v, want exit code %d; it said %q", c.cmd.Args[1:], signals, c.cmd.ProcessState, code, c)
	}
}

// TestSignalWhileLocked: a command that waits for another process ends.
func TestSignalWhileLocked(t *testing.T) {
	d := newDesk(t)
	release := d.hold(d.conversation(1))
	for _, args := range [][]string{{"title", "first", "another"}, {"status", "first", "completed"}, {"rm", "first topic", "--yes"}} {
		c := d.start(nil, args...)
		c.says(opened)
		c.ended(exitTERM, syscall.SIGTERM)
		if strings.Contains(c.String(), "error") { // it waited as long as for any lock
			t.Errorf("%q says %q", args, c)
		}
	}
	c := d.start(nil, "title", "first", "another")
	c.says(opened)
	c.ended(exitINT, syscall.SIGINT)
	release()
	if out := d.run("check"); out != "no damage\n" {
		t.Error(out)
	}
}

// TestSignalWhileWriting: a command whose output is not read ends.
func TestSignalWhileWriting(t *testing.T) {
	d := newDesk(t)
	d.conversation(2000)
	for s, code := range map[os.Signal]int{syscall.SIGTERM: exitTERM, syscall.SIGINT: exitINT} {
		for _, args := range [][]string{{"show", "first"}, {"show", "first", "--json"}} {
			r, w, err := os.Pipe()
			d.must(err)
			c := d.start(func(cmd *exec.Cmd) { cmd.Stdout = w }, args...)
			_, err = io.ReadFull(r, make([]byte, 1)) // it is printing, and the pipe will soon be full
			d.must(errors.Join(err, w.Close()))
			c.ended(code, s)
			d.must(r.Close())
		}
	}
}

// TestSignalWatch: watch ends without an error, because a signal is the way to end it.
func TestSignalWatch(t *testing.T) {
	d := newDesk(t)
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	if signal.Ignored(syscall.SIGHUP) {
		signals = signals[:2] // under nohup, watch goes on
		t.Log("NOT RUN with SIGHUP, which the tests were started to ignore")
	}
	for _, s := range signals {
		c := d.start(nil, "watch")
		c.says("watching")
		c.ended(0, s)
	}
}

// TestSignalSync: sync can be ended in the middle of many transcripts, and the next sync
// continues from there.
func TestSignalSync(t *testing.T) {
	d := newDesk(t)
	const sessions = 80
	for i := range sessions {
		id := fmt.Sprintf("many-%03d", i)
		d.transcript(filepath.Join(d.home, ".claude/projects/p", id+".jsonl"), id, 5)
	}
	c := d.start(nil, "sync")
	c.until("conversation", func() bool {
		made, _ := filepath.Glob(filepath.Join(d.dir, "conversations/*/*"))
		return len(made) > 0
	})
	c.ended(exitTERM, syscall.SIGTERM)
	d.run("sync")
	if out := d.run("check"); out != "no damage\n" {
		t.Error(out)
	}
	if out := d.run("list"); strings.Count(out, "10 messages") != sessions {
		t.Errorf("%d conversations of 10 messages, want %d", strings.Count(out, "10 messages"), sessions)
	}
}

// TestSecondSignal: stop may finish its work after one signal, but not after two.
func TestSecondSignal(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", "start"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = d.dir, d.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	d.conversation(1)
	ready := filepath.Join(d.home, "ready")
	d.must(os.WriteFile(filepath.Join(d.dir, ".git/hooks/pre-commit"), []byte("#!/bin/sh\ntrap '' TERM INT\necho $$ > "+ready+"\nsleep 600 & wait; wait\n"), 0o755))
	c := d.start(nil, "stop", "first")
	c.until("commit", func() bool { b, _ := os.ReadFile(ready); return len(b) > 0 })
	t.Cleanup(func() {
		b, _ := os.ReadFile(ready)
		var pid int
		if _, err := fmt.Sscan(string(b), &pid); err == nil { // git and the hook have their own group
			if group, err := syscall.Getpgid(pid); err == nil && group != syscall.Getpgrp() {
				syscall.Kill(-group, syscall.SIGKILL)
			}
		}
	})
	c.ended(exitINT, syscall.SIGTERM, syscall.SIGINT)
}

// TestSignalHook: a hook that is ended records in hook.log what it did not do, and the
// next command reports it once. Nothing is lost.
func TestSignalHook(t *testing.T) {
	t.Run("cortext hook", func(t *testing.T) { signalHook(t, "Stop", func(*exec.Cmd) {}) })
	t.Run("cortext-hook", func(t *testing.T) { signalHook(t, "Stop", small) })
	t.Run("handed over", func(t *testing.T) { signalHook(t, "SessionEnd", small) })
}

// small makes cortext-hook run a command.
func small(cmd *exec.Cmd) { cmd.Path, cmd.Args = cmd.Path+"-hook", cmd.Args[1:] }

func signalHook(t *testing.T, event string, by func(*exec.Cmd)) {
	d := newDesk(t)
	log := d.conversation(1)
	file := filepath.Join(d.home, ".claude/projects/p/s1.jsonl")
	d.transcript(file, "s1", 2)
	input := fmt.Sprintf(`{"session_id":"s1","transcript_path":%q,"cwd":%q}`, file, d.dir)
	withInput := func(cmd *exec.Cmd) {
		cmd.Stdin = strings.NewReader(input)
		by(cmd)
	}
	release := d.hold(log)
	hookLog := filepath.Join(d.dir, ".workspace/local/cache/hook.log")
	c := d.start(withInput, "hook", "claude", event)
	c.until("line in hook.log", func() bool { b, _ := os.ReadFile(hookLog); return bytes.Contains(b, []byte(opened)) })
	c.ended(0, syscall.SIGTERM)
	if c.String() != "" {
		t.Errorf("the hook says %q", c)
	}
	release()
	const said = "ended by a signal before everything was saved"
	if b, err := os.ReadFile(hookLog); err != nil || bytes.Count(b, []byte(" "+event+": it was "+said)) != 1 {
		t.Errorf("hook.log: %v\n%s", err, b)
	}
	for i, want := range []bool{true, false} {
		c := d.start(nil, "list", "--json")
		c.ended(0)
		if strings.Contains(c.String(), "warning: a hook failed: it was "+said) != want {
			t.Errorf("command %d after the hook says %q", i, c)
		}
	}
	c = d.start(withInput, "hook", "claude", event)
	c.ended(0)
	if b, err := os.ReadFile(log); err != nil || bytes.Count(b, []byte("\n")) != 4 {
		t.Errorf("%d messages, %v", bytes.Count(b, []byte("\n")), err)
	}
}

// TestSignalHookInput: a hook ends even if its input does not.
func TestSignalHookInput(t *testing.T) {
	for _, by := range []func(*exec.Cmd){func(*exec.Cmd) {}, small} {
		d := newDesk(t)
		r, w, err := os.Pipe()
		d.must(err)
		t.Cleanup(func() { w.Close() })
		c := d.start(func(cmd *exec.Cmd) { cmd.Stdin = r; by(cmd) }, "hook", "claude", "Stop")
		_, err = w.Write(make([]byte, 1<<20)) // more than a pipe holds, so the hook is reading
		d.must(errors.Join(err, r.Close()))
		c.ended(0, syscall.SIGTERM)
		if b, err := os.ReadFile(filepath.Join(d.home, "state/cortext/hook.log")); err != nil || !bytes.Contains(b, []byte("ended by a signal")) {
			t.Errorf("%v\n%s", err, b)
		}
	}
}

// TestSignalAgent: while an agent runs, signals go to the agent, however long it takes to
// end; what it leaves is saved.
func TestSignalAgent(t *testing.T) {
	d := newDesk(t)
	d.conversation(1)
	ready, agent := filepath.Join(d.home, "ready"), filepath.Join(d.home, "claude")
	d.must(os.WriteFile(agent, []byte(`#!/bin/sh
test "$1" = --version && echo "2.1.329 (Claude Code)" && exit
trap 'sleep 3; echo agent ends; exit 0' TERM
echo > `+ready+`
while :; do sleep 0.05; done
`), 0o755))
	d.env = append(d.env, "CORTEXT_CLAUDE="+agent, "ANTHROPIC_API_KEY=x")
	c := d.start(nil, "resume", "first", "-p", "go on")
	c.until("agent", func() bool { _, err := os.Stat(ready); return err == nil })
	c.ended(0, syscall.SIGTERM)
	if !strings.Contains(c.String(), "agent ends") {
		t.Errorf("it says %q", c)
	}
	if left, err := filepath.Glob(filepath.Join(d.dir, ".workspace/local/cache/launch/*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
