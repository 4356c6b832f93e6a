package forge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmext "github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gmtext "github.com/yuin/goldmark/text"

	"cortext/cmd/internal/export/portable"
	"cortext/cmd/internal/shown"
	"cortext/schema"
)

// fragments are pieces of hostile lines.
var fragments = []string{
	"word", "two words", " ", "  ", "   ", "    ", "\t", "\\", "\\\\", "`", "``", "```", "````", "`````", "~~~", "~~~~", "```go", "```markdown", "````markdown", "<", "<b>", "</b>", "<https://x>", "<https://x`>", "|",
	"<details>", "</details>", "<details><summary>x</summary>", "<sub>#3, 10:30</sub>", "<!--", "-->", "<script>", "</script>", "&lt;", "&amp;", "- ", "1. ", "> ", "* ", "# ", "---", "===",
	"### #1 User", "### #1 User, 10:30", "#### #2 claude, 10:30", "**Summary**", "**Plan**", "**Notes**", "*Attached: x, 3 bytes*", "*Ended: interrupted*", "○ **x** *not in the log*", "*Left out: x.*",
	"*Messages on other branches: 3, not shown.*", end, "<details><summary>✓ <b>Bash</b> <code>ls</code> 3 lines</summary>", "[x]: y", "[x]:", "[^1]: y", "[", "]: y", "###  #1 User", "### \\#1 User", "### &#35;1 User", "é", "日本", "\u00a0", "\u3000", "🎉", "\u202e", "\x00", "\x1b[31m", "\xff", "\r", "@@", "+", "-", "… 12 bytes left out …",
}

func hostile(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(8) {
		for range r.IntN(4) {
			b.WriteString(fragments[r.IntN(len(fragments))])
		}
		b.WriteString([]string{"\n", "\n", "\n", "\n\n", "\r\n", ""}[r.IntN(6)])
	}
	return b.String()
}

// rounds returns the number of rounds of a test: n, or a fifth with -short, because regular
// expressions take twenty times as long under the race detector.
func rounds(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// TestContain: a text comes back as it was, and no text of another is taken for it.
func TestContain(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 1))
	from := map[string]string{}
	for range rounds(20_000) {
		s := shown.Clean(hostile(r))
		for _, in := range []place{inMessage, inHead} {
			out := contain(s, in)
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if got := release(lines, in); got != s {
				t.Fatalf("%q is written %q and read %q", s, out, got)
			}
			rd := reader{lines: append(append([]string{""}, lines...), "", end)}
			if got, err := rd.text(in); err != nil || got != s || rd.at != len(rd.lines)-1 {
				t.Fatalf("%q is written %q and read %q, %v", s, out, got, err)
			}
		}
		if in := contain(s, inMessage); from[in] != "" && from[in] != s {
			t.Fatalf("%q and %q are both %q", s, from[in], in)
		} else if len(from) < 50_000 {
			from[in] = s
		}
	}
}

// TestContained: readers of Markdown see our parts, and no other, around any text.
func TestContained(t *testing.T) {
	md := goldmark.New(goldmark.WithExtensions(gmext.GFM))
	r := rand.New(rand.NewPCG(20, 2))
	for range rounds(20_000) {
		s := hostile(r)
		page := "<details><summary>before</summary>\n\n" + contain(s, inMessage) + "\n</details>\n\n### after\n"
		source := []byte(page)
		state := parser.NewContext()
		doc := md.Parser().Parse(gmtext.NewReader(source), parser.WithContext(state))
		for _, def := range state.References() {
			t.Fatalf("%q is written %q and defines %q", s, page, def.Label())
		}
		var tags, headings []string
		_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.Heading:
				if n.Parent() == doc {
					headings = append(headings, html.UnescapeString(strings.ReplaceAll(string(n.Lines().Value(source)), `\`, "")))
				}
			case *ast.RawHTML:
				tags = append(tags, "inline "+string(n.Segments.Value(source)))
			case *ast.HTMLBlock:
				tags = append(tags, string(n.Lines().Value(source)))
			}
			return ast.WalkContinue, nil
		})
		for _, heading := range headings {
			if strings.HasPrefix(heading, "#1 User") {
				t.Fatalf("%q is written %q, with a heading like ours", s, page)
			}
		}
		last, ok := doc.LastChild().(*ast.Heading)
		if len(tags) != 2 || tags[1] != "</details>\n" || !ok || string(last.Lines().Value(source)) != "after" {
			t.Fatalf("%q is written %q and seen as %q, %v", s, page, tags, ok)
		}
	}
}

// random returns a conversation of hostile texts.
func random(r *rand.Rand) *portable.Conversation {
	at := time.Date(2025, 11, 22, 23, 30, 0, 0, time.UTC)
	word := func() string {
		return strings.TrimSpace(fragments[r.IntN(len(fragments))] + "x " + fragments[r.IntN(len(fragments))])
	}
	c := &portable.Conversation{Session: &schema.Session{Version: schema.Version, Title: word(), ConversationType: "debug", CreatedAt: schema.NewTime(at)}}
	c.Session.AgentConfig.Agent, c.Session.AgentConfig.Model = "claude", "opus"
	c.Session.ContextSummary, c.Session.Notes = hostile(r), hostile(r)
	if r.IntN(2) == 0 {
		c.Session.Plan = &schema.Plan{Steps: []schema.Step{{Content: word(), Status: "completed"}, {Content: word(), Status: "in_progress"}, {Content: word(), Status: "pending"}}, Current: 1}
	}
	for i := range 1 + r.IntN(9) {
		m := schema.Message{ID: fmt.Sprint("m", i), Role: []schema.Role{schema.User, schema.Assistant, schema.Assistant, schema.System}[r.IntN(4)], Timestamp: schema.NewTime(at)}
		if i > 0 {
			m.ParentID = c.Messages[i-1].ID
		}
		at = at.Add(time.Duration(r.IntN(600)) * time.Minute)
		var texts []string
		if m.Role == schema.System {
			m.Content = hostile(r)
			c.Messages = append(c.Messages, m)
			continue
		}
		m.FinishReason = []string{"", "end_turn", "interrupted", "529 *overloaded* </sub>"}[r.IntN(4)]
		if r.IntN(3) == 0 {
			m.Reasoning = hostile(r)
		}
		for k := range r.IntN(4) {
			switch r.IntN(4) {
			case 0, 1:
				said := shown.Clean(hostile(r))
				texts = append(texts, said)
				m.Blocks = append(m.Blocks, schema.Block{Type: schema.TextBlock, Bytes: len(said)})
			case 2:
				m.Blocks = append(m.Blocks, schema.Block{Type: schema.AttachmentBlock, Index: len(m.Attachments)})
				m.Attachments = append(m.Attachments, schema.Attachment{Name: word(), Bytes: 12})
			case 3:
				call := randomCall(r, fmt.Sprint("c", i, "-", k))
				call.MessageID = m.ID
				m.Blocks = append(m.Blocks, schema.Block{Type: schema.ToolCallBlock, ID: call.ID})
				m.ToolCalls = append(m.ToolCalls, schema.ToolCall{ID: call.ID, Name: call.Name})
				if r.IntN(9) > 0 {
					c.Tools = append(c.Tools, call)
				}
			}
		}
		m.Content = strings.Join(texts, schema.TextJoint)
		c.Messages = append(c.Messages, m)
	}
	return c
}

func randomCall(r *rand.Rand, id string) schema.Tool {
	object := func(members map[string]any) schema.Raw {
		b, _ := json.Marshal(members)
		return b
	}
	said := func() string { return shown.Clean(hostile(r)) } // invisible lines are counted, and not shown
	file := []string{"a.go", "b/c.md", "x.json", "Makefile", "x.text", "y.txt", "d.diff", strings.Repeat("folder/", 50) + "a.go"}[r.IntN(8)]
	t := schema.Tool{ID: id, Output: hostile(r)}
	switch r.IntN(6) {
	case 0:
		t.Name, t.Input = "Bash", object(map[string]any{"command": said()})
	case 1:
		t.Name, t.Input = "Edit", object(map[string]any{"file_path": file, "old_string": said(), "new_string": said()})
	case 2:
		t.Name, t.Input = "Write", object(map[string]any{"file_path": file, "content": said()})
	case 3:
		t.Name, t.Input = "Read", object(map[string]any{"file_path": file})
	case 4:
		t.Name, t.Input = "apply_patch", object(map[string]any{"patch": "*** Begin Patch\n*** Update File: b.go\n@@\n-x\n+y\n" + said() + "*** End Patch"})
	case 5:
		t.Name, t.Input = "mcp__"+fragments[r.IntN(len(fragments))], object(map[string]any{"query": said(), "n": 1})
	}
	if yes := r.IntN(2) == 0; r.IntN(3) > 0 {
		t.Success = &yes
	}
	return t
}

func write(t *testing.T, c *portable.Conversation) string {
	t.Helper()
	h := schema.History{Tools: map[string]schema.Tool{}}
	h.Messages, h.Aside = schema.Branch(c.Messages)
	schema.NumberAll(h.Messages)
	for _, tool := range c.Tools {
		h.Tools[tool.ID] = tool
	}
	var b bytes.Buffer
	if err := Write(&b, &Input{Session: c.Session, History: h, LeftOut: c.LeftOut}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRoundTrip: Markdown that was read is written as it was, and what it says is what was
// said.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 3))
	for range rounds(1_000) {
		c := random(r)
		first := write(t, c)
		got, err := Read(first)
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		got.Session.CreatedAt = c.Session.CreatedAt // an import gives it a new one
		if second := write(t, got); second != first {
			t.Fatalf("%s", difference(first, second))
		}
		if len(got.Warnings) > 0 || len(got.Messages) != len(c.Messages) {
			t.Fatal(got.Warnings, len(got.Messages))
		}
		for i, m := range got.Messages {
			was := &c.Messages[i]
			want := was.Content
			if m.Role == schema.System {
				want = strings.TrimSuffix(shown.Clean(want), "\n")
				m.Content = strings.TrimSuffix(m.Content, "\n")
			}
			if m.Role != was.Role || m.Timestamp.Time() != was.Timestamp.Time() || !sameText(m.Content, want) || !(m.Reasoning == shown.Clean(was.Reasoning) || m.Reasoning == "" && strings.TrimSpace(shown.Clean(was.Reasoning)) == "") {
				t.Fatalf("message %d is %+v, was %+v\n%s", i, m, was, first)
			}
			if want := was.Ending(); want != "" && m.Ending() != want {
				t.Fatalf("message %d ends %q, want %q\n%s", i, m.Ending(), want, first)
			}
		}
		wantCalls(t, got.Tools, c.Tools)
		if crlf, err := Read(strings.ReplaceAll(first, "\n", "\r\n")); err != nil || write(t, crlf) == "" {
			t.Fatal(err)
		}
	}
}

// TestAgents: an answer names the agent that gave it, and the head the agent used last, whose
// model it has.
func TestAgents(t *testing.T) {
	text := write(t, &portable.Conversation{
		Session: &schema.Session{
			Title: "x", ConversationType: "chat", AgentConfig: schema.AgentConfig{Agent: "claude", Model: "gemini-3-pro"},
			Sources: []schema.Source{{Agent: "claude", NativeID: "c"}, {Agent: "gemini", NativeID: "g"}},
		},
		Messages: []schema.Message{
			{Number: 1, Role: schema.User, Content: "one", Source: "c"}, {Number: 2, Role: schema.Assistant, Content: "two", Source: "c"},
			{Number: 3, Role: schema.User, Content: "three", Source: "g"}, {Number: 4, Role: schema.Assistant, Content: "four", Source: "g"},
			{Number: 5, Role: schema.User, Content: "five"}, {Number: 6, Role: schema.Assistant, Content: "six", Source: "lost"},
		},
	})
	for _, want := range []string{"\nchat · gemini · gemini-3-pro · 6 messages\n", "\n#### #2 claude\n", "\n#### #4 gemini\n", "\n#### #6 claude\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

// sameText compares texts. Blocks without a visible character are not shown.
func sameText(got, want string) bool {
	return got == want || got == "" && strings.TrimSpace(want) == "" || strings.Join(strings.Fields(got), " ") == strings.Join(strings.Fields(want), " ") && strings.Contains(want, "\n\n")
}

// wantCalls checks that the calls are those that were made.
func wantCalls(t *testing.T, got, want []schema.Tool) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d calls, want %d", len(got), len(want))
	}
	for i, a := range got {
		b := want[i]
		same := a.Name == line(b.Name) && strings.TrimSpace(a.Output) == strings.TrimSpace(shown.Clean(b.Output))
		var x, y map[string]any
		_ = json.Unmarshal(a.Input, &x)
		_ = json.Unmarshal(b.Input, &y)
		for name, value := range y {
			if text, ok := value.(string); ok && name != "old_string" && name != "new_string" { // of an edit only the lines around it
				have, _ := x[name].(string)
				same = same && strings.TrimSpace(have) == strings.TrimSpace(text)
			}
		}
		if !same {
			t.Fatalf("call %d is %s %s %q, was %s %s %q", i, a.Name, a.Input, a.Output, b.Name, b.Input, b.Output)
		}
	}
}

// TestTruncated: no beginning of a text is read as if it were whole.
func TestTruncated(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 4))
	for range rounds(10) {
		whole := write(t, random(r))
		for i := range len(whole) - 1 {
			c, err := Read(whole[:i])
			if format := (*portable.FormatError)(nil); c != nil && i < len(whole)-2 || i < len(whole)-2 && !errors.As(err, &format) {
				t.Fatalf("%d of %d bytes: %v\n%s", i, len(whole), err, whole[:i])
			}
		}
	}
}

// TestAfterTheEnd: text after the last line is not left out silently.
func TestAfterTheEnd(t *testing.T) {
	whole := write(t, random(rand.New(rand.NewPCG(20, 6))))
	if _, err := Read(whole + "\n \n"); err != nil {
		t.Error(err)
	}
	for _, more := range []string{"\nmore\n", whole} {
		if _, err := Read(whole + more); err == nil || !strings.Contains(err.Error(), "follows the end") {
			t.Errorf("%.20q: %v", more, err)
		}
	}
	if _, err := Read("# x\n\nchat · 1 messages\n" + strings.Repeat("\n", maxLines)); err == nil || !strings.Contains(err.Error(), "lines, more than") {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	r := rand.New(rand.NewPCG(20, 5))
	for range 20 {
		c := random(r)
		f.Add(write(&testing.T{}, c))
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Read(s)
		if err != nil {
			return
		}
		c.Session.ConversationType, c.Session.Title = "debug", "x"+c.Session.Title // an import gives it both
		once := write(t, c)
		again, err := Read(once)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		again.Session.CreatedAt = c.Session.CreatedAt
		if twice := write(t, again); twice != once && !strings.Contains(once, "bytes left out") {
			t.Fatalf("%s", difference(once, twice))
		}
	})
}

// difference returns the lines around the first line in which two texts differ.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	i := 0
	for i < min(len(x), len(y)) && x[i] == y[i] {
		i++
	}
	return fmt.Sprintf("line %d: %q, then %q", i+1, x[max(0, i-5):min(len(x), i+5)], y[max(0, i-5):min(len(y), i+5)])
}
