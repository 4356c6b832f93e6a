package fork

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

func open(t *testing.T) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(workspace.Env{Dir: dir, Now: time.Now, Holder: "test", Machine: inject.Machine{Home: t.TempDir(), Getenv: func(string) string { return "" }}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// begin creates a conversation with some records.
func begin(t *testing.T, w *workspace.Workspace, title string, b schema.Batch) store.Entry {
	t.Helper()
	s := &schema.Session{ConversationType: "plan", Title: title, Tags: []string{"x"}, Sources: []schema.Source{{Agent: "claude", NativeID: "one"}, {Agent: "gemini", NativeID: "two"}}}
	c, err := w.Store.Create("plan", title, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Append(b); err != nil {
		t.Fatal(err)
	}
	e, err := w.Entry(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// random returns n messages in a random tree, some with calls and later revisions.
func random(r *rand.Rand, n int) (b schema.Batch) {
	for i := range n {
		m := schema.Message{ID: fmt.Sprintf("m%d-%x", i, r.Uint32()), Role: schema.User, Content: fmt.Sprintf("text %d", i), Source: "one", Timestamp: schema.NewTime(time.Unix(1_763_800_000+int64(r.IntN(3*n)), 0))}
		if r.IntN(3) > 0 {
			m.Role, m.Source, m.Usage = schema.Assistant, "two", &schema.Usage{PromptTokens: 10}
		}
		if i > 0 {
			parent := len(b.Messages) - 1
			if r.IntN(4) == 0 {
				parent = r.IntN(len(b.Messages))
			}
			m.ParentID = b.Messages[parent].ID
		} else {
			m.ParentID = "elsewhere"
		}
		for range r.IntN(3) {
			call := schema.Tool{ID: fmt.Sprintf("t%x", r.Uint32()), MessageID: m.ID, Name: "Read", Input: schema.Raw(`{"a": 1}`), Timestamp: m.Timestamp}
			m.ToolCalls = append(m.ToolCalls, schema.ToolCall{ID: call.ID, Name: call.Name})
			b.Tools = append(b.Tools, call)
			if r.IntN(2) == 0 {
				done := true
				call.Output, call.Success = "read", &done
				b.Tools = append(b.Tools, call)
			}
		}
		b.Messages = append(b.Messages, m)
		if r.IntN(5) == 0 {
			m.Content += " and more"
			b.Messages = append(b.Messages, m)
		}
	}
	return b
}

// said formats what a history says, without what a copy drops or changes.
func said(h schema.History, upTo int) string {
	var b strings.Builder
	for i := range h.Messages[:upTo] {
		m := &h.Messages[i]
		fmt.Fprintln(&b, m.ID, m.Role, m.Content, m.Timestamp, m.Model, m.Tokens)
		for _, t := range h.Calls(m) {
			fmt.Fprintln(&b, t.ID, t.Name, string(t.Input), t.Output, t.Tokens)
		}
	}
	return b.String()
}

func historyOf(t *testing.T, w *workspace.Workspace, e store.Entry, end string) schema.History {
	t.Helper()
	c, err := w.Open(e)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	h, damage, err := c.History(store.Limit{End: end})
	if err != nil || len(damage) > 0 {
		t.Fatal(damage, err)
	}
	return h
}

// TestFrom forks random conversations at random messages: the copy says what the branch up
// to there says, is one thread without damage, and claims no native session.
func TestFrom(t *testing.T) {
	w, other := open(t), open(t)
	r := rand.New(rand.NewPCG(19, 7))
	for n := range 12 {
		b := random(r, 2+r.IntN(25))
		e := begin(t, w, fmt.Sprintf("title %d", n), b)
		at := b.Messages[r.IntN(len(b.Messages))]
		old := historyOf(t, w, e, at.ID)
		to := []*workspace.Workspace{w, other}[n%2]
		f, err := From(w, to, e, Options{Choice: history.Choice{At: at.ID}})
		length := len(old.Messages)
		if at.Role == schema.User {
			length--
		}
		if length == 0 {
			if empty := (*EmptyError)(nil); !errors.As(err, &empty) {
				t.Errorf("a fork before the first message: %v", err)
			}
			continue
		}
		if err != nil || len(f.Warnings) > 0 {
			t.Fatal(f, err)
		}
		if got := historyOf(t, to, f.Entry, ""); len(got.Messages) != length || said(got, length) != said(old, length) {
			t.Errorf("the copy says\n%swant\n%s", said(got, len(got.Messages)), said(old, length))
		}
		s := f.Entry.Session
		last := old.Messages[length-1]
		if s.Links == nil || s.Links.Parent != e.Session.ID || s.Links.MessageID != last.ID || len(s.Sources) > 0 || s.Usage != nil || s.MessageCount != length ||
			s.ConversationType != "plan" || !slices.Equal(s.Tags, []string{"x"}) || s.AgentConfig.Agent != e.Session.AgentOf(last.Source) {
			t.Errorf("session %+v, links %+v", s, s.Links)
		}
		if want := s.Title == e.Session.Title; want != (to == other) {
			t.Errorf("title %q for %q", s.Title, e.Session.Title)
		}
		if e, err = w.Entry(e.Path); err != nil || !slices.Contains(e.Session.Links.Related, s.ID) {
			t.Errorf("the old one is related to %+v, %v", e.Session.Links, err)
		}
	}
	for _, w := range []*workspace.Workspace{w, other} {
		for d := range w.Store.Check() {
			t.Error(d.Error())
		}
	}
}

// TestFromOld forks a conversation of version 1.0, whose messages have no ids, and one with
// a damaged line.
func TestFromOld(t *testing.T) {
	w := open(t)
	e := begin(t, w, "old", schema.Batch{Messages: []schema.Message{
		{Role: schema.User, Content: "one"}, {Role: schema.Assistant, Content: "two"}, {Role: schema.User, Content: "three"}, {Role: schema.Assistant, Content: "four"},
	}})
	f, err := From(w, w, e, Options{Choice: history.Choice{At: "2"}})
	if err != nil || f.Messages != 2 {
		t.Fatal(f, err)
	}
	h := historyOf(t, w, f.Entry, "")
	if len(h.Messages) != 2 || h.Messages[1].Content != "two" {
		t.Errorf("%+v", h.Messages)
	}

	log := filepath.Join(w.Store.Root(), filepath.FromSlash(e.Path), ".session", "messages.jsonl")
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, append([]byte("not a record\n"), b...), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err = From(w, w, e, Options{}); err != nil || f.Messages != 4 || len(f.Warnings) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestFromFails: a fork that cannot be written leaves nothing behind, and the old
// conversation as it was.
func TestFromFails(t *testing.T) {
	w := open(t)
	e := begin(t, w, "old", schema.Batch{Messages: []schema.Message{{ID: "a", Role: schema.User, Content: "one"}, {ID: "b", ParentID: "a", Role: schema.Assistant, Content: "two"}}})
	for _, o := range []Options{
		{Title: strings.Repeat("x", 1000)},
		{Choice: history.Choice{At: "c"}},
		{Choice: history.Choice{At: "99999999999999999999"}},
		{Choice: history.Choice{Branch: 2}},
		{Choice: history.Choice{Branch: -1}},
	} {
		if f, err := From(w, w, e, o); err == nil {
			t.Errorf("%+v: %+v", o, f)
		}
	}
	staged := filepath.Join(w.Store.Root(), ".workspace", "local", "cache", "new")
	if err := os.RemoveAll(staged); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(staged, nil, 0o600); err != nil { // nothing can be assembled there
		t.Fatal(err)
	}
	if f, err := From(w, w, e, Options{}); err == nil {
		t.Errorf("%+v", f)
	}
	all, err := w.Store.List()
	if err != nil || len(all) != 1 || all[0].Session.Links != nil {
		t.Errorf("%+v, %v", all, err)
	}
}
