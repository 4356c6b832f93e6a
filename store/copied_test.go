package store

import (
	"strings"
	"testing"

	"cortext/schema"
)

// TestAppendCopies: lines of a log enter a staged conversation as they are, with their revs
// and counts, except for secrets.
func TestAppendCopies(t *testing.T) {
	s := newTestStore(t)
	c, err := s.Stage("chat", "copy", &schema.Session{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tx, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	const secret = "AKIAQ7XWZ3LM5RTN2VBC"
	done := true
	lines := []schema.Message{
		{ID: "a", Role: schema.User, Content: "one", Tokens: 99},
		{ID: "a", Role: schema.User, Content: "one and more", Rev: 7},
		{Role: schema.User, Content: "no id"},
		{ID: "b", Role: schema.Assistant, Content: "the key is " + secret, Tokens: 1},
	}
	calls := []schema.Tool{{ID: "t", Name: "Bash", Rev: 3, Tokens: 5, Success: &done}, {ID: "u", Name: "Bash", Output: secret, Tokens: 5}}
	if err := tx.AppendCopies(schema.Batch{Messages: lines, Tools: calls}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	i := 0
	for m, err := range c.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		if want := lines[i]; i < 3 && (m.Content != want.Content || m.Rev != want.Rev || m.Tokens != want.Tokens) || strings.Contains(m.Content, secret) || i == 3 && m.Tokens == 1 {
			t.Errorf("line %d is %+v", i, m)
		}
		i++
	}
	for call, err := range c.Tools() {
		if err != nil || call.ID == "t" && (call.Rev != 3 || call.Tokens != 5) || strings.Contains(call.Output, secret) {
			t.Errorf("%+v, %v", call, err)
		}
	}
	if i != len(lines) || tx.Result().Redacted.Sum() != 2 {
		t.Errorf("%d lines, %v", i, tx.Result())
	}
	if err := c.Publish(); err != nil {
		t.Fatal(err)
	}
	if tx, err = c.Begin(); err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := tx.AppendCopies(schema.Batch{Messages: lines}); err == nil {
		t.Error("copies enter a conversation that others know")
	}
}

// TestRedactCopies: records are redacted by today's rules, and the caller's stay as they are.
func TestRedactCopies(t *testing.T) {
	s := newTestStore(t)
	const secret = "AKIAQ7XWZ3LM5RTN2VBC"
	sess := &schema.Session{ID: "x", Title: secret}
	b := schema.Batch{Messages: []schema.Message{{ID: "a", Role: schema.User, Content: secret, Rev: 2}}, Tools: []schema.Tool{{ID: "t", Output: secret}}}
	got, counts, err := s.RedactCopies(b, sess)
	if err != nil || counts.Sum() < 2 || got.Messages[0].Rev != 2 {
		t.Fatal(got, counts, err)
	}
	for _, text := range []string{got.Messages[0].Content, got.Tools[0].Output, sess.Title} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is not redacted", text)
		}
	}
	if b.Messages[0].Content != secret {
		t.Error("the caller's record was changed")
	}
	for _, bad := range []schema.Batch{{Messages: []schema.Message{{Role: "robot"}}}, {Tools: []schema.Tool{{}}}} {
		if _, _, err := s.RedactCopies(bad, sess); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
