package repair

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/schema"
	"cortext/store"
)

// A world is a workspace with conversations, their transcripts, and sometimes git.
type world struct {
	t     *testing.T
	r     *rand.Rand
	dir   string
	home  string
	log   []string
	files map[string]string // the logs before the damage, by path relative to dir
	git   map[string]string // the logs in git's last commit
	kept  map[string]bool   // folders of conversations whose transcript is still there
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 7)), dir: t.TempDir(), home: t.TempDir(), git: map[string]string{}, kept: map[string]bool{}}
	s, _, err := store.Init(w.dir)
	w.must(err)
	w.must(s.Close())
	withGit := w.r.IntN(3) > 0
	if withGit {
		w.run("git", "init", "-q", "-b", "main", ".")
	}
	for i := range 1 + w.r.IntN(3) {
		id := fmt.Sprintf("s%d", i)
		turns := 1 + w.r.IntN(5)
		w.transcript(id, turns)
		path := w.capture(id)
		if w.r.IntN(3) == 0 {
			w.subagent(path)
		}
		if withGit {
			w.commit()
		}
		if w.r.IntN(2) == 0 { // git does not have the last turns
			w.transcript(id, turns+1+w.r.IntN(2))
			w.capture(id)
		}
		if w.kept[path] = w.r.IntN(3) > 0; !w.kept[path] {
			w.must(os.Remove(w.file(id)))
		}
	}
	w.files = w.logs()
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v\n%s", err, strings.Join(w.log, "\n"))
	}
}

func (w *world) run(name string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (w *world) commit() {
	w.run("git", "add", "-A")
	w.run("git", "commit", "-qm", "x")
	for name, content := range w.logs() {
		w.git[name] += content // every version counts
	}
}

// logs returns the logs of all conversations.
func (w *world) logs() map[string]string {
	all := map[string]string{}
	w.must(filepath.WalkDir(filepath.Join(w.dir, "conversations"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(name, ".jsonl") {
			b, err := os.ReadFile(name)
			rel, _ := filepath.Rel(w.dir, name)
			all[filepath.ToSlash(rel)] = string(b)
			return err
		}
		return err
	}))
	return all
}

// tree returns everything below conversations/, with its modes.
func (w *world) tree() map[string]string {
	all := map[string]string{}
	w.must(filepath.WalkDir(filepath.Join(w.dir, "conversations"), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var b []byte
		if d.Type().IsRegular() {
			b, err = os.ReadFile(name)
		}
		all[name] = info.Mode().String() + " " + string(b)
		return err
	}))
	return all
}

func (w *world) file(id string) string {
	return filepath.Join(w.home, ".claude/projects/p", id+".jsonl")
}

// transcript writes a transcript with some turns, each with a tool call.
func (w *world) transcript(id string, turns int) {
	var b strings.Builder
	parent := "null"
	at := time.Date(2025, 11, 1, 1+int(id[1]), 0, 0, 0, time.UTC)
	line := func(typ, uuid, message string) {
		at = at.Add(time.Minute)
		fmt.Fprintf(&b, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":%q,"cwd":%q,"version":"2.1.329","timestamp":%q,"message":%s}`+"\n",
			typ, uuid, parent, id, w.dir, at.Format(time.RFC3339), message)
		parent = strconv.Quote(uuid)
	}
	for i := range turns {
		n := fmt.Sprintf("%s-%d", id, i)
		line("user", "u-"+n, fmt.Sprintf(`{"role":"user","content":"Change the handler %s, please. ünïcode"}`, n))
		line("assistant", "a-"+n, fmt.Sprintf(`{"id":"m-%s","role":"assistant","model":"m","content":[{"type":"text","text":"I look at %[1]s."},{"type":"tool_use","id":"t-%[1]s","name":"Bash","input":{"command":"ls %[1]s"}}]}`, n))
		line("user", "r-"+n, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t-%s","content":"output of %[1]s","is_error":false}]}`, n))
		line("assistant", "b-"+n, fmt.Sprintf(`{"id":"n-%s","role":"assistant","model":"m","content":[{"type":"text","text":"I changed the handler %[1]s and ran the tests."}]}`, n))
	}
	w.must(os.MkdirAll(filepath.Dir(w.file(id)), 0o700))
	w.must(os.WriteFile(w.file(id), []byte(b.String()), 0o600))
}

func (w *world) open() (*workspace.Workspace, *capture.Capture) {
	ws, err := workspace.Open(workspace.Env{
		Dir: w.dir, Now: time.Now, Holder: "test", Agents: []inject.Agent{claude.Agent()},
		Machine: inject.Machine{Home: w.home, Getenv: func(string) string { return "" }},
	})
	w.must(err)
	return ws, capture.New(ws)
}

// capture imports a transcript and returns the path of its conversation.
func (w *world) capture(id string) string {
	ws, c := w.open()
	defer ws.Close()
	im, err := c.NewImporter(capture.ImportOptions{})
	w.must(err)
	out, err := im.File(context.Background(), claude.Agent(), w.file(id))
	w.must(err)
	im.Close()
	return out.Path
}

// subagent adds a conversation with a sub-agent.
func (w *world) subagent(path string) {
	ws, _ := w.open()
	defer ws.Close()
	c, err := ws.Store.Conversation(path)
	w.must(err)
	sub, err := c.Subagent("x")
	w.must(err)
	_, err = sub.Append(schema.Batch{
		Messages: []schema.Message{{ID: "x1", Role: schema.User, Content: "find it", Timestamp: "2025-11-01T01:00:00.000Z"}, {ID: "x2", ParentID: "x1", Role: schema.Assistant, Content: "found it"}},
		Tools:    []schema.Tool{{ID: "xt", MessageID: "x2", Name: "Read"}},
	})
	w.must(err)
	w.must(sub.Close())
	w.must(c.Close())
}

// A fault damages one conversation: session is its .session folder.
type fault struct {
	name string
	do   func(w *world, session string)
}
