package capture

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// Session captures the new part of a session that a hook reports. The caller holds the
// session's lock.
func (c *Capture) Session(ctx context.Context, agent inject.Agent, e inject.Event) (*binding.Binding, error) {
	b, err := c.Bind(agent, e.NativeID, e.Transcript)
	if err != nil {
		return nil, err
	}
	b.Hooked = true
	_, err = c.Ingest(ctx, agent, e.NativeID, b, Options{Mode: OwnTurn, Prompted: e.Type == inject.PromptSubmit, Reply: e.LastReply})
	return b, err
}

// An agent may call the hook a moment before the answer is in the transcript (Claude Code
// 2.1.329, in a terminal: some 20 ms), or while it writes a long line, which Node does in
// pieces of 512 KB. Capture waits for the answer while the transcript grows, up to a
// short limit; the next run captures the rest.
const (
	answerWait = 500 * time.Millisecond // since the transcript last grew
	answerMost = 2 * time.Second
	answerPoll = 5 * time.Millisecond
)

// Answer captures a turn including the answer that the agent reported. If that does not come,
// session.json describes the turn without it.
func (c *Capture) Answer(ctx context.Context, agent inject.Agent, e inject.Event) (*binding.Binding, error) {
	b, late, err := c.awaitAnswer(ctx, agent, e)
	if late && b.Bound() {
		err = c.ws.FinishAt(b.CurrentSegment().Path, workspace.Finishing{})
	}
	return b, err
}

// awaitAnswer captures a turn until the answer that the agent reported is captured, or is late.
func (c *Capture) awaitAnswer(ctx context.Context, agent inject.Agent, e inject.Event) (b *binding.Binding, late bool, err error) {
	until := time.Now().Add(answerMost)
	for {
		size, _ := agent.Stat(e.Transcript)
		b, err = c.Session(ctx, agent, e)
		if err == nil {
			b, err = c.BeginMissed(ctx, agent, e, b)
		}
		late = err == nil && e.LastReply != "" && (b.Captured() && b.Reply != endOf(e.LastReply) || len(b.Segments) == 0 && c.ws.Config.CapturesAll() && !b.Answered)
		if !late {
			return b, late, err
		}
		grown := false
		for quiet := time.Duration(0); !grown && quiet < answerWait; quiet += answerPoll {
			if time.Now().After(until) || ctx.Err() != nil {
				return b, late, nil
			}
			time.Sleep(answerPoll)
			now, err := agent.Stat(e.Transcript)
			grown = err == nil && now != size
		}
		if !grown {
			return b, late, nil
		}
	}
}

// Unsaved reports whether a session's transcript has messages after the last one captured.
// After a turn, Claude Code also adds records that are not messages.
func Unsaved(ws *workspace.Workspace, agent inject.Agent, nativeID string, b *binding.Binding) (found bool) {
	if !b.Grown(agent) {
		return false
	}
	t, err := agent.Open(b.Transcript, inject.Options{From: b.Cursor})
	if err != nil {
		return true
	}
	defer t.Close()
	last := ws.Registry.Progress(ws.Here.Workspace()).Of(agent.Name(), nativeID).Message
	err = eachMessage(t, func(m schema.Message) { found = m.ID != last }) // the first ones may be old ones that have grown
	return found || err != nil
}

// BeginMissed begins a conversation for a session that should have one: an ordinary
// session, if those are captured, or a session with a /workspace command whose hook was
// killed or whose records were all deleted. It returns the new binding; a session that
// already has a binding keeps it.
func (c *Capture) BeginMissed(ctx context.Context, agent inject.Agent, e inject.Event, b *binding.Binding) (*binding.Binding, error) {
	if len(b.Segments) > 0 {
		return b, nil
	}
	n := inject.SessionRef{NativeID: e.NativeID, Path: e.Transcript}
	if _, err := agent.Stat(e.Transcript); err != nil {
		return b, nil // it is still empty
	}
	if begins, err := c.begins(agent, n, b); err != nil || !begins {
		return b, err
	}
	im, err := c.NewImporter(ImportOptions{})
	if err != nil {
		return b, err
	}
	t, err := agent.Open(e.Transcript, inject.Options{Strip: c.ws.Prompts.Strip})
	if err != nil {
		return b, err
	}
	defer t.Close()
	prompted := e.Type == inject.PromptSubmit
	if t.Messages == 0 {
		return b, nil
	}
	if prompted && !c.ws.Config.CapturesAll() {
		if answered, err := commandAnswered(t, e); err != nil || !answered {
			return b, err // it is the prompt that the hook reports
		}
	}
	got, err := im.take(&ingestion{c: c, ctx: ctx, agent: agent, nativeID: t.NativeID, opts: Options{Mode: OwnTurn, SessionJSON: ByCaller, Prompted: prompted}}, t, e.Transcript)
	if err != nil {
		return b, err
	}
	entry, err := c.ws.Entry(got.Path)
	if err != nil {
		return b, err
	}
	if _, err = c.ws.Status.Set(entry, schema.Active); err != nil {
		return b, err
	}
	return c.Bind(agent, e.NativeID, e.Transcript)
}

// commandAnswered reports whether a model has answered a command that begins a
// conversation, other than the command that a hook reports.
func commandAnswered(t *inject.Transcript, e inject.Event) (answered bool, err error) {
	begins := map[string]bool{}
	for _, cmd := range t.Commands {
		same := cmd.PromptID == e.PromptID
		if cmd.PromptID == "" || e.PromptID == "" {
			same = strings.TrimSpace(e.Prompt) == strings.TrimSpace(cmd.Line()+" "+cmd.Arguments)
		}
		begins[cmd.Message] = cmd.Begins() && !same
	}
	begun := false
	err = t.Each(func(sub string, b inject.Batch) error {
		for _, m := range b.Messages {
			begun = begun || sub == "" && begins[m.ID]
			if answered = begun && m.Role == schema.Assistant; answered {
				return errEnough
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return answered, err
}

// endOf returns a hash of the end of a text, ignoring whitespace, to recognize the text
// later. The text itself may hold a secret.
func endOf(text string) string {
	const runes = 80
	r := []rune(strings.Join(strings.Fields(text[max(0, len(text)-8*runes):]), " "))
	sum := sha256.Sum256([]byte(string(r[max(0, len(r)-runes):])))
	return hex.EncodeToString(sum[:8])
}

// TakeWarnings returns, once, what failed while messages were captured: parts of
// transcripts that could not be read, or user state that could not be written.
func (c *Capture) TakeWarnings() []string { return c.warnings.take() }

// RootsOfSource returns the lines that a fork of a session may begin with.
func (c *Capture) RootsOfSource(agent, nativeID string) []string {
	return c.transcripts.rootsOfSource(agent, nativeID)
}

// SkipSession stops capturing a session, and the parts of it that its forks repeat.
func (c *Capture) SkipSession(agent inject.Agent, nativeID string) error {
	return c.withheld.skip(agent, nativeID)
}

// Source captures the new part of one session's transcript, if it is on this machine.
func (c *Capture) Source(ctx context.Context, agent inject.Agent, nativeID string, o Options) (appended int, err error) {
	err = c.Locked(agent.Name(), nativeID, func() error {
		file, ok, locateErr := agent.Locate(c.ws.Env.Machine, nativeID)
		b, err := c.bindListed(nativeSession{agent: agent, id: nativeID, transcript: file})
		if err != nil {
			return err
		}
		if !ok && locateErr != nil && !isThere(agent, b.Transcript) {
			return fmt.Errorf("%s session %s: %w", agent.Name(), nativeID, locateErr)
		}
		out, err := c.Ingest(ctx, agent, nativeID, b, o)
		appended = out.Appended
		return err
	})
	return appended, err
}

// captureOriginal captures the new part of a session before a fork of it. An error here is
// reported when that session is captured.
func (c *Capture) captureOriginal(agent inject.Agent, nativeID string) {
	_, _ = c.Source(context.Background(), agent, nativeID, Options{})
}

// isThere reports whether a transcript exists at the given path, readable or not.
func isThere(agent inject.Agent, transcript string) bool {
	if transcript == "" {
		return false
	}
	_, err := agent.Stat(transcript)
	return !errors.Is(err, fs.ErrNotExist)
}

// Sources captures the new part of every transcript of a conversation that is on this
// machine, except the session with the native id except, which the caller captures.
func (c *Capture) Sources(ctx context.Context, e store.Entry, except string, o Options) (appended int, err error) {
	var errs []error
	if o.Mode == PutBack && e.Waiting && c.ws.Tree.Operation() == "" && !c.ws.Tree.Outside(e.Path) {
		conv, err := c.ws.Store.Kept().PutBack(e.Path)
		if err != nil {
			return 0, err
		}
		if recorded := c.catalog.committed(ctx, e.Path, e.Session.ID); recorded != nil {
			err = conv.Update(func(tx *store.Tx, _ *schema.Session) error { return tx.Recover(recorded) })
		}
		errs = append(errs, err, conv.Close())
	}
	done := map[sessionID]bool{}
	for _, src := range e.Session.Sources {
		agent, ok := c.ws.Env.Agent(src.Agent)
		key := sessionID{src.Agent, src.NativeID}
		if !ok || done[key] || src.NativeID == except || c.ws.Removed.Skipped(src.Agent, src.NativeID) {
			continue
		}
		done[key] = true
		n, err := c.Source(ctx, agent, src.NativeID, o)
		appended += n
		errs = append(errs, err)
	}
	return appended, errors.Join(errs...)
}

// catchUpTime limits how long a starting session waits for missed messages; the rest is
// captured the next time.
const catchUpTime = 5 * time.Second

// CatchUp captures what earlier sessions left behind, because a killed program calls no
// hook, and pauses idle conversations.
func (c *Capture) CatchUp(ctx context.Context, agent inject.Agent, e inject.Event) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	errs := []error{c.catchUpKnown(ctx, agent)}
	active, err := c.ws.Status.Active()
	errs = append(errs, err)
	for i := range active { // the cache may not know them
		n, err := c.Sources(ctx, active[i], e.NativeID, Options{})
		if n > 0 && err == nil {
			active[i], err = c.ws.Entry(active[i].Path)
		}
		errs = append(errs, err)
	}
	_, err = c.ws.Idle.PauseAmong(ctx, active, e.NativeID)
	errs = slices.DeleteFunc(append(errs, err), func(err error) bool { return errors.Is(err, context.DeadlineExceeded) })
	return errors.Join(errs...)
}

// catchUpKnown captures what was added to the sessions in the cache.
func (c *Capture) catchUpKnown(ctx context.Context, agent inject.Agent) error {
	var errs []error
	known, now := c.caughtUp(agent), caughtUp{}
	for _, id := range c.Bindings.Names(agent.Name()) {
		file := c.Bindings.Look(agent.Name(), id)
		if known.unchanged(agent, id, file) {
			now[id] = known[id]
			continue
		}
		b, ok := c.Cached(agent.Name(), id)
		if ok && b.Gone(agent) {
			_ = c.Drop(agent.Name(), id)
			continue
		}
		if !ok {
			continue
		}
		look := lookAt(agent, b.Transcript)
		if !b.Captured() || !b.Grown(agent) {
			if file != "" && (look != "" || !b.Captured()) {
				now[id] = closedSession{file, b.Transcript, look}
			}
			continue
		}
		if c.ws.Removed.Skipped(agent.Name(), id) {
			continue
		}
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		unlock, err := c.Lock(agent.Name(), id, 0)
		if locked := (*store.LockedError)(nil); errors.As(err, &locked) {
			continue // the process that holds it captures it
		}
		if err == nil {
			if b, err = c.Bind(agent, id, ""); err == nil {
				_, err = c.Ingest(ctx, agent, id, b, Options{})
			}
			unlock()
		}
		errs = append(errs, err)
	}
	if !maps.Equal(known, now) {
		writeCached(c.ws.Store, caughtUpName(agent.Name()), now)
	}
	return errors.Join(errs...)
}

// Shortened reports whether the log of a conversation is shorter than a cached checkpoint
// says, while the transcript it was captured from is gone. lost is the number of messages
// that the log has lost since, or 0 if unknown.
func (c *Capture) Shortened(conv *store.Conversation, s *schema.Session) (lost int, is bool, err error) {
	size, err := c.ws.Store.Folders().LogSize(conv.Path())
	if err != nil || conv.HasMore() {
		return 0, false, nil // the log or folder is not in the work tree, or more records will come
	}
	held := 0
	for _, src := range s.Sources {
		agent, ok := c.ws.Env.Agent(src.Agent)
		if !ok {
			continue
		}
		b, ok := c.Cached(src.Agent, src.NativeID)
		if !ok || !b.Gone(agent) {
			continue
		}
		for _, seg := range b.Segments {
			if schema.SameConversation(seg.ID, s.ID) && size < seg.Tree.Messages.End {
				is, held = true, max(held, seg.Tree.Held)
			}
		}
	}
	if held == 0 {
		return 0, is, nil
	}
	have, err := conv.MessageIDs()
	lost = max(held-len(have), 0)
	return lost, lost > 0, err
}
