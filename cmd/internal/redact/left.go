package redact

import (
	"errors"
	"os"
	"path"
	"slices"

	"cortext/store"
)

// maxFile is the size of the largest file that is read, in bytes.
const maxFile = 64 << 20

// state reports matches in the user's state and in unfinished launches. cortext keeps only
// ids and paths there, but a path may contain the text.
func (r *Redactor) state(result *Result) {
	for _, name := range r.ws.Registry.Files() {
		if b, err := os.ReadFile(name); err == nil && r.request.has(b) {
			result.Left = append(result.Left, Left{Path: name, Lines: r.request.lines(b), Why: "cortext's own state names a folder or a failure with it"})
		}
	}
	for _, c := range result.Conversations {
		if len(c.Files) == 0 {
			continue
		}
		for _, launch := range r.ws.Registry.LaunchesOf(c.Entry.Session.ID) {
			for _, f := range launch.Files {
				if b, err := os.ReadFile(f.Path); err == nil && r.request.has(b) {
					c.Left = append(c.Left, Left{Path: f.Path, Why: "an agent was started with it: end that session"})
				}
			}
		}
	}
}

// ownFiles are the user's files that conversations share: prompts, settings and hooks. Prompts
// go into every payload.
var ownFiles = []string{".workspace/commands", ".workspace/config.yaml", ".workspace/hooks"}

// own reports matches in the user's files that conversations share.
func (r *Redactor) own(result *Result) error {
	var errs []error
	for _, at := range ownFiles {
		errs = append(errs, r.files(dry).each(at, &result.Report, func(name string, b []byte) error {
			if r.request.has(b) {
				result.Left = append(result.Left, Left{Path: name, Lines: r.request.lines(b), Why: "a prompt, a setting or a hook: edit it"})
			}
			return nil
		}))
	}
	return errors.Join(errs...)
}

// remaining reports where the folders of a conversation still contain the text: in ids, names
// and paths, which stay, and in files that are not cortext's.
func (r *Redactor) remaining(c *Conversation) error {
	for _, folder := range c.Entry.Folders() {
		err := r.files(dry).each(folder+"/.session", &c.Report, func(name string, b []byte) error {
			named := slices.ContainsFunc(c.Left, func(l Left) bool { return l.Path == name })
			if !named && r.request.has(b) {
				why := "an id, a name or a path, which cannot be changed"
				if ext := path.Ext(name); ext != ".json" && ext != ".jsonl" {
					why = "a file that is not cortext's: edit it"
				}
				c.Left = append(c.Left, Left{Path: name, Lines: r.request.lines(b), Why: why})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Transcripts reports the agents' transcripts of a conversation that contain the text or
// may contain it. cortext does not change transcripts.
func (r *Redactor) Transcripts(e store.Entry) (left []Left) {
	seen := map[string]bool{}
	look := func(name string) {
		if name == "" || seen[name] {
			return
		}
		seen[name] = true
		info, err := os.Stat(name)
		if err != nil {
			left = append(left, Left{Path: name, Why: "the agent's transcript may have it"})
			return
		}
		if info.Size() <= maxFile && info.Mode().IsRegular() {
			if b, err := os.ReadFile(name); err == nil && !r.request.has(b) {
				return
			}
		}
		why := "the agent's transcript"
		if info.Size() > maxFile {
			why = "the agent's transcript, which is too large to search, may have it"
		}
		left = append(left, Left{Path: name, Why: why})
	}
	for _, src := range e.Session.Sources {
		agent, ok := r.ws.Env.Agent(src.Agent)
		if !ok {
			continue
		}
		name, ok, _ := agent.Locate(r.ws.Env.Machine, src.NativeID)
		if !ok {
			continue
		}
		look(name)
		subs, _ := agent.Subagents(name)
		for _, sub := range subs {
			look(sub.Path)
		}
	}
	return left
}
