// Package caller finds the agent session that a command was called from, and the
// conversation that a command without a query is about.
package caller

import (
	"cmp"
	"errors"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A Caller is the agent session that a command was called from, if there is one, as the
// environment of the command says.
type Caller struct {
	ws      *workspace.Workspace
	capture *capture.Capture
}

// New returns the caller of a command in a workspace.
func New(ws *workspace.Workspace, c *capture.Capture) Caller { return Caller{ws, c} }

// Current returns the conversation for a command that names none: the conversation of
// CORTEXT_SESSION, else of the agent session the command runs in, else the only active
// one, if possible one that continues in this work tree.
func (c Caller) Current() (store.Entry, error) {
	e, listed, err := c.current(func(store.Entry) bool { return true })
	if err != nil || !listed {
		return e, err
	}
	return c.ws.Entry(e.Path)
}

// Listed is Current, but may describe the conversation as a list does.
func (c Caller) Listed() (store.Entry, error) {
	e, _, err := c.current(func(store.Entry) bool { return true })
	return e, err
}

// Here is Listed, but an active conversation counts only if it continues in this work tree. Git
// brings those that continue in others. Nor does it count if somebody also continued a
// paused one, if the command was called from an agent session that belongs to no
// conversation, or if its last session is not saved.
func (c Caller) Here() (store.Entry, error) {
	e, listed, err := c.current(c.ws.Status.IsHere)
	if err != nil {
		return e, err
	}
	if slices.ContainsFunc(c.calling(), c.skipped) {
		return e, workspace.ErrNoConversation
	}
	if !listed {
		return e, nil
	}
	beside, err := c.ws.Status.WentOn(e)
	if err == nil && !beside {
		beside, err = c.foreign(e.Path)
	}
	if err == nil && beside {
		err = workspace.ErrNoConversation
	}
	return e, err
}

// calling returns the agent sessions that the command was called from.
func (c Caller) calling() (list []schema.Source) {
	for _, a := range c.ws.Env.Agents {
		if id := a.Session(c.ws.Env.Machine); id != "" {
			list = append(list, schema.Source{Agent: a.Name(), NativeID: id})
		}
	}
	return list
}

// skipped reports whether the user does not want a session to be saved.
func (c Caller) skipped(s schema.Source) bool { return c.ws.Removed.Skipped(s.Agent, s.NativeID) }

// foreign reports whether the conversation at the given path cannot have led to the
// caller's commits: the command was called from an agent session that did not go into it,
// or its last session is no longer saved.
func (c Caller) foreign(path string) (bool, error) {
	e, err := c.ws.Entry(path)
	if err != nil || len(e.Session.Sources) == 0 {
		return false, err
	}
	sources, calling := e.Session.Sources, c.calling()
	went := slices.ContainsFunc(sources, func(s schema.Source) bool {
		return slices.ContainsFunc(calling, func(o schema.Source) bool {
			return o.Agent == s.Agent && (o.NativeID == s.NativeID || c.repeats(o, s))
		})
	})
	return len(calling) > 0 && !went || c.skipped(sources[len(sources)-1]), nil
}

// repeats reports whether a session is a fork of another one, which is captured after its first turn.
func (c Caller) repeats(fork, of schema.Source) bool {
	roots := c.capture.RootsOfSource(fork.Agent, fork.NativeID)
	return len(roots) > 0 && slices.Contains(c.capture.RootsOfSource(of.Agent, of.NativeID), roots[0])
}

// current returns the current conversation; listed says that only a list describes it. An active
// one counts if wanted says so.
func (c Caller) current(wanted func(store.Entry) bool) (e store.Entry, listed bool, err error) {
	if id := c.ws.Env.Machine.Getenv("CORTEXT_SESSION"); id != "" {
		e, err = c.ws.Pick(id)
		return e, false, err
	}
	for _, agent := range c.ws.Env.Agents {
		id := agent.Session(c.ws.Env.Machine)
		if id == "" {
			continue
		}
		b, err := c.capture.Bind(agent, id, "")
		if err != nil {
			return e, false, err
		}
		if b.Bound() {
			e, err = c.bound(b.CurrentSegment())
			return e, false, err
		}
	}
	active, err := c.ws.Status.ListedActive()
	if err != nil {
		return e, false, err
	}
	active = slices.DeleteFunc(active, func(e store.Entry) bool { return !wanted(e) })
	if here := slices.DeleteFunc(slices.Clone(active), func(e store.Entry) bool { return !c.ws.Status.IsHere(e) }); len(here) > 0 {
		active = here
	}
	if busy := slices.DeleteFunc(slices.Clone(active), c.ws.Idle.Includes); len(busy) > 0 {
		active = busy
	}
	switch len(active) {
	case 0:
		return e, false, workspace.ErrNoConversation
	case 1:
		return active[0], true, nil
	}
	return e, false, &workspace.AmbiguousError{Candidates: active}
}

// bound returns the conversation of a session. If the folder has only the document, as in
// another work tree before the first answer, it lacks the id and the last activity: these
// come from the session, which is active now.
func (c Caller) bound(at binding.Segment) (store.Entry, error) {
	e, err := c.ws.Entry(at.Path)
	if err != nil || at.ID == "" {
		return e, err
	}
	there, err := c.ws.Store.Exists(at.Path + "/.session")
	if err == nil && !there {
		e.Session = e.Session.Clone()
		e.Session.ID, e.Session.LastActive = at.ID, schema.NewTime(c.ws.Env.Now())
	}
	return e, err
}

// PickOrCurrent is Pick for a query, or Current without one.
func (c Caller) PickOrCurrent(query string) (store.Entry, error) {
	if query != "" {
		return c.ws.Pick(query)
	}
	return c.Current()
}

// New starts a conversation: it creates the folder with the type's document and makes the
// conversation active. paused are the titles of the conversations it pauses.
func (c Caller) New(typ, title string) (e store.Entry, paused []string, err error) {
	return c.begin(workspace.Beginning{Type: typ, Title: title, Arguments: title})
}

// Start is New for a conversation that may have no topic yet. Its first words then become
// its title.
func (c Caller) Start(typ, topic string) (e store.Entry, paused []string, err error) {
	return c.begin(workspace.Beginning{Type: typ, Title: cmp.Or(topic, workspace.Untitled), Arguments: topic})
}

func (c Caller) begin(begin workspace.Beginning) (e store.Entry, paused []string, err error) {
	agent, id, b := c.unbound()
	if b != nil {
		begin.Source = &schema.Source{Agent: agent, NativeID: id, Version: b.Version}
		begin.ID = schema.DerivedID(agent, id, c.ws.Env.Now())
	}
	e, paused, err = c.ws.Begin(begin)
	if err == nil && b != nil {
		b.Add(binding.Segment{Segment: registry.Segment{Path: e.Path, ID: e.Session.ID}})
		err = c.capture.Save(agent, id, b)
	}
	return e, paused, err
}

// Agent returns the agent whose session a conversation would get if it were started now, or ""
// if it would get none.
func (c Caller) Agent() string {
	agent, _, _ := c.unbound()
	return agent
}

// unbound returns the agent session that the command was called from, if it belongs to no
// conversation yet. A conversation that the command starts gets this session.
func (c Caller) unbound() (agent, nativeID string, b *binding.Binding) {
	for _, a := range c.ws.Env.Agents {
		id := a.Session(c.ws.Env.Machine)
		if id == "" {
			continue
		}
		file, _, _ := a.Locate(c.ws.Env.Machine, id) // its first hook reports where it is
		if b, err := c.capture.Bind(a, id, file); err == nil && len(b.Segments) == 0 {
			return a.Name(), id, b
		}
	}
	return "", "", nil
}

// ErrNoSession is returned if a command was not called from within an agent's session.
var ErrNoSession = errors.New("not inside an agent's session: this command is for agents to call")

// Session returns the agent session, or ErrNoSession.
func (c Caller) Session() (agent inject.Agent, nativeID string, err error) {
	for _, agent := range c.ws.Env.Agents {
		if id := agent.Session(c.ws.Env.Machine); id != "" {
			return agent, id, nil
		}
	}
	return nil, "", ErrNoSession
}

// Skip stops capturing the session.
func (c Caller) Skip() error {
	agent, id, err := c.Session()
	if err != nil {
		return err
	}
	return c.capture.SkipSession(agent, id)
}
