//go:build unix

package store

import (
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cortext/schema"
)

// appendUntilFull appends while the system allows no file beyond 20 KB, and prints
// the id of each message that is safe.
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

// TestFileSizeLimit: the system cuts a write short. What was acknowledged is there,
// and appending goes on once there is room.
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

// makeDevice makes another /dev/zero, which only root may.
func makeDevice(name string) error { return syscall.Mknod(name, syscall.S_IFCHR|0o666, 1<<8|5) }
