package gemini

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/inject"
	"cortext/schema"
)

// fixtures returns testdata/agents/gemini/<version>/<case>/transcript.*.
func fixtures(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/agents/gemini/*/*/transcript.*")
	if err != nil || len(files) < 8 {
		t.Fatalf("fixtures: %v, %v", files, err)
	}
	return files
}

// gather collects everything in a transcript.
func gather(t testing.TB, file string, o inject.Options) (*inject.Transcript, schema.Batch, map[string][]byte) {
	t.Helper()
	tr, err := adapter.Open(file, o)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var all schema.Batch
	blobs := map[string][]byte{}
	err = tr.Each(func(sub string, b inject.Batch) error {
		if sub != "" {
			t.Errorf("a batch of %q", sub)
		}
		all.Messages = append(all.Messages, b.Messages...)
		all.Tools = append(all.Tools, b.Tools...)
		for _, blob := range b.Blobs {
			blobs[blob.SHA256] = blob.Data
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr, all, blobs
}

// write writes a transcript to a file.
func write(t testing.TB, data string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "session-x.jsonl")
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// linesOf returns a session with these lines.
func linesOf(lines ...string) string {
	return `{"sessionId":"s","projectHash":"h","startTime":"2026-11-22T09:00:00.000Z","kind":"main"}` + "\n" + strings.Join(lines, "\n") + "\n"
}

// outline lists messages, one per line: speaker, id, parent, text.
func outline(b schema.Batch) (lines []string) {
	for _, m := range b.Messages {
		lines = append(lines, string(m.Role[0])+" "+m.ID+"<"+m.ParentID+" "+m.Content)
	}
	return lines
}

func TestDetect(t *testing.T) {
	for file, want := range map[string]bool{
		`{"sessionId":"x","projectHash":"y"}`: true,
		`{"$set":{"lastUpdated":"x"}}` + "\n": true,
		"\xEF\xBB\xBF{\n \"messages\":[{\"id\":\"1\",\"type\":\"user\",\"content\":\"x\"}],\"sessionId\":\"x\"}": true,
		`{"sessionId":"x","messages":[{"type":"user","content":"hi"}]}`:                                          true,
		"{\n  \"sessionId\": \"x\", \"projectHash\": \"y\", \"messages\": [ {\"id\": \"to":                       true, // cut off
		"{\n  \"history\": [{\"role\": \"user\", \"parts\": [{\"text\": \"x\"}]}]}":                              true, // a checkpoint
		"torn\n" + `{"id":"1","type":"gemini","content":""}`:                                                     true,
		`{"type":"user","message":{"role":"user","content":"hi"},"uuid":"u","sessionId":"s"}`:                    false, // Claude Code
		`{"type":"user","message":{"role":"user","parts":[{"text":"hi"}]},"sessionId":"s"}`:                      false, // Qwen Code
		`{"type":"session_meta","payload":{"id":"x"}}`:                                                           false, // Codex
		"{\n  \"info\": {\"id\": \"x\"}, \"messages\": [{\"info\": {\"role\": \"user\"}, \"parts\": []}]}":       false, // OpenCode
		`{"session_id":"x","hook_event_name":"AfterAgent","transcript_path":"/x"}`:                               false,
		`{"type":"init","session_id":"x","model":"gemini-2.5-pro"}`:                                              false, // --output-format stream-json
		"[\n  {\"sessionId\": \"x\", \"messageId\": 0, \"type\": \"user\", \"message\": \"hi\"}\n]":              false, // logs.json
		"not json": false,
		"":         false,
	} {
		if got := adapter.Detect(strings.NewReader(file)); got != want {
			t.Errorf("adapter.Detect(%.60q) = %v", file, got)
		}
	}
}

// TestContexts checks that messages copied into a new context occur once, that the
// context's own messages are kept, and that rewinds go back to the right place.
func TestContexts(t *testing.T) {
	user := func(id, text string) string {
		return `{"id":"` + id + `","type":"user","content":[{"text":"` + text + `"}]}`
	}
	model := func(id, text string) string {
		return `{"id":"` + id + `","type":"gemini","content":"` + text + `","model":"m"}`
	}
	again := func(id, text string) string {
		return `{"id":"` + id + `","type":"gemini","content":[{"text":"` + text + `"}],"thoughts":[],"tokens":null}`
	}
	set := func(list ...string) string { return `{"$set":{"messages":[` + strings.Join(list, ",") + `]}}` }
	cancelled := func(id string) string { return `{"id":"` + id + `","type":"info","content":"Request cancelled."}` }
	rewind := func(id string) string { return `{"$rewindTo":"` + id + `"}` }
	first := `{"id":"e","type":"user","content":[{"text":"<session_context>x</session_context>"},{"text":"one"}]}`
	summary, ack := user("sum", "<state_snapshot>x</state_snapshot>"), again("ack", summaryAck)
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"equal prompts are not copies", []string{user("a", "continue"), model("b", "ok"), user("c", "continue"), model("d", "ok"), set(user("c", "continue"), again("d", "ok"))},
			[]string{"u a< continue", "a b<a ok", "u c<b continue", "a d<c ok"}},
		{"lines written for a context are", []string{user("a", "one"), model("b", "two"), cancelled("i"),
			user("c", "one"), again("d", "two"), set(user("c", "one"), again("d", "two")), user("e", "three")},
			[]string{"u a< one", "a b<a two", "s i<b Request cancelled.", "u e<i three"}},
		{"turns of one speaker become one", []string{user("a", "one"), user("b", "two"), model("c", "x <!-- y -->\u200b"), model("d", "z"), cancelled("i"),
			`{"id":"e","type":"user","content":[{"text":"one"},{"text":"two"}]}`, again("f", "x <!-- y -->\u200b"), set(user("e", "one"), again("f", "x")), rewind("e"), user("g", "new")},
			[]string{"u a< one", "u b<a two", "a c<b x <!-- y -->\u200b", "a d<c z", "s i<d Request cancelled.", "u g< new"}},
		{"a copy by id alone", []string{user("a", "one"), model("b", "two"), user("c", "three"), model("d", "four"), set(summary, ack, user("c2", "three"), again("d2", "four")), rewind("c2"), user("e", "five")},
			[]string{"u a< one", "a b<a two", "u c<b three", "a d<c four", "u e<b five"}},
		{"a summary after other words of the model", []string{user("a", "one"), model("b", "two"), user("c", "three"), model("d", "four"), set(user("sum", "Nothing was missing: <state_snapshot>x</state_snapshot>"), ack, user("c2", "three"), again("d2", "four")), user("e", "five")},
			[]string{"u a< one", "a b<a two", "u c<b three", "a d<c four", "u e<d five"}},
		{"taken back to a summary after other words", []string{user("a", "one"), model("b", "two"), set(user("sum", "Nothing was missing: <state_snapshot>x</state_snapshot>"), ack), user("c", "three"), model("d", "four"), user("e", "five"), model("f", "six"),
			user("h", "<session_context>x</session_context>Nothing was missing: <state_snapshot>x</state_snapshot>"), again("i", summaryAck), user("j", "three"), again("k", "four"),
			set(user("h", "<session_context>x</session_context>Nothing was missing: <state_snapshot>x</state_snapshot>"), again("i", summaryAck), user("j", "three"), again("k", "four")), user("g", "seven")},
			[]string{"u a< one", "a b<a two", "u c<b three", "a d<c four", "u e<d five", "a f<e six", "u g<d seven"}},
		{"a typed turn that mentions a summary", []string{user("a", "why <state_snapshot>?"), model("b", "two"), set(user("a2", "why <state_snapshot>?"), again("b2", "two"), user("c", "and <state_snapshot>?"), again("d", "four")), user("e", "five")},
			[]string{"u a< why <state_snapshot>?", "a b<a two", "u c<b and <state_snapshot>?", "a d<c four", "u e<d five"}},
		{"a summary with nothing before it", []string{set(summary, ack, user("c", "three"), again("d", "four")), user("e", "five")},
			[]string{"s sum< <state_snapshot>x</state_snapshot>", "u c<sum three", "a d<c four", "u e<d five"}},
		{"a context that holds more than the lines", []string{user("a", "one"), set(user("a", "one"), again("b", "lost line"), user("c", "three")), user("e", "five")},
			[]string{"u a< one", "a b<a lost line", "u c<b three", "u e<c five"}},
		{"what the program says for the model", []string{user("a", "one"), set(user("a", "one"), again("p", placeholder)), user("e", "five")},
			[]string{"u a< one", "u e<a five"}},
		{"rewound to what is not there", []string{user("a", "one"), rewind("nosuch"), user("b", "two")},
			[]string{"u a< one", "u b< two"}},
		{"rewound twice", []string{user("a", "one"), model("b", "two"), user("c", "three"), rewind("c"), user("d", "four"), rewind("d"), user("e", "five"), rewind("a"), user("f", "six")},
			[]string{"u a< one", "a b<a two", "u c<b three", "u d<b four", "u e<b five", "u f< six"}},
		{"rewound to the results of tools", []string{user("a", "one"), model("b", "two"), rewind("b_response"), user("c", "three")},
			[]string{"u a< one", "a b<a two", "u c<b three"}},
		{"copies whose context is not there yet", []string{user("a", "one"), model("b", "two"), user("c", "<session_context>x</session_context>"), again("d", "two")},
			[]string{"u a< one", "a b<a two"}},
		{"taken back", []string{user("a", "one"), model("b", "two"), user("c", "three"), model("d", "four"), first, again("f", "two"), set(first, again("f", "two")), user("g", "five")},
			[]string{"u a< one", "a b<a two", "u c<b three", "a d<c four", "u g<b five"}},
		{"interrupted, not taken back", []string{user("a", "one"), model("b", "two"), user("c", "three"), model("d", "four"), cancelled("i"), user("j", "five"), model("k", "six"), cancelled("l"), first, again("f", "two"), set(first, again("f", "two")), user("g", "seven")},
			[]string{"u a< one", "a b<a two", "u c<b three", "a d<c four", "s i<d Request cancelled.", "u j<i five", "a k<j six", "s l<k Request cancelled.", "u g<l seven"}},
		{"taken back after an interruption", []string{user("a", "one"), model("b", "two"), user("c", "three"), model("d", "four"), user("h", "five"), model("j", "six"), cancelled("i"), first, again("f", "two"), set(first, again("f", "two")), user("g", "seven")},
			[]string{"u a< one", "a b<a two", "u c<b three", "a d<c four", "u h<d five", "a j<h six", "s i<j Request cancelled.", "u g<b seven"}},
		{"not answered, not taken back", []string{user("a", "one"), model("b", "two"), user("c", "three"), user("d", "four"), set(user("a", "one"), again("b", "two"), `{"id":"e","type":"user","content":[{"text":"three"},{"text":"four"}]}`), user("g", "five")},
			[]string{"u a< one", "a b<a two", "u c<b three", "u d<c four", "u g<d five"}},
		{"no copies after all", []string{user("a", "one"), model("b", "two"), user("c", "<session_context>x</session_context>"), user("d", "typed"), model("e", "five")},
			[]string{"u a< one", "a b<a two", "u d<b typed", "a e<d five"}},
	} {
		_, b, _ := gather(t, write(t, linesOf(c.lines...)), inject.Options{})
		if got := outline(b); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestUserTurns checks that what the user typed is recovered from what the program made
// of it.
func TestUserTurns(t *testing.T) {
	for content, want := range map[string]string{
		`"plain"`:                          "plain",
		`[{"text":"one"},{"text":"two"}]`:  "one\n\ntwo",
		`{"text":"an object"}`:             "an object",
		`["a","b"]`:                        "a\n\nb",
		`"<hook_context>x</hook_context>"`: "",
		`[{"text":"hi"},{"text":"<hook_context>x</hook_context>"}]`:                                          "hi",
		`[{"text":"<session_context>x</session_context>"},{"text":"hi"}]`:                                    "hi",
		`[{"text":"go"},{"text":"\n<system_note>\nThe user has explicitly selected: x\n</system_note>\n"}]`:  "go",
		`"Here is the user's editor context as a JSON object. This is for your information only.\n"`:         "",
		`"User hints:\n<user_input>\n- a\n- b\n</user_input>\n\nInternal instruction: x"`:                    "- a\n- b",
		`"see\n--- Content from referenced files ---\nContent from @a.md:\nx\n--- End of content ---\nmore"`: "see\nmore",
		`"see\n--- Content from referenced files ---\nContent from @a.md:\nx"`:                               "see",
		`"what is --- Content from referenced files ---\n?"`:                                                 "what is --- Content from referenced files ---\n?",
		`[{"text":"@a.md bob @x.org"}],"displayContent":[{"text":"@a.md bob@x.org"}]`:                        "@a.md bob@x.org",
		`[{"text":"@a.md bob @x.org"}],"displayContent":[{"text":"short"}]`:                                  "@a.md bob @x.org",
		`"<state_snapshot> is what?"`:                                         "",
		"\"```xml\\n<state_snapshot>x</state_snapshot>\\n```\"":               "",
		"\"```xml\\n<state_snapshot>x</state_snapshot>\\n```\\nwhat is it?\"": "```xml\n<state_snapshot>x</state_snapshot>\n```\nwhat is it?",
		`"what is <state_snapshot>?"`:                                         "what is <state_snapshot>?",
		`"Please continue."`:                                                  "Please continue.",
	} {
		lines := linesOf(`{"id":"z","type":"user","content":"first"}`, `{"id":"a","type":"user","content":`+content+`}`, `{"id":"q","type":"gemini","content":"x","model":"m"}`)
		_, b, _ := gather(t, write(t, lines), inject.Options{})
		got := ""
		if len(b.Messages) > 2 {
			got = b.Messages[1].Content
		}
		if got != want {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
}

// TestOwnPayload checks that cortext's own text in a session is not captured, but that
// what follows and what the user added are.
func TestOwnPayload(t *testing.T) {
	id := inject.PayloadID("PAYLOAD")
	lines := linesOf(
		`{"id":"`+id+`","type":"user","content":"PAYLOAD","displayContent":"[RESUMED CONVERSATION]"}`,
		`{"id":"a","type":"user","content":[{"text":"OURS"}],"displayContent":[{"text":"/cortext-resume"}]}`,
		`{"id":"b","type":"user","content":[{"text":"OURS"},{"text":"and typed"}]}`,
		`{"id":"c","type":"user","content":"OURS and more"}`,
		`{"id":"d","type":"gemini","content":"ok"}`,
		`{"$rewindTo":"`+id+`"}`,
		`{"id":"e","type":"user","content":"new"}`,
	)
	strip := func(s string) (string, bool) { return strings.CutPrefix(s, "OURS") }
	tr, b, _ := gather(t, write(t, lines), inject.Options{Strip: strip})
	if got, want := strings.Join(outline(b), "|"), "u b< and typed|u c<b  and more|a d<c ok|u e< new"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if !slices.Equal(tr.Roots, []string{id, "e"}) {
		t.Errorf("roots %q", tr.Roots)
	}
}

// TestContinues checks that a summary of messages captured earlier does not become a
// message.
func TestContinues(t *testing.T) {
	file := "../../testdata/agents/gemini/0.61.0/imported/transcript.jsonl"
	for _, continues := range []bool{false, true} {
		_, b, _ := gather(t, file, inject.Options{Continues: continues})
		if got := len(b.Messages); got != map[bool]int{false: 5, true: 4}[continues] {
			t.Errorf("continues %v: %d messages", continues, got)
		}
	}
}

// TestHead checks that the first lines show where a session began.
func TestHead(t *testing.T) {
	for _, file := range fixtures(t) {
		whole, _, _ := gather(t, file, inject.Options{})
		tr, _, _ := gather(t, file, inject.Options{Head: whole.Next.Size * 2 / 3})
		if len(tr.Roots) == 0 || tr.Roots[0] != whole.Roots[0] || len(tr.Warnings) > len(whole.Warnings) {
			t.Errorf("%s: roots %q, in all %q; warnings %q", file, tr.Roots, whole.Roots, tr.Warnings)
		}
	}
}

// TestTornDocument checks that reading a truncated document gives the content before
// the cut.
func TestTornDocument(t *testing.T) {
	data, err := os.ReadFile("../../testdata/agents/gemini/0.22.4/document/transcript.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		until    string
		messages int
	}{{`"id": "d3"`, 1}, {`"id": "d5"`, 3}, {`"summary"`, 6}} {
		file := write(t, string(data[:bytes.Index(data, []byte(c.until))]))
		tr, b, _ := gather(t, file, inject.Options{})
		if len(b.Messages) != c.messages || len(tr.Warnings) != 1 {
			t.Errorf("cut at %s: %d messages, %q", c.until, len(b.Messages), tr.Warnings)
		}
	}
}

// TestOutcomes reads results in the formats of older and newer versions.
func TestOutcomes(t *testing.T) {
	read := func(callJSON, next string) schema.Tool {
		lines := linesOf(`{"id":"g","type":"gemini","content":"","toolCalls":[`+callJSON+`]}`, next)
		_, b, _ := gather(t, write(t, lines), inject.Options{})
		if len(b.Tools) != 1 {
			t.Fatalf("%s: %d calls", callJSON, len(b.Tools))
		}
		return b.Tools[0]
	}
	for _, c := range []struct {
		call, next      string
		output, failure string
		success         string
		exit            int
	}{
		{`{"id":"c","name":"x","status":"success","result":"text"}`, "", "text", "", "true", -1},
		{`{"id":"c","name":"x","status":"success","result":[{"functionResponse":{"response":{"content":[1]}}}]}`, "", `{"content":[1]}`, "", "true", -1},
		{`{"id":"c","name":"x","status":"success","result":null,"resultDisplay":"shown"}`, "", "shown", "", "true", -1},
		{`{"id":"c","name":"x","status":"executing"}`, "", "", "", "", -1},
		{`{"id":"c","name":"x"}`, `{"id":"r","type":"user","content":[{"functionResponse":{"id":"c","response":{"error":"bad\nworse"}}}]}`, "bad\nworse", "bad", "false", -1},
		{`{"name":"x"}`, `{"id":"r","type":"user","content":[{"functionResponse":{"response":{"output":"out"}}}]}`, "out", "", "true", -1},
		{`{"id":"c","name":"run_shell_command","status":"success","result":[{"functionResponse":{"id":"c","response":{"output":"Output: a\nExit Code: 3\nProcess Group PGID: 1"}}}]}`, "", "Output: a\nExit Code: 3\nProcess Group PGID: 1", "", "true", 3},
		{`{"id":"c","name":"run_shell_command","status":"success","result":[{"functionResponse":{"id":"c","response":{"output":"<untrusted_context>\nOutput: a\nProcess Group PGID: 1\n</untrusted_context>"}}}]}`, "", "<untrusted_context>\nOutput: a\nProcess Group PGID: 1\n</untrusted_context>", "", "true", 0},
		{`{"id":"c","name":"run_shell_command","status":"success","result":"Command moved to background (PID: 1)."}`, "", "Command moved to background (PID: 1).", "", "true", -1},
		{`{"id":"c","name":"run_shell_command","status":"success","result":"Output: x\nExit Code: (none)\nSignal: 9"}`, "", "Output: x\nExit Code: (none)\nSignal: 9", "", "true", -1},
	} {
		x := read(c.call, c.next)
		success, exit := "", -1
		if x.Success != nil {
			success = map[bool]string{true: "true", false: "false"}[*x.Success]
		}
		if x.ExitCode != nil {
			exit = *x.ExitCode
		}
		if x.Output != c.output || x.Error != c.failure || success != c.success || exit != c.exit {
			t.Errorf("%s:\n%+v, success %s, exit %d", c.call, x, success, exit)
		}
	}
}

// TestOrphans checks that a result without its call is kept.
func TestOrphans(t *testing.T) {
	file := write(t, linesOf(`{"id":"r","type":"user","content":[{"functionResponse":{"id":"c","name":"x","response":{"output":"out"}}},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}`))
	_, b, blobs := gather(t, file, inject.Options{})
	if len(b.Messages) != 0 || len(b.Tools) != 1 || b.Tools[0].Output != "out" || b.Tools[0].Name != "x" || len(blobs) != 1 {
		t.Errorf("%+v, %v", b, blobs)
	}
}

// TestRealTranscripts reads real transcripts again with encoding/json, following
// FACTS.md, "Records of a transcript", and compares the results.
func TestRealTranscripts(t *testing.T) {
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		t.Log("NOT RUN on real transcripts: CORTEXT_TRANSCRIPTS is not set")
		return
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(root, "gemini"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.Contains(d.Name(), ".json") {
			return err
		}
		files++
		t.Run(d.Name(), func(t *testing.T) { compare(t, path) })
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d transcripts below %s: %v", files, root, err)
	}
}

func compare(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Messages []struct {
			ID, Type  string
			Content   string
			Thoughts  []struct{ Description string }
			ToolCalls []struct {
				ID, Status string
				Args       json.RawMessage
				Result     []struct {
					FunctionResponse struct {
						Response struct{ Output, Error string }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	_, b, _ := gather(t, path, inject.Options{})
	messages, tools := map[string]schema.Message{}, map[string]schema.Tool{}
	for _, m := range b.Messages {
		messages[m.ID] = m
	}
	for _, x := range b.Tools {
		tools[x.ID] = x
	}
	calls := 0
	for _, m := range doc.Messages {
		got, ok := messages[m.ID]
		if m.Type == "info" || m.Type == "error" || m.Content == "" && len(m.ToolCalls)+len(m.Thoughts) == 0 {
			continue
		}
		typed, _, _ := strings.Cut(m.Content, "\n"+refStart)
		if !ok || got.Content != typed {
			t.Errorf("%s %s: %.80q, want %.80q", m.Type, m.ID, got.Content, m.Content)
		}
		for _, d := range m.Thoughts {
			if !strings.Contains(got.Reasoning, d.Description) {
				t.Errorf("%s: a thought is lost", m.ID)
			}
		}
		for _, c := range m.ToolCalls {
			calls++
			x := tools[c.ID]
			var out []string
			for _, r := range c.Result {
				out = append(out, r.FunctionResponse.Response.Output+r.FunctionResponse.Response.Error)
			}
			var input, want bytes.Buffer
			_ = json.Compact(&input, x.Input)
			_ = json.Compact(&want, c.Args)
			if x.MessageID != m.ID || x.Output != strings.Join(out, "\n\n") || input.String() != want.String() || x.Success == nil || *x.Success != (c.Status == "success") {
				t.Errorf("call %s differs", c.ID)
			}
		}
	}
	if calls != len(b.Tools) {
		t.Errorf("%d calls, want %d", len(b.Tools), calls)
	}
}
