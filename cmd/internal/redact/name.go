package redact

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
	"cortext/schema"
	"cortext/store"
	"cortext/store/secrets"
)

// A folder's name has words of the first prompt, so it may contain the text. The folder is
// renamed if git does not know it or the user asked for it: a clone that still adds to the
// old folder could get a conflict.

// rename removes the texts found from the name of a conversation's folder.
func (r *Redactor) rename(ctx context.Context, c *Conversation, found *secrets.Found) error {
	e := c.Entry
	if old := r.oldPath(e, found); old != "" {
		return r.renamed(ctx, c, old)
	}
	words, has := r.request.named(e.Path, found)
	if !has || e.Waiting {
		return nil
	}
	if known, err := r.ws.Repository.Knows(ctx, e.Path); !r.request.Rename && (known || err != nil && !errors.Is(err, git.ErrNoRepository)) {
		c.Left = append(c.Left, Left{Path: e.Path, Why: "the name of the folder, which git knows: --rename changes it"})
		return nil
	}
	conv, err := r.ws.Store.Open(e)
	if err != nil {
		return err
	}
	if err := errors.Join(conv.Rename(words), conv.Close()); err != nil {
		return err
	}
	c.Entry.Path = conv.Path()
	for i := range c.Files {
		c.Files[i].Path = strings.ReplaceAll(c.Files[i].Path, e.Path, c.Entry.Path)
	}
	return r.renamed(ctx, c, e.Path)
}

// twins reports the other folders of a conversation that have the texts found in their names.
// [Redactor.Apply] moves their messages, but they may hold documents.
func (r *Redactor) twins(c *Conversation, found *secrets.Found) {
	for _, folder := range c.Entry.Twins {
		if _, has := r.request.named(folder, found); has {
			c.Left = append(c.Left, Left{Path: folder, Why: "the name of another folder of the conversation, without messages once they are redacted: move its documents, then delete it"})
		}
	}
}

// oldPath returns the old path of a conversation that an earlier redaction renamed only in part: its
// folder has a new name, but what records the name still has the text to redact, since the command
// failed or was killed.
func (r *Redactor) oldPath(e store.Entry, found *secrets.Found) string {
	old := path.Dir(e.Path) + "/" + e.Session.ConversationID
	_, now := r.request.named(e.Path, found)
	_, was := r.request.named(old, found)
	if now || !was || e.Session.ConversationID == "" {
		return ""
	}
	if _, err := os.Lstat(filepath.Join(r.ws.Store.Root(), filepath.FromSlash(old))); err == nil {
		return "" // another folder of the conversation
	}
	return old
}

// renamed replaces the old path of a conversation whose folder was renamed, wherever cortext
// recorded it. session.json comes last: until then, [Redactor.oldPath] finds the conversation.
func (r *Redactor) renamed(ctx context.Context, c *Conversation, old string) error {
	e := c.Entry
	c.Renamed, c.was = true, old
	if err := r.ws.Repository.Forget(ctx, e, old); err != nil {
		return err
	}
	for _, src := range e.Session.Sources { // the registry also names the folder
		err := r.ws.Registry.Sessions.Update(src.Agent, src.NativeID, func(s *registry.Session) {
			for _, b := range s.Bindings {
				for i := range b.Segments {
					if b.Segments[i].Path == old {
						b.Segments[i].Path = e.Path
					}
				}
			}
		})
		if err != nil {
			return err
		}
	}
	if err := moveKept(r.ws.Store, old, e.Path); err != nil {
		return err
	}
	return r.writeName(e)
}

// writeName writes the new name of a conversation's folder to its session.json.
func (r *Redactor) writeName(e store.Entry) error {
	c, err := r.ws.Store.Conversation(e.Path)
	if err != nil {
		return err
	}
	err = c.Edit(func(s *schema.Session) error { s.ConversationID = path.Base(e.Path); return nil })
	return errors.Join(err, c.Close(), r.ws.Store.RemoveFile(keptDir+"/backups/"+e.Path+".json")) // the backup has the old name
}

// moveKept moves what was set aside from a conversation to its new name.
func moveKept(st *store.Store, old, now string) error {
	kept := filepath.Join(st.Root(), filepath.FromSlash(keptDir))
	var errs []error
	for _, top := range []string{"torn", "damaged", "taken", "backups"} {
		for _, end := range []string{"", ".json"} {
			from, to := filepath.Join(kept, top, filepath.FromSlash(old)+end), filepath.Join(kept, top, filepath.FromSlash(now)+end)
			if _, err := os.Lstat(from); err == nil {
				errs = append(errs, os.Rename(from, to))
			}
		}
	}
	return errors.Join(errs...)
}
