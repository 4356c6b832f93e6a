package redact

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"cortext/cmd/internal/workspace"
	"cortext/store"
	"cortext/store/secrets"
)

// The folders below .workspace/local.
const (
	keptDir        = ".workspace/local/kept"
	attachmentsDir = keptDir + "/attachments"
	cacheDir       = ".workspace/local/cache"
)

// changes are the ways to change the files of a workspace.
type changes struct {
	write  func(name string, b []byte) error
	delete func(name string) error
	stale  func(name string, b []byte) bool // also delete such cache files
	left   func(report *Report) error
}

// dry changes nothing.
var dry = changes{
	write:  func(string, []byte) error { return nil },
	delete: func(string) error { return nil },
	stale:  func(string, []byte) bool { return false },
	left:   func(*Report) error { return nil },
}

// changes returns the changes that follow the redaction of a conversation. Cache files
// about it, those that name its old folder and those that cannot be searched are deleted.
func (r *Redactor) changes(before, e store.Entry) changes {
	folders := append([]string{before.Path, e.Path}, e.Twins...)
	stale := func(name string, b []byte) bool {
		return !utf8.Valid(b) || before.Path != e.Path && bytes.Contains(b, []byte(path.Base(before.Path))) ||
			slices.ContainsFunc(folders, func(folder string) bool { return strings.Contains(name, path.Base(folder)) })
	}
	return changes{
		write:  r.ws.Store.WriteFile,
		delete: r.ws.Store.RemoveFile,
		stale:  stale,
		left:   func(report *Report) error { return r.remaining(e, report) },
	}
}

// count returns b redacted, and how many places were replaced.
func (r *Redactor) count(b []byte) ([]byte, int) {
	counts := secrets.Counts{}
	out, err := r.texts(nil).Loose(b, counts)
	if err != nil {
		return b, 0
	}
	return out, counts.Sum()
}

// has reports whether a file has the text.
func (r *Redactor) has(b []byte) bool {
	_, n := r.count(b)
	return n > 0
}

// lines returns the numbers of the lines with the text, from 1. If none has it by itself,
// because it spans several, it returns none.
func (r *Redactor) lines(b []byte) (list []int) {
	n := 0
	for line := range bytes.Lines(b) {
		if n++; r.has(line) {
			list = append(list, n)
		}
	}
	return list
}

// maxFile is the size, in bytes, of the largest file that is read here.
const maxFile = 64 << 20

// each calls f with the regular files below a folder of the workspace, by name. Those that
// cannot be read are reported.
func (r *Redactor) eachFile(dir string, report *Report, f func(name string, b []byte) error) error {
	root := r.ws.Store.Root()
	var errs []error
	_ = filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // a missing folder has no files
		}
		rel, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		b, err := r.ws.Store.ReadFile(name)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			report.Left = append(report.Left, Left{Path: name, Why: "it could not be searched: " + err.Error()})
		default:
			errs = append(errs, f(name, b))
		}
		return nil
	})
	return errors.Join(errs...)
}

// files redacts what is outside of the logs: bytes set aside, attachments, documents, the
// cache and the user's state.
func (r *Redactor) files(e store.Entry, report *Report, c changes) error {
	folders := append([]string{e.Path}, e.Twins...)
	attached, err := r.ws.Attachments.Of(e)
	if err != nil {
		return err
	}
	replace := func(name string, b []byte) error {
		out, n := r.count(b)
		if n == 0 {
			return nil
		}
		if err := c.write(name, out); err != nil {
			return err
		}
		report.add(store.Places{name: n})
		return nil
	}
	err = r.eachFile(keptDir, report, func(name string, b []byte) error {
		below := strings.TrimPrefix(name, keptDir+"/")
		switch top, _, _ := strings.Cut(below, "/"); {
		case top == "waiting" || top == "taken" || top == "backups":
			return nil // the store has redacted them
		case top == "attachments" && !attached[path.Base(name)]:
			return nil
		case strings.Contains(below, "conversations/") && !slices.ContainsFunc(folders, func(folder string) bool { return strings.Contains(below, folder) }):
			return nil // set aside from another conversation
		case top == "attachments" && !utf8.Valid(b):
			if r.has(b) {
				report.Left = append(report.Left, Left{Path: name, Why: "an attachment that is not text"})
			}
			return nil
		}
		return replace(name, b)
	})
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if err := r.documents(e, folder, report, replace); err != nil {
			return err
		}
	}
	if err := r.cache(report, c); err != nil {
		return err
	}
	r.state(e, report)
	return c.left(report)
}

// documents redacts the document of a conversation if cortext wrote it and nobody changed
// it, or if the user wants that. Otherwise it reports the lines.
func (r *Redactor) documents(e store.Entry, folder string, report *Report, replace func(string, []byte) error) error {
	return r.eachFile(folder, report, func(name string, b []byte) error {
		if strings.HasPrefix(name, folder+"/.session/") {
			return nil
		}
		text, n := r.count(b)
		if n == 0 {
			return nil
		}
		ours, _ := r.count([]byte(workspace.DocumentOf(e.Session)))
		if r.request.Documents && utf8.Valid(b) || bytes.Equal(text, ours) {
			return replace(name, b)
		}
		report.Left = append(report.Left, Left{Path: name, Lines: r.lines(b), Why: "a document of yours: --documents changes it"})
		return nil
	})
}

// cache deletes the cache files that have the text or may have it.
func (r *Redactor) cache(report *Report, c changes) error {
	return r.eachFile(cacheDir, report, func(name string, b []byte) error {
		below := strings.TrimPrefix(name, cacheDir+"/")
		if strings.HasPrefix(below, "locks/") {
			return nil
		}
		if !c.stale(name, b) && !r.has(b) && !r.has([]byte(name)) {
			return nil
		}
		if err := c.delete(name); err != nil {
			return err
		}
		report.Deleted = append(report.Deleted, name)
		return nil
	})
}

// state reports what the user's state and unfinished launches have. cortext keeps only ids
// and paths there, but a path may have the text.
func (r *Redactor) state(e store.Entry, report *Report) {
	for _, name := range r.ws.Registry.Files() {
		if b, err := os.ReadFile(name); err == nil && r.has(b) {
			report.Left = append(report.Left, Left{Path: name, Lines: r.lines(b), Why: "cortext's own state names a folder or a failure with it"})
		}
	}
	for _, launch := range r.ws.Registry.LaunchesOf(e.Session.ID) {
		for _, f := range launch.Files {
			if b, err := os.ReadFile(f.Path); err == nil && r.has(b) {
				report.Left = append(report.Left, Left{Path: f.Path, Why: "an agent was started with it: end that session"})
			}
		}
	}
}

// remaining reports what still has the text in the folders of a conversation: ids, names
// and paths, which stay, and files that are not cortext's.
func (r *Redactor) remaining(e store.Entry, report *Report) error {
	for _, folder := range append([]string{e.Path}, e.Twins...) {
		err := r.eachFile(folder+"/.session", report, func(name string, b []byte) error {
			if r.has(b) {
				report.Left = append(report.Left, Left{Path: name, Lines: r.lines(b), Why: "an id, a name or a path, which stay as they are"})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Transcripts reports the agents' own transcripts of a conversation that have the text, or
// may have it. cortext does not change them.
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
		if info.Size() <= maxFile || info.Mode().IsRegular() {
			if b, err := os.ReadFile(name); err == nil && !r.has(b) {
				return
			}
		}
		left = append(left, Left{Path: name, Why: "the agent's transcript"})
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
