package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// opens counts how often files in folders are opened while f runs.
func opens(t *testing.T, folders []string, f func()) (n int) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	if err != nil {
		t.Skipf("NOT RUN: %v", err)
	}
	defer unix.Close(fd)
	for _, dir := range folders {
		if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN); err != nil {
			t.Skipf("NOT RUN: %v", err)
		}
	}
	f()
	events := make([]byte, 1<<16)
	for {
		size, err := unix.Read(fd, events)
		if errors.Is(err, unix.EAGAIN) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < size; n++ { // the length of the name is the last of an event's four numbers
			at += unix.SizeofInotifyEvent + int(events[at+12]) + int(events[at+13])<<8
		}
	}
}

// TestListOpensNothing: a list reads conversations that have not changed from its index,
// even after one was removed, when it checks whether others were.
func TestListOpensNothing(t *testing.T) {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, "cortext"), args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	run("init")
	for i := range 40 {
		run("new", "plan", fmt.Sprintf("topic %d", i))
	}
	run("rm", "--yes", "topic 7")
	time.Sleep(50 * time.Millisecond) // until file times tell further changes apart
	run("list", "--refresh", "--limit", "5")
	folders, err := filepath.Glob(filepath.Join(dir, "conversations/*/*/.session"))
	if err != nil || len(folders) != 39 {
		t.Fatalf("%d conversations, %v", len(folders), err)
	}
	if n := opens(t, folders, func() { run("list", "--limit", "30") }); n > 0 {
		t.Errorf("a list opened %d files of conversations", n)
	}
	if n := opens(t, folders, func() { run("show", "topic 8") }); n == 0 {
		t.Error("show opened no file of a conversation, so opens are not counted")
	}
}
