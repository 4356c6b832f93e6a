// Package flow holds what the commands do in an agent and with one, as plain
// functions: it is where capture, the workspace and the resume engine meet. Nothing
// here prints or exits, so that a server could call it as the command line does.
package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// A Workspace is an open workspace with its settings.
type Workspace struct {
	*workspace.Workspace
	*capture.Capture

	// Summing, if it is set, is called before each request to a model with the first,
	// last and total message number.
	Summing func(first, last, of int)

	// Endpoint returns the model behind an endpoint; nil where none can be asked. The
	// program passes it in, since what speaks HTTP costs each start a millisecond.
	Endpoint func(url, model, key string) Summarizer

	unsummed []string  // paths of conversations of which a model is to sum up old messages
	looked   *lookedAt // nil: git was not asked yet

	summaryWait time.Duration // how long one summary may take; 0: summaryTime
}

// Open opens the workspace that env.Dir is in.
func Open(env workspace.Env) (*Workspace, error) {
	w, err := workspace.Open(env)
	if err != nil {
		return nil, err
	}
	return &Workspace{Workspace: w, Capture: capture.New(w)}, nil
}

// OpenAt opens dir as a workspace, also if it is none yet: to plan what would be
// put into it.
func OpenAt(env workspace.Env, dir string, isNew bool) (*Workspace, error) {
	if !isNew {
		return Open(env)
	}
	w, err := workspace.OpenNew(env, dir)
	if err != nil {
		return nil, err
	}
	return &Workspace{Workspace: w, Capture: capture.New(w)}, nil
}

// Current returns the conversation that a command means which names none: that
// of CORTEXT_SESSION, else that of the agent's session the command runs in, else
// the only active one.
func (w *Workspace) Current() (store.Entry, error) {
	if id := w.Env.Machine.Getenv("CORTEXT_SESSION"); id != "" {
		return w.Pick(id)
	}
	for _, agent := range w.Env.Agents {
		id := agent.Session(w.Env.Machine)
		if id == "" {
			continue
		}
		b, err := w.Bind(agent, id, "")
		if err != nil {
			return store.Entry{}, err
		}
		if b.Bound() {
			return w.Entry(b.CurrentSegment().Path)
		}
	}
	active, err := w.Active()
	if err != nil {
		return store.Entry{}, err
	}
	if busy := slices.DeleteFunc(slices.Clone(active), w.Idle); len(busy) > 0 {
		active = busy
	}
	switch len(active) {
	case 0:
		return store.Entry{}, workspace.ErrNoConversation
	case 1:
		return active[0], nil
	}
	return store.Entry{}, &workspace.AmbiguousError{Candidates: active}
}

// PickOrCurrent is Pick if a query is given, else Current.
func (w *Workspace) PickOrCurrent(query string) (store.Entry, error) {
	if query != "" {
		return w.Pick(query)
	}
	return w.Current()
}

// New begins a conversation: its folder with the type's document, active from now
// on. paused are the titles of the conversations that are paused by it.
func (w *Workspace) New(typ, title string) (e store.Entry, paused []string, err error) {
	begin := workspace.Beginning{Type: typ, Title: title, Arguments: title}
	agent, id, b := w.unbound()
	if b != nil {
		begin.Source = &schema.Source{Agent: agent, NativeID: id, Version: b.Version}
		begin.ID = schema.DerivedID(agent, id, w.Env.Now())
	}
	e, paused, err = w.Begin(begin)
	if err == nil && b != nil {
		b.Add(capture.Segment{Segment: registry.Segment{Path: e.Path, ID: e.Session.ID}})
		err = w.Save(agent, id, b)
	}
	return e, paused, err
}

// unbound is the agent's session that the command was called from, if that belongs
// to no conversation yet: one that it begins is its.
func (w *Workspace) unbound() (agent, nativeID string, b *capture.Binding) {
	for _, a := range w.Env.Agents {
		id := a.Session(w.Env.Machine)
		if id == "" {
			continue
		}
		file, _, _ := a.Locate(w.Env.Machine, id) // its first hook tells where it is
		if b, err := w.Bind(a, id, file); err == nil && len(b.Segments) == 0 {
			return a.Name, id, b
		}
	}
	return "", "", nil
}

// ErrNoSession says that a command was not called from within an agent's session.
var ErrNoSession = errors.New("not inside an agent's session: this command is for agents to call")

// SkipCaller leaves the session that the command is called from alone from now on.
func (w *Workspace) SkipCaller() error {
	for _, agent := range w.Env.Agents {
		if id := agent.Session(w.Env.Machine); id != "" {
			return w.SkipSession(agent, id)
		}
	}
	return ErrNoSession
}

// Remove removes a conversation with its folder. What the agents' transcripts have
// of it is captured no more, until one is imported by name.
func (w *Workspace) Remove(ctx context.Context, e store.Entry) error {
	// No hook may continue with one of its sessions meanwhile.
	sources := slices.Clone(e.Session.Sources)
	slices.SortFunc(sources, func(a, b schema.Source) int { return strings.Compare(a.Agent+a.NativeID, b.Agent+b.NativeID) })
	roots := map[string][]string{}
	for _, src := range sources {
		key := src.Agent + "\n" + src.NativeID
		if _, held := roots[key]; held {
			continue
		}
		unlock, err := w.Lock(src.Agent, src.NativeID, capture.LockWait)
		if err != nil {
			return err
		}
		defer unlock()
		roots[key] = w.RootsOfSource(src.Agent, src.NativeID)
	}
	attached, unknown := w.Attachments(e)
	if err := w.Forget(ctx, e, roots); err != nil {
		return err
	}
	if err := errors.Join(unknown, w.DropAttachments(attached), w.DropNotes(e)); err != nil {
		return fmt.Errorf("%s is removed, but what .workspace/local has of it is not: %w", e.Path, err)
	}
	for _, src := range sources {
		if err := w.Forgotten(src.Agent, src.NativeID); err != nil {
			return err
		}
	}
	return nil
}

// A StopResult is what a stop did.
type StopResult struct {
	Entry     store.Entry
	Summary   string
	Captured  int  // messages that the agents' transcripts still had
	Unused    bool // of a launch: nothing was said
	Committed bool
	Unsaved   error   // what could not be captured: the conversation is not saved whole
	Warnings  []error // what else did not work; the conversation is saved anyway
}

// Stop captures what the agents' transcripts still have, pauses the conversation,
// writes its counters, plan and summary, and commits it if so configured. A session
// that was skipped is captured again: the user asks for it.
func (w *Workspace) Stop(ctx context.Context, e store.Entry) (*StopResult, error) {
	if len(e.Damage) > 0 { // without its sources there would be nothing to capture
		again, err := w.Entry(e.Path)
		if err != nil {
			return nil, err
		}
		e.Session = again.Session
	}
	for _, src := range e.Session.Sources {
		if err := w.Unskip(src.Agent, src.NativeID); err != nil {
			return nil, err
		}
	}
	if err := w.MergeTwins(e); err != nil {
		return nil, err
	}
	n, unsaved := w.Sources(ctx, e, "", capture.Options{Mode: capture.PutBack, SessionJSON: capture.ByCaller})
	unsaved = errors.Join(unsaved, w.notCaptured(e))
	markErr := w.markStopped(e)
	out, err := w.finishStop(e.Path)
	if err != nil {
		return nil, errors.Join(err, unsaved)
	}
	out.Captured, out.Unsaved = n, unsaved
	if markErr != nil && unsaved == nil { // else that says most often the same
		out.Warnings = append(out.Warnings, markErr)
	}
	out.Warnings = append(out.Warnings, w.sumUpOld(ctx, out.Entry)...)
	if unsaved == nil {
		if out.Committed, err = w.Commit(ctx, out.Entry); err != nil {
			out.Warnings = append(out.Warnings, err)
		}
	}
	return out, nil
}

// notCaptured is the error of a stop of a conversation that was removed elsewhere.
func (w *Workspace) notCaptured(e store.Entry) error {
	removed, err := w.RemovedAmong(e)
	if err != nil || len(removed) == 0 {
		return err
	}
	file := "TRANSCRIPT"
	for _, src := range e.Session.Sources {
		if agent, ok := w.Agent(src.Agent); ok {
			if at, ok, _ := agent.Locate(w.Env.Machine, src.NativeID); ok {
				file = at
			}
		}
	}
	return fmt.Errorf("it was removed elsewhere, and new messages are not captured: %s brings it back", shell.Quote("cortext", "import", file))
}

// sumUpOld makes the summaries that are missing. One that fails is tried again at the
// next stop; the messages stay as they are.
func (w *Workspace) sumUpOld(ctx context.Context, e store.Entry) []error {
	if s := e.Session; w.Config.Summarizer == workspace.SummarizerOff || s.MessageCount <= w.Config.SummarizeAfter || s.Tokens > workspace.NotesTokens {
		return nil // of a conversation that is too long to be read at each stop, cortext compact makes them
	}
	out, err := w.Compact(ctx, e, true)
	if err != nil {
		return []error{err}
	}
	return out.Failed
}

// markStopped notes for the sessions that are in a conversation that the user has
// stopped it.
func (w *Workspace) markStopped(e store.Entry) error {
	var errs []error
	for _, src := range e.Session.Sources {
		agent, ok := w.Agent(src.Agent)
		if !ok {
			continue
		}
		errs = append(errs, w.Locked(src.Agent, src.NativeID, func() error {
			b, err := w.Bind(agent, src.NativeID, "")
			if err == nil && b.Bound() && b.CurrentSegment().Path == e.Path {
				b.Stopped, b.Turns, b.Reminded = true, 0, false
				err = w.Save(src.Agent, src.NativeID, b)
			}
			return err
		}))
	}
	return errors.Join(errs...)
}

// finishStop pauses the conversation at a path with what the logs say of it.
func (w *Workspace) finishStop(path string) (*StopResult, error) {
	c, err := w.Conversation(path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s, err := w.Finish(c, workspace.Finishing{Pause: true, Recount: true, Save: true, Describe: w.DescribeSources})
	if err != nil {
		return nil, err
	}
	e, err := w.Entry(path)
	if err != nil {
		return nil, err
	}
	e.Session = s
	return &StopResult{Entry: e, Summary: s.ContextSummary}, nil
}
