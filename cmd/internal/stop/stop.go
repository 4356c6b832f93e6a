// Package stop ends conversations as the user asks: it saves, pauses and commits them, or
// removes them.
package stop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// A Stopper stops conversations of one workspace.
type Stopper struct {
	ws      *workspace.Workspace
	capture *capture.Capture
	compact *compact.Compactor
}

// New returns a Stopper for a workspace.
func New(ws *workspace.Workspace, c *capture.Capture, m *compact.Compactor) *Stopper {
	return &Stopper{ws, c, m}
}

// A Result is the result of a stop.
type Result struct {
	Entry     store.Entry
	Summary   string
	Committed bool
	Unsaved   error   // what could not be captured: the conversation is not saved completely
	Warnings  []error // what else failed; the conversation is saved anyway
}

// Stop captures the remaining messages from the agents' transcripts, pauses the
// conversation, writes its counters, plan and summary, and commits it if configured to.
// It also captures a skipped session, because the user asks for it.
func (s *Stopper) Stop(ctx context.Context, e store.Entry) (*Result, error) {
	if len(e.Damage) > 0 { // without its sources there would be nothing to capture
		again, err := s.ws.Entry(e.Path)
		if err != nil {
			return nil, err
		}
		e.Session = again.Session
	}
	for _, src := range e.Session.Sources {
		if err := s.ws.Removed.Unskip(src.Agent, src.NativeID); err != nil {
			return nil, err
		}
	}
	if err := s.ws.MergeTwins(e); err != nil {
		return nil, err
	}
	_, unsaved := s.capture.Sources(ctx, e, "", capture.Options{Mode: capture.PutBack, SessionJSON: capture.ByCaller})
	unsaved = errors.Join(unsaved, s.notCaptured(e))
	markErr := s.markStopped(e)
	out, err := s.Pause(e.Path)
	if err != nil {
		return nil, errors.Join(err, unsaved)
	}
	out.Unsaved = unsaved
	if markErr != nil && unsaved == nil { // otherwise it usually says the same
		out.Warnings = append(out.Warnings, markErr)
	}
	out.Warnings = append(out.Warnings, s.compact.CompactOld(ctx, out.Entry)...)
	if unsaved == nil {
		if out.Committed, err = s.ws.Repository.Commit(ctx, out.Entry); err != nil {
			out.Warnings = append(out.Warnings, err)
		} else if out.Committed {
			if err := s.ws.Repository.LeftOut(out.Entry); err != nil {
				out.Warnings = append(out.Warnings, err)
			}
		}
	}
	return out, nil
}

// notCaptured returns the error for stopping a conversation that was removed elsewhere.
func (s *Stopper) notCaptured(e store.Entry) error {
	removed, err := s.ws.Removed.LeftoversAmong(e)
	if err != nil || len(removed) == 0 {
		return err
	}
	file := "TRANSCRIPT"
	for _, src := range e.Session.Sources {
		if agent, ok := s.ws.Env.Agent(src.Agent); ok {
			if at, ok, _ := agent.Locate(s.ws.Env.Machine, src.NativeID); ok {
				file = at
			}
		}
	}
	return fmt.Errorf("it was removed elsewhere, and new messages are not captured: %s brings it back", shell.Quote("cortext", "import", file))
}

// markStopped records, for the sessions in a conversation, that the user stopped it.
func (s *Stopper) markStopped(e store.Entry) error {
	var errs []error
	for _, src := range e.Session.Sources {
		agent, ok := s.ws.Env.Agent(src.Agent)
		if !ok {
			continue
		}
		errs = append(errs, s.capture.Locked(src.Agent, src.NativeID, func() error {
			b, err := s.capture.Bind(agent, src.NativeID, "")
			if err == nil && b.Bound() && b.CurrentSegment().Path == e.Path {
				b.Stopped, b.Turns, b.Reminded = true, 0, false
				err = s.capture.Save(src.Agent, src.NativeID, b)
			}
			return err
		}))
	}
	return errors.Join(errs...)
}

// Pause pauses the conversation at the given path and updates it from its logs.
func (s *Stopper) Pause(path string) (*Result, error) {
	c, err := s.ws.Conversation(path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	session, err := s.ws.Finish(c, workspace.Finishing{Pause: true, Recount: true, Save: true, Describe: s.capture.DescribeSources})
	if err != nil {
		return nil, err
	}
	e, err := s.ws.Entry(path)
	if err != nil {
		return nil, err
	}
	e.Session = session
	return &Result{Entry: e, Summary: session.ContextSummary}, nil
}

// Complete finishes a conversation again after the answer to the command that stopped
// it, and commits it if configured to.
func (s *Stopper) Complete(ctx context.Context, path string) error {
	out, err := s.Pause(path)
	if err != nil {
		return err
	}
	_, err = s.ws.Repository.Commit(ctx, out.Entry)
	return err
}

// Remove removes a conversation with its folder. The agents' transcripts of it are not
// captured again until the user imports one by name.
func Remove(ctx context.Context, ws *workspace.Workspace, c *capture.Capture, e store.Entry) error {
	// No hook may continue one of its sessions meanwhile.
	sources := slices.Clone(e.Session.Sources)
	slices.SortFunc(sources, func(a, b schema.Source) int { return strings.Compare(a.Agent+a.NativeID, b.Agent+b.NativeID) })
	roots := map[string][]string{}
	for _, src := range sources {
		key := src.Agent + "\n" + src.NativeID
		if _, held := roots[key]; held {
			continue
		}
		unlock, err := c.Lock(src.Agent, src.NativeID, binding.LockWait)
		if err != nil {
			return err
		}
		defer unlock()
		roots[key] = c.RootsOfSource(src.Agent, src.NativeID)
	}
	attached, unknown := ws.Attachments.Of(e)
	if err := ws.Forget(ctx, e, roots); err != nil {
		return err
	}
	if err := errors.Join(unknown, ws.Attachments.Drop(attached), ws.Notes.Drop(e)); err != nil {
		return fmt.Errorf("%s is removed, but what .workspace/local has of it is not: %w", e.Path, err)
	}
	for _, src := range sources {
		if err := c.Bindings.Drop(src.Agent, src.NativeID); err != nil {
			return err
		}
	}
	return nil
}
