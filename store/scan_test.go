package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Blocks that divide a log anywhere yield each of its lines once.
func TestBlocksYieldEachLineOnce(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	file := filepath.Join(s.Root(), c.Path(), sessionDir, messagesFile)
	r := rand.New(rand.NewPCG(1, 2))
	var want bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&want, `{"id":"m%d","content":"%s"}`+"\n", i, strings.Repeat("x", r.IntN(20000)))
	}
	if err := os.WriteFile(file, want.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, ok := c.OpenLogs()
	if !ok {
		t.Fatal("the records are not in two files")
	}
	defer logs.Close()
	if logs.Messages.Size() != int64(want.Len()) || logs.Messages.Err() != nil {
		t.Fatalf("size %d, error %v; want %d", logs.Messages.Size(), logs.Messages.Err(), want.Len())
	}
	check := func() {
		t.Helper()
		cut := r.Int64N(int64(want.Len()))
		var got bytes.Buffer
		for _, part := range [][2]int64{{0, cut}, {cut, int64(want.Len())}} {
			for b, err := range logs.Messages.Blocks(part[0], part[1]) {
				if err != nil {
					t.Fatal(err)
				}
				if b.Offset != int64(got.Len()) {
					t.Fatalf("cut at %d: a block at %d; want %d", cut, b.Offset, got.Len())
				}
				got.Write(b.Text)
			}
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("cut at %d: the blocks differ from the log", cut)
		}
	}
	for range 50 {
		check()
	}
	if _, err := logs.Messages.Load(nil); err != nil {
		t.Fatal(err)
	}
	check()
}

// The memory for a line that ends after the wanted part is in proportion to the line.
func TestBlockOfLongLine(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	line := `{"id":"m1","content":"` + strings.Repeat("x", 600_000) + `"}` + "\n"
	if err := os.WriteFile(filepath.Join(s.Root(), c.Path(), sessionDir, messagesFile), []byte(line+line), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, ok := c.OpenLogs()
	if !ok {
		t.Fatal("the records are not in two files")
	}
	defer logs.Close()
	r := blockReader{Log: logs.Messages, buf: make([]byte, blockSize), to: 1}
	b, err := r.next()
	if err != nil || string(b.Text) != line {
		t.Fatalf("%d bytes, want %d, error %v", len(b.Text), len(line), err)
	}
	if len(r.buf) > 2*len(line) {
		t.Errorf("the buffer has %d bytes for a line of %d", len(r.buf), len(line))
	}
}

// A look survives its encoding, and differs once the log has grown.
func TestLookTellsChanges(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	before, ok := s.Folders().Look(c.Path())
	if !ok {
		t.Fatal("no look at a conversation")
	}
	b := before.AppendTo(nil)
	if len(b) != LookBytes || DecodeLook(b) != before {
		t.Fatalf("the look differs after encoding: %v", b)
	}
	file := filepath.Join(s.Root(), c.Path(), sessionDir, messagesFile)
	if err := os.WriteFile(file, []byte("{\"id\":\"m1\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if after, _ := s.Folders().Look(c.Path()); after == before {
		t.Error("the look is the same after the log grew")
	}
	e, _, _, ok := s.Describe(c.Path())
	if !ok || e.Path != c.Path() || !e.KnowsID() {
		t.Errorf("described %+v, %v", e, ok)
	}
	if _, _, _, ok := s.Describe("conversations/none"); ok {
		t.Error("a folder that does not exist is described")
	}
	if list := s.ListOf([]string{c.Path(), "conversations/none"}); len(list) != 1 || list[0].Path != c.Path() {
		t.Errorf("listed %v", list)
	}
}
