package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"cortext/schema"
)

// writeSession replaces session.json if it changed, if there is none and records need
// one, or if a merge left it in need of repair.
func (tx *Tx) writeSession() (written bool, err error) {
	c := tx.c
	sess := tx.stored.session
	needed := tx.stored.raw == nil && !tx.stored.blocked && c.messages.Size() > 0
	if needed {
		if err := tx.describe(); err != nil {
			return false, err
		}
		if err := c.recount(sess, []string{c.dir}); err != nil {
			return false, err
		}
	}
	after, err := sess.Marshal()
	if err != nil {
		return false, err
	}
	if bytes.Equal(tx.before, after) && !needed && !tx.stored.mend {
		return false, nil
	}
	if err := c.s.prepareSession(sess); err != nil {
		return false, err
	}
	before, err := schema.ParseSession(tx.before)
	if err != nil {
		return false, err
	}
	// A session.json that was never written, or is not published yet, stays as created.
	if tx.stored.raw != nil && !c.staged() {
		sess.Stamp(before, c.s.opts.Now())
	}
	if older(sess.Version) {
		sess.Version = schema.Version
	}
	sess.Repair = nil
	if err := tx.mergeChanged(); err != nil {
		return false, err
	}
	if after, err = tx.stored.session.Marshal(); err != nil {
		return false, err
	}
	if err := c.keepPrevious(tx.stored); err != nil {
		return false, err
	}
	return true, c.replaceSession(after)
}

// replaceSession replaces session.json and caches it for the readers of this command.
func (c *Conversation) replaceSession(raw []byte) error {
	name := c.file(sessionFile)
	c.s.sessions.forget(name)
	tmp := c.dir // nobody looks there before it is published
	if !c.staged() {
		tmp = tmpDir
		if err := c.s.makeLocal(tmp); err != nil {
			return err
		}
	}
	info, err := c.files().Replace(c.s.root, name, raw, privateFileMode, tmp)
	if err != nil {
		return explain(err)
	}
	c.s.sessions.keep(name, info, raw)
	return nil
}

// mergeChanged merges changes that git, or a person with an editor, made to session.json
// since it was read.
func (tx *Tx) mergeChanged() error {
	c := tx.c
	info, err := c.s.root.Lstat(c.file(sessionFile))
	if errors.Is(err, fs.ErrNotExist) || err == nil && sameState(info, tx.stored.info) {
		return nil
	}
	if err != nil {
		return err
	}
	now, err := c.s.readStored(c.dir)
	if err != nil {
		return err
	}
	mine := tx.stored.session
	tx.stored = now
	tx.stored.session = mine
	if now.session != nil {
		tx.stored.session, err = schema.MergeSessions(mine, now.session)
	}
	return err
}

// sameState reports whether two looks at a file saw the same content, as far as they
// show.
func sameState(a, b fs.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// describe completes a session that was made from nothing with what the first records
// say.
func (tx *Tx) describe() error {
	sess := tx.stored.session
	if !tx.stored.rebuilt || sess.Description != "" {
		return nil
	}
	fresh, err := tx.c.rebuild()
	if err != nil {
		return err
	}
	before, err := schema.ParseSession(tx.before)
	if err != nil {
		return err
	}
	sess.Description = fresh.Description
	if sess.AgentConfig.Model == "" {
		sess.AgentConfig.Model = fresh.AgentConfig.Model
	}
	if sess.ID == before.ID && sess.CreatedAt == before.CreatedAt {
		sess.ID, sess.CreatedAt = fresh.ID, fresh.CreatedAt
	}
	tx.c.complete(sess)
	return nil
}

// keepPrevious keeps the session.json that is about to be replaced: a good one as the
// backup, a broken one under a name of its own.
func (c *Conversation) keepPrevious(st stored) error {
	switch {
	case st.raw == nil || c.base != "":
		return nil
	case len(st.damage) > 0:
		_, err := c.s.keep(fmt.Sprintf("damaged/%s/%s", c.path, sessionFile), bytes.NewReader(st.raw))
		return err
	}
	return c.backUp(st.raw)
}

// older reports whether a version has an earlier minor number than the one written here.
// A later number stays, since its fields are kept.
func older(version string) bool {
	minor := func(v string) int {
		_, after, _ := strings.Cut(v, ".")
		n, _ := strconv.Atoi(after)
		return n
	}
	return minor(version) < minor(schema.Version)
}
