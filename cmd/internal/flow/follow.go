package flow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/resume"
	"cortext/resume/prompt"
	"cortext/store"
)

// follow captures what is new in the transcript of a session that is tied to a
// conversation. Only what was added since the last time is read, whatever the
// length of the transcript; where that cannot be told, all of it, which changes
// nothing that was captured before.
func (w *Workspace) follow(ctx context.Context, agent inject.Agent, nativeID string, t *tie) (appended int, err error) {
	if !t.kept() || t.Transcript == "" {
		return 0, nil
	}
	size, err := agent.Stat(t.Transcript)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // the agent has deleted it, or not written it yet; what was captured stays
	}
	if err != nil {
		return 0, err
	}
	subs, err := agent.Subagents(t.Transcript)
	if err != nil {
		return 0, err
	}
	if size != t.Read.Cursor.Size || t.Read.Cursor.Offset == 0 {
		w.Store.Warm()
		appended, err = w.followMain(ctx, agent, t, subs)
		if errors.Is(err, store.ErrNotFound) {
			return 0, nil // its conversation is not in this branch of git: it is captured when it is back
		}
		if err != nil {
			return appended, fmt.Errorf("%s: %w", t.Transcript, err)
		}
	}
	for _, s := range subs {
		if err := w.followSub(ctx, agent, t, s); err != nil {
			return appended, fmt.Errorf("%s: %w", s.Path, err)
		}
	}
	w.writeTie(agent.Name, nativeID, t)
	return appended, nil
}

func (w *Workspace) followMain(ctx context.Context, agent inject.Agent, t *tie, subs []inject.Subagent) (appended int, err error) {
	was := t.Read.Cursor
	tr, err := w.readOn(agent, t.Transcript, was, continues(t.Parts))
	if err != nil {
		return 0, err
	}
	defer tr.Close()
	parts, at := append([]part{}, t.Parts...), t.At
	if tr.fromStart {
		at = inOrder(parts, tr.Transcript)
		for i := range parts {
			parts[i].Mark = store.Mark{}
		}
	}
	r := w.newRoute(parts, at, tr.Transcript)
	if r.partOf != nil && !tr.fromStart {
		for _, anchor := range was.Anchors {
			r.partOf[anchor.Message] = t.At // so it is where there was one part until now
		}
		maps.Copy(r.partOf, t.PartOf)
	}
	err = tr.Each(func(sub string, b inject.Batch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.keep(b.Blobs); err != nil {
			return err
		}
		if sub == "" {
			return r.give(b, func(res store.Result) { appended += res.Appended })
		}
		for _, s := range subs {
			if s.NativeID == sub {
				return nil // it has a file of its own, which is complete
			}
		}
		if r.parts[r.at].Removed {
			return nil
		}
		return w.intoSub(r.parts[r.at].Path, tr.Transcript, sub, tr.Calls[sub], func(sc *store.Conversation) error {
			_, err := sc.Append(b.Batch)
			return err
		})
	})
	err = errors.Join(err, r.close())
	if err != nil {
		return appended, err
	}
	t.took(tr.Transcript, r)
	return appended, nil
}

// took notes what a reading of the transcript has told, and how far it went.
func (t *tie) took(tr *inject.Transcript, r *route) {
	for _, root := range tr.Roots {
		if !slices.Contains(t.Roots, root) {
			t.Roots = append(t.Roots, root)
		}
	}
	if tr.Version != "" {
		t.Version = tr.Version
	}
	if tr.Permission != "" {
		t.Permission = tr.Permission
	}
	if tr.Said != "" {
		t.Said = endOf(tr.Said)
	}
	t.Read.Cursor = tr.Next
	t.Parts, t.At = r.parts, r.untilPart
	if newest := t.Parts[len(t.Parts)-1]; newest.From == "" || newest.Start != "" {
		t.Current = r.at // all that begin have begun: a rewind may have led back
	}
	t.PartOf = nil
	if r.partOf != nil {
		t.PartOf = map[string]int{}
		for _, a := range tr.Next.Anchors {
			if i, ok := r.partOf[a.Message]; ok {
				t.PartOf[a.Message] = i
			}
		}
	}
}

// A reading is a transcript that was read on, or from its start.
type reading struct {
	*inject.Transcript
	fromStart bool
}

// readOn reads a transcript on from a cursor, or from the start if it is not what
// it was.
func (w *Workspace) readOn(agent inject.Agent, path string, from inject.Cursor, continues bool) (reading, error) {
	o := inject.Options{From: from, Continues: continues, Strip: w.strip}
	t, err := agent.Open(path, o)
	if errors.Is(err, inject.ErrCursor) {
		o.From = inject.Cursor{}
		t, err = agent.Open(path, o)
	}
	return reading{t, o.From.Offset == 0}, err
}

// followSub captures what is new in the transcript of a sub-agent.
func (w *Workspace) followSub(ctx context.Context, agent inject.Agent, t *tie, s inject.Subagent) error {
	size, err := agent.Stat(s.Path)
	have := t.Subagents[s.NativeID]
	if err != nil || size == 0 || have.Cursor.Size == size {
		return nil // gone, empty yet, or known
	}
	at, ok, err := w.partOfCall(t.Parts, t.At, s.ToolCallID)
	if err != nil || !ok {
		return err
	}
	tr, err := w.readOn(agent, s.Path, have.Cursor, false)
	if err != nil {
		return err
	}
	defer tr.Close()
	since := have.Store
	if tr.fromStart {
		since = store.Mark{}
	}
	now := mark{Cursor: tr.Next}
	err = w.intoSub(t.Parts[at].Path, tr.Transcript, s.NativeID, s.ToolCallID, func(sc *store.Conversation) error {
		sc.Since(since)
		again, found := ids{}, false
		err := tr.Each(func(_ string, b inject.Batch) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.keep(b.Blobs); err != nil {
				return err
			}
			calls, _ := callsByMessage(b)
			for _, m := range b.Messages {
				if found = found || m.ID == tr.Next.Message; found {
					again.add(m.ID, calls[m.ID])
				}
			}
			_, err := sc.Append(b.Batch)
			return err
		})
		if err == nil {
			now.Store, err = sc.MarkBefore(again.messages, again.calls)
		}
		return err
	})
	if err != nil {
		return err
	}
	if t.Subagents == nil {
		t.Subagents = map[string]mark{}
	}
	t.Subagents[s.NativeID] = now
	return nil
}

// partOfCall returns the part of a session that the call which started a sub-agent
// belongs to; at where that is not known. ok is false if that part was removed.
func (w *Workspace) partOfCall(parts []part, at int, call string) (i int, ok bool, err error) {
	removed := false
	for i, p := range parts {
		if removed = removed || p.Removed; p.Removed || len(parts) == 1 || call == "" {
			continue
		}
		has, err := w.hasCall(p.Path, call)
		if err != nil || has {
			return i, has, err
		}
	}
	return at, !parts[at].Removed && (!removed || call == ""), nil
}

// hasCall reports whether a conversation has a call of a tool.
func (w *Workspace) hasCall(path, call string) (bool, error) {
	c, err := w.Store.Conversation(path)
	if err != nil {
		return false, err
	}
	defer c.Close()
	for t, err := range c.Tools() {
		var damage *store.Damage
		if err != nil && !errors.As(err, &damage) {
			return false, err
		}
		if err == nil && t.ID == call {
			return true, nil
		}
	}
	return false, nil
}

// intoSub lets add append to the conversation of a sub-agent of the conversation
// at path.
func (w *Workspace) intoSub(path string, t *inject.Transcript, nativeID, call string, add func(*store.Conversation) error) error {
	c, err := w.Store.Conversation(path)
	if err != nil {
		return err
	}
	defer c.Close()
	return w.subagent(c, t, nativeID, call, add)
}

// strip takes a payload of ours out of what an agent calls the user's words, with
// the text of the command before it.
func (w *Workspace) strip(text string) (rest string, ok bool) {
	before, after, ok := resume.Cut(text)
	if !ok {
		return "", false
	}
	for _, typ := range w.types() {
		c, known, err := w.command(typ)
		if err != nil || !known {
			continue
		}
		lead, _, _ := strings.Cut(strings.TrimSpace(c.Body), "$ARGUMENTS")
		if i := strings.Index(before, lead); i >= 0 && strings.TrimSpace(lead) != "" {
			before = before[:i]
			break
		}
	}
	return strings.TrimSpace(strings.TrimSpace(before) + "\n\n" + strings.TrimSpace(after)), true
}

// types are the conversation types that have a prompt: the built-in ones, and
// those that the workspace adds.
func (w *Workspace) types() []string {
	types := prompt.Types()
	for _, name := range w.Store.ListFiles(commandsDir) {
		typ, ok := strings.CutSuffix(name, ".md")
		if ok && validType(typ) && !slices.Contains(types, typ) {
			types = append(types, typ)
		}
	}
	return types
}
