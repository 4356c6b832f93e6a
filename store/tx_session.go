package store

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"cortext/schema"
)

// writeSession replaces session.json if it changed, if there is none and records
// need one, or if a merge left it in need of repair.
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
	// What was not written before, or is not published yet, is as at its creation.
	if tx.stored.raw != nil && !strings.HasPrefix(c.base, stageDir+"/") {
		sess.Stamp(before, c.s.opts.Now())
	}
	if older(sess.Version) {
		sess.Version = schema.Version
	}
	sess.Repair = nil
	if after, err = sess.Marshal(); err != nil {
		return false, err
	}
	if err := c.keepPrevious(tx.stored); err != nil {
		return false, err
	}
	c.s.sessions.forget(c.file(sessionFile))
	return true, c.s.replace(c.file(sessionFile), after, privateFileMode)
}

// describe takes into a session that was made of nothing what the first records say.
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

// keepPrevious keeps the session.json that is about to be replaced: a good one as
// the backup, a broken one under a name of its own.
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

// older reports whether a version is of an earlier minor than the one written
// here. A later one stays, since its fields are kept.
func older(version string) bool {
	minor := func(v string) int {
		_, after, _ := strings.Cut(v, ".")
		n, _ := strconv.Atoi(after)
		return n
	}
	return minor(version) < minor(schema.Version)
}
