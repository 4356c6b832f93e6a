package flow

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/inject/setup"
	"cortext/resume/digest"
	"cortext/schema"
)

// prompted carries out a /workspace command.
func (w *Workspace) prompted(ctx context.Context, agent inject.Agent, e inject.Event) (string, error) {
	limits := replyLimits(agent)
	limits.Bytes -= untoldLimit
	lead := ""
	if e.Unexpanded {
		lead = w.commandText(agent, e)
		limits.Bytes -= len(lead)
	}
	say, err := w.carryOut(ctx, agent, e, limits)
	if say == "" {
		return "", err
	}
	why, untoldErr := w.tellUntold()
	return lead + say + why, errors.Join(err, untoldErr)
}

// commandText returns the text of a command that the agent itself does not know. The
// agent sends what the user typed to the model unchanged.
func (w *Workspace) commandText(agent inject.Agent, e inject.Event) string {
	typed, _ := inject.ParseCommand(e.Prompt)
	text, ok := setup.Managing(typed.Name, agent.Name())
	if !ok {
		c, known, err := w.Prompts.Command(typed.Name)
		if err != nil || !known {
			return ""
		}
		text = c.Body
	}
	return fmt.Sprintf("%s is a command of the user's, which stands for this text:\n\n%s\n\n", typed.Line(), strings.TrimSpace(strings.ReplaceAll(text, "$ARGUMENTS", typed.Arguments)))
}

// untoldLimit is how many bytes of an answer may report earlier failures. The report
// begins with untoldLead.
const (
	untoldLimit = 400
	untoldLead  = "\n\nThe last time: "
)

// tellUntold returns earlier failures, oldest first, as far as they fit into an answer.
// The next command reports the rest.
func (w *Workspace) tellUntold() (text string, err error) {
	room := untoldLimit - len(untoldLead)
	for why := range strings.Lines(w.Pending.Take()) {
		why = workspace.Plain(why)
		switch {
		case why == "":
		case room > 0 && len(why) <= room:
			text += why + "; "
			room -= len(why) + len("; ")
			continue
		case text == "": // it would never fit
			end := room - len(" …")
			for !utf8.RuneStart(why[end]) {
				end--
			}
			text, why = why[:end]+" …", "… "+why[end:]
		}
		room = 0 // keep the order: later ones wait, too
		if why != "" {
			err = errors.Join(err, w.Pending.Add(errors.New(why)))
		}
	}
	if text == "" {
		return "", err
	}
	return untoldLead + strings.TrimSuffix(text, "; "), err
}

// replyLimits returns what to observe in an answer to the agent.
func replyLimits(agent inject.Agent) inject.ReplyLimits {
	if hooks, ok := agent.(inject.Hooks); ok {
		return hooks.ReplyLimits()
	}
	return inject.ReplyLimits{}
}

// carryOut executes one command.
func (w *Workspace) carryOut(ctx context.Context, agent inject.Agent, e inject.Event, limits inject.ReplyLimits) (string, error) {
	typed, ok := inject.ParseCommand(e.Prompt)
	if !ok {
		return "", nil
	}
	name, args := typed.Name, typed.Arguments
	switch name {
	case "resume":
		return w.resumeHere(ctx, agent, e, args, limits)
	case "stop-conversation":
		return w.stopHere(ctx, agent, e)
	case "sessions":
		return w.sayList(limits.Bytes, args == "all")
	case "session":
		return w.saySession(ctx, agent, e)
	case "context":
		return w.sayContext(ctx, agent, e, args)
	case "compact":
		return w.sayCompact(ctx, agent, e, args)
	}
	if w.Prompts.Check(name) != nil {
		return "", nil // not one of our commands
	}
	return w.begin(ctx, agent, e, name, args)
}

// begin starts the conversation of a /workspace.<type> prompt and binds the session to
// it. If the session was in no conversation, its earlier messages go into the new one,
// too.
func (w *Workspace) begin(ctx context.Context, agent inject.Agent, e inject.Event, typ, args string) (string, error) {
	if err := w.Removed.Unskip(agent.Name(), e.NativeID); err != nil {
		return "", err
	}
	t, err := w.Session(ctx, agent, e)
	if err == nil {
		t, err = w.BeginMissed(ctx, agent, e, t) // an earlier command that no hook reported
	}
	if err != nil {
		return "", err
	}
	if t.Bound() && (e.PromptID != "" && (t.Prompt == e.PromptID || t.CurrentSegment().From == e.PromptID) || w.hasBegun(t.CurrentSegment().Path, typ, args)) {
		return sayBegun(t.CurrentSegment().Path, typ), nil // the hook is installed twice, or was killed
	}
	seg := capture.Segment{}
	if len(t.Segments) > 0 {
		seg.From = w.From(e)
		if err := w.pauseLeft(t); err != nil {
			return "", err
		}
	}
	entry, _, err := w.Begin(workspace.Beginning{
		Type: typ, Title: digest.Title([]schema.Message{{Role: schema.User, Content: e.Prompt}}), Arguments: args,
		Source: &schema.Source{Agent: agent.Name(), NativeID: e.NativeID, Version: t.Version, From: seg.From},
		ID:     schema.DerivedPartID(agent.Name(), e.NativeID, seg.From, w.Env.Now()),
	})
	if err != nil {
		return "", err
	}
	seg.Path, seg.ID = entry.Path, entry.Session.ID
	t.Add(seg)
	t.Prompt = e.PromptID
	if err := w.Save(agent.Name(), e.NativeID, t); err != nil {
		return "", err
	}
	return sayBegun(entry.Path, typ), nil
}

// hasBegun reports whether a command started this conversation and it has no messages
// yet.
func (w *Workspace) hasBegun(path, typ, args string) bool {
	e, err := w.Entry(path)
	if err != nil {
		return false
	}
	begun := e.Session.AgentConfig
	return e.Session.MessageCount == 0 && begun.Command == inject.CommandPrefix+typ && begun.Arguments == args
}

func sayBegun(folder, typ string) string {
	return fmt.Sprintf("%sthis conversation is kept in %s; its document is %s. It is saved by itself after each turn.",
		sayPrefix, folder, path.Join(folder, typ+".md"))
}

// pauseLeft pauses the conversation that a session leaves, if any.
func (w *Workspace) pauseLeft(t *capture.Binding) error {
	if !t.Bound() {
		return nil
	}
	return w.Pause(t.CurrentSegment().Path)
}

// sayPrefix begins our text for an agent, so that its commands can refer to it.
const sayPrefix = "From cortext: "

// resumeHere brings a conversation into the running session, or lists the conversations
// to choose from.
func (w *Workspace) resumeHere(ctx context.Context, agent inject.Agent, e inject.Event, query string, limits inject.ReplyLimits) (string, error) {
	t, err := w.Session(ctx, agent, e)
	if err != nil {
		return "", err
	}
	if query == "" {
		return w.sayList(limits.Bytes, false)
	}
	query, reopen := strings.CutSuffix(query, " "+capture.ReopenWord)
	entry, err := w.pickNumbered(query)
	var missing *workspace.NotFoundError
	var ambiguous *workspace.AmbiguousError
	switch {
	case errors.As(err, &missing):
		return w.sayNone(limits.Bytes, missing)
	case errors.As(err, &ambiguous):
		return w.sayAmbiguous(limits.Bytes, ambiguous)
	case err != nil:
		return "", err
	}
	if entry.Session.Status == schema.Completed && !reopen {
		return fmt.Sprintf("%s%s is completed. To take it up again all the same, type /workspace.resume %s %s", sayPrefix,
			workspace.Plain(entry.Session.DisplayTitle()), entry.Session.ID, capture.ReopenWord), nil
	}
	if err := w.Removed.Unskip(agent.Name(), e.NativeID); err != nil {
		return "", err
	}
	if _, err := w.Sources(ctx, entry, e.NativeID, capture.Options{Mode: capture.PutBack}); err != nil {
		return "", err
	}
	say, err := w.sayPayload(ctx, agent, entry, limits)
	if err != nil {
		return "", err
	}
	if n := len(t.Segments); n == 0 || t.CurrentSegment().Path != entry.Path || t.CurrentSegment().Removed {
		if err := w.pauseLeft(t); err != nil {
			return "", err
		}
		if err := w.ContinueIn(agent, e, t, entry.Path); err != nil {
			return "", err
		}
	}
	t.Stopped = false
	saveErr := w.Save(agent.Name(), e.NativeID, t)
	_, err = w.Activate(entry)
	return say, errors.Join(saveErr, err)
}

// hereLimit is how many bytes a command may print so that an agent's shell tool is sure
// to pass all of it to the model: Gemini CLI 0.61.0 cuts out the middle above 40,000
// characters, OpenCode 1.18.33 above 50 KiB or 2,000 lines.
const hereLimit = 24_000

// Here returns the answer to /workspace.resume for an agent that runs the command itself
// from within its session.
func (w *Workspace) Here(ctx context.Context, query string) (say string, err error) {
	for _, agent := range w.Env.Agents {
		id := agent.Session(w.Env.Machine)
		if id == "" {
			continue
		}
		limits := replyLimits(agent)
		limits.Bytes = hereLimit
		e := inject.Event{Type: inject.PromptSubmit, NativeID: id}
		file, ok, err := agent.Locate(w.Env.Machine, id)
		if err != nil {
			return "", err
		}
		if ok {
			e.Transcript = file
			e.PromptID = lastCommand(agent, file)
		}
		err = w.Locked(agent.Name(), e.NativeID, func() error {
			say, err = w.resumeHere(ctx, agent, e, query, limits)
			return err
		})
		return say, err
	}
	return "", ErrNoSession
}

// lastCommand returns the agent's id of the last prompt in a transcript that is one of
// our commands, or "".
func lastCommand(agent inject.Agent, transcript string) string {
	t, err := agent.Open(transcript, inject.Options{})
	if err != nil {
		return ""
	}
	defer t.Close()
	if n := len(t.Commands); n > 0 {
		return t.Commands[n-1].PromptID
	}
	return ""
}

// stopHere stops the conversation of the running session. The commit waits for the answer
// to the command. Whatever could not be captured is reported to the agent and returned.
func (w *Workspace) stopHere(ctx context.Context, agent inject.Agent, e inject.Event) (string, error) {
	if err := w.Removed.Unskip(agent.Name(), e.NativeID); err != nil {
		return "", err
	}
	t, err := w.Bind(agent, e.NativeID, e.Transcript)
	if err == nil {
		t, err = w.BeginMissed(ctx, agent, e, t)
	}
	if err != nil {
		return "", err
	}
	_, unsaved := w.Ingest(ctx, agent, e.NativeID, t, capture.Options{Mode: capture.PutBack})
	if !t.Bound() {
		return sayPrefix + "this session belongs to no conversation: one begins with /workspace.<type>, and nothing was saved.", unsaved
	}
	at := t.CurrentSegment().Path
	stopped, err := w.finishStop(at)
	if err != nil {
		return "", errors.Join(unsaved, err)
	}
	stopped.Unsaved = unsaved
	t.Stopped, t.Turns, t.Reminded = true, 0, false
	if err := w.Save(agent.Name(), e.NativeID, t); err != nil {
		return "", errors.Join(unsaved, err)
	}
	if err := w.Store.WriteCache(stoppingName(agent.Name(), e.NativeID), []byte(at)); err != nil {
		return "", errors.Join(unsaved, err)
	}
	return sayPrefix + w.sayStopped(stopped), unsaved
}
