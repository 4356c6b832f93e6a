package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/schema"
)

// TestBranchOfRevised checks that a later line that makes its message the newest leaf
// decides what is resumed, even if only the end is read.
func TestBranchOfRevised(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	var log strings.Builder
	line := func(id, parent string, at, rev int) {
		log.Write(schema.AppendMessage(nil, &schema.Message{ID: id, ParentID: parent, Role: schema.User, Content: id, Rev: rev,
			Timestamp: schema.NewTime(start.Add(time.Duration(at) * time.Second))}))
	}
	for i := range 100 {
		line(fmt.Sprint("a", i), fmt.Sprint("a", i-1), i, 0)
	}
	line("left", "a99", 200, 0)
	line("b", "a99", 300, 0)
	line("left", "a99", 400, 1)
	writeFile(t, s, c.file(messagesFile), log.String())
	h, _, ok, err := (historyReader{&c.Reader, Limit{Messages: 3}}).branch()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if last := h.Messages[2]; last.ID != "left" || last.Number != 102 || h.Earlier != 98 || h.Aside != 1 {
		t.Errorf("%s is number %d, %d earlier, %d aside", last.ID, last.Number, h.Earlier, h.Aside)
	}
}

// TestBranchOfOddLines checks that lines from another program or an accident are read
// like ours, wherever they are.
func TestBranchOfOddLines(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	r := rand.New(rand.NewPCG(3, 4))
	rounds := 30
	if testing.Short() { // under the race detector, too slow
		rounds = 10
	}
	for round := range rounds {
		var lines []string
		for n := range 300 {
			m := message(n)
			m.ToolCalls = []schema.ToolCall{{ID: fmt.Sprint("t", n), Name: "Read"}}
			line := strings.TrimSuffix(string(schema.AppendMessage(nil, &m)), "\n")
			switch r.IntN(12) {
			case 0: // another program's spelling
				line = fmt.Sprintf(`{ "role": "user", "content": "{\"id\":\"x\"", "parent_id": %q, "id": %q, "timestamp": %q}`, m.ParentID, m.ID, m.Timestamp)
			case 1: // the parent comes last
				line = fmt.Sprintf(`{"id":%q,"timestamp":%q,"role":"user","content":"a","parent_id":%q}`, m.ID, m.Timestamp, m.ParentID)
			case 2: // an escaped id
				line = strings.Replace(line, `{"id":"m`, `{"id":"\u006d`, 1)
			case 3:
				line = strings.Repeat("\x00", r.IntN(5)) + line
			case 4:
				m.Content = strings.Repeat("long ", []int{1, 10, 1000, 100_000}[r.IntN(4)]/(1+n%50))
				line = strings.TrimSuffix(string(schema.AppendMessage(nil, &m)), "\n")
			case 5:
				lines = append(lines, []string{"<<<<<<< HEAD", "", `{"id":"torn`, "[1]", `{"role":"nobody"}`}[r.IntN(5)])
			case 6:
				line = `{"role":"system","content":"without id"}` + "\n" + line
			}
			lines = append(lines, line)
		}
		if round%3 > 0 {
			for range 3 {
				at := 1 + r.IntN(len(lines)-1)
				lines = slices.Concat(lines[at:], lines[:at])
			}
			if round%3 == 2 {
				r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			}
		}
		var log strings.Builder
		for i, l := range lines {
			if log.WriteString(l); i%40 > 0 || !strings.HasSuffix(l, "}") { // otherwise it is welded to the next line
				log.WriteByte('\n')
			}
		}
		writeFile(t, s, c.file(messagesFile), log.String())
		limit := Limit{Messages: 1 + r.IntN(250)}
		want, _, err := (historyReader{&c.Reader, limit}).whole()
		if err != nil {
			t.Fatal(err)
		}
		got, _, ok, err := (historyReader{&c.Reader, limit}).branch()
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if a, b := spell(got), spell(want); a != b {
			t.Fatalf("round %d, %+v: %d messages, want %d; they differ after %.2000s", round, limit, len(got.Messages), len(want.Messages), b[:differ(a, b)][max(differ(a, b)-300, 0):])
		}
		for i := range got.Messages {
			if got.Messages[i].Number != want.Messages[i].Number {
				t.Fatalf("round %d: %s is number %d, want %d", round, got.Messages[i].ID, got.Messages[i].Number, want.Messages[i].Number)
			}
		}
	}
}

// differ returns the offset at which two texts begin to differ.
func differ(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// TestNewerElsewhere: session.json knows about a message newer than the end that samples of
// the log do not find.
func TestNewerElsewhere(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	const ours = 5000 // messages of 1 KB after the newer one
	var log []byte
	add := func(id, parent string, at int) {
		log = schema.AppendMessage(log, &schema.Message{ID: id, ParentID: parent, Role: schema.User, Content: strings.Repeat("x", 1000),
			Timestamp: schema.NewTime(start.Add(time.Duration(at) * time.Second))})
	}
	add("first", "", 0)
	add("newer", "first", 2*ours)
	parent := "first"
	for n := range ours {
		add(fmt.Sprint("o", n), parent, 1+n)
		parent = fmt.Sprint("o", n)
	}
	writeFile(t, s, c.file(messagesFile), string(log))
	err := c.Edit(func(s *schema.Session) error {
		s.MessageCount, s.CountedBytes, s.LastActive = ours+2, int64(len(log)), schema.NewTime(start.Add(2*ours*time.Second))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from the cached result
		h, _, err := c.History(Limit{Messages: 1})
		if err != nil || len(h.Messages) != 1 || h.Messages[0].ID != "newer" || h.Messages[0].Number != ours+2 {
			t.Errorf("%v, %v", spell(h), err)
		}
	}
}
