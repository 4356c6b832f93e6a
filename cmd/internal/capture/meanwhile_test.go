//go:build unix

package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/schema"
	"cortext/store"
)

func openCapture(t *testing.T, dir, home string) *Capture {
	w, err := workspace.Open(workspace.Env{Dir: dir, Now: time.Now, Holder: "test", Agents: []inject.Agent{claude.Agent()},
		Machine: inject.Machine{Home: home, Getenv: func(string) string { return "" }}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return New(w)
}

func transcript(file, id string, from, to int) {
	f, _ := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	defer f.Close()
	for i := from; i < to; i++ {
		parent := "null"
		if i > 0 {
			parent = fmt.Sprintf("%q", fmt.Sprintf("%s-%d", id, i-1))
		}
		typ, content := "user", `"content":"prompt `+fmt.Sprint(i)+`"`
		if i == 0 {
			content = `"content":"<command-message>workspace.plan</command-message>\n<command-name>/workspace.plan</command-name>\n<command-args>move</command-args>"`
		}
		if i%2 == 1 {
			typ, content = "assistant", fmt.Sprintf(`"id":"m%d","model":"claude-x","stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1},"content":[{"type":"text","text":"answer %d"}]`, i, i)
		}
		fmt.Fprintf(f, `{"parentUuid":%s,"isSidechain":false,"userType":"external","sessionId":%q,"version":"2.1.329","type":%q,"promptId":"p%d","message":{"role":%q,%s},"uuid":"%s-%d","timestamp":"2026-11-22T10:00:%02d.000Z"}`+"\n", parent, id, typ, i, typ, content, id, i, i)
	}
}

func setUp(t *testing.T) (dir, home, id, file string) {
	dir, home, id = t.TempDir(), t.TempDir(), "s1"
	st, _, err := store.Init(dir)
	if err != nil {
		t.Fatal(err)
	}
	st.Close()
	file = filepath.Join(home, id+".jsonl")
	return
}

func logOf(dir string) string {
	m, _ := filepath.Glob(filepath.Join(dir, "conversations/*/*/.session/messages.jsonl"))
	return m[0]
}

func importFile(t *testing.T, c *Capture, file string) {
	im, err := c.NewImporter(ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := im.File(context.Background(), claude.Agent(), file); err != nil {
		t.Fatal(err)
	}
}

// ingestNoticed is Ingest; it calls noticed for each batch of messages.
func ingestNoticed(c *Capture, id string, b *binding.Binding, noticed func()) (Ingested, error) {
	in := &ingestion{c: c, ctx: context.Background(), agent: claude.Agent(), nativeID: id, binding: b, opts: Options{Mode: OwnTurn}, progress: func(int) { noticed() }}
	return in.run()
}

func replaceLog(t *testing.T, log string, lines int) { // as git does: with a new file
	raw, _ := os.ReadFile(log)
	all := strings.SplitAfter(string(raw), "\n")
	if err := os.WriteFile(log+".x", []byte(strings.Join(all[:lines], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Rename(log+".x", log)
}

// TestLogReplacedWhileWaiting: git replaces the log in a merge while it is compared with
// the transcript.
func TestLogReplacedWhileWaiting(t *testing.T) {
	dir, home, id, file := setUp(t)
	transcript(file, id, 0, 6)
	c := openCapture(t, dir, home)
	importFile(t, c, file)
	for _, name := range []string{"refs", "objects"} {
		must(t, os.MkdirAll(filepath.Join(dir, ".git", name), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(dir, ".git/HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, ".git/MERGE_HEAD"), []byte("0000\n"), 0o600))
	transcript(file, id, 6, 8)
	c = openCapture(t, dir, home)
	b, err := c.Bind(claude.Agent(), id, file)
	must(t, err)
	once := sync.OnceFunc(func() { replaceLog(t, logOf(dir), 2) })
	out, err := ingestNoticed(c, id, b, once)
	if err != nil || len(out.Waiting) != 1 {
		t.Fatal(out, err)
	}
	must(t, os.Remove(filepath.Join(dir, ".git/MERGE_HEAD")))
	transcript(file, id, 8, 10)
	_, err = openCapture(t, dir, home).Session(context.Background(), claude.Agent(), inject.Event{NativeID: id, Transcript: file})
	must(t, err)
	wantLines(t, dir, 10)
}

// TestLogReplacedWhileWriting: git replaces or removes the log while the session's own turn
// is written.
func TestLogReplacedWhileWriting(t *testing.T) {
	for name, change := range map[string]func(log string){
		"replaced": func(log string) { replaceLog(t, log, 2) },
		"removed":  func(log string) { must(t, os.RemoveAll(filepath.Dir(filepath.Dir(log)))) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, home, id, file := setUp(t)
			transcript(file, id, 0, 4)
			importFile(t, openCapture(t, dir, home), file)
			transcript(file, id, 4, 6)
			c := openCapture(t, dir, home)
			b, err := c.Bind(claude.Agent(), id, file)
			must(t, err)
			once := sync.OnceFunc(func() { change(logOf(dir)) })
			_, err = ingestNoticed(c, id, b, once)
			must(t, err)
			_, err = openCapture(t, dir, home).Source(context.Background(), claude.Agent(), id, Options{Mode: PutBack})
			must(t, err)
			wantLines(t, dir, 6)
		})
	}
}

// A beforeOpen is an agent that calls a function before it opens a transcript.
type beforeOpen struct {
	inject.Agent
	happens func()
}

func (a beforeOpen) Open(path string, o inject.Options) (*inject.Transcript, error) {
	a.happens()
	return a.Agent.Open(path, o)
}

// TestTranscriptDeletedMeanwhile: the transcript is deleted after it was found and before
// it is opened.
func TestTranscriptDeletedMeanwhile(t *testing.T) {
	dir, home, id, file := setUp(t)
	transcript(file, id, 0, 4)
	importFile(t, openCapture(t, dir, home), file)
	transcript(file, id, 4, 6)
	c := openCapture(t, dir, home)
	agent := claude.Agent()
	b, err := c.Bind(agent, id, file)
	must(t, err)
	if out, err := c.Ingest(context.Background(), beforeOpen{agent, func() { must(t, os.Remove(file)) }}, id, b, Options{Mode: OwnTurn}); err != nil || out.Appended != 0 {
		t.Fatal(out, err)
	}
	wantLines(t, dir, 4)
}

// TestEventsOfTwoSegments: each conversation's event names its own last message.
func TestEventsOfTwoSegments(t *testing.T) {
	_, home, id, file, c := twoSegments(t)
	dir := c.ws.Store.Root()
	logs, _ := filepath.Glob(filepath.Join(dir, "conversations/*/*plan*/.session/messages.jsonl"))
	replaceLog(t, logs[0], 2)
	c = openCapture(t, dir, home)
	_, err := c.Session(context.Background(), claude.Agent(), inject.Event{NativeID: id, Transcript: file})
	must(t, err)
	var last []string
	for _, e := range c.ws.Events.Take() {
		if e.Name == lifecycle.Message {
			last = append(last, fmt.Sprint(e.MessageID, " ", e.Count))
		}
	}
	if want := []string{"m3 2", "m5 2"}; !slices.Equal(last, want) {
		t.Errorf("events of %q, not of %q", last, want)
	}
}

// TestTakenFromRenamed: git removes lines of a conversation whose folder the user renamed,
// and a sub-agent has new messages.
func TestTakenFromRenamed(t *testing.T) {
	_, home, id, file, c := twoSegments(t)
	dir := c.ws.Store.Root()
	_, err := c.Session(context.Background(), claude.Agent(), inject.Event{NativeID: id, Transcript: file})
	must(t, err)
	logs, _ := filepath.Glob(filepath.Join(dir, "conversations/*/*plan*/.session/messages.jsonl"))
	replaceLog(t, logs[0], 2)
	old := filepath.Dir(filepath.Dir(logs[0]))
	must(t, os.Rename(old, old+"-renamed"))
	sub := filepath.Join(home, id, "subagents")
	must(t, os.MkdirAll(sub, 0o700))
	must(t, os.WriteFile(filepath.Join(sub, "agent-abc.meta.json"), []byte(`{"toolUseId":"toolu_1"}`), 0o600))
	must(t, os.WriteFile(filepath.Join(sub, "agent-abc.jsonl"), []byte(`{"parentUuid":null,"isSidechain":true,"agentId":"abc","userType":"external","sessionId":"s1","version":"2.1.329","type":"user","message":{"role":"user","content":"do it"},"uuid":"x-0","timestamp":"2026-11-22T10:00:05.000Z"}`+"\n"), 0o600))
	c = openCapture(t, dir, home)
	b, err := c.Bind(claude.Agent(), id, file)
	must(t, err)
	out, err := c.Ingest(context.Background(), claude.Agent(), id, b, Options{})
	if err != nil || out.Taken != 2 {
		t.Errorf("%d messages taken, %v", out.Taken, err)
	}
}

func wantLines(t *testing.T, dir string, n int) {
	t.Helper()
	raw, err := os.ReadFile(logOf(dir))
	must(t, err)
	if got := strings.Count(string(raw), "\n"); got != n {
		t.Errorf("%d lines, not %d:\n%s", got, n, raw)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func twoSegments(t *testing.T) (dir, home, id, file string, c *Capture) {
	dir, home, id, file = setUp(t)
	transcript(file, id, 0, 4)
	c = openCapture(t, dir, home)
	importFile(t, c, file)
	c = openCapture(t, dir, home)
	b, err := c.Bind(claude.Agent(), id, file)
	if err != nil {
		t.Fatal(err)
	}
	s := &schema.Session{Title: "beta", CreatedAt: "2026-11-22T11:00:00.000Z"}
	conv, err := c.ws.Store.Create("chat", "beta", s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ContinueIn(claude.Agent(), inject.Event{NativeID: id, Transcript: file, PromptID: "p4"}, b, Place{Path: conv.Path()}); err != nil {
		t.Fatal(err)
	}
	f, _ := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0o600)
	fmt.Fprintf(f, `{"parentUuid":"%s-3","isSidechain":false,"userType":"external","sessionId":%q,"version":"2.1.329","type":"user","promptId":"p4","message":{"role":"user","content":"<command-message>workspace.chat</command-message>\n<command-name>/workspace.chat</command-name>\n<command-args>beta</command-args>"},"uuid":"%s-4","timestamp":"2026-11-22T10:00:04.000Z"}`+"\n", id, id, id)
	f.Close()
	transcript(file, id, 5, 6)
	return
}

// A beforeStat is an agent that calls a function before each look at a transcript.
type beforeStat struct {
	inject.Agent
	happens func(path string)
}

func (a beforeStat) Stat(path string) (int64, error) {
	a.happens(path)
	return a.Agent.Stat(path)
}

// TestAnswerStillWritten: the agent calls the hook while it is still writing the turn, a
// long line in pieces. The answer is captured, without a warning about an incomplete line.
func TestAnswerStillWritten(t *testing.T) {
	dir, home, id, file := setUp(t)
	transcript(file, id, 0, 2)
	importFile(t, openCapture(t, dir, home), file)
	whole := filepath.Join(home, "whole")
	transcript(whole, id, 2, 4)
	rest, err := os.ReadFile(whole)
	must(t, err)
	agent := beforeStat{claude.Agent(), func(path string) {
		if n := min(len(rest), 100); n > 0 && path == file {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			_, err = f.Write(rest[:n])
			must(t, err)
			must(t, f.Close())
			rest = rest[n:]
		}
	}}
	long := time.Now().Add(-time.Hour) // session.json is due
	must(t, os.Chtimes(filepath.Join(filepath.Dir(logOf(dir)), "session.json"), long, long))
	c := openCapture(t, dir, home)
	_, err = c.Answer(context.Background(), agent, inject.Event{NativeID: id, Transcript: file, LastReply: "answer 3"})
	must(t, err)
	wantSummary(t, c, "Last: answer 3.")
	if said := c.TakeWarnings(); len(said) > 0 {
		t.Errorf("warned of %q", said)
	}
	wantLines(t, dir, 4)
}

// TestAnswerTwiceTheSame: the agent calls the hook before an answer is in the transcript that
// has the words of the answer before it. It is captured, too.
func TestAnswerTwiceTheSame(t *testing.T) {
	dir, home, id, file := setUp(t)
	transcript(file, id, 0, 2)
	importFile(t, openCapture(t, dir, home), file)
	transcript(file, id, 2, 3)
	whole := filepath.Join(home, "whole")
	transcript(whole, id, 3, 4)
	rest, err := os.ReadFile(whole)
	must(t, err)
	agent := beforeStat{claude.Agent(), func(string) {
		if log, _ := os.ReadFile(logOf(dir)); bytes.Count(log, []byte("\n")) == 3 {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			_, err = f.Write(bytes.Replace(rest, []byte("answer 3"), []byte("answer 1"), 1))
			must(t, errors.Join(err, f.Close()))
		}
	}}
	c := openCapture(t, dir, home)
	_, err = c.Answer(context.Background(), agent, inject.Event{NativeID: id, Transcript: file, LastReply: "answer 1"})
	must(t, err)
	wantLines(t, dir, 4)
}

// TestAnswerNeverWritten: an answer that the agent reports does not come. session.json
// describes the turn as far as it goes.
func TestAnswerNeverWritten(t *testing.T) {
	dir, home, id, file := setUp(t)
	transcript(file, id, 0, 2)
	importFile(t, openCapture(t, dir, home), file)
	transcript(file, id, 2, 3)
	c := openCapture(t, dir, home)
	_, err := c.Answer(context.Background(), claude.Agent(), inject.Event{NativeID: id, Transcript: file, LastReply: "answer 3"})
	must(t, err)
	wantSummary(t, c, "No answer yet.")
}

func wantSummary(t *testing.T, c *Capture, part string) {
	t.Helper()
	list, err := c.ws.Store.List()
	must(t, err)
	if !strings.Contains(list[0].Session.ContextSummary, part) {
		t.Errorf("no %q in the summary: %q", part, list[0].Session.ContextSummary)
	}
}

// TestLogReplacedAfterImport: git removes messages after a log was written and before the
// import records the log's state for the next import.
func TestLogReplacedAfterImport(t *testing.T) {
	dir, home, _, file := setUp(t)
	transcript(file, "s1", 0, 6)
	im, err := openCapture(t, dir, home).NewImporter(ImportOptions{Program: "test"})
	must(t, err)
	time.Sleep(20 * time.Millisecond) // a file written just now may change without looking different
	look := lookAt(claude.Agent(), file)
	out, err := im.file(context.Background(), claude.Agent(), file, func(*inject.Transcript) error { return nil })
	must(t, err)
	im.imports.keep(file, look, "s1", out)
	if len(im.imports.Files) != 1 {
		t.Fatal("an import is not kept")
	}
	clear(im.imports.Files)
	replaceLog(t, logOf(dir), 2)
	im.imports.keep(file, look, "s1", out)
	if len(im.imports.Files) != 0 {
		t.Errorf("kept: %v", im.imports.Files)
	}
}
