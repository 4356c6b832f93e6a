package store

import "bytes"

// unanswered is what .session/.gitignore says until something is answered in a
// conversation that a prompt began: a commit is not to hold a session.json that tells
// nothing yet (FORMAT.md, section 2).
const unanswered = "# Written by cortext, which removes it with the first answer.\n*\n"

const unansweredFile = ".gitignore"

// HoldFromGit makes git ignore what is in .session/ of a staged conversation, until
// [Tx.ReleaseToGit].
func (c *Conversation) HoldFromGit() error {
	return explain(c.writeNew(c.file(unansweredFile), []byte(unanswered), privateFileMode))
}

// ReleaseToGit ends, with [Tx.Commit], what [Conversation.HoldFromGit] began. It leaves a
// file of a person's alone.
func (tx *Tx) ReleaseToGit() { tx.answered = true }

// HeldFromGit reports whether git ignores what is in .session/ because of
// [Conversation.HoldFromGit].
func (c *Conversation) HeldFromGit() bool {
	b, err := c.s.readRegular(c.file(unansweredFile))
	return err == nil && bytes.Equal(b, []byte(unanswered))
}

// releaseToGit removes the file, if it can be read and is ours.
func (c *Conversation) releaseToGit() error {
	if !c.HeldFromGit() {
		return nil
	}
	return c.s.root.Remove(c.file(unansweredFile))
}
