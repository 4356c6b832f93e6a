package capture

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/store"
)

// importsName is the cache file that records what was imported.
const importsName = "imports.json"

// imports holds the imported transcripts by absolute path, so that a repeated import
// checks unchanged files without opening them. A file counts as unchanged if it is the
// same file, has the same length and was not modified since.
type imports struct {
	Program string                `json:"program"` // that imported them; another may find more in them
	Files   map[string]importedAs `json:"files"`
	changed bool
}

// An importedAs records the result of importing a transcript.
type importedAs struct {
	Transcript string            `json:"transcript"` // state of the files, including the sub-agents' transcripts
	Logs       map[string]string `json:"logs"`       // state of the logs afterwards, by the path of the conversation
	NativeID   string            `json:"native_id"`
	Result     Imported          `json:"result"`
}

// File imports one transcript with its sub-agents' transcripts. The user named it, so a
// skipped or removed session is captured again.
func (im *Importer) File(ctx context.Context, agent inject.Agent, file string) (*Imported, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	look := lookAt(agent, abs)
	if was, err := im.unchanged(agent, abs, look); was != nil || err != nil {
		return was, err
	}
	nativeID, warned := "", im.c.warned
	out, err := im.file(ctx, agent, file, func(t *inject.Transcript) error {
		nativeID = t.NativeID
		gone, err := im.c.ws.Removed.Segments(agent.Name(), t.NativeID)
		if err != nil {
			return err
		}
		b, ok := im.c.cached(agent.Name(), t.NativeID)
		if len(gone) > 0 || ok && slices.ContainsFunc(b.Segments, func(s Segment) bool { return s.Removed }) {
			if err := im.c.Forgotten(agent.Name(), t.NativeID); err != nil {
				return err
			}
		}
		return errors.Join(im.c.ws.Removed.Unskip(agent.Name(), t.NativeID), im.c.ws.Removed.BringBack(ctx, agent.Name(), t.NativeID, beginnings(t), im.here[native{agent.Name(), t.NativeID}]), im.c.want(agent, t, file))
	})
	if err == nil && im.c.warned == warned { // otherwise the next import tries again
		im.keep(abs, look, nativeID, out)
	}
	return out, err
}

// beginnings returns the places in a session where a later segment of it may begin.
func beginnings(t *inject.Transcript) (froms []string) {
	for _, cmd := range t.Commands {
		froms = append(froms, cmd.PromptID, messageFrom+cmd.Message)
	}
	return froms
}

// readImports reads the cached results of earlier imports by the same program.
func (im *Importer) readImports() {
	if im.opts.Program == "" || !im.c.readCached(importsName, &im.imports) || im.imports.Program != im.opts.Program || im.imports.Files == nil {
		im.imports = imports{Program: im.opts.Program, Files: map[string]importedAs{}}
	}
}

// Close saves the import results for the next import.
func (im *Importer) Close() {
	im.c.writeHeads()
	im.c.ws.Store.Remember()
	if !im.imports.changed || im.opts.Program == "" {
		return
	}
	im.c.writeCached(importsName, im.imports)
}

// knownAs returns the agent of a transcript that has not changed since it was imported.
func (im *Importer) knownAs(file string) (agent inject.Agent, ok bool) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return agent, false
	}
	was, ok := im.imports.Files[abs]
	if !ok || im.opts.Agent != "" && im.opts.Agent != was.Result.Agent {
		return agent, false
	}
	agent, ok = im.c.ws.Env.Agent(was.Result.Agent)
	return agent, ok && lookAt(agent, abs) == was.Transcript
}

// unchanged returns the result of the last import of a transcript if another import has
// nothing to do: neither the transcript nor the logs have changed, and the user made no
// decision about the session since.
func (im *Importer) unchanged(agent inject.Agent, file, look string) (*Imported, error) {
	was, ok := im.imports.Files[file]
	if !ok || look == "" || was.Transcript != look || was.Result.Agent != agent.Name() {
		return nil, nil
	}
	if e, ok := im.sound[was.Result.Path]; !ok || e.Session.ID != was.Result.ID || was.Logs[e.Path] == "" {
		return nil, nil
	}
	for path, logs := range was.Logs {
		e, ok := im.sound[path]
		if !ok || im.c.ws.Store.LogState(path) != logs {
			return nil, nil
		}
		if gone, err := im.c.ws.Removed.Conversation(e.Session.ID); err != nil || gone { // with sessions that nobody there knew of
			return nil, err
		}
	}
	s, err := im.c.ws.Registry.Session(agent.Name(), was.NativeID)
	if err != nil || s.Skipped || len(s.Removed) > 0 {
		return nil, err
	}
	gone, err := im.c.ws.Removed.Prompts(agent.Name(), was.NativeID, []string{""}) // on other machines: the whole session
	if err != nil || len(gone) > 0 {
		return nil, err
	}
	out := was.Result
	return &out, nil
}

// keep records the result of importing a transcript, if all of it is in the work tree.
func (im *Importer) keep(file, look, nativeID string, out *Imported) {
	if look == "" || len(out.segments) == 0 || out.partial {
		return
	}
	logs := map[string]string{}
	for _, s := range out.segments {
		if logs[s.Path] = im.lookAtLogs(s); logs[s.Path] == "" {
			return
		}
	}
	now := *out
	now.Appended, now.Skipped, now.Subagents, now.Others = 0, out.Appended+out.Skipped, 0, nil
	now.Warnings = slices.DeleteFunc(slices.Clone(out.Warnings), func(text string) bool { return slices.Contains(out.passing, text) })
	im.imports.Files[file] = importedAs{look, logs, nativeID, now}
	im.imports.changed = true
}

// lookAtLogs returns the state of a segment's logs, or "" if they are not the logs that
// the import wrote: git may have replaced them since.
func (im *Importer) lookAtLogs(s Segment) string {
	conv, err := im.c.ws.Conversation(s.Path)
	if err != nil {
		return ""
	}
	defer conv.Close()
	logs := im.c.ws.Store.LogState(s.Path)
	if !conv.Unchanged(s.Tree) {
		return ""
	}
	return logs
}

// know indexes the conversations that exist when an import begins.
func (im *Importer) know(all []store.Entry) {
	for _, e := range all {
		for _, src := range e.Session.Sources {
			of := native{src.Agent, src.NativeID}
			im.here[of] = append(im.here[of], registry.Segment{Path: e.Path, ID: e.Session.ID, From: src.From})
		}
		if !e.Waiting && len(e.Twins)+len(e.Damage) == 0 {
			im.sound[e.Path] = e
		}
	}
}
