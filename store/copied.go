package store

import (
	"errors"
	"fmt"

	"cortext/schema"
	"cortext/schema/tokens"
	"cortext/store/secrets"
)

// AppendCopies collects records that were read from another log of the conversation, such
// as those of an export: lines in the order of the file, with their revs and token counts,
// including several with the same id. They are written as they are, except that secrets
// are redacted and the tokens of what changed are counted again. It is only for a staged
// conversation: records are not compared with stored ones.
func (tx *Tx) AppendCopies(b schema.Batch) error {
	if !tx.c.staged() {
		return fmt.Errorf("append to %q: %w", tx.c.path, errors.New("copies of a whole log belong only into a new conversation"))
	}
	known, err := tx.knows()
	if err != nil {
		return err
	}
	redact := tx.c.s.policy.redactor(tx.result.counts()).knowing(known)
	for _, was := range b.Tools {
		t, err := redact.copyOfTool(was)
		if err != nil {
			return fmt.Errorf("append to %q: %w", tx.c.path, err)
		}
		if string(t.Input) != string(was.Input) || t.Output != was.Output {
			t.Tokens = countTool(&t)
		}
		tx.pending.addTool(t)
		tx.pending.tools[len(tx.pending.tools)-1].copied = true
	}
	for _, was := range b.Messages {
		m, err := redact.copyOfMessage(was)
		if err != nil {
			return fmt.Errorf("append to %q: %w", tx.c.path, err)
		}
		if m.Content != was.Content {
			m.Tokens = tokens.Count(m.Content)
		}
		tx.pending.addMessage(m)
		tx.pending.messages[len(tx.pending.messages)-1].copied = true
	}
	return nil
}

// RedactCopies returns records of a conversation as they would be stored now: redacted by
// today's rules and by what the user redacted there. counts says what was replaced.
func (p policy) RedactCopies(b schema.Batch, sess *schema.Session) (redacted schema.Batch, counts secrets.Counts, err error) {
	known, err := p.knownOf(sess.ID)
	if err != nil {
		return b, nil, err
	}
	counts = secrets.Counts{}
	redact := p.redactor(counts).knowing(known)
	for _, m := range b.Messages {
		if m, err = redact.copyOfMessage(m); err != nil {
			return b, counts, err
		}
		redacted.Messages = append(redacted.Messages, m)
	}
	for _, t := range b.Tools {
		if t, err = redact.copyOfTool(t); err != nil {
			return b, counts, err
		}
		redacted.Tools = append(redacted.Tools, t)
	}
	return redacted, counts, redact.session(sess)
}
