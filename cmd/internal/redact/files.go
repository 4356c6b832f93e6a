package redact

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
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

// writing changes the files of a store.
func writing(st *store.Store) changes {
	return changes{st.WriteFile, st.RemoveFile, dry.stale}
}

// following returns the changes that follow the redaction of conversations. renamed has the
// old names of folders. Cache files are deleted if they mention these conversations or an
// old name, or cannot be searched.
func following(st *store.Store, result *Result, renamed []string) changes {
	c := writing(st)
	about := slices.Clone(renamed)
	for _, conv := range result.Conversations {
		if len(conv.Files) == 0 && !conv.Renamed {
			continue
		}
		for _, folder := range conv.Entry.Folders() {
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

// A files redacts the files of a workspace other than logs and session.json.
type files struct {
	store   *store.Store
	request *Request
	changes changes
}

// each calls do with each regular file below a folder of the workspace, in order of name.
// It reports files that cannot be read.
func (f files) each(dir string, report *Report, do func(name string, b []byte) error) error {
	root := f.store.Root()
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
		b, err := f.store.ReadFile(name)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			report.Left = append(report.Left, unsearched(name, err))
		default:
			errs = append(errs, do(name, b))
		}
		return nil
	})
	return errors.Join(errs...)
}

// replace replaces the text in one file.
func (f files) replace(report *Report, name string, b []byte) error {
	out, n := f.request.count(b)
	if n == 0 {
		return nil
	}
	if sess, err := schema.ParseSession(out); err == nil && len(sess.NotesSet) > 0 { // a session.json that was set aside
		sess.ForgetNotes()
		if forgot, err := sess.Marshal(); err == nil {
			out = forgot
		}
	}
	if err := f.changes.write(name, out); err != nil {
		return err
	}
	report.add(store.Places{name: n})
	return nil
}

// conversation redacts the attachments and documents of a conversation. It adds matches in
// attachments to found, because a transcript also contains them.
func (f files) conversation(c *Conversation, found *secrets.Found) error {
	for _, sum := range slices.Sorted(maps.Keys(c.attached)) {
		if name, ok := store.AttachmentName(sum); ok {
			if err := f.attachment(c, name, found); err != nil {
				return err
			}
		}
	}
	for _, folder := range c.Entry.Folders() {
		err := f.each(folder+"/.session", &c.Report, func(name string, _ []byte) error {
			if path.Base(path.Dir(name)) != "attachments" {
				return nil // logs are redacted record by record
			}
			return f.attachment(c, name, found) // even one that no record names any more
		})
		if err == nil {
			err = f.documents(c, folder)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// attachment redacts the file of an attachment, if it is there.
func (f files) attachment(c *Conversation, name string, found *secrets.Found) error {
	b, err := f.store.ReadFile(name)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		c.Left = append(c.Left, unsearched(name, err))
	case !utf8.Valid(b):
		if f.request.has(b) {
			c.Left = append(c.Left, Left{Path: name, Why: "an attachment that is not text"})
		}
	default:
		_, _ = f.request.texts(found).Loose(b, secrets.Counts{})
		return f.replace(&c.Report, name, b)
	}
	return nil
}

func unsearched(name string, err error) Left {
	return Left{Path: name, Why: "it could not be searched: " + err.Error()}
}

// documents redacts the document of a conversation if it is as cortext wrote it, with whatever
// title the conversation had then, or the user asked for it. Otherwise it reports the lines.
func (f files) documents(c *Conversation, folder string) error {
	return f.each(folder, &c.Report, func(name string, b []byte) error {
		if strings.HasPrefix(name, folder+"/.session/") {
			return nil
		}
		text, n := f.request.count(b)
		switch {
		case n == 0:
			return nil
		case f.request.Documents && utf8.Valid(b), f.unedited(c.Entry.Session, text):
			return f.replace(&c.Report, name, b)
		}
		c.Left = append(c.Left, Left{Path: name, Lines: f.request.lines(b), Why: "you edited this document: --documents changes it"})
		return nil
	})
}

// unedited reports whether a document, redacted, differs from the one that cortext writes for
// the conversation at most in the title, which may have been changed since.
func (f files) unedited(s *schema.Session, redacted []byte) bool {
	was := *s
	title, _, _ := strings.Cut(string(redacted), "\n")
	was.Title = strings.TrimPrefix(title, "# ")
	ours, _ := f.request.count([]byte(workspace.DocumentOf(&was)))
	return bytes.Equal(redacted, ours)
}

// shared redacts files that conversations share: bytes set aside and the cache.
func (f files) shared(result *Result) error {
	wanted := map[string]bool{}
	for _, conv := range result.Conversations {
		for _, folder := range conv.Entry.Folders() {
			wanted[folder] = true
		}
	}
	err := f.each(keptDir, &result.Report, func(name string, b []byte) error {
		below := strings.TrimPrefix(name, keptDir+"/")
		switch top, _, _ := strings.Cut(below, "/"); top {
		case "waiting", "taken", "backups", "attachments":
			return nil // belongs to one conversation
		}
		if folder := folderIn(below); folder != "" && !wanted[folder] {
			return nil // set aside from another conversation
		}
		return f.replace(&result.Report, name, b)
	})
	if err != nil {
		return err
	}
	return f.cache(&result.Report)
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

// cache deletes the cache files that contain the text or may contain it. They are rebuilt when needed.
func (f files) cache(report *Report) error {
	return f.each(cacheDir, report, func(name string, b []byte) error {
		if strings.HasPrefix(name, cacheDir+"/locks/") || !f.changes.stale(name, b) && !f.request.has(b) && !f.request.has([]byte(name)) {
			return nil
		}
		if err := f.changes.delete(name); err != nil {
			return err
		}
		report.Deleted = append(report.Deleted, name)
		return nil
	})
}
