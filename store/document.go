package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"cortext/schema"
)

// A document is the session.json of a conversation while its lock is held. It is read
// once and replaced at most once. The previous version is kept, and what git or a person
// changed meanwhile is merged.
type document struct {
	c *Conversation
	stored
	knows    func() (*known, error)
	texts    recordRedactor // what the user is redacting
	before   []byte         // the session as read, in our spelling; nil before it is read
	recorded []byte         // what a lost session.json is known to have said, in our spelling; nil: nothing

	counted int64 // its counted_bytes
}

// load reads session.json, or rebuilds it.
func (d *document) load() error {
	if d.before != nil {
		return nil
	}
	st, err := d.c.load()
	if says := standIn(bytes.NewReader(st.raw), int64(len(st.raw))); says != "" {
		return &StandInError{d.c.file(sessionFile), says}
	}
	if err == nil {
		d.before, err = st.session.Marshal()
	}
	if err == nil {
		d.stored, d.counted = st, st.session.CountedBytes
	}
	return err
}

// write replaces session.json if it changed, if there is none and records need one, or if
// a merge left it in need of repair.
func (d *document) write() (written bool, err error) {
	c := d.c
	needed := d.raw == nil && !d.blocked && c.messages.Size() > 0
	if needed {
		if err := d.describe(); err != nil {
			return false, err
		}
		summarized := d.session.CountedBytes > 0 || d.session.ContextSummary == ""
		if err := (counter{&c.Reader}).recount(d.session, c.sessionFolder); err != nil {
			return false, err
		}
		if !summarized {
			d.session.CountedBytes = 0 // its summary does not cover all messages
		}
	}
	after, err := d.session.Marshal()
	if err != nil {
		return false, err
	}
	if bytes.Equal(d.before, after) && !needed && !d.mend {
		return false, nil
	}
	known, err := d.knows()
	if err != nil {
		return false, err
	}
	redact := c.s.policy.redactor(nil).knowing(known)
	if err := redact.session(d.session); err != nil {
		return false, err
	}
	before := d.before
	if d.recorded != nil {
		before = d.recorded // what it said was not set now
	}
	was, err := schema.ParseSession(before)
	if err != nil {
		return false, err
	}
	// A session.json that was never written, or is not published yet, stays as created. But
	// in a waiting one, only stamps show what was set there.
	if (d.raw != nil || c.base != "") && !c.staged() {
		d.session.Stamp(was, c.s.opts.Now())
	}
	if err := errors.Join(redact.forget(d.session), d.texts.forget(d.session)); err != nil {
		return false, err
	}
	if known != nil || d.texts.redactor != nil {
		d.session.ForgetNotes()
	}
	d.session.Upgrade()
	d.session.Repair = nil
	if err := d.mergeChanged(); err != nil {
		return false, err
	}
	if after, err = d.session.Marshal(); err != nil {
		return false, err
	}
	if err := d.keepPrevious(after); err != nil {
		return false, err
	}
	return true, d.replace(after)
}

// replace replaces session.json and caches it for the readers of this command.
func (d *document) replace(raw []byte) error {
	c := d.c
	name := c.file(sessionFile)
	c.s.sessions.forget(name)
	tmp := c.dir // nobody looks there before it is published
	if !c.staged() {
		tmp = tmpDir
		if err := c.s.makeLocal(tmp); err != nil {
			return err
		}
	}
	info, err := c.calls().Replace(c.s.root, name, raw, privateFileMode, tmp)
	if err != nil {
		return explain(err)
	}
	c.s.sessions.keep(name, info, raw)
	return nil
}

// mergeChanged merges changes that git, or a person with an editor, made to session.json
// since it was read.
func (d *document) mergeChanged() error {
	info, err := d.c.s.root.Lstat(d.c.file(sessionFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && sameState(info, d.info) {
		return nil
	}
	if err != nil {
		return err
	}
	now, err := d.c.read()
	if err != nil {
		return err
	}
	mine := d.session
	if d.stored = now; now.session == nil {
		d.session = mine
		return nil
	}
	d.session, err = schema.MergeSessions(mine, now.session)
	return err
}

// sameState reports whether two looks at a file saw the same content, as far as they
// show.
func sameState(a, b fs.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// describe completes a session that was created without a file, using the first records.
func (d *document) describe() error {
	if !d.rebuilt || d.session.Description != "" {
		return nil
	}
	fresh, err := rebuild(&d.c.Reader)
	if err != nil {
		return err
	}
	before, err := schema.ParseSession(d.before)
	if err != nil {
		return err
	}
	d.session.Description = fresh.Description
	if d.session.AgentConfig.Model == "" {
		d.session.AgentConfig.Model = fresh.AgentConfig.Model
	}
	if d.session.ID == before.ID && d.session.CreatedAt == before.CreatedAt {
		d.session.ID, d.session.CreatedAt = fresh.ID, fresh.CreatedAt
	}
	complete(d.session, d.c.path)
	return nil
}

// keepPrevious keeps the session.json that is about to be replaced: an intact one as the
// backup, a broken one under a name of its own. A crash midway leaves no backup, but
// session.json is still whole then. If a merge left redacted text next to the text that it
// replaces, the backup is the new session.json instead.
func (d *document) keepPrevious(after []byte) error {
	c, previous := d.c, d.raw
	if d.mend && bytes.Contains(previous, redactedMark) {
		previous = after
	}
	switch {
	case d.raw == nil || c.base != "":
		return nil
	case len(d.damage) > 0:
		_, err := keeper{c.s.Files}.copy(fmt.Sprintf("damaged/%s/%s", c.path, sessionFile), bytes.NewReader(d.raw))
		return err
	}
	to := backupFile(c.path)
	if err := c.s.makeLocal(path.Dir(to)); err != nil {
		return err
	}
	if err := c.s.root.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return c.writeNew(to, previous, privateFileMode)
}
