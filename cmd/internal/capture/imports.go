package capture

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/store"
)

// importsName is the cache file that records what was imported.
const importsName = "imports.json"

// imports knows the transcripts that were imported, so that a repeated import checks
// unchanged files without opening them. A file counts as unchanged if it is the same file,
// has the same length and was not modified since.
type imports struct {
	ws    *workspace.Workspace
	sound map[string]store.Entry // undamaged conversations in the work tree, by path

	savedImports
	changed bool
}

// savedImports is the content of the cache file of imports.
type savedImports struct {
	Program string                `json:"program"` // the build that imported the files; another may find more in them
	Files   map[string]importedAs `json:"files"`   // by absolute path
}

// An importedAs records the result of importing a transcript.
type importedAs struct {
	Transcript string            `json:"transcript"` // state of the files, including the sub-agents' transcripts
	Logs       map[string]string `json:"logs"`       // state of the logs afterwards, by the path of the conversation
	NativeID   string            `json:"native_id"`
	Result     Imported          `json:"result"`
}

// read reads the cached results of earlier imports by the same program. If program is
// empty, it reads none.
func (im *imports) read(program string) {
	if program == "" || !readCached(im.ws.Store, importsName, &im.savedImports) || im.Program != program || im.Files == nil {
		im.savedImports = savedImports{Program: program, Files: map[string]importedAs{}}
	}
}

// write saves the results for the next import.
func (im *imports) write() {
	if im.changed && im.Program != "" {
		writeCached(im.ws.Store, importsName, im.savedImports)
	}
}

// agent returns the agent of a transcript that has not changed since it was imported.
func (im *imports) agent(file string) (agent inject.Agent, ok bool) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return agent, false
	}
	was, ok := im.Files[abs]
	if !ok {
		return agent, false
	}
	agent, ok = im.ws.Env.Agent(was.Result.Agent)
	return agent, ok && lookAt(agent, abs) == was.Transcript
}

// unchanged returns the result of the last import of a transcript if another import has
// nothing to do: neither the transcript nor the logs have changed, and the user made no
// decision about the session since.
func (im *imports) unchanged(agent inject.Agent, file, look string) (*Imported, error) {
	was, ok := im.Files[file]
	if !ok || look == "" || was.Transcript != look || was.Result.Agent != agent.Name() {
		return nil, nil
	}
	if e, ok := im.sound[was.Result.Path]; !ok || e.Session.ID != was.Result.ID || was.Logs[e.Path] == "" {
		return nil, nil
	}
	for path, logs := range was.Logs {
		e, ok := im.sound[path]
		if !ok || im.ws.Store.Folders().LogState(path) != logs {
			return nil, nil
		}
		if gone, err := im.ws.Removed.Conversation(e.Session.ID); err != nil || gone { // includes removals elsewhere that did not know the session
			return nil, err
		}
	}
	s, err := im.ws.Registry.Sessions.Get(agent.Name(), was.NativeID)
	if err != nil || s.Skipped || len(s.Removed) > 0 {
		return nil, err
	}
	gone, err := im.ws.Removed.Prompts(agent.Name(), was.NativeID, []string{""}) // on other machines: the whole session
	if err != nil || len(gone) > 0 {
		return nil, err
	}
	out := was.Result
	return &out, nil
}

// keep records the result of importing a transcript, if all of it is in the work tree.
func (im *imports) keep(file, look, nativeID string, out *Imported) {
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
	im.Files[file] = importedAs{look, logs, nativeID, now}
	im.changed = true
}

// lookAtLogs returns the state of a segment's logs, or "" if they are not the logs that
// the import wrote: git may have replaced them since.
func (im *imports) lookAtLogs(s binding.Segment) string {
	conv, err := im.ws.Conversation(s.Path)
	if err != nil {
		return ""
	}
	defer conv.Close()
	logs := im.ws.Store.Folders().LogState(s.Path)
	if !conv.Unchanged(s.Tree) {
		return ""
	}
	return logs
}

// Copy is File for a copy of a transcript that the caller removes: nothing remembers where it
// was.
func (im *Importer) Copy(ctx context.Context, agent inject.Agent, file string) (*Imported, error) {
	out, nativeID, err := im.asked(ctx, agent, file)
	if nativeID == "" {
		return out, err
	}
	here := im.c.ws.Here.Workspace()
	at := im.c.ws.Registry.Progress(here).Of(agent.Name(), nativeID)
	if at.Transcript == "" {
		return out, err
	}
	at.Transcript = "" // a hook or the next sync finds the session's own
	return out, errors.Join(err, im.c.Drop(agent.Name(), nativeID), im.c.ws.Registry.Progress(here).Set(agent.Name(), nativeID, at))
}
