package store

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/schema"
)

// A clone takes part in a random history: two clones append to it, rewind, add revs, and
// merge by keeping the lines of both.
type clone struct {
	messages, tools []string
	ids             []string                  // of its messages, in order
	last            map[string]schema.Message // their current state
	calls           map[string]schema.Tool
}

func (c *clone) copy() *clone {
	return &clone{slices.Clone(c.messages), slices.Clone(c.tools), slices.Clone(c.ids), maps.Clone(c.last), maps.Clone(c.calls)}
}

type randomHistory struct {
	r     *rand.Rand
	clock int
	next  int
}

// step makes a clone write something.
func (g *randomHistory) step(c *clone) {
	g.clock += 1 + g.r.IntN(3)
	at := schema.NewTime(start.Add(time.Duration(g.clock) * time.Second))
	switch k := g.r.IntN(14); {
	case k == 0 && len(c.ids) > 0: // a message grows
		m := c.last[c.ids[max(0, len(c.ids)-1-g.r.IntN(3))]]
		m.Content += " more"
		m.Rev++
		m.Tokens += 1
		if g.r.IntN(4) == 0 { // written by another program: ours keeps the time
			m.Timestamp = at
		}
		c.last[m.ID] = m
		c.messages = append(c.messages, string(schema.AppendMessage(nil, &m)))
	case k == 1: // an event without id
		c.messages = append(c.messages, string(schema.AppendMessage(nil, &schema.Message{Role: schema.System, Content: "event", Timestamp: at, Tokens: 1})))
	case k == 2 && len(c.calls) > 0: // a call ends
		ids := slices.Sorted(maps.Keys(c.calls))
		t := c.calls[ids[g.r.IntN(len(ids))]]
		ok := true
		t.Success, t.Output, t.Tokens = &ok, t.Output+"done", t.Tokens+1
		t.Rev++
		c.calls[t.ID] = t
		c.tools = append(c.tools, string(schema.AppendTool(nil, &t)))
	default:
		m := schema.Message{ID: fmt.Sprintf("m%d", g.next), Role: schema.User, Timestamp: at, Content: fmt.Sprint("message ", g.next), Tokens: 1 + g.r.IntN(9)}
		g.next++
		if n := len(c.ids); n > 0 {
			m.ParentID = c.ids[n-1]
			if k == 3 { // a rewind
				m.ParentID = c.ids[g.r.IntN(n)]
			}
			if k == 4 { // another native session
				m.ParentID = ""
			}
		}
		for range g.r.IntN(3) {
			t := schema.Tool{ID: fmt.Sprintf("t%d", g.next), MessageID: m.ID, Name: "Bash", Tokens: 1 + g.r.IntN(9)}
			g.next++
			m.ToolCalls = append(m.ToolCalls, schema.ToolCall{ID: t.ID, Name: t.Name})
			if g.r.IntN(10) > 0 { // otherwise it was never written
				c.calls[t.ID] = t
				c.tools = append(c.tools, string(schema.AppendTool(nil, &t)))
			}
		}
		c.ids = append(c.ids, m.ID)
		c.last[m.ID] = m
		c.messages = append(c.messages, string(schema.AppendMessage(nil, &m)))
	}
}

// union merges the lines that two clones added after base, as git does.
func union(base int, a, b []string) []string {
	return append(slices.Clone(a), b[base:]...)
}

func (g *randomHistory) make(merges bool) *clone {
	c := &clone{last: map[string]schema.Message{}, calls: map[string]schema.Tool{}}
	for range 1 + g.r.IntN(4) {
		for range g.r.IntN(15) {
			g.step(c)
		}
		if !merges || g.r.IntN(2) == 0 {
			continue
		}
		other := c.copy()
		base, baseTools := len(c.messages), len(c.tools)
		for range g.r.IntN(12) {
			if g.r.IntN(2) == 0 {
				g.step(c)
			} else {
				g.step(other)
			}
		}
		if g.r.IntN(3) == 0 { // both captured the same record
			other.messages = append(other.messages, c.messages[base:base+g.r.IntN(len(c.messages)-base+1)]...)
		}
		c.messages = union(base, c.messages, other.messages)
		c.tools = union(baseTools, c.tools, other.tools)
		maps.Copy(c.calls, other.calls)
		for _, id := range other.ids {
			if m, ok := c.last[id]; !ok || m.Rev < other.last[id].Rev {
				c.last[id] = other.last[id]
			}
			if !slices.Contains(c.ids, id) {
				c.ids = append(c.ids, id)
			}
		}
	}
	return c
}

// TestTailIsTheEndOfAll checks that a limit returns the end of what is returned without
// one.
func TestTailIsTheEndOfAll(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	g := randomHistory{r: rand.New(rand.NewPCG(7, 7))}
	tails, fallbacks, branches := 0, 0, 0
	rounds := 500
	if testing.Short() { // under the race detector; coverage comes from the full run
		rounds = 60
	}
	for n := range rounds {
		h := g.make(n%2 == 0)
		writeFile(t, s, c.file(messagesFile), strings.Join(h.messages, ""))
		writeFile(t, s, c.file(toolsFile), strings.Join(h.tools, ""))
		_, all, damage := history(t, c, Limit{})
		if damage != nil {
			t.Fatal(damage)
		}
		for range 6 {
			limit := Limit{Messages: g.r.IntN(12), Tokens: g.r.IntN(60)}
			if len(h.ids) > 0 && g.r.IntN(2) == 0 {
				limit = Limit{Tokens: g.r.IntN(2) * 100, After: h.ids[g.r.IntN(len(h.ids))]}
			}
			got, gotDamage, err := c.History(limit)
			if err != nil || gotDamage != nil {
				t.Fatal(gotDamage, err)
			}
			want, _, err := (historyReader{&c.Reader, limit}).whole()
			if err != nil {
				t.Fatal(err)
			}
			if _, _, ok, _ := (historyReader{&c.Reader, limit}).tail(); ok {
				tails++
			} else {
				fallbacks++
			}
			ways := []schema.History{got}
			if got, _, ok, err := (historyReader{&c.Reader, limit}).branch(); err != nil {
				t.Fatal(err)
			} else if ok {
				branches++
				ways = append(ways, got)
			}
			for _, got := range ways {
				if a, b := spell(got), spell(want); a != b {
					t.Fatalf("limit %+v of\n%s%s\ngives\n%s\nwant\n%s", limit, strings.Join(h.messages, ""), strings.Join(h.tools, ""), a, b)
				}
				// After a union merge in git, a repeated line may belong to a message
				// whose first line is further up. Reading the end alone takes it for a
				// message of its own.
				exact := !repeats(h.messages)
				for i := range min(len(got.Messages), len(want.Messages)) {
					if a, b := got.Messages[i].Number, want.Messages[i].Number; exact && a != b || i > 0 && a <= got.Messages[i-1].Number {
						t.Fatalf("limit %+v of\n%s\nmessage %s is number %d, want %d", limit, strings.Join(h.messages, ""), got.Messages[i].ID, a, b)
					}
				}
				if got.Earlier+got.Aside != want.Earlier+want.Aside || exact && got.Aside != want.Aside {
					t.Fatalf("limit %+v of\n%s\n%d earlier and %d aside, want %d and %d", limit, strings.Join(h.messages, ""), got.Earlier, got.Aside, want.Earlier, want.Aside)
				}
			}
			if a, b := spell(all), spell(got); !strings.Contains(a, strings.Split(b, "--")[0]) {
				t.Fatalf("limit %+v gives what is not the end of all", limit)
			}
		}
	}
	t.Logf("%d by the tail, %d by the branch, %d by reading all", tails, branches, fallbacks)
	if tails < fallbacks/4 || branches < tails/4 {
		t.Error("hardly any was read by the tail")
	}
}

// repeats reports whether a log has a line twice.
func repeats(log []string) bool {
	seen := map[string]bool{}
	return slices.ContainsFunc(log, func(l string) bool {
		again := seen[l] && strings.Contains(l, `"id"`)
		seen[l] = true
		return again
	})
}

// spell spells the records of a history.
func spell(h schema.History) string {
	var b []byte
	for i := range h.Messages {
		b = schema.AppendMessage(b, &h.Messages[i])
	}
	b = append(b, "--"...)
	for _, id := range slices.Sorted(maps.Keys(h.Tools)) {
		t := h.Tools[id]
		b = schema.AppendTool(b, &t)
	}
	return string(b)
}

func TestLimits(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	var b schema.Batch
	for n := range 10 {
		m := message(n)
		m.Content = strings.Repeat("word ", 10) // 11 tokens
		if n%2 == 1 {
			b.Tools = append(b.Tools, tool(n))
		}
		b.Messages = append(b.Messages, m)
	}
	appendBatch(t, c, b)
	per := 0
	for m := range c.Messages() {
		per = m.Tokens
	}
	call := 0
	for tl := range c.Tools() {
		call = tl.Tokens
	}
	for _, tt := range []struct {
		limit Limit
		want  int
	}{
		{Limit{}, 10},
		{Limit{Messages: 3}, 3},
		{Limit{Messages: 30}, 10},
		{Limit{Tokens: 1}, 1},              // the message that exceeds it is returned
		{Limit{Tokens: per + call - 1}, 1}, // m9 and its call
		{Limit{Tokens: per + call}, 2},     // just not exceeded
		{Limit{Tokens: 2*per + call}, 3},   // m8 has no call
		{Limit{Tokens: math.MaxInt32}, 10},
		{Limit{Messages: 2, Tokens: math.MaxInt32}, 2},
		{Limit{Messages: 9, Tokens: 1}, 1},
		{Limit{After: "m6"}, 3},
		{Limit{After: "m6", Messages: 2}, 2},
		{Limit{After: "m1", Tokens: per}, 1},
		{Limit{After: "none"}, 10},
	} {
		for _, read := range []func() (schema.History, []Damage, error){func() (schema.History, []Damage, error) { return c.History(tt.limit) }, historyReader{&c.Reader, tt.limit}.whole} {
			h, _, err := read()
			if err != nil || len(h.Messages) != tt.want || h.Earlier != 10-tt.want || h.Messages[len(h.Messages)-1].ID != "m9" {
				t.Errorf("%+v: %d messages, %d earlier, %v, want %d", tt.limit, len(h.Messages), h.Earlier, err, tt.want)
			}
		}
	}
}

// TestDoubledRoot checks that two equal lines without a parent are one message.
func TestDoubledRoot(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	m := message(0)
	line := string(schema.AppendMessage(nil, &m))
	writeFile(t, s, c.file(messagesFile), line+line)
	if ids, _, _ := history(t, c, Limit{Messages: 2}); len(ids) != 1 {
		t.Errorf("%v", ids)
	}
}

// TestDamageInTheTail checks that damage in what is read is reported and hides nothing.
func TestDamageInTheTail(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 8))
	lines := strings.SplitAfter(readFile(t, s, c.file(messagesFile)), "\n")
	lines[6] = "{broken\n" + strings.TrimSuffix(lines[6], "\n") // welded to the next line
	writeFile(t, s, c.file(messagesFile), strings.Join(lines, "")+`{"id":"torn`)
	h, damage, ok, err := (historyReader{&c.Reader, Limit{Messages: 3}}).tail()
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if len(h.Messages) != 3 || h.Messages[0].ID != "m5" {
		t.Errorf("%v", spell(h))
	}
	var kinds []string
	for _, d := range damage {
		kinds = append(kinds, string(d.Kind))
	}
	if !slices.Equal(kinds, []string{"broken line", "welded records", "torn tail"}) {
		t.Errorf("damage %q", kinds)
	}
}

// TestNewerBefore checks that a newer branch that a merge put before the end is found,
// near or far.
func TestNewerBefore(t *testing.T) {
	line := func(n, size int) string {
		m := message(n)
		m.Content = strings.Repeat("x", size)
		return string(schema.AppendMessage(nil, &m))
	}
	for _, tt := range []struct {
		name    string
		ours    int // messages of 1 KB after the newer ones
		between int // the number of newer messages
		want    bool
	}{
		{"near", 3, 1, true},
		{"at the end of the window", 900, 1, true},
		{"far, as long as what follows", 5000, 5000, true},
		{"far, half as long", 5000, 2600, true},
		{"none", 5000, 0, false},
	} {
		var b strings.Builder
		b.WriteString(line(0, 10))
		for i := range tt.between {
			b.WriteString(line(100_000+i, 1000))
		}
		end := 0
		for i := range tt.ours {
			end = b.Len()
			b.WriteString(line(1+i, 1000))
		}
		log, last := strings.NewReader(b.String()), message(tt.ours).Timestamp
		got, err := newerBefore(log, int64(end), last, nil)
		sampled, sampleErr := newerInSamples(log, int64(end), last)
		if (got || sampled) != tt.want || err != nil || sampleErr != nil {
			t.Errorf("%s: %v, %v, %v, %v", tt.name, got, sampled, err, sampleErr)
		}
	}
}

// A damaged line follows no message, whatever parent it names before the damage.
func TestNewerBeforeDamaged(t *testing.T) {
	newer, end := message(9), message(1)
	log := string(schema.AppendMessage(nil, &newer)) + `{"id":"torn","parent_id":"` + newer.ID + `","timestamp":"20` + "\n"
	got, err := newerBefore(strings.NewReader(log+string(schema.AppendMessage(nil, &end))), int64(len(log)), end.Timestamp, nil)
	if !got || err != nil {
		t.Errorf("%v, %v: a damaged line hides the newest message", got, err)
	}
}

// TestTailReadsLittle checks that reading the last messages of a long conversation does
// not read all of it.
func TestTailReadsLittle(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	c.Close()
	f, err := os.Create(filepath.Join(s.dir, c.file(messagesFile)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// Unwritten ranges read as NULs and take no disk space. A reader that came this far
	// would report them.
	if err := f.Truncate(8 << 30); err != nil {
		t.Skip("NOT RUN: no sparse files here:", err)
	}
	if _, err := f.WriteAt([]byte("\n"), 8<<30-1); err != nil {
		t.Skip("NOT RUN: no sparse files here:", err)
	}
	if _, err := f.Seek(0, 2); err != nil {
		t.Fatal(err)
	}
	for n := range 2000 {
		m := message(n + 1)
		m.Tokens = 5
		if _, err := f.Write(schema.AppendMessage(nil, &m)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	err = c.Edit(func(s *schema.Session) error { s.MessageCount, s.CountedBytes = 1_000_000, info.Size(); return nil })
	if err != nil {
		t.Fatal(err)
	}
	h, damage, err := c.History(Limit{Messages: 20})
	if err != nil || damage != nil || len(h.Messages) != 20 || h.Earlier != 1_000_000-20 || h.Messages[19].ID != "m2000" {
		t.Errorf("%d messages, %d earlier, %v, %v", len(h.Messages), h.Earlier, damage, err)
	}
}

// TestStagedReadsTheSame checks that a conversation reads the same before it is published,
// when its records may be in memory, as afterwards.
func TestStagedReadsTheSame(t *testing.T) {
	g := randomHistory{r: rand.New(rand.NewPCG(8, 8))}
	for n := range 40 {
		s := newTestStore(t)
		c, err := s.Stage("chat", "staged", &schema.Session{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		h := g.make(n%2 == 0)
		var b schema.Batch
		for _, line := range h.messages {
			m, err := schema.ParseMessage([]byte(strings.TrimSpace(line)))
			if err != nil {
				t.Fatal(err)
			}
			if b.Messages = append(b.Messages, m); n == 0 && len(b.Messages) == 1 {
				b.Messages[0].Content += strings.Repeat(" long", mostHeld/5)
			}
		}
		for _, line := range h.tools {
			call, err := schema.ParseTool([]byte(strings.TrimSpace(line)))
			if err != nil {
				t.Fatal(err)
			}
			call.Name = []string{"Bash", "Plan"}[len(call.ID)%2]
			b.Tools = append(b.Tools, call)
		}
		appendBatch(t, c, b)
		if large := n == 0 && len(b.Messages) > 0; c.written.isHeld() == large {
			t.Errorf("%d messages are in memory: %t", len(b.Messages), !large)
		}
		read := func() (all []string) {
			for _, limit := range []Limit{{}, {Tokens: 50}, {Messages: 3}} {
				_, h, damage := history(t, c, limit)
				all = append(all, spell(h), fmt.Sprint(h.Earlier, h.Aside, damage))
			}
			for m, err := range c.Settled().Messages() {
				all = append(all, string(schema.AppendMessage(nil, &m)), fmt.Sprint(err))
			}
			for call, err := range c.Settled().CallsTo(func(tool string) bool { return tool == "Plan" }) {
				all = append(all, string(schema.AppendTool(nil, &call)), fmt.Sprint(err))
			}
			return all
		}
		staged := read()
		if err := c.Publish(); err != nil {
			t.Fatal(err)
		}
		if got := read(); !slices.Equal(got, staged) {
			t.Fatalf("staged it reads\n%.2000q\nand published\n%.2000q", staged, got)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
