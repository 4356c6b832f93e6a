package slash

import (
	"context"
	"errors"
	"fmt"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/stop"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
)

// stopHere stops the conversation of the running session. The commit waits for the answer
// to the command. Whatever could not be captured is reported to the agent and returned.
func (c *Commands) stopHere(ctx context.Context, agent inject.Agent, e inject.Event) (string, error) {
	if err := c.ws.Removed.Unskip(agent.Name(), e.NativeID); err != nil {
		return "", err
	}
	t, err := c.capture.Bind(agent, e.NativeID, e.Transcript)
	if err == nil {
		t, err = c.capture.BeginMissed(ctx, agent, e, t)
	}
	if err != nil {
		return "", err
	}
	_, unsaved := c.capture.Ingest(ctx, agent, e.NativeID, t, capture.Options{Mode: capture.PutBack})
	if !t.Bound() {
		return Prefix + none(t) + ". Nothing was saved.", unsaved
	}
	at := t.CurrentSegment().Path
	stopped, err := c.stop.Pause(at)
	if err != nil {
		return "", errors.Join(unsaved, err)
	}
	stopped.Unsaved = unsaved
	t.Stopped, t.Turns, t.Reminded = true, 0, false
	if err := c.capture.Save(agent.Name(), e.NativeID, t); err != nil {
		return "", errors.Join(unsaved, err)
	}
	if err := c.ws.Store.WriteCache(stoppingName(agent.Name(), e.NativeID), []byte(at)); err != nil {
		return "", errors.Join(unsaved, err)
	}
	return Prefix + c.stopped(stopped), unsaved
}

// stopped confirms a stop, or reports what it did not save.
func (c *Commands) stopped(s *stop.Result) string {
	sess := s.Entry.Session
	if s.Unsaved != nil {
		return fmt.Sprintf("NOT saved in full: %s (%s, %d messages are kept), in %s. What is new in the transcript is missing: %s.\n"+
			"Tell the user so. The next turn, cortext stop and cortext sync try again.",
			workspace.Plain(sess.DisplayTitle()), sess.Status, sess.MessageCount, s.Entry.Path, workspace.Plain(s.Unsaved.Error()))
	}
	text := fmt.Sprintf("saved: %s (%s, %d messages), in %s.", workspace.Plain(sess.DisplayTitle()), sess.Status, sess.MessageCount, s.Entry.Path)
	if s.Summary != "" {
		text += "\nSummary: " + workspace.Plain(s.Summary)
	}
	if c.ws.Config.Commit != settings.CommitOff {
		text += "\nIt will be committed to git when this answer is complete."
	}
	return text + "\nResume it with /workspace.resume"
}

// stoppingName is the cache file with the path of the conversation that a session stops.
func stoppingName(agent, nativeID string) string {
	return "stopping/" + agent + "/" + schema.PathElement(nativeID)
}

// Stopping returns the path of the conversation that a session is stopping: the command
// was typed, and the answer to it is not there yet.
func (c *Commands) Stopping(agent, nativeID string) (path string, ok bool) {
	b, ok := c.ws.Store.ReadCache(stoppingName(agent, nativeID))
	return string(b), ok
}

// EndStopping completes the stop of the conversation at the given path, after the answer.
// If the agent ends the hook before it has committed, as Claude Code does if the user
// leaves at once, the session is still stopping, and the hook at its end tries again. The
// agent may also end git first.
func (c *Commands) EndStopping(ctx context.Context, agent, nativeID, path string) error {
	err := c.stop.Complete(ctx, path)
	if commit := (*workspace.CommitError)(nil); ctx.Err() != nil || errors.As(err, &commit) && commit.Ended() {
		return nil
	}
	return errors.Join(err, c.ws.Store.RemoveCache(stoppingName(agent, nativeID)))
}
