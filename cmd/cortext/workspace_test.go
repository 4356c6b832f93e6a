//go:build unix

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/agenttest"
)

var update = flag.Bool("update", false, "make testdata/workspace, or testdata/contract.golden, again")

// fixture is the workspace of the README's first command. scripts/testdata.sh recreates
// it.
const fixture = "../../testdata/workspace"

// shop is the project that the fixture's conversation is about.
var shop = map[string]string{
	"orders/http.go": `package orders

import "net/http"

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", s.getOrder)
	mux.HandleFunc("POST /orders", s.createOrder)
	return s.log(mux)
}
`,
	"stock/http.go": `package stock

import "net/http"

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{sku}/level", s.level)
	return mux
}
`,
	"billing/http.go": `package billing

import "net/http"

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /invoices", s.createInvoice)
	return mux
}
`,
	"lint.sh": `# Names the operations of an OpenAPI file that have no responses.
awk '
function report() {
	if (operation != "") {
		printf "%s:%d:5 error  operation %s has no responses\n", FILENAME, line, operation
		found = 1
	}
	operation = ""
}
/^    [a-z]+:$/ { report(); line = FNR }
/operationId:/ { operation = $2 }
/responses:/ { operation = "" }
END { report(); exit found }
' "$1"
`,
}

const contract = `openapi: 3.1.0
info:
  title: shop internal API
  version: 0.1.0
paths:
  /orders/{id}:
    get:
      operationId: getOrder
  /orders:
    post:
      operationId: createOrder
`

// call makes a tool call. Paths in its input are relative, so the fixture is the same
// wherever it was made.
func call(name, input string) agenttest.ToolCall {
	return agenttest.ToolCall{Name: name, Input: json.RawMessage(input)}
}

// task makes the call that adds a step to the agent's task list.
func task(subject, description, activeForm string) agenttest.ToolCall {
	return call("TaskCreate", fmt.Sprintf(`{"subject":%q,"description":%q,"activeForm":%q}`, subject, description, activeForm))
}

func taskIs(number int, status string) agenttest.ToolCall {
	return call("TaskUpdate", fmt.Sprintf(`{"taskId":"%d","status":%q}`, number, status))
}

// turns lists the turns of the fixture's conversation: the user's message, the part of it
// that selects the script, the model's turns, and words of the last one as the terminal
// shows it.
var turns = []struct {
	say, to string
	steps   []agenttest.Step
	shown   string
}{
	{
		"/workspace.brainstorm API design", "This is a brainstorming conversation about:",
		[]agenttest.Step{{
			Think: "The user wants to explore how internal services should talk. Ask about the core problem before options.",
			Say:   "Good topic. Before we list options: what hurts today? Which services call each other, and who writes the clients?",
		}},
		"who writes the clients?",
	},
	{
		"Three internal services: `orders`, `stock` and `billing`. Clients are written by hand and drift from the servers. We argue about REST vs GraphQL every quarter.",
		"drift from the servers",
		[]agenttest.Step{
			{
				Say: "Then drift is the problem to solve, whatever the style. Let me plan the session and look at what is in the repository.",
				Tools: []agenttest.ToolCall{
					task("Look at the existing endpoints", "List every route of the three services", "Looking at the existing endpoints"),
					task("Compare REST and GraphQL for the three services", "What speaks for each, what against", "Comparing REST and GraphQL"),
					task("Decide on style and on where the contract lives", "One decision for all three services", "Deciding"),
					task("Sketch openapi.yaml for orders", "Only the operations that there are", "Sketching openapi.yaml"),
				},
			},
			{Tools: []agenttest.ToolCall{
				taskIs(1, "in_progress"),
				call("Bash", `{"command":"grep -rn 'HandleFunc' --include='*.go' . | sort","description":"List HTTP handlers"}`),
			}},
			{Tools: []agenttest.ToolCall{call("Read", `{"file_path":"orders/http.go"}`)}},
			{Say: "Four endpoints in all, every one a plain resource. My reading:\n\n" +
				"- **REST + OpenAPI**: fits what is there, the contract is a file that can be diffed, Go clients are generated.\n" +
				"- **GraphQL**: pays off when many clients choose different fields. You have three callers, all yours.\n\n" +
				"I lean towards REST with a contract in the repository. Would a second consumer outside the company change that?"},
		},
		"I lean towards REST",
	},
	{
		"No outside consumers planned. Let's go with REST, and the contract lives in `api/openapi.yaml`, generated clients only. 决定了 👍",
		"No outside consumers planned.",
		[]agenttest.Step{
			{
				Say: "Decided: REST for internal APIs, one contract in `api/openapi.yaml`, clients are generated and never written by hand.",
				Tools: []agenttest.ToolCall{
					taskIs(1, "completed"), taskIs(2, "completed"), taskIs(3, "completed"), taskIs(4, "in_progress"),
					call("Write", fmt.Sprintf(`{"file_path":"api/openapi.yaml","content":%q}`, contract)),
				},
			},
			{Tools: []agenttest.ToolCall{
				call("Bash", `{"command":"sh lint.sh api/openapi.yaml","description":"Lint the contract"}`),
			}},
			{Say: "`api/openapi.yaml` has the two operations of `orders`; the linter asks for responses, which I have left open. Should an unknown order be `404` with a problem body (RFC 9457), or an empty `404`?"},
		},
		"has the two operations of orders",
	},
	{
		"/workspace.stop-conversation", "# Stop",
		[]agenttest.Step{{Say: "The conversation is saved; `/workspace.resume` brings it back."}},
		"The conversation is saved",
	},
}

// TestWorkspace makes the real agent produce the fixture and compares it with testdata:
// the same except for ids, times and counts. With -update it replaces the fixture.
func TestWorkspace(t *testing.T) {
	s := newStage(t)
	s.env = append(s.env, "CLAUDE_CODE_ENABLE_TODO_TOOLS=1") // otherwise the model decides which tools it has
	for name, text := range shop {
		s.check(os.MkdirAll(filepath.Dir(filepath.Join(s.project, name)), 0o755))
		s.write(name, text)
	}
	s.run("git", "add", "-A")
	s.run("git", "commit", "-qm", "the shop")
	for _, turn := range turns {
		s.server.Script(turn.to, turn.steps...)
	}
	term := s.terminal("claude", "--permission-mode", "default", "--allowedTools", "Bash,Write")
	s.wait(term, "❯")
	for _, turn := range turns {
		s.say(term, turn.say, turn.shown)
		s.captured(turn.steps[len(turn.steps)-1].Say)
	}
	s.leave(term)
	s.check(os.RemoveAll(filepath.Join(s.project, "api")))
	s.clean()

	offered := s.server.Main()[0].Tools
	for _, tool := range s.show("api design").Tools {
		if !strings.HasPrefix(tool.Name, "Task") && !slices.Contains(offered, tool.Name) {
			t.Errorf("the agent offers no %s, only %q", tool.Name, offered)
		}
		if strings.Contains(tool.Output, "tool_use_error") {
			t.Errorf("%s: %s", tool.Name, tool.Output)
		}
	}
	made := map[string]string{}
	for name, text := range tree(t, s.project) {
		if top, _, _ := strings.Cut(name, "/"); top == ".workspace" || top == ".claude" || top == ".gitattributes" || top == "conversations" {
			made[name] = text
		}
	}
	s.anywhere(made)

	if *update && !t.Failed() {
		s.check(os.RemoveAll(fixture))
		for name, text := range made {
			name = filepath.Join(fixture, name)
			s.check(os.MkdirAll(filepath.Dir(name), 0o755))
			s.check(os.WriteFile(name, []byte(text), 0o644))
		}
	}
	want, got := normal(tree(t, fixture)), normal(made)
	if !slices.Equal(keys(want), keys(got)) {
		t.Fatalf("files %q, want %q", keys(got), keys(want))
	}
	for name, text := range got {
		if text != want[name] {
			t.Errorf("%s differs (scripts/testdata.sh makes it again):\n%s\nwant\n%s", name, text, want[name])
		}
	}
}

// captured waits until the hooks have captured an answer, which takes less time than a
// user needs to read it.
func (s *stage) captured(answer string) {
	s.t.Helper()
	text, _, _ := strings.Cut(answer, "\n")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		files, err := filepath.Glob(filepath.Join(s.project, "conversations/*/*/.session/messages.jsonl"))
		s.check(err)
		for _, file := range files {
			if raw, err := os.ReadFile(file); err == nil && strings.Contains(string(raw), text) {
				return
			}
		}
	}
	s.t.Fatalf("not captured: %s", answer)
}

// anywhere checks that the files do not depend on the machine or user that made them.
func (s *stage) anywhere(files map[string]string) {
	s.t.Helper()
	private := []string{s.project, s.home.Dir, s.bin, strings.TrimPrefix(s.server.URL, "http://")}
	folders, err := os.ReadDir("/")
	s.check(err)
	for _, f := range folders {
		private = append(private, "/"+f.Name())
	}
	if host, err := os.Hostname(); err == nil {
		private = append(private, host)
	}
	if u, err := user.Current(); err == nil {
		private = append(private, u.HomeDir, u.Username)
	}
	said := fmt.Sprint(turns, shop)
	for _, p := range private {
		word := regexp.MustCompile(`(?:^|[^\w.]|\\[nt])` + regexp.QuoteMeta(p) + `\b`)
		if p == "" || word.MatchString(said) { // it is in the conversation's own words
			continue
		}
		for name, text := range files {
			if strings.HasPrefix(name, "conversations/") && word.MatchString(text) {
				s.t.Errorf("%s holds %s", name, p)
			}
		}
	}
}

// What differs between two builds of the fixture.
var (
	anID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:msg|toolu|req)_[0-9a-z]{24}|\b01[0-9a-z]{24}\b|\b[0-9a-f]{40}\b`)
	aTime   = regexp.MustCompile(`\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?`)
	counted = regexp.MustCompile(`("(?:prompt_tokens|completion_tokens|cached_tokens|counted_bytes)": ?)\d+`)
	version = regexp.MustCompile(`("version":")[0-9.]+"`)
	aRev    = regexp.MustCompile(`,"rev":\d+}`)
	aFolder = regexp.MustCompile(`\b\d{4}(-[a-z-]+)-[0-9a-z]{4}\b`) // contains the minute and the end of the id
)

// normal returns the files with ids replaced by their number in order of appearance,
// times and dates by a word, and so on.
func normal(files map[string]string) map[string]string {
	ids := map[string]string{}
	number := func(id string) string {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf("id-%d", len(ids)+1)
		}
		return ids[id]
	}
	done := map[string]string{}
	for _, name := range keys(files) {
		text := files[name]
		if strings.HasPrefix(name, "conversations/") {
			if strings.HasSuffix(name, ".jsonl") {
				text = newest(text)
			}
			text = aTime.ReplaceAllString(anID.ReplaceAllStringFunc(text, number), "TIME")
			text = aFolder.ReplaceAllString(text, "NAME$1")
			text = version.ReplaceAllString(counted.ReplaceAllString(text, "${1}0"), `${1}0"`)
			name = aFolder.ReplaceAllString(aTime.ReplaceAllString(name, "DATE"), "NAME$1")
		}
		done[name] = text
	}
	return done
}

// newest keeps only the newest revision of each record, in the place of its first one. A
// turn that was captured while in progress has several.
func newest(records string) string {
	var lines []string
	at := map[string]int{}
	for line := range strings.Lines(records) {
		id, _, _ := strings.Cut(line, ",")
		line = aRev.ReplaceAllString(line, "}")
		if i, seen := at[id]; seen {
			lines[i] = line
			continue
		}
		at[id] = len(lines)
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// TestWorkspaceIsCurrent: the prompts, settings and agent files in the fixture are those
// that cortext writes, nothing in it is damaged, and reading leaves no trace.
func TestWorkspaceIsCurrent(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init", "--agent", "claude")
	before := tree(t, fixture)
	want, got := tree(t, dir), maps.Clone(before)
	maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(name, "conversations/") })
	if !slices.Equal(keys(want), keys(got)) {
		t.Errorf("files %q, want %q", keys(got), keys(want))
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is not what init writes (scripts/testdata.sh makes it again)", name)
		}
	}
	if out := must(t, "-C", fixture, "check"); out != "no damage\n" {
		t.Error(out)
	}
	must(t, "-C", fixture, "list")
	must(t, "-C", fixture, "show", "api design")
	must(t, "-C", fixture, "resume", "api design", "--print")
	if !maps.Equal(before, tree(t, fixture)) {
		t.Error("reading changed something")
	}
	if _, err := os.Lstat(filepath.Join(fixture, ".workspace/local")); err == nil {
		t.Error("reading left .workspace/local behind")
	}
}

// tree returns the files below root, except those that git ignores.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "local" || d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		files[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func keys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
