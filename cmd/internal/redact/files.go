package redact

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
	"cortext/store/secrets"
)

// The folders below .workspace/local.
const (
	keptDir  = ".workspace/local/kept"
	cacheDir = ".workspace/local/cache"
)

// changes are the functions that change the files of a workspace.
type changes struct {
	write  func(name string, b []byte) error
	delete func(name string) error
	stale  func(name string, b []byte) bool // whether to delete a cache file even without the text
}

// dry changes nothing.
var dry = changes{
	write:  func(string, []byte) error { return nil },
	delete: func(string) error { return nil },
	stale:  func(string, []byte) bool { return false },
}

func writing(r *Redactor) changes {
	return changes{r.ws.Store.WriteFile, r.ws.Store.RemoveFile, dry.stale}
}

// changes returns the changes that follow the redaction of conversations. renamed has the
// old names of folders. Cache files are deleted if they mention these conversations or an
// old name, or cannot be searched.
func (r *Redactor) changes(result *Result, renamed []string) changes {
	c := writing(r)
	about := slices.Clone(renamed)
	for _, conv := range result.Conversations {
		if len(conv.Files) == 0 && !conv.Renamed {
			continue
		}
		for _, folder := range append([]string{conv.Entry.Path}, conv.Entry.Twins...) {
			about = append(about, path.Base(folder))
		}
	}
	c.stale = func(name string, b []byte) bool {
		return len(about) > 0 && !utf8.Valid(b) ||
			slices.ContainsFunc(renamed, func(old string) bool { return bytes.Contains(b, []byte(old)) }) ||
			slices.ContainsFunc(about, func(folder string) bool { return strings.Contains(path.Base(name), folder) })
	}
	return c
}

// count returns b redacted and the number of replacements.
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

// lines returns the numbers, from 1, of the lines that contain the text. It returns none if
// the text spans lines.
func (r *Redactor) lines(b []byte) (list []int) {
	n := 0
	for line := range bytes.Lines(b) {
		if n++; r.has(line) {
			list = append(list, n)
		}
	}
	return list
}

// maxFile is the size of the largest file that is read, in bytes.
const maxFile = 64 << 20

// eachFile calls f with each regular file below a folder of the workspace, in order of
// name. It reports files that cannot be read.
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
			report.Left = append(report.Left, unsearched(name, err))
		default:
			errs = append(errs, f(name, b))
		}
		return nil
	})
	return errors.Join(errs...)
}

// replace replaces the text in one file.
func (r *Redactor) replace(report *Report, c changes, name string, b []byte) error {
	out, n := r.count(b)
	if n == 0 {
		return nil
	}
	if sess, err := schema.ParseSession(out); err == nil && len(sess.NotesSet) > 0 { // a session.json that was set aside
		sess.ForgetNotes()
		if forgot, err := sess.Marshal(); err == nil {
			out = forgot
		}
	}
	if err := c.write(name, out); err != nil {
		return err
	}
	report.add(store.Places{name: n})
	return nil
}

// files redacts the attachments and documents of a conversation. It adds matches in
// attachments to found, because a transcript also contains them.
func (r *Redactor) files(c *Conversation, found *secrets.Found, changes changes) error {
	for _, sum := range slices.Sorted(maps.Keys(c.attached)) {
		if name, ok := store.AttachmentName(sum); ok {
			if err := r.attachment(c, name, found, changes); err != nil {
				return err
			}
		}
	}
	for _, folder := range append([]string{c.Entry.Path}, c.Entry.Twins...) {
		err := r.eachFile(folder+"/.session", &c.Report, func(name string, _ []byte) error {
			if path.Base(path.Dir(name)) != "attachments" {
				return nil // logs are redacted record by record
			}
			return r.attachment(c, name, found, changes) // also one that no record names any more
		})
		if err == nil {
			err = r.documents(c, folder, changes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// attachment redacts the file of an attachment, if it is there.
func (r *Redactor) attachment(c *Conversation, name string, found *secrets.Found, changes changes) error {
	b, err := r.ws.Store.ReadFile(name)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		c.Left = append(c.Left, unsearched(name, err))
	case !utf8.Valid(b):
		if r.has(b) {
			c.Left = append(c.Left, Left{Path: name, Why: "an attachment that is not text"})
		}
	default:
		_, _ = r.texts(found).Loose(b, secrets.Counts{})
		return r.replace(&c.Report, changes, name, b)
	}
	return nil
}

func unsearched(name string, err error) Left {
	return Left{Path: name, Why: "it could not be searched: " + err.Error()}
}

// documents redacts the document of a conversation if it is as cortext wrote it or the user
// asked for it. Otherwise it reports the lines.
func (r *Redactor) documents(c *Conversation, folder string, changes changes) error {
	ours, _ := r.count([]byte(workspace.DocumentOf(c.Entry.Session)))
	return r.eachFile(folder, &c.Report, func(name string, b []byte) error {
		if strings.HasPrefix(name, folder+"/.session/") {
			return nil
		}
		text, n := r.count(b)
		switch {
		case n == 0:
			return nil
		case r.request.Documents && utf8.Valid(b), bytes.Equal(text, ours):
			return r.replace(&c.Report, changes, name, b)
		}
		c.Left = append(c.Left, Left{Path: name, Lines: r.lines(b), Why: "you edited this document: --documents changes it"})
		return nil
	})
}

// shared redacts files that conversations share: bytes set aside and the cache. It reports
// matches in the user's state.
func (r *Redactor) shared(result *Result, c changes) error {
	wanted := map[string]bool{}
	for _, conv := range result.Conversations {
		for _, folder := range append([]string{conv.Entry.Path}, conv.Entry.Twins...) {
			wanted[folder] = true
		}
	}
	err := r.eachFile(keptDir, &result.Report, func(name string, b []byte) error {
		below := strings.TrimPrefix(name, keptDir+"/")
		switch top, _, _ := strings.Cut(below, "/"); top {
		case "waiting", "taken", "backups", "attachments":
			return nil // belongs to one conversation
		}
		if folder := folderIn(below); folder != "" && !wanted[folder] {
			return nil // set aside from another conversation
		}
		return r.replace(&result.Report, c, name, b)
	})
	if err == nil {
		err = r.cache(&result.Report, c)
	}
	r.state(result)
	return err
}

// folderIn returns the conversation folder that a path names, or "".
func folderIn(name string) string {
	i := strings.Index("/"+name, "/conversations/")
	if i < 0 {
		return ""
	}
	parts := strings.SplitN(name[i:], "/", 4)
	if len(parts) < 3 {
		return ""
	}
	return strings.Join(parts[:3], "/")
}

// cache deletes the cache files that have the text or may have it. They are made again when needed.
func (r *Redactor) cache(report *Report, c changes) error {
	return r.eachFile(cacheDir, report, func(name string, b []byte) error {
		if strings.HasPrefix(name, cacheDir+"/locks/") || !c.stale(name, b) && !r.has(b) && !r.has([]byte(name)) {
			return nil
		}
		if err := c.delete(name); err != nil {
			return err
		}
		report.Deleted = append(report.Deleted, name)
		return nil
	})
}

// state reports matches in the user's state and in unfinished launches. cortext keeps only
// ids and paths there, but a path may contain the text.
func (r *Redactor) state(result *Result) {
	for _, name := range r.ws.Registry.Files() {
		if b, err := os.ReadFile(name); err == nil && r.has(b) {
			result.Left = append(result.Left, Left{Path: name, Lines: r.lines(b), Why: "cortext's own state names a folder or a failure with it"})
		}
	}
	for _, c := range result.Conversations {
		if len(c.Files) == 0 {
			continue
		}
		for _, launch := range r.ws.Registry.LaunchesOf(c.Entry.Session.ID) {
			for _, f := range launch.Files {
				if b, err := os.ReadFile(f.Path); err == nil && r.has(b) {
					c.Left = append(c.Left, Left{Path: f.Path, Why: "an agent was started with it: end that session"})
				}
			}
		}
	}
}

// remaining reports where the folders of a conversation still have the text: in ids, names
// and paths, which stay, and in files that are not cortext's.
func (r *Redactor) remaining(c *Conversation) error {
	for _, folder := range append([]string{c.Entry.Path}, c.Entry.Twins...) {
		err := r.eachFile(folder+"/.session", &c.Report, func(name string, b []byte) error {
			if r.has(b) {
				c.Left = append(c.Left, Left{Path: name, Lines: r.lines(b), Why: "an id, a name or a path, which cannot be changed"})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Transcripts reports the agents' transcripts of a conversation that have the text or may
// have it. cortext does not change transcripts.
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
