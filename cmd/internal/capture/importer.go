package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume/notes"
	"cortext/store"
)

// ImportOptions control an import.
type ImportOptions struct {
	Agent    string // the format; empty: detected from the content
	Type     string // of new conversations; empty: the type of the first /workspace command, else chat
	Title    string // of new conversations; empty: derived from the messages
	Program  string // identifies this build of cortext; empty: ignore earlier imports
	Progress func(file string, done, total int64)
}

// Imported is the result of importing one transcript.
type Imported struct {
	ID        string
	Path      string // of the conversation, relative to the workspace
	Agent     string
	Messages  int // now in the conversation
	Tools     int // now in the conversation
	Appended  int // messages that this run added
	Skipped   int // messages in the transcript that were already captured
	Subagents int // sub-agents' conversations imported with it
	Warnings  []string
	Others    []Imported // results for the other conversations that begin in the transcript

	segments []binding.Segment // of the session, except removed ones
	left     bool              // the session moved to another conversation or stopped this one
	partial  bool              // some of it is not in the work tree or could not be read
	passing  []string          // warnings that concern only this run
}

// An Importer captures transcripts that the user names. It reads each from the beginning,
// into a new conversation if the session has none.
type Importer struct {
	c       *Capture
	opts    ImportOptions
	closed  []store.Entry                    // conversations whose sources cannot be read
	here    map[sessionID][]registry.Segment // segments, by session, of the conversations that existed at the start
	imports *imports
	next    string // the file after the one that is imported
	ahead   *ahead // nil if there is none
}

// An AgentError reports an unknown agent.
type AgentError struct {
	Agent string
	Known []string
}

func (e *AgentError) Error() string {
	return fmt.Sprintf("there is no agent %q: cortext reads %s", e.Agent, strings.Join(e.Known, ", "))
}

// An EmptyError reports a transcript without messages.
type EmptyError struct{ File string }

func (e *EmptyError) Error() string { return e.File + ": the transcript holds no message" }

// NewImporter checks the options and returns an Importer.
func (c *Capture) NewImporter(opts ImportOptions) (*Importer, error) {
	if opts.Type != "" {
		if err := c.ws.Prompts.Check(opts.Type); err != nil {
			return nil, err
		}
	}
	if _, ok := c.ws.Env.Agent(opts.Agent); opts.Agent != "" && !ok {
		return nil, &AgentError{Agent: opts.Agent, Known: c.ws.Env.AgentNames()}
	}
	im := &Importer{c: c, opts: opts, here: map[sessionID][]registry.Segment{}, imports: &imports{ws: c.ws, sound: map[string]store.Entry{}}}
	all, err := c.catalog.entries()
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.IsClosed() {
			im.closed = append(im.closed, e)
		}
	}
	im.know(all)
	im.imports.read(opts.Program)
	if c.catalog.scan == nil { // so that each file does not read all conversations again
		c.catalog.start(func() ([]store.Entry, error) { return all, nil })
	}
	return im, nil
}

// know indexes the conversations that exist when an import begins.
func (im *Importer) know(all []store.Entry) {
	for _, e := range all {
		for _, src := range e.Session.Sources {
			of := sessionID{src.Agent, src.NativeID}
			im.here[of] = append(im.here[of], registry.Segment{Path: e.Path, ID: e.Session.ID, From: src.From})
		}
		if !e.Waiting && len(e.Twins)+len(e.Damage) == 0 {
			im.imports.sound[e.Path] = e
		}
	}
}

// Close saves the import results for the next import.
func (im *Importer) Close() {
	im.ahead.close()
	im.c.transcripts.heads.write()
	im.imports.write()
}

// Transcripts lists the transcripts in a file and returns the agent that wrote them.
func (im *Importer) Transcripts(file string) (agent inject.Agent, paths []string, err error) {
	whole, _, of := strings.Cut(file, "#") // one transcript in a store of many
	if _, err := os.Lstat(file); err == nil || !of {
		whole, of = file, false
	}
	if agent, ok := im.imports.agent(file); ok && (im.opts.Agent == "" || im.opts.Agent == agent.Name()) {
		return agent, []string{file}, nil
	}
	f, _, err := inject.OpenFile(whole)
	if err != nil {
		return agent, nil, err
	}
	defer f.Close()
	if agent, err = im.detect(f, whole); err != nil {
		return agent, nil, err
	}
	bundler, bundles := agent.(inject.Bundler)
	if of || !bundles {
		return agent, []string{file}, nil
	}
	paths, err = bundler.Transcripts(whole)
	if err == nil && len(paths) == 0 {
		err = &inject.FileError{File: whole, Why: "holds no conversation"}
	}
	return agent, paths, err
}

// File imports one transcript with its sub-agents' transcripts. The user named it, so a
// skipped or removed session is captured again.
func (im *Importer) File(ctx context.Context, agent inject.Agent, file string) (*Imported, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	look := lookAt(agent, abs)
	if was, err := im.imports.unchanged(agent, abs, look); was != nil || err != nil {
		return was, err
	}
	warned := im.c.warnings.raised
	out, nativeID, err := im.asked(ctx, agent, file)
	if err == nil && im.c.warnings.raised == warned { // otherwise the next import tries again
		im.imports.keep(abs, look, nativeID, out)
	}
	return out, err
}

// asked imports a transcript that the user named, and returns the id of its session.
func (im *Importer) asked(ctx context.Context, agent inject.Agent, file string) (out *Imported, nativeID string, err error) {
	out, err = im.file(ctx, agent, file, func(t *inject.Transcript) error {
		nativeID = t.NativeID
		gone, err := im.c.ws.Removed.Segments(agent.Name(), t.NativeID)
		if err != nil {
			return err
		}
		b, ok := im.c.Cached(agent.Name(), t.NativeID)
		if len(gone) > 0 || ok && slices.ContainsFunc(b.Segments, func(s binding.Segment) bool { return s.Removed }) {
			if err := im.c.Drop(agent.Name(), t.NativeID); err != nil {
				return err
			}
		}
		return errors.Join(im.c.ws.Removed.Unskip(agent.Name(), t.NativeID), im.c.ws.Removed.BringBack(ctx, agent.Name(), t.NativeID, beginnings(t), im.here[sessionID{agent.Name(), t.NativeID}]), im.c.withheld.want(agent, t, file))
	})
	return out, nativeID, err
}

// beginnings returns the places in a session where a later segment of it may begin.
func beginnings(t *inject.Transcript) (froms []string) {
	for _, cmd := range t.Commands {
		froms = append(froms, cmd.PromptID, binding.MessageFrom+cmd.Message)
	}
	return froms
}

func (im *Importer) file(ctx context.Context, agent inject.Agent, file string, asked func(*inject.Transcript) error) (out *Imported, err error) {
	size := int64(0)
	if info, err := os.Stat(file); err == nil {
		size = info.Size()
	}
	progress := func(done int64) {
		if im.opts.Progress != nil {
			im.opts.Progress(file, done, size)
		}
	}
	t, err := im.open(agent, file, inject.Options{Strip: im.c.ws.Prompts.Strip, Progress: func(done int64) { progress(done / 2) }}) // writing is the second half
	if err != nil {
		return nil, inFile(file, err)
	}
	defer t.Close()
	im.readAhead()
	in := &ingestion{c: im.c, ctx: ctx, agent: agent, nativeID: t.NativeID, opts: Options{Mode: PutBack, SessionJSON: ByCaller}, progress: func(done int) {
		progress(size/2 + size/2*int64(done)/int64(max(t.Messages, 1)))
	}}
	err = im.c.Locked(agent.Name(), t.NativeID, func() error {
		if t.Messages == 0 {
			return &EmptyError{file}
		}
		if err := asked(t); err != nil {
			return err
		}
		out, err = im.take(in, t, file)
		return err
	})
	if empty := (*EmptyError)(nil); errors.As(err, &empty) {
		return nil, err
	}
	if err != nil {
		return nil, inFile(file, err)
	}
	return out, nil
}

// take captures an open transcript; the caller holds the session's lock.
func (im *Importer) take(in *ingestion, t *inject.Transcript, file string) (*Imported, error) {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	out := &Imported{Agent: t.Agent, Warnings: t.Warnings}
	b, err := im.c.bindListed(nativeSession{in.agent, t.NativeID, file, t})
	if err != nil {
		return out, err
	}
	if t.Parent != "" && !b.Captured() { // otherwise it was imported before its parent
		if parent, err := im.parentOf(in.agent, t); err != nil || parent != nil {
			return out, errors.Join(err, im.subagent(in.ctx, parent, t, out))
		}
	}
	if err := im.forgetGone(b, t); err != nil {
		return out, err
	}
	if !binding.HasBeginning(b.Segments) {
		if in.staged, in.begins, err = im.stage(t); err != nil {
			return out, err
		}
		if b.Transcript == file {
			in.whole = t
		}
		defer func() { in.staged.Discard(); in.staged.Close() }()
		s, _, err := in.staged.Session()
		if err != nil {
			return out, err
		}
		b.Segments = slices.Insert(b.Segments, 0, binding.Segment{Segment: registry.Segment{Path: in.staged.Path(), ID: s.ID}})
		b.Current = len(b.Segments) - 1
		b.Cursor = inject.Cursor{}
	}
	in.binding = b
	done, err := in.runStaged()
	if err != nil {
		return out, err
	}
	out.Appended, out.Skipped, out.Subagents = done.Appended, max(t.Messages-done.Appended, 0), done.Subagents
	out.addWarnings(done)
	out.partial = len(done.Waiting) > 0 || done.Taken > 0
	out.Tools = done.Tools
	out.segments = slices.DeleteFunc(slices.Clone(b.Segments), func(s binding.Segment) bool { return s.Removed })
	conv, err := im.c.ws.Conversation(b.CurrentSegment().Path)
	if err != nil {
		return out, err
	}
	defer conv.Close()
	out.left = b.Stopped
	if done.published && len(b.Segments) == 1 { // it holds only what was just written
		s, _, err := conv.Session()
		if err != nil {
			return out, err
		}
		out.ID, out.Path, out.Messages = s.ID, conv.Path(), s.MessageCount
		return out, nil
	}
	if err := im.repair(conv, out); err != nil {
		return out, err
	}
	if err := out.count(conv); err != nil {
		return out, err
	}
	for _, path := range done.Begun {
		if path == out.Path {
			continue
		}
		other, err := im.c.importedIn(t.Agent, path, &done)
		if err != nil {
			return out, err
		}
		out.Others = append(out.Others, *other)
	}
	return out, nil
}

// Each splits the result into one for each conversation.
func (out *Imported) Each() []Imported {
	own := *out
	for _, other := range out.Others {
		own.Appended -= other.Appended
	}
	return append(slices.Clone(out.Others), own)
}

// importedIn returns the result of a capture for one conversation.
func (c *Capture) importedIn(agent, path string, done *Ingested) (*Imported, error) {
	conv, err := c.ws.Conversation(path)
	if err != nil {
		return nil, err
	}
	defer conv.Close()
	out := &Imported{Agent: agent, Appended: done.Captured()[path]}
	return out, out.count(conv)
}

// inFile adds the file name to an error that does not already contain it.
func inFile(file string, err error) error {
	var named *inject.FileError
	var path *fs.PathError
	if errors.As(err, &named) || errors.As(err, &path) && path.Path == file || strings.Contains(err.Error(), file) {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

func (out *Imported) addWarnings(done Ingested) {
	for _, s := range done.SetAside {
		out.warnNow(fmt.Sprintf("%s: a torn tail of %d bytes is set aside in %s", s.File, s.Bytes, s.Kept))
	}
	for _, why := range done.Waiting {
		out.warnNow("messages wait in .workspace/local/kept: " + why)
	}
	if len(done.Redacted) > 0 {
		out.warnNow("secrets replaced: " + describeCounts(done.Redacted))
	}
}

// warnNow adds a warning that concerns only this run.
func (out *Imported) warnNow(text string) {
	out.Warnings, out.passing = append(out.Warnings, text), append(out.passing, text)
}

// stage creates the conversation of a transcript, to be published when it is complete.
// begins is the message whose command begins it.
func (im *Importer) stage(t *inject.Transcript) (conv *store.Conversation, begins string, err error) {
	p, err := im.c.describe.beginning(t, im.opts)
	if err != nil {
		return nil, "", err
	}
	head, err := headOf(t, p, notes.Named)
	if err != nil {
		return nil, "", err
	}
	s, words, err := im.c.describe.newSession(t, p, head)
	if err != nil {
		return nil, "", err
	}
	path := store.FolderName(s, s.ConversationType, words)
	for _, e := range im.closed {
		if e.Path == path || strings.Contains(e.Path, "/"+s.CreatedAt.Time().UTC().Format(time.DateOnly)+"/") && strings.HasSuffix(e.Path, "-"+s.ConversationType+"-"+store.Slug(s.Title)) {
			// It may be this very conversation, and creating it twice would be worse than
			// not importing it.
			return nil, "", fmt.Errorf("it may belong to a conversation that cannot be read: %w", &e.Damage[0])
		}
	}
	conv, err = im.c.describe.stage(s, words)
	return conv, p.command.Message, err
}

// parentOf returns the conversation of the session that started a sub-agent, or nil if
// that session is not ours.
func (im *Importer) parentOf(agent inject.Agent, t *inject.Transcript) (*store.Conversation, error) {
	b, err := im.c.Bind(agent, t.Parent, "")
	if err != nil || !b.Captured() {
		return nil, err
	}
	conv, err := im.c.ws.Conversation(b.Segments[0].Path)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return conv, err
}

// subagent imports the transcript of a sub-agent into its parent's conversation.
func (im *Importer) subagent(ctx context.Context, parent *store.Conversation, t *inject.Transcript, out *Imported) error {
	if parent == nil {
		return nil
	}
	defer parent.Close()
	id, err := parent.ID()
	if err != nil {
		return err
	}
	sc, err := parent.Subagent(t.NativeID)
	if err != nil {
		return err
	}
	defer sc.Close()
	r, err := appendSubagent(sc, subagentOf{parent: parent, transcript: t, nativeID: t.NativeID}, func(tx *store.Tx) error {
		return pump{ctx, im.c.ws.Attachments.For([]string{id}), nil}.run(t, func(_ string, b inject.Batch) error { return tx.Append(b.Batch) })
	})
	if err != nil {
		return err
	}
	out.Appended, out.Skipped = r.Appended, max(t.Messages-r.Appended, 0)
	return out.count(sc)
}

// repair rewrites a session.json that was missing or damaged.
func (im *Importer) repair(conv *store.Conversation, out *Imported) error {
	_, damage, err := conv.Session()
	if err != nil || len(damage) == 0 {
		return err
	}
	for _, d := range damage {
		out.warnNow(d.Error() + ": made again from what is left")
	}
	_, err = im.c.ws.Finish(conv, workspace.Finishing{Recount: true})
	return err
}

// count fills in the totals of a conversation.
func (out *Imported) count(conv *store.Conversation) error {
	s, _, err := conv.Session()
	if err != nil {
		return err
	}
	out.ID, out.Path, out.Messages = s.ID, conv.Path(), s.MessageCount
	seen := map[string]bool{}
	for t, err := range conv.Tools() {
		if err == nil {
			seen[t.ID] = true
		} else {
			out.warnOf(err)
		}
	}
	out.Tools = len(seen)
	for _, err := range conv.Messages() {
		if err != nil {
			out.warnOf(err)
		}
	}
	return nil
}

// warnOf adds a warning for an error in reading a log.
func (out *Imported) warnOf(err error) {
	out.Warnings = append(out.Warnings, err.Error())
	if !errors.As(err, new(*store.Damage)) {
		out.partial = true
	}
}

func describeCounts(counts map[string]int) string {
	var list []string
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%d %s", counts[rule], rule))
	}
	return strings.Join(list, ", ")
}
