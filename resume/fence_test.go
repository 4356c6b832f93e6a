package resume

import (
	"slices"
	"strings"
	"testing"

	"cortext/schema"
)

func sectionsOf(m schema.Message, tools ...schema.Tool) []section {
	h := schema.History{Messages: []schema.Message{m}, Tools: map[string]schema.Tool{}}
	for _, t := range tools {
		h.Tools[t.ID] = t
	}
	return newHistory(h).sections(&m)
}

func TestSections(t *testing.T) {
	text := func(n int) schema.Block { return schema.Block{Type: schema.TextBlock, Bytes: n} }
	call := func(id string) schema.Block { return schema.Block{Type: schema.ToolCallBlock, ID: id} }
	attachment := func(i int) schema.Block { return schema.Block{Type: schema.AttachmentBlock, Index: i} }
	ls := schema.Tool{ID: "c1", Name: "Bash", Input: schema.Raw(`{"command": "ls"}`), Output: "a\n", Success: yes(true)}
	for name, c := range map[string]struct {
		m     schema.Message
		tools []schema.Tool
		want  []section
	}{
		"time is UTC": {
			m:    schema.Message{Role: schema.User, Timestamp: "2025-11-22T23:30:00+02:00", Content: "hi\n"},
			want: []section{" user 2025-11-22 21:30\nhi\n\n"},
		},
		"nothing": {m: schema.Message{Role: schema.Assistant}, want: []section{" assistant\n"}},
		"sealed":  {m: schema.Message{Sealed: "x", Content: "secret"}, want: []section{" unknown\n[sealed]\n"}},
		"call without blocks": {
			m:     schema.Message{Role: schema.Assistant, Content: "look", ToolCalls: []schema.ToolCall{{ID: "c1", Name: "Bash"}}},
			tools: []schema.Tool{ls},
			want:  []section{" assistant\nlook\n", " tool Bash ok\n{\"command\":\"ls\"}\na\n\n"},
		},
		"blocks in their order": {
			m: schema.Message{Role: schema.Assistant, Content: "one\n\ntwo\n\nthree",
				Blocks:      []schema.Block{call("c1"), text(3), text(3), attachment(0), call("c2"), text(5)},
				Attachments: []schema.Attachment{{MediaType: "image/png", Bytes: 9}},
				ToolCalls:   []schema.ToolCall{{ID: "c2", Name: "Read"}}},
			tools: []schema.Tool{ls},
			want: []section{" assistant\n", " tool Bash ok\n{\"command\":\"ls\"}\na\n\n",
				" assistant continued\none\n\ntwo\n\n[attachment image/png, 9 bytes]\n", " tool Read no result\n", " assistant continued\nthree\n"},
		},
		"blocks that are wrong": {
			m: schema.Message{Role: schema.User, Content: "日本語 text", Blocks: []schema.Block{text(4), call(""), text(7), attachment(7)},
				Attachments: []schema.Attachment{{Name: "a\nb"}}},
			want: []section{" user\n日本語 text\n\n[attachment of unknown type, a b]\n"},
		},
		"blocks that leave text out": {
			m:    schema.Message{Role: schema.User, Content: "one two", Blocks: []schema.Block{text(3), call("c1")}, ToolCalls: []schema.ToolCall{{ID: "c1", Name: "Read"}}},
			want: []section{" user\none two\n", " tool Read no result\n"},
		},
		"blocks that say more than there is": {
			m:    schema.Message{Role: schema.User, Content: "one", Blocks: []schema.Block{text(3), text(3)}},
			want: []section{" user\none\n"},
		},
		"a call that only its own line names": {
			m: schema.Message{ID: "m1", Role: schema.Assistant},
			tools: []schema.Tool{{ID: "z", MessageID: "m1", Name: "B", Timestamp: "2025-11-22T10:00:00Z"},
				{ID: "a", MessageID: "m1", Name: "C", Timestamp: "2025-11-22T10:00:01Z"}, {ID: "x", MessageID: "other"}, {ID: "y"}},
			want: []section{" assistant\n", " tool B no result\n{}\n", " tool C no result\n{}\n"},
		},
		"a sealed call": {
			m:     schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{{ID: "c1", Name: "Read"}}},
			tools: []schema.Tool{{ID: "c1", Sealed: "x"}},
			want:  []section{" assistant\n", " tool Read sealed\n[sealed]\n"},
		},
		"errors and odd names": {
			m: schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{{ID: "c1"}, {ID: "c2"}, {ID: "c3"}}},
			tools: []schema.Tool{
				{ID: "c1", Name: "a ok\n~~~~ user", Success: yes(false), Error: "no such file", Input: schema.Raw("{broken")},
				{ID: "c2", Success: yes(false), Error: "bad", Output: "very bad", ExitCode: number(1)},
				{ID: "c3", Name: "mcp__x.y:z", Success: yes(true), ExitCode: number(1), Attachments: []schema.Attachment{{MediaType: "a/b", Bytes: 1, Name: "c"}}},
			},
			want: []section{" assistant\n", " tool \"a ok ~~~~ user\" failed\n{broken\nerror: no such file\n",
				" tool \"\" failed, exit code 1\n{}\nvery bad\n", " tool mcp__x.y:z exit code 1\n{}\n[attachment a/b, 1 bytes, c]\n"},
		},
	} {
		if got := sectionsOf(c.m, c.tools...); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, not\n%q", name, got, c.want)
		}
	}
}

// TestCallOnce checks that a call is placed where a message names it, whichever message
// its own record names.
func TestCallOnce(t *testing.T) {
	h := newHistory(schema.History{
		Messages: []schema.Message{
			{ID: "m1", Role: schema.Assistant, ToolCalls: []schema.ToolCall{{ID: "c1", Name: "Read"}}},
			{ID: "m2", Role: schema.Assistant, Blocks: []schema.Block{{Type: schema.ToolCallBlock, ID: "c2"}}},
			{ID: "m3", Role: schema.Assistant},
		},
		Tools: map[string]schema.Tool{"c1": {ID: "c1", MessageID: "m3"}, "c2": {ID: "c2", MessageID: "m3"}},
	})
	for i, want := range []int{2, 2, 1} {
		if got := h.sections(&h.Messages[i]); len(got) != want {
			t.Errorf("message %d: %q", i, got)
		}
	}
}

func TestBelieved(t *testing.T) {
	for _, c := range []struct {
		count int
		text  string
		want  int
	}{{3, "abcdef", 3}, {6, "abcdef", 6}, {7, "abcdef", 2}, {0, "abcde", 2}, {-1, "abc", 1}, {5, "", 0}} {
		if got := recordedOr(c.count, c.text); got != c.want {
			t.Errorf("%d for %q: %d, not %d", c.count, c.text, got, c.want)
		}
	}
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		t    schema.Tool
		want string
	}{
		{schema.Tool{}, "no result"},
		{schema.Tool{Success: yes(true)}, "ok"},
		{schema.Tool{Success: yes(true), ExitCode: number(0)}, "ok"},
		{schema.Tool{Success: yes(false)}, "failed"},
		{schema.Tool{Success: yes(false), ExitCode: number(127)}, "failed, exit code 127"},
		{schema.Tool{ExitCode: number(0)}, "exit code 0"},
		{schema.Tool{Sealed: "x", Success: yes(true)}, "sealed"},
	} {
		if got := outcome(&c.t); got != c.want {
			t.Errorf("%+v: %q, not %q", c.t, got, c.want)
		}
	}
}

// TestManyMessages checks that a hundred thousand messages do not shrink the payload.
func TestManyMessages(t *testing.T) {
	n := 50_000
	if testing.Short() {
		n = 10_000
	}
	s, h, o := long(n)
	o.Budget = 20_000
	if p := mustBuild(t, s, h, o); p.Tokens < 19_000 || p.Strategy != Ranked {
		t.Errorf("%s, %d tokens", p.Strategy, p.Tokens)
	}
	h.Messages[len(h.Messages)-1].Content = strings.Repeat("~", 10_000_000)
	if p := mustBuild(t, s, h, o); p.Strategy != Ranked || p.Included < 100 || strings.Contains(p.Text, strings.Repeat("~", 100)) {
		t.Errorf("%d messages beside one of 10 MB", p.Included)
	}
}

func BenchmarkBuild(b *testing.B) {
	for name, turns := range map[string]int{"100 messages": 50, "100000 messages": 50_000} {
		b.Run(name, func(b *testing.B) {
			s, h, o := long(turns)
			o.Budget = 0
			for b.Loop() {
				mustBuild(b, s, h, o)
			}
		})
	}
}
