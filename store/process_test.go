package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// roleVar makes the test binary a separate process with a single task.
const roleVar = "CORTEXT_STORE_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := play(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play runs the task of a role. args are the workspace, the conversation and the role's
// own arguments.
func play(role string, args []string) error {
	s, err := Open(args[0], Options{Holder: "the " + role + " process", LockWait: time.Minute})
	if err != nil {
		return err
	}
	defer s.Close()
	if role == "crash" {
		return crash(s, args[1], args[2])
	}
	if role == "create" {
		c, err := s.Create("plan", "captured", &schema.Session{ID: testID("abcd"), CreatedAt: schema.NewTime(start)}, nil)
		if err != nil && !errors.Is(err, ErrExist) {
			return err
		}
		fmt.Println(c.Path(), err == nil)
		for range 10 {
			c, err := s.Create("plan", "same", &schema.Session{CreatedAt: schema.NewTime(start)}, nil)
			if err != nil {
				return err
			}
			fmt.Println(c.Path(), true)
		}
		return nil
	}
	c, err := s.Conversation(args[1])
	if err != nil {
		return err
	}
	defer c.Close()
	switch role {
	case "full":
		return appendUntilFull(c)
	case "hold":
		h, err := c.lock()
		if err != nil {
			return err
		}
		defer h.release()
		fmt.Println("held")
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	case "append":
		n, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		for i := range n {
			m := schema.Message{ID: fmt.Sprintf("%s-%d", args[2], i), Role: schema.User, Content: strings.Repeat("x", i*i)}
			if _, err := c.Append(schema.Batch{Messages: []schema.Message{m}}); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("no role %q", role)
}

func process(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// TestLockedByAnotherProcess checks that the error names the process that holds the lock.
func TestLockedByAnotherProcess(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	cmd := process(t, "hold", s.dir, c.Path())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatal(line, err)
	}
	s.opts.LockWait = 30 * time.Millisecond
	for what, do := range map[string]func() error{
		"append": func() error { _, err := c.Append(thread(0, 1)); return err },
		"edit":   func() error { return c.Edit(func(*schema.Session) error { return nil }) },
	} {
		err := do()
		var locked *LockedError
		if !errors.As(err, &locked) || locked.Holder != "the hold process" || locked.Path != c.Path() || !strings.Contains(err.Error(), locked.Holder) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// Readers never wait.
	if _, _, err := c.History(Limit{}); err != nil {
		t.Error(err)
	}
	wantSound(t, s)
	s.opts.LockWait = time.Minute
	done := make(chan error)
	go func() {
		_, err := c.Append(thread(0, 1))
		done <- err
	}()
	in.Close()
	if err := <-done; err != nil {
		t.Errorf("once the other let go: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	// Without the holder's name, the error still says what happened.
	other, err := s.Conversation(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	h, err := other.lock()
	if err != nil {
		t.Fatal(err)
	}
	defer h.release()
	if err := os.RemoveAll(s.dir + "/" + cacheDir); err != nil {
		t.Fatal(err)
	}
	s.opts.LockWait = -1
	if _, err := c.Append(thread(0, 2)); !strings.Contains(fmt.Sprint(err), "another process") {
		t.Errorf("%v", err)
	}
	unlock, err := s.locks.workspace(s.opts.LockWait)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	_, err = s.Create("plan", "x", &schema.Session{}, nil)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Holder != "a test" || locked.Path != conversationsDir {
		t.Errorf("create: %v", err)
	}
	writeFile(t, s, holderFile("evil"), "\x1b[2Jcleared\x00\xff\nmore")
	if got := s.locks.holder("evil"); got != "[2Jcleared" {
		t.Errorf("a holder is shown as %q", got)
	}
}

// TestManyProcesses checks that several processes that append at once lose nothing, store
// each record once, and keep the order of each process.
func TestManyProcesses(t *testing.T) {
	const writers, each = 4, 40
	s := newTestStore(t)
	c := create(t, s)
	var cmds []*exec.Cmd
	for w := range writers {
		cmd := process(t, "append", s.dir, c.Path(), fmt.Sprint("w", w), fmt.Sprint(each))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for i := range each { // and this process, between reads
		m := schema.Message{ID: fmt.Sprint("here-", i), Role: schema.User}
		appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}})
		_, damage, err := c.History(Limit{Messages: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range damage { // a line that is being written
			if d.Kind != jsonl.TornTail && d.Kind != jsonl.Unterminated {
				t.Fatal(d.Error())
			}
		}
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	last := map[string]int{}
	n := 0
	for m, err := range c.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		writer, number, _ := strings.Cut(m.ID, "-")
		if i, _ := strconv.Atoi(number); i != last[writer] {
			t.Fatalf("%s comes after %d of its writer", m.ID, last[writer])
		}
		last[writer]++
		n++
	}
	if n != (writers+1)*each {
		t.Errorf("%d messages, want %d", n, (writers+1)*each)
	}
	wantSound(t, s)
}

// TestCreateAtOnce checks that each conversation gets a folder of its own, and that
// several processes capturing the same one at once create it only once.
func TestCreateAtOnce(t *testing.T) {
	s := newTestStore(t)
	var outs []*strings.Builder
	var cmds []*exec.Cmd
	for range 3 {
		cmd := process(t, "create", s.dir)
		out := new(strings.Builder)
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		outs, cmds = append(outs, out), append(cmds, cmd)
	}
	made := map[string]int{}
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(outs[i].String()) {
			at, ok, _ := strings.Cut(strings.TrimSpace(line), " ")
			if made[at] += 0; ok == "true" {
				made[at]++
			}
		}
	}
	for at, n := range made {
		if n != 1 || !strings.HasPrefix(at, "conversations/2025-11-22/1000-plan-") {
			t.Errorf("%s was made %d times", at, n)
		}
	}
	list, err := s.List()
	if err != nil || len(list) != 31 || len(made) != 31 || made["conversations/2025-11-22/1000-plan-captured-abcd"] != 1 {
		t.Errorf("%d conversations, %d in the list, %v: %v", len(made), len(list), err, made)
	}
	wantSound(t, s)
}
