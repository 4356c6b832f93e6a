package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
	"cortext/store/secrets"
)

// theSecret needs escapes in JSON.
const theSecret = "peli\"can\\77\n\u00e9nd"

var secretPattern = regexp.MustCompile(regexp.QuoteMeta(theSecret))

// knowing tells a store what was redacted, as the user's registry does.
type knowing struct{ list []secrets.Known }

func (k *knowing) redacted(string) ([]secrets.Known, error) { return k.list, nil }

// redact redacts theSecret in a conversation on a machine that knows k.
func redact(tb testing.TB, c *Conversation, k *knowing) Places {
	tb.Helper()
	found := &secrets.Found{}
	if _, err := c.Texts(Redaction{Name: "x", Texts: secrets.Matching(secretPattern, "x", found)}); err != nil {
		tb.Fatal(err)
	}
	if len(k.list) == 0 {
		k.list = []secrets.Known{{ID: "0123456789abcdef", Name: "x", Salt: []byte("salt")}}
	}
	k.list[0].Add(found)
	places, err := c.Redact(Redaction{ID: k.list[0].ID, Name: "x", Texts: secrets.Matching(secretPattern, "x", nil)})
	if err != nil {
		tb.Fatal(err)
	}
	return places
}

// secretIn lists the files below a folder that have theSecret, escaped or not.
func secretIn(tb testing.TB, dir string) (names []string) {
	tb.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if out, _ := secrets.Matching(secretPattern, "x", nil).Loose(b, secrets.Counts{}); !bytes.Equal(out, b) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return names
}

// filesWith lists the files below a folder that have a text.
func filesWith(tb testing.TB, dir, text string) (names []string) {
	tb.Helper()
	for name, content := range snapshot(tb, dir) {
		if strings.Contains(content, text) {
			names = append(names, name)
		}
	}
	return names
}

// redactShown redacts a text in the only conversation and its sub-agents.
func redactShown(s *Store) error {
	list, err := s.List()
	if err != nil {
		return err
	}
	c, err := s.Open(list[0])
	if err != nil {
		return err
	}
	return redactAll(c)
}

func redactAll(c *Conversation) error {
	names, err := c.Subagents()
	if err == nil {
		_, err = c.Redact(Redaction{ID: "0123", Name: "x", Texts: secrets.Matching(regexp.MustCompile("quoted"), "x", nil)})
	}
	for _, name := range names {
		if err == nil {
			var sub *Conversation
			if sub, err = c.Subagent(name); err == nil {
				err = redactAll(sub)
			}
		}
	}
	return errors.Join(err, c.Close())
}

// TestRedactMeanwhile: other processes that append while a log is replaced lose nothing,
// and readers always see whole logs.
func TestRedactMeanwhile(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 20))
	n := 200
	if testing.Short() {
		n = 60
	}
	var running []*exec.Cmd
	for _, name := range []string{"p", "q"} {
		cmd := process(t, "append", s.dir, c.Path(), name, fmt.Sprint(n))
		must(t, cmd.Start())
		running = append(running, cmd)
	}
	done := make(chan error)
	go func() {
		var errs []error
		for _, cmd := range running {
			errs = append(errs, cmd.Wait())
		}
		done <- errors.Join(errs...)
	}()
	for round := 0; ; round++ {
		select {
		case err := <-done:
			must(t, err)
			ids, err := c.MessageIDs()
			if err != nil || len(ids) != 20+2*n {
				t.Errorf("%d messages after %d redactions, %v", len(ids), round, err)
			}
			wantSound(t, s)
			return
		default:
		}
		texts := secrets.Matching(regexp.MustCompile(fmt.Sprintf("message %d\\b|x{%d,}", round%20, 1+round%50)), "x", nil)
		_, err := c.Redact(Redaction{ID: fmt.Sprint(round), Name: "x", Texts: texts})
		must(t, err)
		if ids, err := c.MessageIDs(); err != nil || len(ids) < 20 {
			t.Fatalf("a reader sees %d messages, %v", len(ids), err)
		}
	}
}

// A raw history is what the agents' transcripts have: records in the order in which they
// are captured, some more than once, with more in them.
type rawHistory struct {
	r        *rand.Rand
	n        int
	messages []schema.Message
	batches  []schema.Batch
}

func (h *rawHistory) text() string {
	words := []string{"ok", "peli", "go test", `"`, "\\", "\n\n", "\u00e9", theSecret, theSecret, "[redacted: x]", "\xed\xa0\xbd"}
	var b strings.Builder
	for range h.r.IntN(6) {
		b.WriteString(words[h.r.IntN(len(words))])
		b.WriteString(" ")
	}
	return b.String()
}

// grow adds a batch: new records, and records repeated with more in them.
func (h *rawHistory) grow(clone string) {
	var b schema.Batch
	for range 1 + h.r.IntN(4) {
		n := h.n
		h.n++
		m := message(2 * n)
		m.ID, m.ParentID, m.Content, m.Reasoning = fmt.Sprintf("%s%d", clone, n), "", h.text()+fmt.Sprint(n), h.text()
		if len(h.messages) > 0 {
			m.ParentID = h.messages[len(h.messages)-1].ID
		}
		if h.r.IntN(3) == 0 {
			m.Attachments = []schema.Attachment{{MediaType: "text/plain", Name: h.text()}}
		}
		if h.r.IntN(2) == 0 {
			call := schema.Tool{ID: "t-" + m.ID, MessageID: m.ID, Name: "Bash", Input: schema.Raw(schema.AppendMessage(nil, &schema.Message{Content: h.text(), Role: "user"}))}
			call.Input = bytes.TrimSpace(call.Input)
			m.ToolCalls = []schema.ToolCall{{ID: call.ID, Name: "Bash"}}
			b.Tools = append(b.Tools, call)
			if h.r.IntN(2) == 0 { // it ends
				ok := true
				call.Output, call.Success = h.text(), &ok
				b.Tools = append(b.Tools, call)
			}
		}
		b.Messages = append(b.Messages, m)
		h.messages = append(h.messages, m)
		if h.r.IntN(4) == 0 {
			m.Content += " and " + h.text()
			b.Messages = append(b.Messages, m)
			h.messages[len(h.messages)-1] = m
		}
	}
	h.batches = append(h.batches, b)
}

// clone copies a workspace.
func cloneOf(tb testing.TB, s *Store, k *knowing) *Store {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		tb.Fatal(err)
	}
	to := unsynced(tb, dir)
	if k != nil {
		to.policy.redacted = k.redacted
	}
	return to
}

// unionOf makes of a log what git's union merge may make of it: the lines of both, the lines of both
// that the base has and a side removed left out, in some order of the blocks.
func unionOf(r *rand.Rand, ours, theirs string) string {
	lines := func(s string) []string { return strings.SplitAfter(s, "\n") }
	a, b := lines(ours), lines(theirs)
	if r.IntN(2) == 0 {
		a, b = b, a
	}
	var out []string
	for _, line := range a {
		if strings.HasSuffix(line, "\n") {
			out = append(out, line)
		}
	}
	at := 0
	for _, line := range b {
		if i := slices.Index(out, line); i >= 0 {
			at = i + 1
			continue
		}
		if strings.HasSuffix(line, "\n") {
			out = slices.Insert(out, at, line)
			at++
		}
	}
	return strings.Join(out, "")
}

func mergeInto(tb testing.TB, r *rand.Rand, to, from *Store, path string) {
	tb.Helper()
	for _, name := range []string{messagesFile, toolsFile} {
		name = path + "/" + sessionDir + "/" + name
		ours, _ := os.ReadFile(filepath.Join(to.dir, name))
		theirs, _ := os.ReadFile(filepath.Join(from.dir, name))
		if err := os.Remove(filepath.Join(to.dir, name)); err != nil && !os.IsNotExist(err) {
			tb.Fatal(err)
		}
		writeFile(tb, to, name, unionOf(r, string(ours), string(theirs)))
	}
}

// shown returns what a reader sees: messages and calls without what only tells when they
// were written, and in order.
func shown(tb testing.TB, s *Store, path string) (list []string) {
	tb.Helper()
	c, err := s.Conversation(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	h, damage, err := c.History(Limit{})
	if err != nil || len(damage) > 0 {
		tb.Fatal(err, damage)
	}
	plain := replacement{secrets.Matching(secretPattern, "x", nil), nil}
	line := func(r record) string {
		r, _, err := plain.record(r)
		if err != nil {
			tb.Fatal(err)
		}
		*r.redactions() = nil
		return string(r.encode(0))
	}
	for _, m := range h.Messages {
		m.Number = 0
		list = append(list, line(messageRecord(m)))
		for _, call := range m.ToolCalls {
			if t, ok := h.Tools[call.ID]; ok {
				list = append(list, line(toolRecord(t)))
			}
		}
	}
	return list
}

// showsSecret reports whether a reader sees theSecret in a record whose id begins with a.
func showsSecret(tb testing.TB, s *Store, path string) bool {
	tb.Helper()
	c, err := s.Conversation(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close()
	h, _, err := c.History(Limit{})
	if err != nil {
		tb.Fatal(err)
	}
	for _, m := range h.Messages {
		if strings.HasPrefix(m.ID, "a") && strings.Contains(m.Content+m.Reasoning, theSecret) {
			return true
		}
	}
	return false
}

// TestRedactGrown: a clone that does not know of the redaction writes more of a record,
// with the same rev. The redacted line counts until a machine that can repeat the
// redaction writes; then all of the record is back, redacted.
func TestRedactGrown(t *testing.T) {
	for seed := range seeds(40) {
		r := rand.New(rand.NewPCG(seed, 8))
		control := newTestStore(t)
		c := create(t, control)
		path := c.Path()
		m := message(0)
		m.ID, m.Content = "a0", "key "+theSecret
		appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}})
		k := new(knowing)
		machine, elsewhere := cloneOf(t, control, k), cloneOf(t, control, nil)
		on := func(s *Store, f func(c *Conversation)) {
			c, err := s.Conversation(path)
			if err != nil {
				t.Fatal(err)
			}
			f(c)
			c.Close()
		}
		on(machine, func(c *Conversation) { redact(t, c, k) })
		m.Content += " and " + theSecret
		for range 1 + r.IntN(3) {
			m.Content += " more"
			on(elsewhere, func(c *Conversation) { appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}}) })
		}
		on(control, func(c *Conversation) { appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}}) })
		third := cloneOf(t, elsewhere, nil)
		mergeInto(t, r, third, machine, path)
		mergeInto(t, r, machine, elsewhere, path)
		for _, s := range []*Store{third, machine} {
			if showsSecret(t, s, path) {
				t.Fatalf("seed %d: a merge shows the text", seed)
			}
			next := message(1)
			next.ParentID = "a0"
			on(s, func(c *Conversation) { appendBatch(t, c, schema.Batch{Messages: []schema.Message{next}}) })
			if showsSecret(t, s, path) {
				t.Fatalf("seed %d: a write shows the text", seed)
			}
			wantSound(t, s)
		}
		if found := secretIn(t, machine.dir+"/conversations"); len(found) > 0 {
			t.Fatalf("seed %d: still in %q", seed, found)
		}
		if got, want := shown(t, machine, path)[0], shown(t, control, path)[0]; got != want {
			t.Fatalf("seed %d: shows\n%swant\n%s", seed, got, want)
		}
	}
}

// TestRedactHistories: whatever the history, a redaction keeps ids and order and everything
// but the text. Neither a capture of the same transcript nor a merge with a clone brings
// the text back, and both still bring what is new.
func TestRedactHistories(t *testing.T) {
	for seed := range seeds(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			h := &rawHistory{r: r}
			control := newTestStore(t) // never redacted
			c := create(t, control)
			path := c.Path()
			for range 1 + r.IntN(3) {
				h.grow("a")
			}
			deliverAll := func(s *Store, batches []schema.Batch) {
				t.Helper()
				c, err := s.Conversation(path)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				for _, b := range batches {
					appendBatch(t, c, b)
				}
			}
			deliverAll(control, h.batches)
			k := new(knowing)
			machine, elsewhere := cloneOf(t, control, k), cloneOf(t, control, nil)

			// One machine redacts, another goes on.
			c, err := machine.Conversation(path)
			if err != nil {
				t.Fatal(err)
			}
			places := redact(t, c, k)
			if found := secretIn(t, machine.dir); len(found) > 0 {
				t.Fatalf("still in %q", found)
			}
			if again := redact(t, c, k); len(again) > 0 {
				t.Errorf("redacted again: %v after %v", again, places)
			}
			c.Close()
			before := readFile(t, machine, c.file(messagesFile)) + readFile(t, machine, c.file(toolsFile))
			deliverAll(machine, h.batches) // the transcript is read again
			if after := readFile(t, machine, c.file(messagesFile)) + readFile(t, machine, c.file(toolsFile)); after != before {
				t.Fatalf("captured again:\n%s\nbefore:\n%s", after, before)
			}
			if got, want := shown(t, machine, path), shown(t, control, path); !slices.Equal(got, want) {
				t.Fatalf("shows\n%s\nwant\n%s", strings.Join(got, ""), strings.Join(want, ""))
			}

			more := len(h.batches)
			for range r.IntN(3) {
				h.grow("b")
			}
			deliverAll(control, h.batches)
			if r.IntN(2) == 0 {
				deliverAll(elsewhere, h.batches[more:])
			} else {
				deliverAll(machine, h.batches[more:])
			}
			merged := cloneOf(t, elsewhere, nil) // a third machine, which knows nothing
			mergeInto(t, r, merged, machine, path)
			mergeInto(t, r, machine, elsewhere, path)
			want := shown(t, control, path)
			for name, s := range map[string]*Store{"the machine": machine, "a third": merged} {
				if got := shown(t, s, path); !slices.Equal(got, want) {
					t.Fatalf("after the merge %s shows\n%s\nwant\n%s", name, strings.Join(got, ""), strings.Join(want, ""))
				}
			}

			// The next write, a capture of everything, drops the old lines.
			deliverAll(machine, h.batches)
			deliverAll(merged, h.batches[:more])
			for name, s := range map[string]*Store{"the machine": machine, "a third": merged} {
				if got := shown(t, s, path); !slices.Equal(got, want) {
					t.Fatalf("after a write %s shows\n%s\nwant\n%s", name, strings.Join(got, ""), strings.Join(want, ""))
				}
				for line := range strings.Lines(readFile(t, s, c.file(messagesFile))) {
					if m, err := schema.ParseMessage([]byte(strings.TrimSpace(line))); err == nil && strings.HasPrefix(m.ID, "a") && strings.Contains(m.Content+m.Reasoning, theSecret) {
						t.Errorf("%s still has %s", name, line)
					}
				}
				wantSound(t, s)
			}
		})
	}
}

// seeds returns how many random histories to try.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return n / 4
	}
	return n
}
