package hook

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/install"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/inject/claude"
)

// A world is a workspace and the sessions of an agent in it, with the expected
// conversation of each message.
type world struct {
	t        *testing.T
	rand     *rand.Rand
	dir      string
	home     string
	agent    hooked
	n        int
	sessions []*session
	where    map[string]string // message -> conversation; of a session that is not ours yet: ""
	log      []string
}

// A session is one transcript.
type session struct {
	id    string
	lines []map[string]any
	at    string            // the conversation that it is in, "" for none
	mine  []string          // its messages while it is not in a conversation
	conv  map[string]string // line -> the conversation that the session was in at that time
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), dir: t.TempDir(), home: t.TempDir(), agent: claude.Agent().(hooked), where: map[string]string{}}
	if _, err := install.Init(w.dir, settings.CommitOff, ""); err != nil {
		t.Fatal(err)
	}
	// Idleness depends on the clock, and this test needs more than one active
	// conversation.
	if err := os.WriteFile(filepath.Join(w.dir, settings.WorkspaceFile), []byte("one_active: false\nidle_minutes: 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

// open opens the workspace as a separate process would.
func (w *world) open() *handler {
	ws, err := workspace.Open(workspace.Env{
		Dir: w.dir, Now: time.Now, Holder: "test", Agents: []inject.Agent{w.agent},
		Machine: inject.Machine{Home: w.home, Getenv: func(string) string { return "" }},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return newHandler(ws, nil)
}

func (w *world) hook(s *session, moment inject.EventType, change func(*inject.Event)) string {
	w.t.Helper()
	h := w.open()
	defer h.ws.Close()
	e := inject.Event{Type: moment, NativeID: s.id, Transcript: w.file(s), Dir: w.dir, Process: "1"}
	if change != nil {
		change(&e)
	}
	w.log = append(w.log, fmt.Sprintf("hook %d %s %q", moment, s.id, e.Prompt))
	say, err := h.handle(context.Background(), w.agent, e)
	if err != nil {
		w.fail("hook: %v", err)
	}
	return say
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	files, _ := filepath.Glob(filepath.Join(w.dir, "conversations/*/*/.session/session.json"))
	for _, f := range files {
		raw, _ := os.ReadFile(f)
		_, sources, _ := strings.Cut(string(raw), `"sources": [`)
		sources, _, _ = strings.Cut(sources, "]")
		w.log = append(w.log, strings.TrimPrefix(f, w.dir), sources)
	}
	w.t.Fatalf(format+"\n%s", append(args, strings.Join(w.log, "\n"))...)
}

func (w *world) file(s *session) string {
	return filepath.Join(w.home, ".claude/projects/p", s.id+".jsonl")
}

func (w *world) begin() *session {
	w.n++
	s := &session{id: fmt.Sprintf("s%d", w.n), conv: map[string]string{}}
	w.sessions = append(w.sessions, s)
	return s
}

func (w *world) save(s *session) {
	var b strings.Builder
	for _, l := range s.lines {
		raw, err := json.Marshal(l)
		if err != nil {
			w.t.Fatal(err)
		}
		b.Write(append(raw, '\n'))
	}
	if err := os.MkdirAll(filepath.Dir(w.file(s)), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.file(s), []byte(b.String()), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// turn writes a prompt and its answer after the line parent; each prompt has an id.
func (w *world) turn(s *session, prompt, promptID string, parent any) {
	for i, role := range []string{"user", "assistant"} {
		w.n++
		uuid := fmt.Sprintf("u%d", w.n)
		message := map[string]any{"role": role, "content": prompt}
		id := uuid
		if i == 1 {
			id = fmt.Sprintf("m%d", w.n)
			message["id"], message["model"], message["content"] = id, "m", "answer to "+prompt
		}
		s.lines = append(s.lines, map[string]any{
			"type": role, "uuid": uuid, "parentUuid": parent, "promptId": promptID, "sessionId": s.id,
			"timestamp": time.Unix(int64(1_700_000_000+w.n), 0).UTC().Format("2006-01-02T15:04:05.000Z"), "message": message,
		})
		parent = uuid
		s.conv[uuid] = s.at
		w.where[id] = s.at
		if s.at == "" {
			s.mine = append(s.mine, id)
		}
	}
	w.log = append(w.log, fmt.Sprintf("turn %s %q in %q: %s", s.id, prompt, s.at, s.last()))
	w.save(s)
}

func (s *session) last() any {
	if len(s.lines) == 0 {
		return nil
	}
	return s.lines[len(s.lines)-1]["uuid"]
}

// enter moves the session into a conversation. Messages from before the first
// conversation belong to it.
func (w *world) enter(s *session, at string) {
	if s.at == "" {
		for _, id := range s.mine {
			w.where[id] = at
		}
		for line := range s.conv {
			s.conv[line] = at
		}
		s.mine = nil
	}
	s.at = at
}

// step performs one random thing that can happen to sessions.
func (w *world) step() {
	s := w.sessions[w.rand.IntN(len(w.sessions))]
	w.n++
	promptID := fmt.Sprintf("p%d", w.n)
	switch w.rand.IntN(12) {
	case 0: // a new session
		s = w.begin()
		w.hook(s, inject.SessionStart, func(e *inject.Event) { e.New = true })
	case 1: // a command starts a conversation
		prompt := fmt.Sprintf("/workspace.plan topic %d", w.n)
		say := w.hook(s, inject.PromptSubmit, func(e *inject.Event) { e.Prompt, e.PromptID = prompt, promptID })
		_, rest, _ := strings.Cut(say, "is kept in ")
		at, _, _ := strings.Cut(rest, ";")
		w.enter(s, at)
		w.turn(s, prompt, promptID, s.last())
	case 2: // the session resumes another conversation
		convs := w.conversations()
		if len(convs) == 0 {
			return
		}
		at := convs[w.rand.IntN(len(convs))]
		prompt := "/workspace.resume " + filepath.Base(at)
		w.hook(s, inject.PromptSubmit, func(e *inject.Event) { e.Prompt, e.PromptID = prompt, promptID })
		w.enter(s, at)
		w.turn(s, prompt, promptID, s.last())
	case 3: // the context is cleared
		w.hook(s, inject.SessionEnd, func(e *inject.Event) { e.Cleared = true })
		next := w.begin()
		next.at = s.at
		w.hook(next, inject.SessionStart, func(e *inject.Event) { e.Cleared, e.New = true, true })
		w.turn(next, fmt.Sprintf("after clearing %d", w.n), promptID, nil)
	case 4: // the agent forks it
		if len(s.lines) == 0 || s.at == "" {
			return
		}
		w.hook(s, inject.TurnEnd, nil)
		fork := w.begin()
		fork.at = s.at
		for _, l := range s.lines {
			copied := map[string]any{}
			for k, v := range l {
				copied[k] = v
			}
			copied["sessionId"], copied["promptId"] = fork.id, promptID
			fork.lines = append(fork.lines, copied)
		}
		for k, v := range s.conv {
			fork.conv[k] = v
		}
		w.turn(fork, fmt.Sprintf("in the fork %d", w.n), promptID, fork.last())
		w.hook(fork, inject.TurnEnd, nil)
	case 5: // a rewind: the next prompt follows an earlier answer
		if len(s.lines) < 4 {
			return
		}
		var answers []string
		for _, l := range s.lines {
			if l["type"] == "assistant" {
				answers = append(answers, l["uuid"].(string))
			}
		}
		to := answers[w.rand.IntN(len(answers))]
		if s.at != "" {
			s.at = s.conv[to]
		}
		w.turn(s, fmt.Sprintf("rewound to %s, %d", to, w.n), promptID, to)
		w.hook(s, inject.TurnEnd, nil) // now the program knows where it is
	case 6: // the user deletes the cache
		w.hookAll()
		w.log = append(w.log, "the cache is deleted")
		if err := os.RemoveAll(filepath.Join(w.dir, ".workspace/local/cache")); err != nil {
			w.t.Fatal(err)
		}
	case 7:
		w.hook(s, inject.SessionEnd, nil)
	default: // a turn, and its hook unless the program is killed first
		w.turn(s, fmt.Sprintf("turn %d", w.n), promptID, s.last())
		if w.rand.IntN(3) > 0 {
			w.hook(s, inject.TurnEnd, nil)
		}
	}
}

func (w *world) hookAll() {
	for _, s := range w.sessions {
		w.hook(s, inject.TurnEnd, nil)
	}
}

func (w *world) conversations() (paths []string) {
	for _, at := range w.where {
		if at != "" && !slices.Contains(paths, at) {
			paths = append(paths, at)
		}
	}
	slices.Sort(paths)
	return paths
}

// verify checks that each message is in its conversation, once, and nowhere else.
func (w *world) verify() {
	w.hookAll()
	ws := w.open().ws
	defer ws.Close()
	all, err := ws.Store.List()
	if err != nil {
		w.t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range all {
		shown, err := history.Show(ws.Conversations, e, history.ShowOptions{})
		if err != nil || len(shown.Damage) > 0 {
			w.fail("%s: %v, %v", e.Path, err, shown.Damage)
		}
		for _, m := range shown.Messages {
			if other, twice := got[m.ID]; twice {
				w.fail("message %s is in %s and in %s", m.ID, other, e.Path)
			}
			got[m.ID] = e.Path
		}
		raw, err := os.ReadFile(filepath.Join(w.dir, e.Path, ".session/messages.jsonl"))
		if err != nil || strings.Count(string(raw), "\n") != len(shown.Messages) {
			for line := range strings.Lines(string(raw)) {
				if strings.Contains(line, `"rev"`) {
					w.log = append(w.log, line)
				}
			}
			w.fail("%s has %d lines for %d messages, %v", e.Path, strings.Count(string(raw), "\n"), len(shown.Messages), err)
		}
	}
	for id, want := range w.where {
		if got[id] != want {
			w.fail("message %s is in %q, not in %q", id, got[id], want)
		}
		delete(got, id)
	}
	if len(got) > 0 {
		w.fail("messages that nobody wrote: %v", got)
	}
}

var seeds = flag.Uint64("seeds", 12, "how many random histories of sessions are tried")

// TestSessions: whatever happens to sessions, each message is captured once, into the
// conversation that the session was in.
func TestSessions(t *testing.T) {
	for seed := range *seeds {
		w := newWorld(t, seed)
		w.log = append(w.log, fmt.Sprintf("seed %d", seed))
		w.begin()
		for range 40 {
			w.step()
		}
		w.verify()
	}
}
