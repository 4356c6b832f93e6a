package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema"
	"cortext/store"
	"cortext/store/secrets"
)

// ImportOptions say how transcripts are imported.
type ImportOptions struct {
	Agent    string // the format; empty: found out from the content
	Type     string // of new conversations; empty: that of the first /workspace command, else chat
	Title    string // of new conversations; empty: made from the messages
	Progress func(file string, done, total int64)
}

// An Imported says what an import did with one file.
type Imported struct {
	ID        string
	Path      string // of the conversation, relative to the workspace
	Agent     string
	Messages  int // of the conversation now
	Tools     int // of the conversation now
	Appended  int // messages of this run that were new
	Skipped   int // messages of this run that were there already
	Subagents int // conversations of sub-agents that came with it
	Redacted  map[string]int
	Warnings  []string
}

// An Importer captures transcript files into a workspace.
type Importer struct {
	w      *Workspace
	opts   ImportOptions
	native map[string][]part // agent and native id -> the conversations that it goes into
	closed []store.Entry     // conversations whose sources cannot be known
	seen   string            // the conversations that there were
}

// NewImporter reads which native sessions the workspace holds already.
func (w *Workspace) NewImporter(opts ImportOptions) (*Importer, error) {
	if opts.Type != "" {
		if err := w.checkType(opts.Type); err != nil {
			return nil, err
		}
	}
	if opts.Agent != "" && !slices.ContainsFunc(w.env.Agents, func(a inject.Agent) bool { return a.Name == opts.Agent }) {
		return nil, &AgentError{Agent: opts.Agent, Known: w.agents()}
	}
	im := &Importer{w: w, opts: opts, native: map[string][]part{}, seen: w.conversationsSeen()}
	all, err := w.entries()
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if slices.ContainsFunc(e.Damage, func(d store.Damage) bool { return d.Kind == store.Newer || d.Kind == store.NotRegular }) {
			im.closed = append(im.closed, e)
		}
		for _, src := range e.Session.Sources {
			key := src.Agent + "\n" + src.NativeID
			if im.native[key] == nil {
				im.native[key] = w.partsOf(all, src.Agent, src.NativeID)
			}
		}
	}
	return im, nil
}

// An AgentError says that there is no such agent.
type AgentError struct {
	Agent string
	Known []string
}

func (e *AgentError) Error() string {
	return fmt.Sprintf("there is no agent %q: cortext reads %s", e.Agent, strings.Join(e.Known, ", "))
}

// agent returns the agent of a name.
func (w *Workspace) agent(name string) (inject.Agent, bool) {
	i := slices.IndexFunc(w.env.Agents, func(a inject.Agent) bool { return a.Name == name })
	if i < 0 {
		return inject.Agent{}, false
	}
	return w.env.Agents[i], true
}

func (w *Workspace) agents() []string {
	names := make([]string, len(w.env.Agents))
	for i, a := range w.env.Agents {
		names[i] = a.Name
	}
	return names
}

// Transcripts lists the transcripts in a file, with the agent that wrote them.
func (im *Importer) Transcripts(file string) (agent inject.Agent, paths []string, err error) {
	whole, _, of := strings.Cut(file, "#") // one transcript of a store of many
	if _, err := os.Lstat(file); err == nil || !of {
		whole, of = file, false
	}
	f, _, err := inject.OpenFile(whole)
	if err != nil {
		return agent, nil, err
	}
	defer f.Close()
	if agent, err = im.agent(f, whole); err != nil {
		return agent, nil, err
	}
	if of || agent.Transcripts == nil {
		return agent, []string{file}, nil
	}
	paths, err = agent.Transcripts(whole)
	if err == nil && len(paths) == 0 {
		err = &inject.FileError{File: whole, Why: "holds no conversation"}
	}
	return agent, paths, err
}

// File imports one transcript with those of its sub-agents.
func (im *Importer) File(ctx context.Context, agent inject.Agent, file string) (*Imported, error) {
	size := int64(0)
	if info, err := os.Stat(file); err == nil {
		size = info.Size()
	}
	name := filepath.Base(file)
	known := im.native[agent.Name+"\n"+strings.TrimSuffix(name, filepath.Ext(name))]
	t, err := agent.Open(file, inject.Options{Continues: continues(known), Strip: im.w.strip, Progress: func(done int64) {
		if im.opts.Progress != nil {
			im.opts.Progress(file, done/2, size) // the second half is the writing
		}
	}})
	if err != nil {
		return nil, inFile(file, err)
	}
	defer t.Close()
	if t.Messages == 0 {
		return nil, &EmptyError{file}
	}
	out := &Imported{Agent: t.Agent, Warnings: t.Warnings}
	subs, err := agent.Subagents(file)
	if err != nil {
		return nil, inFile(file, err)
	}
	err = im.w.locked(agent, inject.Event{NativeID: t.NativeID}, lockWait, func() error {
		return im.into(ctx, t, agent, subs, file, size, out)
	})
	if err != nil {
		return nil, inFile(file, err)
	}
	return out, nil
}

// An EmptyError says that a transcript holds no message.
type EmptyError struct{ File string }

func (e *EmptyError) Error() string { return e.File + ": the transcript holds no message" }

// inFile names the file that an error is about, if it does not do so itself.
func inFile(file string, err error) error {
	var named *inject.FileError
	var path *fs.PathError
	if errors.As(err, &named) || errors.As(err, &path) && path.Path == file {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// into captures a transcript into the conversations that it belongs to.
func (im *Importer) into(ctx context.Context, t *inject.Transcript, agent inject.Agent, subs []inject.Subagent, file string, size int64, out *Imported) error {
	if err := im.w.unskip(t.Agent, t.NativeID); err != nil {
		return err
	}
	parts, err := im.parts(t)
	if err != nil {
		return err
	}
	c, parts, created, err := im.target(t, parts)
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := im.capture(ctx, c, parts, t, agent, subs, file, size, out)
	if err != nil {
		if created {
			err = errors.Join(err, c.Remove())
		}
		return err
	}
	if err := im.describe(c, t, created, out); err != nil {
		return err
	}
	if len(parts) > 0 {
		im.native[t.Agent+"\n"+t.NativeID] = parts
		im.remember(t, file, r)
	}
	return im.count(c, out)
}

func (im *Importer) agent(f *os.File, file string) (inject.Agent, error) {
	for _, agent := range im.w.env.Agents {
		if im.opts.Agent == agent.Name {
			return agent, nil
		}
		if im.opts.Agent != "" {
			continue
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return inject.Agent{}, err
		}
		if agent.Detect(f) {
			return agent, nil
		}
	}
	return inject.Agent{}, &inject.FileError{File: file, Why: fmt.Sprintf("is not a transcript of an agent that cortext reads (%s)", strings.Join(im.w.agents(), ", "))}
}

// capture appends what the transcript holds. Without parts it is that of a
// sub-agent, and c its conversation.
func (im *Importer) capture(ctx context.Context, c *store.Conversation, parts []part, t *inject.Transcript, agent inject.Agent, subs []inject.Subagent, file string, size int64, out *Imported) (*route, error) {
	total, done := max(t.Messages, 1), 0
	inline := map[string]bool{}
	r := im.w.newRoute(parts, inOrder(parts, t), t)
	if len(parts) == 0 {
		r.parts, r.open[""] = []part{{}}, c
	} else {
		r.open[c.Path()] = c
	}
	err := t.Each(func(sub string, b inject.Batch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := im.w.keep(b.Blobs); err != nil {
			return err
		}
		if sub != "" {
			if slices.ContainsFunc(subs, func(s inject.Subagent) bool { return s.NativeID == sub }) {
				return nil // it has a file of its own, which is complete
			}
			inline[sub] = true
			return im.w.subagent(c, t, sub, t.Calls[sub], func(sc *store.Conversation) error {
				_, err := sc.Append(b.Batch)
				return err
			})
		}
		before := out.Appended
		if err := r.give(b, out.add); err != nil {
			return err
		}
		out.Skipped += len(b.Messages) - (out.Appended - before)
		done += len(b.Messages)
		if im.opts.Progress != nil {
			im.opts.Progress(file, size/2+size/2*int64(done)/int64(total), size)
		}
		return nil
	})
	if err = errors.Join(err, r.close()); err != nil {
		return nil, err
	}
	for _, s := range subs {
		into := c
		if len(parts) > 1 {
			call := cmp.Or(s.ToolCallID, t.Calls[s.NativeID])
			at, ok, err := im.w.partOfCall(parts, len(parts)-1, call)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			if into, err = im.w.Store.Conversation(parts[at].Path); err != nil {
				return nil, err
			}
		}
		read, err := im.subagentFile(ctx, into, t, agent, s, out)
		r.subagents[s.NativeID] = mark{Cursor: read}
		if into != c {
			err = errors.Join(err, into.Close())
		}
		if err != nil {
			return nil, err
		}
	}
	out.Subagents = len(inline) + len(subs)
	return r, nil
}

func (out *Imported) add(r store.Result) {
	out.Appended += r.Appended
	for rule, n := range r.Redacted {
		if out.Redacted == nil {
			out.Redacted = map[string]int{}
		}
		out.Redacted[rule] += n
	}
	for _, s := range r.SetAside {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s: a torn tail of %d bytes is set aside in %s", s.File, s.Bytes, s.Kept))
	}
}

// subagentFile imports the transcript of a sub-agent beside its parent's; it returns
// how far that was read.
func (im *Importer) subagentFile(ctx context.Context, c *store.Conversation, parent *inject.Transcript, agent inject.Agent, s inject.Subagent, out *Imported) (inject.Cursor, error) {
	t, err := agent.Open(s.Path, inject.Options{})
	if err != nil {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the transcript of sub-agent %s was left out: %v", s.NativeID, err))
		return inject.Cursor{}, nil
	}
	defer t.Close()
	for _, w := range t.Warnings {
		out.Warnings = append(out.Warnings, fmt.Sprintf("sub-agent %s: %s", s.NativeID, w))
	}
	call := cmp.Or(s.ToolCallID, parent.Calls[s.NativeID])
	return t.Next, im.w.subagent(c, t, s.NativeID, call, func(sc *store.Conversation) error {
		return t.Each(func(_ string, b inject.Batch) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := im.w.keep(b.Blobs); err != nil {
				return err
			}
			_, err := sc.Append(b.Batch)
			return err
		})
	})
}

// describe writes what only the whole conversation tells. An older conversation
// keeps its session.json as it is until it is stopped, so that a capture shows
// in git as added lines only.
func (im *Importer) describe(c *store.Conversation, t *inject.Transcript, created bool, out *Imported) error {
	s, damage, err := c.Session()
	if err != nil {
		return err
	}
	if len(damage) > 0 {
		for _, d := range damage {
			if out == nil {
				break
			}
			out.Warnings = append(out.Warnings, d.Error()+": made anew from what is left")
		}
		if err := im.w.settle(c); err != nil {
			return err
		}
	}
	if !created {
		if hasSource(s, t.Agent, t.NativeID) {
			return nil
		}
		return c.Edit(func(s *schema.Session) error {
			s.Sources = append(s.Sources, schema.Source{Agent: t.Agent, NativeID: t.NativeID, Version: t.Version})
			return nil
		})
	}
	return im.w.settle(c)
}

// count fills in the totals.
func (im *Importer) count(c *store.Conversation, out *Imported) error {
	s, _, err := c.Session()
	if err != nil {
		return err
	}
	out.ID, out.Path, out.Messages = s.ID, c.Path(), s.MessageCount
	seen := map[string]bool{}
	for t, err := range c.Tools() {
		if err == nil {
			seen[t.ID] = true
		} else {
			out.Warnings = append(out.Warnings, err.Error())
		}
	}
	out.Tools = len(seen)
	for _, err := range c.Messages() {
		if err != nil {
			out.Warnings = append(out.Warnings, err.Error())
		}
	}
	if n := len(out.Redacted); n > 0 {
		counts := secrets.Counts(out.Redacted)
		out.Warnings = append(out.Warnings, "secrets replaced: "+describeCounts(counts))
	}
	return nil
}

func describeCounts(counts map[string]int) string {
	rules := make([]string, 0, len(counts))
	for rule := range counts {
		rules = append(rules, rule)
	}
	slices.Sort(rules)
	for i, rule := range rules {
		rules[i] = fmt.Sprintf("%d %s", counts[rule], rule)
	}
	return strings.Join(rules, ", ")
}
