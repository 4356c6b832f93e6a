package capture

import (
	"encoding/json"
	"errors"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
)

// transcripts finds the agents' transcripts on this machine and the lines that they begin
// with. It reopens only transcripts that have changed.
type transcripts struct {
	ws       *workspace.Workspace
	bindings *binding.Bindings
	catalog  *catalog
	heads    heads
}

// headBytes is how much of a transcript is read to find its first line.
const headBytes = 1 << 20

// readRoots reads the beginning of a transcript and returns the lines that follow no other.
func readRoots(agent inject.Agent, transcript string) ([]string, error) {
	head, err := agent.Open(transcript, inject.Options{Head: headBytes})
	if err != nil {
		return nil, err
	}
	return head.Roots, head.Close()
}

// rootsOfSource returns the lines that a fork of a session may begin with.
func (ts *transcripts) rootsOfSource(name, nativeID string) []string {
	if b, ok := ts.bindings.Cached(name, nativeID); ok && len(b.Roots) > 0 {
		return b.Roots
	}
	agent, ok := ts.ws.Env.Agent(name)
	if !ok {
		return nil
	}
	file, ok, _ := agent.Locate(ts.ws.Env.Machine, nativeID)
	if !ok {
		return nil
	}
	return ts.rootsOf(agent, file)
}

// sessions lists the sessions of an agent on this machine.
func (ts *transcripts) sessions(agent inject.Agent) ([]inject.SessionRef, error) {
	machine := ts.ws.Env.Machine
	machine.Head = func(file string, read func() (string, error)) (string, error) {
		return ts.heads.find("head", file, read)
	}
	return agent.Sessions(machine)
}

// rootsOf is readRoots with cached results.
func (ts *transcripts) rootsOf(agent inject.Agent, transcript string) (roots []string) {
	text, err := ts.heads.find("roots", transcript, func() (string, error) {
		var err error
		if roots, err = readRoots(agent, transcript); err != nil {
			return "", err
		}
		text, err := json.Marshal(roots)
		return string(text), err
	})
	if err == nil && roots == nil {
		_ = json.Unmarshal([]byte(text), &roots)
	}
	return roots
}

// located maps the session ids of an agent to transcripts.
type located map[string]string

// locate returns all transcripts of an agent. Looking up sessions one by one would make the
// agent search all its folders each time.
func (ts *transcripts) locate(agent inject.Agent) located {
	if ts.catalog.scan != nil && ts.catalog.scan.located[agent.Name()] != nil {
		return ts.catalog.scan.located[agent.Name()]
	}
	natives, _ := ts.sessions(agent) // the store may not exist
	at := locatedAmong(natives)
	if ts.catalog.scan != nil {
		ts.catalog.scan.located[agent.Name()] = at
	}
	return at
}

func locatedAmong(natives []inject.SessionRef) located {
	at := located{}
	for _, n := range natives {
		if _, twice := at[n.NativeID]; twice {
			at[n.NativeID] = "" // several: the agent knows which
		} else {
			at[n.NativeID] = n.Path
		}
	}
	return at
}

// find is [inject.Agent.Locate] among the sessions that were listed.
func (ts *transcripts) find(agent inject.Agent, files located, nativeID string) (file string, ok bool) {
	file, ok = files[nativeID]
	if ok && file == "" {
		file, ok, _ = agent.Locate(ts.ws.Env.Machine, nativeID)
	}
	return file, ok
}

// eachMessage calls f with each message of a session itself, without those of its sub-agents.
func eachMessage(t *inject.Transcript, f func(m schema.Message)) error {
	return t.Each(func(sub string, b inject.Batch) error {
		if sub == "" {
			for _, m := range b.Messages {
				f(m)
			}
		}
		return nil
	})
}

// open opens a transcript at the cursor o.From, or at its beginning if the transcript was
// rewritten. again reports that it is at the beginning.
func (ts *transcripts) open(agent inject.Agent, path string, o inject.Options) (t *inject.Transcript, again bool, err error) {
	o.Strip = ts.ws.Prompts.Strip
	t, err = agent.Open(path, o)
	if errors.Is(err, inject.ErrCursor) {
		o.From = inject.Cursor{}
		t, err = agent.Open(path, o)
	}
	return t, o.From.Offset == 0, err
}
