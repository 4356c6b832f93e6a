//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cortext/schema"
)

// appendUntilFull appends until the system allows no file beyond 20 KB, and prints the id
// of each message that is safe.
func appendUntilFull(c *Conversation) error {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 20_000, Max: 20_000}); err != nil {
		return err
	}
	for n := 0; ; n++ {
		m := schema.Message{ID: fmt.Sprint("m", n), Role: schema.User, Content: strings.Repeat("x", 1000+n)}
		if _, err := c.Append(schema.Batch{Messages: []schema.Message{m}}); errors.Is(err, syscall.EFBIG) {
			return nil
		} else if err != nil {
			return err
		}
		fmt.Println(m.ID)
	}
}

// TestFileSizeLimit checks a write that the system cuts short: acknowledged records are
// there, and appending continues once there is room.
func TestFileSizeLimit(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	out, err := process(t, "full", s.dir, c.Path()).Output()
	if err != nil {
		t.Fatal(err)
	}
	acked := strings.Fields(string(out))
	if len(acked) < 10 {
		t.Fatalf("only %d messages fit", len(acked))
	}
	wantSound(t, s)
	if ids, _, _ := history(t, c, Limit{}); !slices.Equal(ids, acked) {
		t.Errorf("%v, want %v", ids, acked)
	}
	r := appendBatch(t, c, schema.Batch{Messages: []schema.Message{{ID: "more", Role: schema.User}}})
	if r.Appended != 1 || r.SetAside != nil {
		t.Errorf("%+v", r)
	}
	wantSound(t, s)
}

func makePipe(name string) error { return syscall.Mkfifo(name, 0o644) }

// makeDevice creates a second /dev/zero, which only root may do.
func makeDevice(name string) error { return syscall.Mknod(name, syscall.S_IFCHR|0o666, 1<<8|5) }

// asNobody runs the test again as a user without rights, and reports that it did.
func asNobody(t *testing.T) bool {
	t.Helper()
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "store.test") // only root can reach the folder where go test put it
	content, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o777), os.WriteFile(program, content, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "GOTMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("%v\n%s", err, out)
	}
	return true
}
