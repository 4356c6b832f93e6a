package payload

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver for OpenCode's databases

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/install"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
	"cortext/schema"
	"cortext/store"
)

// A mixed is a workspace with a conversation held in several agents, as capture leaves
// it.
type mixed struct {
	*workspace.Workspace
	payloads *Builder
	t        *testing.T
	dir      string
	home     string
	c        *store.Conversation
	last     string // id of the last message
	n        int
}

func newMixed(t *testing.T) *mixed {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	if _, err := install.Init(dir, settings.CommitOff, ""); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(workspace.Env{
		Dir: dir, Now: time.Now, Holder: "test", Agents: []inject.Agent{opencode.Agent(), claude.Agent(), gemini.Agent()},
		Machine: inject.Machine{Home: home, Getenv: func(string) string { return "" }},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	c, err := w.Store.Create("chat", "x", &schema.Session{ConversationType: "chat", Title: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &mixed{Workspace: w, payloads: New(w), t: t, dir: dir, home: home, c: c}
}

// take appends the messages of a session and records what a capture records.
func (x *mixed) take(agent, nativeID string, b schema.Batch, p *schema.Provider) {
	x.t.Helper()
	for i := range b.Messages {
		m := &b.Messages[i]
		m.ParentID = cmp.Or(m.ParentID, x.last)
	}
	if n := len(b.Messages); n > 0 {
		x.last = b.Messages[n-1].ID
	}
	if _, err := x.c.Append(b); err != nil {
		x.t.Fatal(err)
	}
	_, err := x.Finish(x.c, workspace.Finishing{Describe: func(s *schema.Session) {
		if !slices.ContainsFunc(s.Sources, func(src schema.Source) bool { return src.NativeID == nativeID }) {
			s.Sources = append(s.Sources, schema.Source{Agent: agent, NativeID: nativeID})
		}
		s.AgentConfig.Agent = cmp.Or(s.AgentConfig.Agent, agent)
		s.AgentConfig.Provider = p
	}})
	if err != nil {
		x.t.Fatal(err)
	}
}

// turn adds a user message in a session of an agent and an answer by a model.
func (x *mixed) turn(agent, model string) {
	x.t.Helper()
	var b schema.Batch
	for _, role := range []schema.Role{schema.User, schema.Assistant} {
		x.n++
		m := schema.Message{ID: fmt.Sprint("m", x.n), Role: role, Content: "c", Source: agent + "-session", Timestamp: schema.NewTime(time.Unix(1_763_800_000+int64(x.n), 0))}
		if role == schema.Assistant {
			m.Model = model
		}
		if x.n > 1 && role == schema.Assistant {
			m.ParentID = fmt.Sprint("m", x.n-1)
		}
		b.Messages = append(b.Messages, m)
	}
	x.take(agent, agent+"-session", b, nil)
}

// fixture appends a recorded session.
func (x *mixed) fixture(agent inject.Agent, name string) {
	x.t.Helper()
	tr, err := agent.Open("../../../testdata/agents/"+agent.Name()+"/"+name, inject.Options{})
	if err != nil {
		x.t.Fatal(err)
	}
	defer tr.Close()
	var all schema.Batch
	err = tr.Each(func(sub string, b inject.Batch) error {
		if sub == "" {
			all.Messages, all.Tools = append(all.Messages, b.Messages...), append(all.Tools, b.Tools...)
		}
		return nil
	})
	if err != nil {
		x.t.Fatal(err)
	}
	x.take(agent.Name(), tr.NativeID, all, tr.Provider)
}

func (x *mixed) entry() store.Entry {
	x.t.Helper()
	e, err := x.Entry(x.c.Path())
	if err != nil {
		x.t.Fatal(err)
	}
	return e
}

// target returns the target of a resume in an agent; an empty name means the default
// agent.
func (x *mixed) target(agent string, args ...string) (Options, int) {
	x.t.Helper()
	e := x.entry()
	o, err := x.payloads.Target(e, Recipient{Agent: agent, Args: args}, Options{})
	if err != nil {
		x.t.Fatal(err)
	}
	r, err := x.payloads.Build(x.t.Context(), e, o)
	if err != nil {
		x.t.Fatal(err)
	}
	if want := r.Room; r.Payload.Budget != want {
		x.t.Errorf("%s: the payload was made for %d tokens, not %d", agent, r.Payload.Budget, want)
	}
	return o, r.Payload.Budget
}

func (x *mixed) want(agent, model string, budget int, args ...string) {
	x.t.Helper()
	if o, got := x.target(agent, args...); o.Model != model || got != budget {
		x.t.Errorf("in %s with %q: model %q and %d tokens, not %q and %d", agent, args, o.Model, got, model, budget)
	}
}

func (x *mixed) write(name, text string) {
	x.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		x.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

// TestBudgetOfTarget: a turn in another agent does not change what an agent gets.
func TestBudgetOfTarget(t *testing.T) {
	x := newMixed(t)
	x.turn("claude", "claude-haiku-4-5-20251001")
	x.want("claude", "claude-haiku-4-5-20251001", 100_000)
	x.turn("gemini", "gemini-3-pro-preview")
	x.want("claude", "claude-haiku-4-5-20251001", 100_000)
	x.want("gemini", "gemini-3-pro-preview", 592_640)
	x.turn("opencode", "model-of-tomorrow")
	x.want("claude", "claude-haiku-4-5-20251001", 100_000)
	x.want("gemini", "gemini-3-pro-preview", 592_640)
	x.want("opencode", "model-of-tomorrow", 83_125)
	x.want("", "model-of-tomorrow", 83_125)

	// The arguments take precedence over the settings, and the settings over the
	// conversation.
	x.want("claude", "opus", 75_000, "--model", "opus")
	settings := filepath.Join(x.home, ".claude/settings.json")
	x.write(settings, `{"model":"claude-opus-4-5"}`)
	x.turn("claude", "claude-fable-5")
	x.want("claude", "claude-opus-4-5", 100_000)
	x.want("claude", "sonnet[1m]", 450_000, "--model=sonnet[1m]")
	x.write(settings, `{"model":"default"}`)
	x.want("claude", "claude-fable-5", 450_000)

	// A window in OpenCode's settings applies to a model that only the messages name.
	x.write(filepath.Join(x.dir, "opencode.json"), `{"provider":{"own":{"models":{"model-of-tomorrow":{"limit":{"context":64000}}}}}}`)
	x.want("opencode", "model-of-tomorrow", 19_375)

	// The setting and the flag still win.
	x.Config.ContextWindow = 400_000
	x.want("opencode", "model-of-tomorrow", 176_875)
	if o, err := x.payloads.Target(x.entry(), Recipient{Agent: "claude"}, Options{Window: 300_000}); err != nil || o.Window != 300_000 || o.For != "claude" {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestBudgetOfFixtures repeats TestBudgetOfTarget with recorded sessions. The conversation
// began in Claude Code, whose own first prompt was smaller than usual, as its usage shows.
func TestBudgetOfFixtures(t *testing.T) {
	x := newMixed(t)
	x.fixture(claude.Agent(), "2.1.329/brainstorm/transcript.jsonl")
	x.want("claude", "claude-opus-5-5", 461_756)
	x.fixture(opencode.Agent(), "1.2.5/prices/transcript.json")
	x.want("claude", "claude-opus-5-5", 461_756)
	x.want("opencode", "gpt-5.3-codex", 255_000)
	if p := x.entry().Session.AgentConfig.Provider; p == nil || p.Type != "openai" || p.Model != "gpt-5.3-codex" {
		t.Errorf("provider %+v", p)
	}
	x.fixture(gemini.Agent(), "0.61.0/rewind/transcript.jsonl")
	x.want("claude", "claude-opus-5-5", 461_756)
	x.want("opencode", "gpt-5.3-codex", 255_000)
	x.want("gemini", "gemini-2.5-pro", 592_640)
	x.want("", "gemini-2.5-pro", 592_640)
}

// TestBudgetIsTheAgentsOwn: messages in other agents never change an agent's budget.
func TestBudgetIsTheAgentsOwn(t *testing.T) {
	models := []string{"claude-haiku-4-5", "claude-sonnet-4-6", "gemini-3-pro-preview", "gpt-5.2", "qwen2.5-coder", "x", "", "<synthetic>"}
	agents := []string{"claude", "gemini", "opencode"}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 7))
		own := agents[r.IntN(len(agents))]
		alone, among := newMixed(t), newMixed(t)
		for range 1 + r.IntN(3) {
			for range r.IntN(4) * r.IntN(30) {
				other := agents[r.IntN(len(agents))]
				if other != own {
					among.turn(other, models[r.IntN(len(models))])
				}
			}
			model := models[r.IntN(len(models)-2)]
			alone.turn(own, model)
			among.turn(own, model)
		}
		for range r.IntN(60) {
			if other := agents[r.IntN(len(agents))]; other != own {
				among.turn(other, models[r.IntN(len(models))])
			}
		}
		want, budget := alone.target(own)
		if got, n := among.target(own); got != want || n != budget {
			t.Errorf("seed %d: %s is told %+v and %d tokens, not %+v and %d", seed, own, got, n, want, budget)
		}
	}
}

// TestLastAgent: the newest message decides which agent was used last, wherever its
// session is among the sources.
func TestLastAgent(t *testing.T) {
	x := newMixed(t)
	want := func(want string) {
		t.Helper()
		if o, _ := x.target(""); o.For != want {
			t.Errorf("it goes on in %s, not %s", o.For, want)
		}
	}
	want("opencode") // no messages yet: the first agent that can be launched
	x.turn("claude", "claude-opus-4-5")
	want("claude")
	x.turn("gemini", "gemini-2.5-pro")
	want("gemini")
	x.turn("claude", "claude-opus-4-5")
	want("claude") // although gemini is the last of the sources
	x.turn("codex", "gpt-5.2")
	want("opencode") // codex cannot be launched

	// Messages of the first version of the format have no source.
	x = newMixed(t)
	x.take("gemini", "s", schema.Batch{Messages: []schema.Message{{ID: "a", Role: schema.User, Content: "c"}}}, nil)
	want("gemini")
	if _, err := x.payloads.Target(x.entry(), Recipient{Agent: "nobody"}, Options{}); !errors.As(err, new(*capture.AgentError)) {
		t.Errorf("an agent that does not exist: %v", err)
	}
}

// TestStartDir: the folder recorded in a session is ignored unless it is inside the
// workspace.
func TestStartDir(t *testing.T) {
	x := newMixed(t)
	outside := t.TempDir()
	for _, dir := range []string{"sub/deep", "real"} {
		if err := os.MkdirAll(filepath.Join(x.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	x.write(filepath.Join(x.dir, "file"), "x")
	for name, to := range map[string]string{"out": outside, "in": filepath.Join(x.dir, "real"), "sub/up": ".."} {
		if err := os.Symlink(to, filepath.Join(x.dir, name)); err != nil {
			t.Skip("NOT RUN: no symbolic links here:", err)
		}
	}
	if err := os.Mkdir(filepath.Join(outside, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"": "", "sub/deep": "sub/deep", "in": "in", "sub/up": "sub/up",
		"gone": "is gone", "file": "is gone", "..": "is gone", "../x": "is gone", outside: "is gone",
		"out": "through a link", "out/below": "through a link", "in/../out": "through a link",
	} {
		e := x.entry()
		e.Session.WorkingDir = dir
		got, warning, err := x.payloads.StartDir(e)
		if err != nil {
			t.Errorf("%q: %v", dir, err)
			continue
		}
		root := x.Store.Root()
		if warning != "" && (got != root || !strings.Contains(warning, want) || want == "") {
			t.Errorf("%q: %s, %q", dir, got, warning)
		}
		if warning == "" && got != filepath.Join(root, want) {
			t.Errorf("%q: %s without a warning", dir, got)
		}
	}
}
