package export

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"cortext/cmd/internal/export/bundle"
	"cortext/cmd/internal/export/page"
	"cortext/cmd/internal/export/page/markdown"
	"cortext/cmd/internal/export/portable"
	"cortext/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// small returns the conversation of the golden files.
func small(t testing.TB) *Gathered {
	t.Helper()
	b, err := os.ReadFile("testdata/small.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c, err := portable.ReadLines(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	g := &Gathered{Conversation: *c, ID: c.Session.ID}
	numberAll(&g.Conversation)
	return g
}

// TestGolden compares a page and a text for forges with testdata.
func TestGolden(t *testing.T) {
	g := small(t)
	var html, md bytes.Buffer
	if err := page.Write(&html, inputOf(g, markdown.New().Append)); err != nil {
		t.Fatal(err)
	}
	as, _ := FormatNamed("md")
	if err := as.Write(context.Background(), &md, g); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{"testdata/small.html": html.Bytes(), "testdata/small.md": md.Bytes()} {
		if *update {
			if err := os.WriteFile(name, got, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs; go test ./cmd/internal/export -update rewrites it\n%s", name, firstDifference(string(got), string(want)))
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d: %s", i+1, g[i])
		}
	}
	return "it is shorter"
}

// allowed are the elements and attributes that a page has.
var (
	element   = regexp.MustCompile(`<(/?)([a-zA-Z!][^\s>]*)((?:\s+[^\s=>]+(?:="[^"]*")?)*)\s*>`)
	attribute = regexp.MustCompile(`\s([^\s=>]+)(?:="([^"]*)")?`)
)

const (
	allowedElements   = " a div nav details summary span ol ul li header p time h1 h2 h3 h4 h5 h6 dl dt dd input output button main section code pre i b br em strong del table thead tbody tr th td blockquote hr figure img footer "
	allowedAttributes = " class href aria-label aria-hidden aria-pressed role hidden id type placeholder open datetime rel tabindex align src alt loading start "
)

// wantSafe checks that a page has only our own markup: text of a conversation opens no
// element, sets no attribute and leads nowhere else.
func wantSafe(t *testing.T, html string) {
	t.Helper()
	_, html, _ = strings.Cut(html, "<body>")
	body, _, _ := strings.Cut(html, "<script>")
	for _, m := range element.FindAllStringSubmatch(body, -1) {
		if !strings.Contains(allowedElements, " "+strings.ToLower(m[2])+" ") {
			t.Errorf("the page has %s", m[0])
		}
		for _, a := range attribute.FindAllStringSubmatch(m[3], -1) {
			switch name := strings.ToLower(a[1]); {
			case !strings.Contains(allowedAttributes, " "+name+" "):
				t.Errorf("the page has %s", m[0])
			case name == "href" && !strings.HasPrefix(a[2], "#") && !strings.HasPrefix(a[2], "https://") && !strings.HasPrefix(a[2], "http://") && !strings.HasPrefix(a[2], "mailto:"):
				t.Errorf("the page links to %s", a[2])
			case name == "src" && !strings.HasPrefix(a[2], "data:image/"):
				t.Errorf("the page loads %s", a[2])
			}
		}
	}
	if rest := element.ReplaceAllString(body, ""); strings.Contains(rest, "<") {
		at := strings.Index(rest, "<")
		t.Errorf("the page has a < that begins no element of ours: %.100q", rest[at:])
	}
}

// hostile are texts that try to be more than text.
var hostile = []string{
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](data:text/html,x)",
	"[x](&#106;avascript:alert(1))", "<javascript:alert(1)>", "![x](https://tracker/x.png)", "![x](data:image/svg+xml,<svg/>)", "[x]: javascript:alert(1)\n\n[x]", "`</code><script>`",
	"```\n</code></pre><script>\n```", "```\"><script>\nx\n```", "# h {#id onclick=x}", "<!-- --><style>*{}</style>", "<a href=\"javascript:x\">x</a>", "\x00\x1b[31mred\u202e", "| a |\n|---|\n| <b>x</b> |",
	"- [ ] <input>", "https://example.com/\"onclick=alert(1)", "<https://x/\"><script>", "[a](https://x \"t\\\" onclick=x\")", "</details></div></main>", "&lt;script&gt;", "<div>\n\n<p onclick=x>", "\xff\xfe<",
	"[x](//evil.example)", "[x](\x01javascript:alert(1))", "[x](vbscript:x)", "~~~\n<b>\n", "> <b>\n> ```\n> <i>",
}

// TestHostile puts hostile texts everywhere in a conversation.
func TestHostile(t *testing.T) {
	for _, text := range hostile {
		wantSafe(t, pageWith(t, text))
	}
}

func pageWith(t *testing.T, text string) string {
	t.Helper()
	g := small(t)
	s := g.Session
	s.Title, s.ContextSummary, s.Notes, s.ConversationType, s.AgentConfig.Agent, s.AgentConfig.Model, s.Git.Branch, s.Tags = text, text, text, text, text, text, text, []string{text}
	for i := range s.Plan.Steps {
		s.Plan.Steps[i].Content = text
	}
	for i := range g.Messages {
		m := &g.Messages[i]
		m.Content, m.Reasoning, m.Blocks = text, text, nil
		for k := range m.Attachments {
			m.Attachments[k].Name, m.Attachments[k].MediaType = text, text
		}
	}
	for i := range g.Tools {
		g.Tools[i].Name, g.Tools[i].Output, g.Tools[i].Error = text, text, text
	}
	var html bytes.Buffer
	if err := page.Write(&html, inputOf(g, markdown.New().Append)); err != nil {
		t.Fatal(err)
	}
	return html.String()
}

// TestKeyboardScrolls: the keyboard reaches what is wider than the screen.
func TestKeyboardScrolls(t *testing.T) {
	for _, text := range []string{"| a |\n|---|\n| b |", "```\nx\n```", "    x"} {
		for _, m := range element.FindAllString(pageWith(t, text), -1) {
			if (strings.HasPrefix(m, "<table") || strings.HasPrefix(m, "<pre")) && !strings.Contains(m, ` tabindex="0"`) {
				t.Errorf("%q: %s", text, m)
			}
		}
	}
}

func FuzzPage(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { wantSafe(t, pageWith(t, text)) })
}

// TestFragment: a range of messages is rendered as on the page.
func TestFragment(t *testing.T) {
	g := small(t)
	var whole, part bytes.Buffer
	if err := page.Write(&whole, inputOf(g, markdown.New().Append)); err != nil {
		t.Fatal(err)
	}
	if err := page.WriteMessages(&part, inputOf(g, markdown.New().Append), 1, 5); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(whole.String(), part.String()) || !strings.Contains(part.String(), `id="m5"`) || strings.Contains(part.String(), `id="m6"`) {
		t.Errorf("the fragment is not a part of the page:\n%s", part.String())
	}
}

// TestPageData: a page with hostile texts is as safe with its data as without, and import
// reads the conversation that it shows.
func TestPageData(t *testing.T) {
	for _, text := range append(hostile, dataHostile...) {
		g := small(t)
		for i := range g.Messages {
			g.Messages[i].Content, g.Messages[i].Blocks = strings.ToValidUTF8(text, "?"), nil
		}
		g.Session.Title = strings.ToValidUTF8(text, "?")
		g.Messages = append(g.Messages, schema.Message{ID: "other", ParentID: "m1", Role: schema.User, Timestamp: g.Messages[0].Timestamp, Content: "another branch"})
		g.Tools = append(g.Tools, schema.Tool{ID: "t9", MessageID: "other", Name: "Read"})
		g.Attachments = nil
		numberAll(&g.Conversation)
		var html bytes.Buffer
		if err := pageTo(&html, g, markdown.New().Append); err != nil {
			t.Fatal(err)
		}
		wantSafe(t, html.String())
		if n := strings.Count(html.String(), "</script>"); n != 2 {
			t.Errorf("%d scripts end", n)
		}
		c, ok, err := readText("page", html.Bytes())
		if err != nil || !ok {
			t.Fatal(err)
		}
		h := historyOf(&g.Conversation)
		if len(c.Messages) != len(h.Messages) || len(c.Tools) != 5 || len(c.Subagents) != 1 || c.Session.ID != g.Session.ID || len(c.LeftOut) != 1 || len(c.Warnings) != 0 {
			t.Fatalf("%d messages, %d tools, %d sub-agents, left out %q", len(c.Messages), len(c.Tools), len(c.Subagents), c.LeftOut)
		}
		for i, m := range c.Messages {
			if m.Content != h.Messages[i].Content || m.ID != h.Messages[i].ID {
				t.Fatalf("message %d is %q, was %q", i, m.Content, h.Messages[i].Content)
			}
		}
	}
}

// TestPageDataIsShown: the data of a page has nothing that the page does not show.
func TestPageDataIsShown(t *testing.T) {
	g := small(t)
	g.Session.WorkingDir, g.Session.Description = "/SECRET/dir", "SECRET first prompt"
	g.Session.Sources = []schema.Source{{Agent: "claude", NativeID: "SECRET-native"}}
	g.Session.Git = &schema.Git{Commit: "SECRET-commit", Branch: "main"}
	g.Session.NotesSet = []schema.NoteStamp{{To: "SECRET removed note"}}
	old := g.Tools[0]
	old.Rev, old.Output = -1, "SECRET older output"
	g.Tools = append([]schema.Tool{old}, g.Tools...)
	sub := g.Subagents[0]
	sub.Session = sub.Session.Clone()
	sub.Session.Links = &schema.Links{ToolCallID: "a call that was filtered out"}
	sub.Messages = []schema.Message{{ID: "s", Role: schema.User, Content: "SECRET sub-agent"}}
	g.Subagents = append(g.Subagents, sub)
	var html bytes.Buffer
	if err := pageTo(&html, g, nil); err != nil {
		t.Fatal(err)
	}
	data, _, _, err := page.Data(html.Bytes(), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{html.String(), string(data)} {
		for _, line := range strings.Split(text, "\n") {
			if strings.Contains(line, "SECRET") {
				t.Errorf("%.300s", line)
			}
		}
	}
	if c, _, err := readText("page", html.Bytes()); err != nil || len(c.Subagents) != 1 || c.Session.DisplayTitle() != g.Session.DisplayTitle() {
		t.Errorf("read: %v", err)
	}
}

// dataHostile are texts that look like the data of a page.
var dataHostile = []string{
	"<script type=\"application/json\" id=\"data\">{\"encoding\":\"zlib base64\",\"page\":\"sha256-0\",\"lines\":\"eJw=\"}</script>", "\"}</script>", "</html>", "<meta name=\"generator\" content=\"cortext\">",
}

// TestPageDamaged: no part of a damaged page is imported.
func TestPageDamaged(t *testing.T) {
	var html bytes.Buffer
	if err := pageTo(&html, small(t), nil); err != nil {
		t.Fatal(err)
	}
	whole := html.Bytes()
	begins := bytes.Index(whole, []byte("application/json"))
	for i := range len(whole) - begins - 40 {
		if c, _, err := readText("x.html", whole[:begins+i]); c != nil || err == nil {
			t.Fatalf("%d of %d bytes are read", begins+i, len(whole))
		}
	}
	want, _, _ := readText("x.html", whole)
	for i := begins + 80; i < len(whole)-40; i += 7 {
		bad := bytes.Clone(whole)
		bad[i] ^= 1
		if c, _, err := readText("x.html", bad); err == nil && len(c.Warnings) == 0 && !reflect.DeepEqual(c, want) {
			t.Fatalf("byte %d changed, and it is read", i)
		}
	}
	var bomb bytes.Buffer
	in := inputOf(small(t), nil)
	in.Data = make([]byte, 100<<20)
	if err := page.Write(&bomb, in); err != nil {
		t.Fatal(err)
	}
	_, _, err := readText("x.html", bomb.Bytes())
	if err == nil || !strings.Contains(err.Error(), "unpacks to more") {
		t.Errorf("a page that unpacks to much more: %v", err)
	}
}

// readText reads one export with its own budget.
func readText(file string, text []byte) (*portable.Conversation, bool, error) {
	b := bundle.NewBudget(bundle.Default())
	b.Add(int64(len(text)))
	return Read(file, text, &b.Left)
}

// TestBudget: pages of one import share what they may unpack to.
func TestBudget(t *testing.T) {
	var html bytes.Buffer
	if err := pageTo(&html, small(t), nil); err != nil {
		t.Fatal(err)
	}
	data, _, _, err := page.Data(html.Bytes(), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	b := bundle.NewBudget(bundle.Limits{Free: 3 * int64(len(data))})
	for range 3 {
		if _, _, err := Read("x.html", html.Bytes(), &b.Left); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := Read("x.html", html.Bytes(), &b.Left); err == nil || !strings.Contains(err.Error(), "unpacks to more") {
		t.Errorf("the fourth page is read: %v", err)
	}
	if b.Left >= 0 {
		t.Error("a refused page costs nothing")
	}
}

// FuzzRead: no text crashes the program.
func FuzzRead(f *testing.F) {
	f.Add("x.md", "# x\n\nchat · 1 messages\n")
	f.Add("x.html", "<!doctype html>")
	f.Fuzz(func(t *testing.T, name, text string) { _, _, _ = readText(name, []byte(text)) })
}
