package launch

import (
	"context"
	"errors"
	"slices"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// after captures what the program did and pauses the conversation, unless another program has
// it open. A session without messages is not recorded, and is removed.
func (l *Leftovers) after(ctx context.Context, id string, n registry.Launch) (*Result, error) {
	e, err := l.ws.Entry(n.Path)
	if err != nil {
		return nil, err
	}
	_, captureErr := l.capture.Sources(ctx, e, "", capture.Options{Mode: capture.PutBack})
	open := len(capture.Openings(l.ws, e.Session)) > 0
	if err := l.ws.FinishAt(n.Path, workspace.Finishing{Pause: !open}); err != nil {
		return nil, errors.Join(err, captureErr)
	}
	unused := false
	if captureErr == nil {
		used, err := l.wasUsed(n)
		if err != nil {
			return nil, err
		}
		if used {
			captureErr = l.cleanup(ctx, n)
		} else {
			captureErr = l.discard(ctx, id, n)
			status := schema.Paused
			if open {
				status = schema.Active
			}
			if n.Status == string(schema.Completed) {
				status = schema.Completed
			}
			if err := l.takeBack(n, status); err != nil {
				return nil, err
			}
			unused = true
		}
	}
	if e, err = l.ws.Entry(n.Path); err != nil {
		return nil, errors.Join(err, captureErr)
	}
	return &Result{e, unused, captureErr}, nil
}

// wasUsed reports whether any message of a launched session was captured. How far the
// transcript was read does not show that, because it begins with the payload. If an agent's
// sessions can be found, but not that of the launch, it ended before it had one: then any new
// message of the conversation counts.
func (l *Leftovers) wasUsed(n registry.Launch) (bool, error) {
	if n.NativeID == "" {
		agent, _ := l.ws.Env.Agent(n.Agent)
		if _, finds := agent.(inject.LaunchFinder); !finds {
			return true, nil
		}
		e, err := l.ws.Entry(n.Path)
		return err == nil && e.Session.MessageCount > n.Messages, err
	}
	c, err := l.ws.Conversation(n.Path)
	if err != nil {
		return false, err
	}
	defer c.Close()
	for m, err := range store.Undamaged(c.Messages()) {
		if err != nil {
			return false, err
		}
		if m.Source == n.NativeID {
			return true, nil
		}
	}
	return false, nil
}

// bind makes a session continue in the conversation that it was launched for, unless a
// hook already did.
func (l *Leftovers) bind(agent inject.Agent, nativeID string, n registry.Launch) error {
	return l.capture.Locked(agent.Name(), nativeID, func() error {
		b, err := l.capture.Bind(agent, nativeID, "")
		if err != nil || len(b.Segments) > 0 {
			return err
		}
		return l.capture.ContinueIn(agent, inject.Event{NativeID: nativeID}, b, capture.Place{Path: n.Path, After: n.After})
	})
}

// takeBack undoes what was recorded for a launch without messages.
func (l *Leftovers) takeBack(n registry.Launch, status schema.Status) error {
	c, err := l.ws.Conversation(n.Path)
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.Edit(func(s *schema.Session) error {
		s.Status = status
		s.Sources = slices.DeleteFunc(s.Sources, func(src schema.Source) bool {
			return src.Agent == n.Agent && src.NativeID == n.NativeID
		})
		return nil
	})
	if err == nil && n.NativeID != "" {
		err = l.capture.Release(n.Agent, n.NativeID, n.Path)
	}
	return err
}

// discard removes an unused session of a launch from the agent's own sessions. Slow work
// is left to [Leftovers.RemoveUnused].
func (l *Leftovers) discard(ctx context.Context, id string, n registry.Launch) error {
	agent, ok := l.ws.Env.Agent(n.Agent)
	if !ok || n.NativeID == "" {
		return nil
	}
	if _, slow := agent.(inject.Remover); slow {
		n.Unused = true
		return l.ws.Launches().Put(id, n)
	}
	if cleaner, ok := agent.(inject.Cleaner); ok {
		return cleaner.Discard(ctx, l.ws.Env.Machine, n.NativeID)
	}
	return nil
}

// cleanup removes what a launch left beside the session that it created.
func (l *Leftovers) cleanup(ctx context.Context, n registry.Launch) error {
	agent, ok := l.ws.Env.Agent(n.Agent)
	if cleaner, cleans := agent.(inject.Cleaner); ok && cleans && n.NativeID != "" {
		return cleaner.Cleanup(ctx, l.ws.Env.Machine, n.NativeID)
	}
	return nil
}
