package store

import (
	"fmt"
	"path"
)

// Rename renames the conversation's folder as if it had been created with other words;
// see [Store.Stage]. The error is [ErrExist] if that name is taken. A process waiting for
// the conversation's lock meanwhile finds no folder under the old name.
func (c *Conversation) Rename(words string) error {
	tx, err := c.Begin()
	if err == nil {
		err = c.renameIn(tx, words)
		tx.Rollback()
	}
	if err != nil {
		return fmt.Errorf("rename %q: %w", c.path, explain(err))
	}
	return nil
}

func (c *Conversation) renameIn(tx *Tx, words string) error {
	words, err := c.s.redactor.Text(words, nil)
	if err != nil {
		return err
	}
	sess, _, err := tx.Session()
	if err != nil {
		return err
	}
	to := path.Dir(c.path) + "/" + path.Base(FolderName(sess, sess.ConversationType, words))
	unlock, err := c.s.lockWorkspace()
	if err != nil {
		return err
	}
	defer unlock()
	if free, err := c.s.missing(to); err != nil || !free {
		if err == nil {
			err = ErrExist
		}
		return err
	}
	if err := c.s.files.RenameIn(c.s.root, c.path, to); err != nil {
		return err
	}
	_ = c.drop() // the logs are reopened under their new names
	_ = c.s.root.Remove(c.backupFile())
	old := c.file(sessionFile)
	c.path, c.dir = to, to+"/"+sessionDir
	c.s.sessions.move(old, c.file(sessionFile))
	return c.s.syncNames(path.Dir(to))
}
