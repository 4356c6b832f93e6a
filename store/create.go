package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"cortext/schema"
)

// createTries bounds how many numbers are tried if others make folders without
// our lock.
const createTries = 100

// Create makes conversations/<day>/<number>-<typ>-<slug>/ with its .session/,
// where number is one more than the highest of the day. slugOf is the text that
// the slug is made of, usually the title. doc becomes <typ>.md, which people
// read; nil makes none. What is missing in sess is filled in: its ids, version,
// type, status and times. Secrets in the texts are replaced.
//
// If that day holds a conversation with the id of sess already, it is returned
// with [ErrExist]: another process that captures the same native session was
// faster. Nothing is left behind by a failure.
func (s *Store) Create(day, typ, slugOf string, sess *schema.Session, doc []byte) (*Conversation, error) {
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return nil, fmt.Errorf("create conversation: day %q is not of the form 2025-11-22", day)
	}
	if Slug(typ) != typ {
		return nil, fmt.Errorf("create conversation: type %q may hold only a-z, 0-9 and single hyphens: try %q", typ, Slug(typ))
	}
	slugOf, err := s.redactor.Text(slugOf, nil)
	if err != nil {
		return nil, fmt.Errorf("create conversation: %w", err)
	}
	text, err := s.redactor.Text(string(doc), nil)
	if err != nil {
		return nil, fmt.Errorf("create conversation: %w", err)
	}
	if err := s.prepareSession(sess); err != nil {
		return nil, fmt.Errorf("create conversation: %w", err)
	}
	hadID := sess.ID != ""
	if err := s.fillIn(sess, typ); err != nil {
		return nil, fmt.Errorf("create conversation: %w", err)
	}
	unlock, err := s.lockWorkspace()
	if err != nil {
		return nil, fmt.Errorf("create conversation: %w", explain(err))
	}
	defer unlock()
	dir := conversationsDir + "/" + day
	if hadID {
		if c := s.withID(dir, sess.ID); c != nil {
			return c, fmt.Errorf("create conversation: id %s: %w", sess.ID, ErrExist)
		}
	}
	name, made, err := s.makeNumbered(dir, "-"+typ+"-"+Slug(slugOf))
	c := &Conversation{s: s, path: name, dir: name + "/" + sessionDir}
	if err == nil {
		sess.ConversationID = path.Base(name)
		if doc != nil {
			made = append(made, name+"/"+typ+".md")
			err = s.replace(name+"/"+typ+".md", []byte(text), fileMode(name))
		}
	}
	if err == nil {
		made, err = c.create(sess, made)
	}
	if err != nil {
		for _, name := range slices.Backward(made) {
			_ = s.root.Remove(name) // a folder only if it is empty
		}
		return nil, fmt.Errorf("create conversation: %w", explain(err))
	}
	c.made = made
	return c, nil
}

// withID returns the conversation below dir with an id, nil if there is none. The
// ids of folders that were looked at before are remembered: an import makes
// thousands in a day.
func (s *Store) withID(dir, id string) *Conversation {
	entries, err := s.readDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		name := dir + "/" + e.Name()
		c := &Conversation{s: s, path: name, dir: name + "/" + sessionDir}
		if have, ok := s.ids.Load(name); ok && have != id {
			continue
		}
		raw, err := s.readRegular(c.file(sessionFile))
		if err != nil {
			continue
		}
		sess, err := schema.ParseSession(raw)
		if err != nil {
			continue
		}
		if sess.ID == id {
			return c
		}
		s.ids.Store(name, sess.ID)
	}
	return nil
}

// Remove takes back a conversation that this very value was made for by
// [Store.Create], with what was put into it since: for one whose first capture
// failed. Another is not removed.
func (c *Conversation) Remove() error {
	if c.made == nil {
		return fmt.Errorf("remove %q: it was there before: delete its folder yourself if you mean to", c.path)
	}
	h, err := c.lock()
	if err != nil {
		return fmt.Errorf("remove %q: %w", c.path, err)
	}
	defer h.release()
	if err := c.removeAll(c.made); err != nil {
		return err
	}
	above := path.Dir(c.made[0])
	c.made = nil
	return c.s.files.SyncDir(c.s.root, above)
}

// Delete removes the conversation with its folder, its document and all else that
// lies in it.
func (c *Conversation) Delete() error {
	h, err := c.lock()
	if err != nil {
		return fmt.Errorf("remove %q: %w", c.path, err)
	}
	defer h.release()
	if err := c.removeAll([]string{path.Dir(c.path)}); err != nil {
		return err
	}
	return c.s.files.SyncDir(c.s.root, conversationsDir)
}

// removeAll removes the folder, and those above that are empty then.
func (c *Conversation) removeAll(above []string) error {
	if err := c.s.root.RemoveAll(c.path); err != nil {
		return fmt.Errorf("remove %q: %w", c.path, explain(err))
	}
	for _, name := range slices.Backward(above) {
		_ = c.s.root.Remove(name)
	}
	return c.drop()
}

// fillIn completes a new session.
func (s *Store) fillIn(sess *schema.Session, typ string) error {
	now := s.opts.Now()
	sess.Version = schema.Version
	if sess.ID == "" {
		var entropy [10]byte
		if _, err := io.ReadFull(s.opts.Rand, entropy[:]); err != nil {
			return fmt.Errorf("make an id: %w", err)
		}
		sess.ID = schema.NewID(now, entropy)
	}
	if sess.ConversationType == "" {
		sess.ConversationType = typ
	}
	if sess.Status == "" {
		sess.Status = schema.Active
	}
	if sess.CreatedAt == "" {
		sess.CreatedAt = schema.NewTime(now)
	}
	if sess.LastActive == "" {
		sess.LastActive = sess.CreatedAt
	}
	return nil
}

// makeNumbered makes a folder below dir whose name is the next number and rest.
// made lists the folders that it made, from the top.
func (s *Store) makeNumbered(dir, rest string) (name string, made []string, err error) {
	made, err = s.makeDirs(dir)
	if err != nil {
		return "", made, err
	}
	entries, err := s.readDir(dir)
	if err != nil {
		return "", made, err
	}
	highest := 0
	for _, e := range entries {
		n, _, _ := folderName(e.Name())
		highest = max(highest, n)
	}
	for n := highest + 1; n <= highest+createTries; n++ {
		name = fmt.Sprintf("%s/%03d%s", dir, n, rest)
		err = s.root.Mkdir(name, dirMode(name))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", made, err
		}
		return name, append(made, name), s.files.SyncDir(s.root, dir)
	}
	return "", made, fmt.Errorf("a number for %q: %w", dir+"/"+rest, ErrExist)
}

// create makes the .session/ of a new conversation and appends to made what it
// made: the logs first, so that they are there once session.json is.
func (c *Conversation) create(sess *schema.Session, made []string) ([]string, error) {
	dirs, err := c.s.makeDirs(c.dir)
	made = append(made, dirs...)
	if err != nil {
		return made, err
	}
	for _, name := range []string{toolsFile, messagesFile} {
		l, _, err := c.openLog(name)
		if err != nil {
			return made, err
		}
		made = append(made, c.file(name))
		if err := l.Close(); err != nil {
			return made, err
		}
	}
	b, err := sess.Marshal()
	if err != nil {
		return made, err
	}
	return append(made, c.file(sessionFile)), c.s.replace(c.file(sessionFile), b, privateFileMode)
}
