package flow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/lifecycle"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// Hook does what is to be done at a moment of an agent's session. say is what the
// agent is to be told beside the prompt, empty for nothing; it is never more than
// the agent takes whole. Of an error the agent must not learn.
func (w *Workspace) Hook(ctx context.Context, agent inject.Agent, e inject.Event) (say string, err error) {
	if w.skipped(agent.Name, e.NativeID) && e.Moment != inject.Prompted {
		if e.Moment == inject.Ended && e.Cleared {
			err = w.cleared(agent, e, &tie{})
		}
		return "", err
	}
	if e.Moment == inject.Prompted && !strings.HasPrefix(e.Prompt, commandPrefix) {
		return "", nil // the usual case costs nothing
	}
	if e.Transcript == "" && e.Moment != inject.Began { // not every agent tells
		e.Transcript, _ = agent.Locate(w.env.Machine, e.NativeID)
	}
	if err := w.locked(agent, e, lockWait, func() error {
		say, err = w.moment(ctx, agent, e)
		return err
	}); err != nil || e.Moment != inject.Began {
		return say, err
	}
	return "", w.catchUp(ctx, agent, e)
}

// lockWait is how long a hook waits for another one of the same session.
const lockWait = 10 * time.Second

// locked calls f while no other process deals with the session.
func (w *Workspace) locked(agent inject.Agent, e inject.Event, wait time.Duration, f func() error) error {
	unlock, err := w.lockTie(agent.Name, e.NativeID, wait)
	if err != nil {
		return err
	}
	defer unlock()
	return f()
}

func (w *Workspace) moment(ctx context.Context, agent inject.Agent, e inject.Event) (say string, err error) {
	switch e.Moment {
	case inject.Began:
		return "", w.began(ctx, agent, e)
	case inject.Prompted:
		return w.prompted(ctx, agent, e)
	case inject.Answered:
		return "", w.answered(ctx, agent, e)
	case inject.Used:
		if !w.Config.AfterTool || w.Config.Autosave != AutosaveTurn {
			return "", nil
		}
		_, err := w.capture(ctx, agent, e.NativeID, e.Transcript)
		return "", err
	case inject.Compacting:
		if w.Config.Autosave == AutosaveOff {
			return "", nil
		}
		_, err := w.capture(ctx, agent, e.NativeID, e.Transcript)
		return "", err
	case inject.Ended:
		return "", w.ended(ctx, agent, e)
	}
	return "", nil
}

// capture reads on in the transcript of a session, if that is tied to a
// conversation.
func (w *Workspace) capture(ctx context.Context, agent inject.Agent, nativeID, transcript string) (*tie, error) {
	t, err := w.tieOf(agent, nativeID, transcript)
	if err != nil {
		return nil, err
	}
	_, err = w.follow(ctx, agent, nativeID, t)
	return t, err
}

// answered captures a turn; a conversation that the turn stopped is settled and
// committed now that its last answer is there.
func (w *Workspace) answered(ctx context.Context, agent inject.Agent, e inject.Event) error {
	name := stoppingName(agent.Name, e.NativeID)
	at, stopping := w.Store.ReadCache(name)
	if w.Config.Autosave != AutosaveTurn && !stopping {
		return nil
	}
	if err := w.captureAnswer(ctx, agent, e); err != nil || !stopping {
		return err
	}
	return errors.Join(w.Store.RemoveCache(name), w.finishStop(ctx, string(at)))
}

// An agent may call the hook a moment before the answer is in the transcript
// (Claude Code 2.1.329, in a terminal: some 20 ms). It is waited for, but never
// for long: what is late is captured the next time.
const (
	answerWait = 500 * time.Millisecond
	answerPoll = 5 * time.Millisecond
)

// captureAnswer captures a turn with the answer that the agent has told of.
func (w *Workspace) captureAnswer(ctx context.Context, agent inject.Agent, e inject.Event) error {
	for waited := time.Duration(0); ; waited += answerPoll {
		t, err := w.capture(ctx, agent, e.NativeID, e.Transcript)
		if err != nil || !t.kept() || e.Said == "" || t.Said == endOf(e.Said) {
			return err
		}
		for ; !t.grown(agent) && waited < answerWait; waited += answerPoll {
			time.Sleep(answerPoll)
		}
		if waited >= answerWait || ctx.Err() != nil {
			return nil
		}
		time.Sleep(answerPoll)
	}
}

// endOf is a hash of the end of a text, by which it is known again, whatever the
// space in it. The text itself may hold a secret.
func endOf(text string) string {
	const runes = 80
	r := []rune(strings.Join(strings.Fields(text[max(0, len(text)-8*runes):]), " "))
	sum := sha256.Sum256([]byte(string(r[max(0, len(r)-runes):])))
	return hex.EncodeToString(sum[:8])
}

func stoppingName(agent, nativeID string) string {
	return "stopping/" + agent + "/" + schema.PathElement(nativeID)
}

// finishStop settles a conversation again, behind the answer to the command that
// stopped it, and commits it if so configured.
func (w *Workspace) finishStop(ctx context.Context, at string) error {
	c, err := w.Store.Conversation(at)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := w.settle(c); err != nil {
		return err
	}
	s, _, err := c.Session()
	if err != nil {
		return err
	}
	if _, err = w.commit(ctx, store.Entry{Path: at, Session: s}); err != nil {
		_ = w.TellLater(err)
	}
	return err
}

// untoldName holds what failed, such as a commit, when nobody could be told: the next
// command says it.
const untoldName = "untold"

// MaxUntold is how many failures are kept for the next command, maxUntoldText how many
// characters of each.
const (
	MaxUntold     = 10
	maxUntoldText = 1000
)

// TellLater keeps an error for the next command to say: the last MaxUntold, each once.
func (w *Workspace) TellLater(err error) error {
	defer w.lockUntold()()
	b, _ := w.Store.ReadCache(untoldName)
	text := plain(err.Error())
	if r := []rune(text); len(r) > maxUntoldText {
		text = string(r[:maxUntoldText]) + "…"
	}
	list := slices.DeleteFunc(strings.Split(string(b), "\n"), func(line string) bool { return line == "" || line == text })
	list = append(list, text)
	return w.Store.WriteCache(untoldName, []byte(strings.Join(list[max(0, len(list)-MaxUntold):], "\n")))
}

// Untold returns, once, what failed when nobody could be told, one failure a line.
func (w *Workspace) Untold() string {
	if _, ok := w.Store.ReadCache(untoldName); !ok {
		return "" // the usual case takes no lock
	}
	defer w.lockUntold()()
	b, ok := w.Store.ReadCache(untoldName)
	if ok {
		_ = w.Store.RemoveCache(untoldName)
	}
	return string(b)
}

// lockUntold keeps other processes off what is untold. Without the lock, a failure
// may be said twice or not at all, which is no reason to fail.
func (w *Workspace) lockUntold() (unlock func()) {
	unlock, err := w.Store.LockCache(untoldName, time.Second)
	if err != nil {
		return func() {}
	}
	return unlock
}

// ended captures the rest of a session and pauses its conversation, unless the
// program goes on with an empty context.
func (w *Workspace) ended(ctx context.Context, agent inject.Agent, e inject.Event) error {
	t, err := w.tieOf(agent, e.NativeID, e.Transcript)
	if err == nil && w.Config.Autosave != AutosaveOff {
		_, err = w.follow(ctx, agent, e.NativeID, t)
	}
	if err != nil {
		return err
	}
	if e.Cleared {
		err = w.cleared(agent, e, t)
	}
	if !t.held() || w.Config.Autosave == AutosaveOff {
		return err
	}
	name := stoppingName(agent.Name, e.NativeID)
	if at, stopping := w.Store.ReadCache(name); stopping {
		return errors.Join(err, w.Store.RemoveCache(name), w.finishStop(ctx, string(at)))
	}
	if e.Cleared && !t.Stopped {
		return err
	}
	return errors.Join(err, w.pause(t.current().Path))
}

// pause ends a conversation's activity with counters and summary as they are now.
func (w *Workspace) pause(at string) error {
	c, err := w.Store.Conversation(at)
	if errors.Is(err, store.ErrNotFound) {
		return nil // another branch of git is checked out, or the user removed it
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if err := w.settleQuick(c); err != nil {
		return err
	}
	return c.Edit(func(s *schema.Session) error {
		if s.Status == schema.Active {
			s.Status = schema.Paused
			w.note(lifecycle.End, at)
		}
		return nil
	})
}
