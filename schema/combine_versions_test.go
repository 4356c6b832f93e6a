package schema

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// versions returns a text as two clones left it that redacted one of two secrets each.
func versions(text string) (string, string) {
	mark := "[redacted: by-user]"
	return strings.ReplaceAll(text, "amy", mark), strings.ReplaceAll(text, "bob", mark)
}

// TestCombineMessages: if two clones redacted different texts of a message, the combination has
// neither text and everything else, in whatever order they meet.
func TestCombineMessages(t *testing.T) {
	make := func(texts []string, redaction string) *Message {
		m := &Message{ID: "m", Role: Assistant, Content: strings.Join(texts, TextJoint), Rev: 3, Redacted: []string{redaction}}
		for _, text := range texts {
			m.Blocks = append(m.Blocks, Block{Type: TextBlock, Bytes: len(text)})
		}
		return m
	}
	for _, texts := range [][]string{{"amy met bob"}, {"amy", "bob"}, {"to bob", "and amy", "again bob"}, {"one\n\ntwo amy", "bob"}} {
		var a, b []string
		for _, text := range texts {
			x, y := versions(text)
			a, b = append(a, x), append(b, y)
		}
		one, two := make(a, "aaaa"), make(b, "bbbb")
		got, ok := one.Combine(two)
		other, _ := two.Combine(one)
		want := strings.NewReplacer("amy", "[redacted: by-user]", "bob", "[redacted: by-user]").Replace(strings.Join(texts, TextJoint))
		if !ok || got.Content != want || got.Rev != 4 || !slices.Equal(got.Redacted, []string{"aaaa", "bbbb"}) {
			t.Errorf("%q: %t, %+v", texts, ok, got)
		}
		if !bytes.Equal(AppendMessage(nil, &got), AppendMessage(nil, &other)) {
			t.Errorf("%q: %+v in one order, %+v in the other", texts, got, other)
		}
		if parts, ok := got.Texts(); !ok || strings.Join(parts, TextJoint) != want || len(parts) != len(texts) {
			t.Errorf("%q has the texts %q", texts, parts)
		}
		if _, ok := one.Combine(one); ok {
			t.Errorf("%q: a version is combined with itself", texts)
		}
	}
	if _, ok := make([]string{"one"}, "aaaa").Combine(make([]string{"two"}, "bbbb")); ok {
		t.Error("two messages are combined")
	}
}

// TestCombineTools is TestCombineMessages for calls.
func TestCombineTools(t *testing.T) {
	make := func(output, redaction string) *Tool {
		return &Tool{ID: "t", MessageID: "m", Name: "Bash", Output: output, Rev: 1, Redacted: []string{redaction}}
	}
	a, b := versions("amy and bob")
	got, ok := make(a, "aaaa").Combine(make(b, "bbbb"))
	if !ok || got.Output != "[redacted: by-user] and [redacted: by-user]" || got.Rev != 2 || len(got.Redacted) != 2 {
		t.Errorf("%t, %+v", ok, got)
	}
	if _, ok := make("one", "aaaa").Combine(make("two", "bbbb")); ok {
		t.Error("two calls are combined")
	}
}

// TestMergeRedactedApart: merged files have nothing of what either clone redacted, in any
// member, and do not depend on the order.
func TestMergeRedactedApart(t *testing.T) {
	session := func(change func(string) string) *Session {
		return &Session{
			Version: Version, ID: "01ke6jq302v5c77nbvtdhg5gya", Status: Active, ConversationType: "plan",
			CreatedAt: "2026-01-01T00:00:00.000Z", LastActive: "2026-01-01T00:00:00.000Z",
			Title: change("amy calls bob"), Notes: change("notes of amy and bob"), Tags: []string{change("amy and bob"), "kept"},
			Plan: &Plan{Steps: []Step{{Content: change("bob before amy")}}},
		}
	}
	marshal := func(s *Session) []byte {
		raw, err := s.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	before := session(func(s string) string { return s })
	redact := func(change func(string) string, minute int) []byte {
		s := session(change)
		s.Stamp(before, time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC))
		s.TagsSet = slices.DeleteFunc(s.TagsSet, func(tag TagStamp) bool { return tag.Tag == before.Tags[0] }) // as a redaction does
		return marshal(s)
	}
	base := marshal(before)
	a := redact(func(s string) string { x, _ := versions(s); return x }, 1)
	b := redact(func(s string) string { _, y := versions(s); return y }, 2)
	got, err := MergeSessionFiles(base, a, b)
	other, err2 := MergeSessionFiles(base, b, a)
	if err != nil || err2 != nil || !bytes.Equal(got, other) {
		t.Fatalf("%s\n%s\n%v, %v", got, other, err, err2)
	}
	if bytes.Contains(got, []byte("amy")) || bytes.Contains(got, []byte("bob")) || !bytes.Contains(got, []byte("kept")) {
		t.Errorf("merged: %s", got)
	}
	got, err = MergeSessionFiles(nil, marshal(session(func(s string) string { x, _ := versions(s); return x })), marshal(session(func(s string) string { _, y := versions(s); return y })))
	if err != nil || !bytes.Contains(got, []byte(`"tags": ["[redacted: by-user] and [redacted: by-user]","kept"]`)) {
		t.Errorf("tags without stamps: %s, %v", got, err)
	}
	if _, err := MergeSessionFiles(base, []byte("broken"), b); err == nil {
		t.Error("a broken side is merged")
	}
	if _, err := MergeSessionFiles(base, a, []byte("broken")); err == nil {
		t.Error("a broken side is merged")
	}
	summary := func(text string, minute int) []byte {
		s := &Summary{Version: "1.0", First: "a", Last: "b", MessageCount: 2, CreatedAt: Time(fmt.Sprintf("2026-01-01T00:%02d:00.000Z", minute)), Content: text, Members: "sha256:" + strings.Repeat("0", 64), Method: Extracted}
		raw, err := s.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	x, y := versions("amy told bob")
	for _, minutes := range [][2]int{{1, 1}, {1, 2}, {2, 1}} {
		got, err := MergeSummaryFiles(summary(x, minutes[0]), summary(y, minutes[1]))
		if err != nil || bytes.Contains(got, []byte("amy")) || bytes.Contains(got, []byte("bob")) || !bytes.Contains(got, []byte(fmt.Sprintf("00:%02d:", max(minutes[0], minutes[1])))) {
			t.Errorf("%v: %s, %v", minutes, got, err)
		}
	}
	for _, sides := range [][2][]byte{{summary(x, 1), []byte("broken")}, {[]byte("broken"), summary(x, 1)}} {
		if _, err := MergeSummaryFiles(sides[0], sides[1]); err == nil {
			t.Errorf("%s and %s are merged", sides[0], sides[1])
		}
	}
}

// TestNotesOfTwoSides: notes that both sides added to have what they had in common once.
func TestNotesOfTwoSides(t *testing.T) {
	for _, test := range []struct {
		texts []string
		want  string
	}{
		{[]string{"base\n\nleft", "base\n\nright"}, "base\n\nleft\n\nright"},
		{[]string{"base", "base"}, "base"},
		{[]string{"base\n\nmore", "base"}, "base\n\nmore"},
		{[]string{"", "one"}, "one"},
		{[]string{"if {\n\n}", "for {\n\n}"}, "if {\n\n}\n\nfor {\n\n}"},
		{[]string{"a\n\nb", "a\n\nc", "a\n\nb\n\nd"}, "a\n\nb\n\nc\n\nd"},
	} {
		var set []NoteStamp
		for _, text := range test.texts {
			set = append(set, NoteStamp{To: text})
		}
		if got := joinNotes(set); got != test.want {
			t.Errorf("%q: %q, want %q", test.texts, got, test.want)
		}
	}
}
