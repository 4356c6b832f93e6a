package store

import "bytes"

// unanswered is the content of .session/.gitignore from the prompt that starts a
// conversation until its first answer, so that no commit has a session.json without
// content (FORMAT.md, section 2).
const unanswered = "# Written by cortext, which removes it with the first answer.\n*\n"

const unansweredFile = ".gitignore"

// HoldFromGit makes git ignore the files in .session/ of a staged conversation until
// [Tx.ReleaseToGit].
func (c *Conversation) HoldFromGit() error {
	return explain(c.writeNew(c.file(unansweredFile), []byte(unanswered), privateFileMode))
}

// ReleaseToGit undoes [Conversation.HoldFromGit] at [Tx.Commit]. It leaves a person's own
// file alone.
func (tx *Tx) ReleaseToGit() { tx.answered = true }

// HeldFromGit reports whether git ignores the files in .session/ because of
// [Conversation.HoldFromGit].
func (c *Conversation) HeldFromGit() bool {
	b, err := c.s.readRegular(c.file(unansweredFile))
	return err == nil && bytes.Equal(b, []byte(unanswered))
}

// releaseToGit removes the file if it is readable and ours.
func (c *Conversation) releaseToGit() error {
	if !c.HeldFromGit() {
		return nil
	}
	return c.s.root.Remove(c.file(unansweredFile))
}
