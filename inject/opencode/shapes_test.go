package opencode

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/inject"
	"cortext/schema"
)

const (
	asking  = `{"info":{"id":"u","role":"user","time":{"created":1795300000000}},"parts":[`
	telling = `{"info":{"id":"a","role":"assistant","time":{"created":1795300001000}},"parts":[`
	typed   = `{"id":"p","type":"text","text":"hi"}`
)

func exported(messages ...string) string {
	return `{"info":{"id":"s","title":"T"},"messages":[` + strings.Join(messages, ",") + `]}`
}

// TestShapes reads rare records, one of each kind.
func TestShapes(t *testing.T) {
	file := func(rest string) string { return asking + typed + `,{"type":"file",` + rest + `}]}` }
	call := func(state string) string {
		return telling + `{"id":"t","type":"tool","tool":"bash","callID":"c","state":` + state + `}]}`
	}
	named := func(name string) func(inject.Batch, *inject.Transcript) bool {
		return func(b inject.Batch, _ *inject.Transcript) bool {
			a := b.Messages[0].Attachments
			return len(a) == 1 && a[0].Name == name && a[0].SHA256 == ""
		}
	}
	for _, c := range []struct {
		name, data string
		check      func(b inject.Batch, tr *inject.Transcript) bool
	}{
		{"a file by its address", file(`"url":"file:///home/dev/shop/a%20b.txt?start=1"`), named("a b.txt")},
		{"a file by its path", file(`"filename":"/home/dev/x/notes.md","url":"file:///home/dev/x/notes.md"`), named("notes.md")},
		{"a file above", file(`"filename":"../../x/notes.md"`), named("notes.md")},
		{"a folder at the root", file(`"url":"file:///"`), named("")},
		{"a page", file(`"url":"https://example.com/x.png"`), named("https://example.com/x.png")},
		{"text in an address", file(`"mime":"text/plain","filename":"x","url":"data:text/plain,a%20b"`), func(b inject.Batch, _ *inject.Transcript) bool {
			return string(b.Blobs[0].Data) == "a b" && b.Messages[0].Attachments[0].Bytes == 3
		}},
		{"no base64", file(`"url":"data:image/png;base64,***"`), func(b inject.Batch, _ *inject.Transcript) bool {
			return string(b.Blobs[0].Data) == "***"
		}},
		{"base64 without padding", file(`"url":"data:image/png;base64,YWI"`), func(b inject.Batch, _ *inject.Transcript) bool {
			return string(b.Blobs[0].Data) == "ab"
		}},
		{"a payload as a file", file(`"mime":"text/plain","filename":"x","url":"data:text/plain;base64,T1VSUw=="`), func(b inject.Batch, _ *inject.Transcript) bool {
			return len(b.Messages[0].Attachments) == 0 && len(b.Blobs) == 0
		}},
		{"a picture in a result", call(`{"status":"completed","input":{"a": 1},"output":"seen","attachments":[{"mime":"image/png","url":"data:image/png;base64,YWI=","filename":"x.png"}]}`), func(b inject.Batch, _ *inject.Transcript) bool {
			return b.Tools[0].Attachments[0].Name == "x.png" && len(b.Blobs) == 1 && string(b.Tools[0].Input) == `{"a":1}`
		}},
		{"a result that is an object", call(`{"status":"completed","input":{},"output":{"x":1}}`), func(b inject.Batch, _ *inject.Transcript) bool {
			return b.Tools[0].Output == `{"x":1}`
		}},
		{"a pending call", call(`{"status":"pending","input":{}}`), func(b inject.Batch, _ *inject.Transcript) bool {
			return b.Tools[0].Success == nil && b.Tools[0].Timestamp == b.Messages[0].Timestamp
		}},
		{"a long failure", call(`{"status":"error","input":{},"error":"` + strings.Repeat("é", 150) + `\nmore"}`), func(b inject.Batch, _ *inject.Transcript) bool {
			return b.Tools[0].Error == strings.Repeat("é", 100) && strings.HasSuffix(b.Tools[0].Output, "more")
		}},
		{"calls without ids", telling + `{"type":"tool"},{"type":"tool"},{"type":"tool","callID":"c"},{"type":"tool","callID":"c"},{"type":"tool","callID":"c"}]}`, func(b inject.Batch, _ *inject.Transcript) bool {
			return len(b.Tools) == 5 && b.Tools[0].ID == "a#0" && b.Tools[4].ID == "c#+"
		}},
		{"an error of the server", `{"info":{"id":"a","role":"assistant","error":{"name":"APIError"},"finish":"x"},"parts":[]}`, func(b inject.Batch, tr *inject.Transcript) bool {
			return b.Messages[0].FinishReason == "APIError" && tr.First.IsZero()
		}},
		{"usage that cannot be", `{"info":{"id":"a","role":"assistant","tokens":{"input":-4,"output":1e99},"time":{"created":1e17}},"parts":[]}`, func(b inject.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Usage == nil && b.Messages[0].Timestamp == ""
		}},
		{"numbers with a fraction", `{"info":{"id":"a","role":"assistant","time":{"created":1795300000000.5}},"parts":[]}`, func(b inject.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Timestamp == "2026-11-21T22:26:40.000Z"
		}},
		{"an id twice", asking + typed + "]}," + asking + typed + "]}", func(b inject.Batch, _ *inject.Transcript) bool {
			return b.Messages[1].ID == "u#2" && b.Messages[1].ParentID == "u"
		}},
		{"no ids", `{"info":{"role":"user"},"parts":[` + typed + `]}`, func(b inject.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].ID == "message-1"
		}},
		{"shown only", asking + `{"type":"text","text":"tip","ignored":true}]}`, func(b inject.Batch, _ *inject.Transcript) bool {
			return len(b.Messages) == 0
		}},
		{"bookkeeping", asking + `{"type":"text","text":"Summarize the task tool output above and continue with your task.","synthetic":true}]}`, func(b inject.Batch, _ *inject.Transcript) bool {
			return len(b.Messages) == 0
		}},
		{"odd parts of a prompt", asking + `{"type":"reasoning","text":"hm"},{"type":"tool","tool":"x","callID":"c"}]}`, func(b inject.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Role == schema.User && b.Messages[0].Reasoning == "hm" && len(b.Tools) == 1
		}},
		{"an empty prompt", asking + `{"type":"text","text":""}]}`, func(b inject.Batch, _ *inject.Transcript) bool {
			return len(b.Messages) == 0
		}},
		{"a prompt without parts", `{"info":{"id":"u","role":"user","summary":{"title":"Open README","body":""}},"parts":[]}`, func(b inject.Batch, tr *inject.Transcript) bool {
			return b.Messages[0].Content == "Open README" && strings.Contains(tr.Warnings[0], "have no text")
		}},
		{"a summary that nothing stands before", `{"info":{"id":"a","role":"assistant","summary":true},"parts":[{"type":"text","text":"so far"}]}`, func(b inject.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Role == schema.System && b.Messages[0].Content == "so far"
		}},
		{"parts of a message", telling + `{"type":"file","filename":"x"},{"type":"text","text":"b","ignored":true},7]}`, func(b inject.Batch, tr *inject.Transcript) bool {
			return len(b.Messages[0].Attachments) == 1 && len(tr.Warnings) == 1
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			strip := func(s string) (string, bool) { return strings.CutPrefix(s, "OURS") }
			tr, b := readAll(t, write(t, t.TempDir(), "x.json", exported(c.data)), inject.Options{Strip: strip})
			if !c.check(b, tr) {
				t.Errorf("messages %+v, tools %+v, warnings %q", b.Messages, b.Tools, tr.Warnings)
			}
		})
	}
}

// TestCommands checks that a command's content is what was typed. The mark at the
// beginning of its template identifies a command.
func TestCommands(t *testing.T) {
	for text, want := range map[string]string{
		"<!-- cortext: /workspace.plan API design -->\n# Plan":                    "/workspace.plan API design",
		"\n<!-- cortext: /workspace.plan  -->":                                    "/workspace.plan",
		"<!-- cortext: /workspace.plan a --> b\nc --> d\n\"e\" -->\r\n# Plan -->": "/workspace.plan a --> b\nc --> d\n\"e\"",
		"<!-- cortext: /workspace.plan a --> b":                                   "",
		"<!-- cortext: /workspace.plan a":                                         "",
		"<!-- cortext: workspace.plan -->\n":                                      "",
		"see <!-- cortext: /workspace.plan a -->\n":                               "",
	} {
		if got, ok := commandOf(text); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", text, got, ok)
		}
	}
	say := func(text string) string {
		return `{"info":{"role":"user"},"parts":[` + toJSON(map[string]any{"type": "text", "text": text}) + `]}`
	}
	tr, b := readAll(t, write(t, t.TempDir(), "x.json", exported(
		say("<!-- cortext: /workspace.resume 2 -->\nOURS payload"), say("/workspace.sessions"), say("/workspace."),
		say("/workspace.debug a b"), say("/workspace.plan"), say("/workspaces"))), inject.Options{})
	if tr.Command != "/workspace.debug" || tr.Arguments != "a b" || len(tr.Commands) != 5 || tr.Title != "" || b.Messages[0].Content != "/workspace.resume 2" {
		t.Errorf("%q %q, %v, title %q, %q", tr.Command, tr.Arguments, tr.Commands, tr.Title, b.Messages[0].Content)
	}
	for title, want := range map[string]string{"New session - 2026-11-21T22:26:40.000Z": "", "New session - mine": "New session - mine", "Child session - 2026-11-21T22:26:40.000Z": ""} {
		data := strings.Replace(exported(say("x")), `"T"`, toJSON(title), 1)
		if tr, _ := readAll(t, write(t, t.TempDir(), "x.json", data), inject.Options{}); tr.Title != want {
			t.Errorf("title %q of %q", tr.Title, title)
		}
	}
}

// TestOwnPayload checks that cortext's own text in a session is not captured, whichever
// sign identifies it, and that what follows is not lost. A user's own mention of the
// text is captured.
func TestOwnPayload(t *testing.T) {
	say := func(id, text string) string {
		return `{"info":{"id":"` + id + `","role":"user"},"parts":[` + toJSON(map[string]any{"type": "text", "text": text}) + `]}`
	}
	id := payloadMessageID("PAYLOAD", schema.Time("2026-11-21T22:26:40Z").Time())
	strip := func(s string) (string, bool) { return strings.CutPrefix(s, "OURS") }
	data := exported(say(id, "PAYLOAD"), say("b", "PAYLOAD"), say("c", "OURS"), say("d", "OURS and more"), say("e", "<!-- cortext: /workspace.resume -->\nOURS"))
	for name, c := range map[string]struct {
		data, want string
	}{
		"by id":       {data, "b PAYLOAD|d  and more|e /workspace.resume"},
		"by metadata": {strings.Replace(data, `"title"`, `"metadata":{"cortext":{"payload":"`+inject.PayloadID("PAYLOAD")+`"}},"title"`, 1), "d  and more|e /workspace.resume"},
		"not shown":   {strings.Replace(data, `"text":"PAYLOAD"`, `"synthetic":true,"text":"PAYLOAD","type":"text"},{"ignored":true,"text":"Resumed"`, 1), "b PAYLOAD|d  and more|e /workspace.resume"},
	} {
		tr, b := readAll(t, write(t, t.TempDir(), "x.json", c.data), inject.Options{Strip: strip})
		var got []string
		for _, m := range b.Messages {
			got = append(got, m.ID+" "+m.Content)
		}
		if strings.Join(got, "|") != c.want || b.Messages[0].ParentID != "" || tr.Roots[0] != id {
			t.Errorf("%s: %q, roots %q", name, got, tr.Roots)
		}
		if !slices.ContainsFunc(tr.Next.Anchors, func(a inject.Anchor) bool { return a.Ours && a.Line == id }) {
			t.Errorf("%s: anchors %+v", name, tr.Next.Anchors)
		}
	}
}

// TestDetect checks that a file is identified by its content.
func TestDetect(t *testing.T) {
	store := slurp(t, fixtures+"1.18.33/store/transcript.db")
	young := store[:100] + "\x0d\x00\x00\x00\x00" + strings.Repeat("\x00", 4000)
	for content, want := range map[string]bool{
		exported(asking + typed + "]}"):                        true,
		"\xEF\xBB\xBF\n" + exported(asking+typed+"]}"):         true,
		"Exporting session: s\n" + exported(asking+typed+"]}"): true,
		exported(): true,
		exported(asking + typed + "]}")[:len(exported(asking+typed))-9]: true, // cut off
		`{"messages":[` + asking + typed + `]}],"info":{"id":"s"}}`:     true,
		`{"id":"s","projectID":"p","time":{"created":1}}`:               true,
		store: true,
		young: true,
		store[:16] + strings.Repeat("\x01", 4000):                          false, // another database
		`{"sessionId":"x","projectHash":"y","messages":[{"type":"user"}]}`: false, // Gemini CLI
		`{"type":"user","message":{"role":"user","content":"hi"}}`:         false, // Claude Code
		`{"messages":[{"role":"user","content":"hi"}]}`:                    false, // a chat API
		`{"info":{},"messages":[]}`:                                        false,
		`{"info":{"id":"s"}`:                                               false,
		`{"id":"s","projectID":"p"}`:                                       false,
		`["info"]`:                                                         false, "{}": false, "{": false, "not JSON": false, "": false,
	} {
		if got := adapter.Detect(strings.NewReader(content)); got != want {
			t.Errorf("detect(%.70q) = %v", content, got)
		}
	}
	if adapter.Detect(failing{}) {
		t.Error("a file that cannot be read")
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is broken") }

// TestCutOff cuts an export everywhere. The result must be a prefix of the whole
// result, and never be silently empty.
func TestCutOff(t *testing.T) {
	data := slurp(t, fixtures+"1.2.5/prices/transcript.json")
	_, whole := readAll(t, write(t, t.TempDir(), "x.json", data), inject.Options{})
	most := 0
	for n := 1; n < len(data)-2; n += 37 {
		tr, err := adapter.Open(write(t, t.TempDir(), "x.json", data[:n]), inject.Options{})
		if err != nil {
			var file *inject.FileError
			if most > 0 || !errors.As(err, &file) {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		b := gather(t, tr)
		if len(b.Messages) < most || !strings.Contains(strings.Join(tr.Warnings, ""), "cut off") {
			t.Fatalf("cut at %d: %d messages after %d, %q", n, len(b.Messages), most, tr.Warnings)
		}
		most = len(b.Messages)
		for i, m := range b.Messages {
			if want := whole.Messages[i]; m.ID != want.ID || !strings.HasPrefix(want.Content, m.Content) || m.ParentID != want.ParentID {
				t.Fatalf("cut at %d: message %d is %+v, in the whole %+v", n, i, m, want)
			}
		}
		for i, x := range b.Tools {
			if want := whole.Tools[i]; string(schema.AppendTool(nil, &x)) != string(schema.AppendTool(nil, &want)) {
				t.Fatalf("cut at %d: call %d is %+v", n, i, x)
			}
		}
	}
	if most != len(whole.Messages) {
		t.Errorf("%d messages of %d", most, len(whole.Messages))
	}
}

// TestHead reads only the beginning.
func TestHead(t *testing.T) {
	for _, path := range []string{fixtures + "1.18.33/stopped/transcript.json", fixtures + "1.18.33/store/transcript.db#ses_dff9b00b4ffejYKUoFfwIW74Lx"} {
		whole, _ := readAll(t, path, inject.Options{})
		tr, b := readAll(t, path, inject.Options{Head: 1500})
		if len(tr.Roots) != 1 || tr.Roots[0] != whole.Roots[0] || len(b.Messages) != 0 {
			t.Errorf("%s: roots %q, want %q; %d messages", path, tr.Roots, whole.Roots, len(b.Messages))
		}
	}
}

// TestEach checks that batches are bounded, that progress is reported, and that an
// error from the receiver is returned.
func TestEach(t *testing.T) {
	long := strings.Repeat("x", 600_000)
	var list []string
	for range 600 {
		list = append(list, `{"info":{"role":"assistant"},"parts":[]}`)
	}
	for range 4 {
		list = append(list, `{"info":{"role":"assistant"},"parts":[{"type":"text","text":"`+long+`"}]}`)
	}
	reported := int64(0)
	tr, err := adapter.Open(write(t, t.TempDir(), "x.json", exported(list...)), inject.Options{Progress: func(n int64) { reported = n }})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var sizes []int
	for range 2 {
		sizes = nil
		if err := tr.Each(func(_ string, b inject.Batch) error { sizes = append(sizes, len(b.Messages)); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(sizes, []int{2, 256, 256, 88, 2}) || reported < 2_400_000 {
		t.Errorf("batches of %v messages, %d bytes", sizes, reported)
	}
	stop := errors.New("stop")
	if err := tr.Each(func(string, inject.Batch) error { return stop }); err != stop {
		t.Errorf("%v", err)
	}
}

// TestBadFiles checks that the error for an unreadable file names it.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	fold := filepath.Join(dir, "folder.db")
	if err := os.Mkdir(fold, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{write(t, dir, "empty", ""), write(t, dir, "text", "x"), fold, fold + "#s", filepath.Join(dir, "nosuch"), filepath.Join(dir, "nosuch#")} {
		if _, err := adapter.Open(path, inject.Options{}); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if file, id := split(write(t, dir, "a#b.json", exported())); id != "" || filepath.Base(file) != "a#b.json" {
		t.Errorf("%s, %s", file, id)
	}
}
