// Package flow implements what the commands do in and with an agent, as plain functions.
// It connects capture, the workspace and the resume engine. Nothing here prints or exits,
// so a server could call it as the command line does.
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

	// Endpoint returns the model behind an endpoint; nil if none can be asked. The
	// program passes it in, because loading the HTTP code costs each start a millisecond.
	Endpoint func(url, model, key string) Summarizer

	unsummed []string  // paths of conversations whose old messages a model should summarize
	looked   *lookedAt // nil: git was not asked yet

	summaryWait time.Duration // how long one summary may take; 0: summaryTime
}

// Open opens the workspace that contains env.Dir.
func Open(env workspace.Env) (*Workspace, error) {
	w, err := workspace.Open(env)
	if err != nil {
		return nil, err
	}
	return &Workspace{Workspace: w, Capture: capture.New(w)}, nil
}

// OpenAt opens dir as a workspace, even if it is not one yet, to plan what would be put
// into it.
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

// Current returns the conversation for a command that names none: the conversation of
// CORTEXT_SESSION, else of the agent session the command runs in, else the only active
// one.
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

// PickOrCurrent is Pick for a query, or Current without one.
func (w *Workspace) PickOrCurrent(query string) (store.Entry, error) {
	if query != "" {
		return w.Pick(query)
	}
	return w.Current()
}

// New starts a conversation: it creates the folder with the type's document and makes the
// conversation active. paused are the titles of the conversations it pauses.
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

// unbound returns the agent session that the command was called from, if it belongs to no
// conversation yet. A conversation that the command starts gets this session.
func (w *Workspace) unbound() (agent, nativeID string, b *capture.Binding) {
	for _, a := range w.Env.Agents {
		id := a.Session(w.Env.Machine)
		if id == "" {
			continue
		}
		file, _, _ := a.Locate(w.Env.Machine, id) // its first hook reports where it is
		if b, err := w.Bind(a, id, file); err == nil && len(b.Segments) == 0 {
			return a.Name(), id, b
		}
	}
	return "", "", nil
}

// ErrNoSession is returned if a command was not called from within an agent's session.
var ErrNoSession = errors.New("not inside an agent's session: this command is for agents to call")

// SkipCaller stops capturing the agent session that the command was called from.
func (w *Workspace) SkipCaller() error {
	for _, agent := range w.Env.Agents {
		if id := agent.Session(w.Env.Machine); id != "" {
			return w.SkipSession(agent, id)
		}
	}
	return ErrNoSession
}

// Remove removes a conversation with its folder. The agents' transcripts of it are not
// captured again until the user imports one by name.
func (w *Workspace) Remove(ctx context.Context, e store.Entry) error {
	// No hook may continue one of its sessions meanwhile.
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
	if err := errors.Join(unknown, w.DropAttachments(attached), w.Notes.Drop(e)); err != nil {
		return fmt.Errorf("%s is removed, but what .workspace/local has of it is not: %w", e.Path, err)
	}
	for _, src := range sources {
		if err := w.Forgotten(src.Agent, src.NativeID); err != nil {
			return err
		}
	}
	return nil
}

// A StopResult is the result of a stop.
type StopResult struct {
	Entry     store.Entry
	Summary   string
	Captured  int  // messages that were only in the agents' transcripts
	Unused    bool // of a launch: the session has no messages
	Committed bool
	Unsaved   error   // what could not be captured: the conversation is not saved completely
	Warnings  []error // what else failed; the conversation is saved anyway
}

// Stop captures the remaining messages from the agents' transcripts, pauses the
// conversation, writes its counters, plan and summary, and commits it if configured to.
// It also captures a skipped session, because the user asks for it.
func (w *Workspace) Stop(ctx context.Context, e store.Entry) (*StopResult, error) {
	if len(e.Damage) > 0 { // without its sources there would be nothing to capture
		again, err := w.Entry(e.Path)
		if err != nil {
			return nil, err
		}
		e.Session = again.Session
	}
	for _, src := range e.Session.Sources {
		if err := w.Removed.Unskip(src.Agent, src.NativeID); err != nil {
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
	if markErr != nil && unsaved == nil { // otherwise it usually says the same
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

// notCaptured returns the error for stopping a conversation that was removed elsewhere.
func (w *Workspace) notCaptured(e store.Entry) error {
	removed, err := w.Removed.LeftoversAmong(e)
	if err != nil || len(removed) == 0 {
		return err
	}
	file := "TRANSCRIPT"
	for _, src := range e.Session.Sources {
		if agent, ok := w.Env.Agent(src.Agent); ok {
			if at, ok, _ := agent.Locate(w.Env.Machine, src.NativeID); ok {
				file = at
			}
		}
	}
	return fmt.Errorf("it was removed elsewhere, and new messages are not captured: %s brings it back", shell.Quote("cortext", "import", file))
}

// sumUpOld makes the missing summaries. One that fails is tried again at the next stop;
// until then its messages stay as they are.
func (w *Workspace) sumUpOld(ctx context.Context, e store.Entry) []error {
	if s := e.Session; w.Config.Summarizer == workspace.SummarizerOff || s.MessageCount <= w.Config.SummarizeAfter || s.Tokens > workspace.NotesTokens {
		return nil // too long to read at each stop: cortext compact makes its summaries
	}
	out, err := w.Compact(ctx, e, true)
	if err != nil {
		return []error{err}
	}
	return out.Failed
}

// markStopped records, for the sessions in a conversation, that the user stopped it.
func (w *Workspace) markStopped(e store.Entry) error {
	var errs []error
	for _, src := range e.Session.Sources {
		agent, ok := w.Env.Agent(src.Agent)
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

// finishStop pauses the conversation at a path and updates it from its logs.
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
