package store

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"

	"cortext/schema"
)

// Edit changes what is known about the conversation: f is given session.json as
// it stands, under the lock, and what it makes of it replaces the file. A change
// that changes nothing writes nothing. Secrets in the texts are replaced. The
// previous file is kept as a backup; a broken one, from which the session was
// rebuilt, is kept for good.
//
// The counters that f sees are those of the file; Session has those of the logs.
func (c *Conversation) Edit(f func(*schema.Session) error) error {
	h, err := c.lock()
	if err != nil {
		return fmt.Errorf("edit %q: %w", c.path, err)
	}
	defer h.release()
	written, err := h.edit(f, false)
	if !written {
		h.undo()
	}
	if err != nil {
		return fmt.Errorf("edit %q: %w", c.path, err)
	}
	return nil
}

// Settle writes the counters of session.json afresh from the logs: messages,
// tokens, usage and last_active. Appending does not, since replacing a file costs
// several times what an append does.
func (c *Conversation) Settle() error { return c.Edit(c.recount) }

// makeSession writes session.json for a conversation that has none.
func (h *hold) makeSession() error {
	_, err := h.edit(h.c.recount, true)
	return err
}

// edit reads session.json, lets f change it and writes it if it changed, or if
// there is none and it is needed.
func (h *hold) edit(f func(*schema.Session) error, needed bool) (written bool, err error) {
	c := h.c
	st, err := c.load()
	if err != nil {
		return false, err
	}
	sess := st.session
	before, err := sess.Marshal()
	if err != nil {
		return false, err
	}
	if err := f(sess); err != nil {
		return false, err
	}
	after, err := sess.Marshal()
	if err != nil {
		return false, err
	}
	if bytes.Equal(before, after) && !(needed && st.raw == nil) {
		return false, nil
	}
	if err := c.s.prepareSession(sess); err != nil {
		return false, err
	}
	if older(sess.Version) {
		sess.Version = schema.Version
	}
	if after, err = sess.Marshal(); err != nil {
		return false, err
	}
	if err := c.keepPrevious(st); err != nil {
		return false, err
	}
	if err := c.s.replace(c.file(sessionFile), after, privateFileMode); err != nil {
		return false, err
	}
	c.noSession = false
	return true, nil
}

// keepPrevious keeps the session.json that is about to be replaced: a good one as
// the backup, a broken one under a name of its own.
func (c *Conversation) keepPrevious(st stored) error {
	switch {
	case st.raw == nil:
		return nil
	case len(st.damage) > 0:
		_, err := c.s.keep(fmt.Sprintf("damaged/%s/%s", c.path, sessionFile), bytes.NewReader(st.raw))
		return err
	}
	to := c.backupFile()
	if err := c.s.makeLocal(path.Dir(to)); err != nil {
		return err
	}
	return c.s.replace(to, st.raw, privateFileMode)
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
