package workspace

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// Attachments keeps the bytes of what users attach to messages, outside git.
type Attachments struct {
	store *store.Store
	of    []string // ids of the conversations that they belong to
}

// For returns the attachments of conversations, by id. What the user redacted in these is
// replaced in what is stored.
func (a Attachments) For(ids []string) Attachments { return Attachments{a.store, ids} }

// Keep stores the bytes of attachments. Secrets in text are replaced, as in messages.
func (a Attachments) Keep(blobs []inject.Blob) error {
	for _, b := range blobs {
		name, ok := store.AttachmentName(b.SHA256)
		if !ok {
			return fmt.Errorf("%q is not the hash of an attachment", b.SHA256)
		}
		if ok, err := a.store.Exists(name); err != nil || ok {
			if err != nil {
				return err
			}
			continue
		}
		data := b.Data
		if utf8.Valid(data) {
			text, err := a.store.Redact(string(data), a.of...)
			if err != nil {
				return err
			}
			data = []byte(text)
		}
		if err := a.store.WriteFile(name, data); err != nil {
			return err
		}
	}
	return nil
}

// Of returns the hashes of the attachments of a conversation and of its
// sub-agents. Unreadable lines are skipped.
func (a Attachments) Of(e store.Entry) (sums map[string]bool, err error) {
	conv, err := a.store.Open(e)
	if err != nil {
		return nil, err
	}
	defer conv.Close()
	sums = map[string]bool{}
	if err := attachmentsIn(conv, sums); err != nil {
		return nil, err
	}
	names, err := conv.Subagents()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		sub, err := conv.Subagent(name)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(attachmentsIn(sub, sums), sub.Close()); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// attachmentsIn adds the hashes of the attachments in the logs of a conversation.
func attachmentsIn(conv *store.Conversation, sums map[string]bool) error {
	add := func(list []schema.Attachment, err error) error {
		if errors.As(err, new(*store.Damage)) {
			return nil
		}
		for _, attached := range list {
			sums[attached.SHA256] = true
		}
		return err
	}
	for m, err := range conv.Messages() {
		if err := add(m.Attachments, err); err != nil {
			return err
		}
	}
	for t, err := range conv.Tools() {
		if err := add(t.Attachments, err); err != nil {
			return err
		}
	}
	return nil
}

// Drop deletes the attachments with these hashes, except those that a
// conversation still uses. If that cannot be determined, it deletes nothing.
func (a Attachments) Drop(sums map[string]bool) error {
	if len(sums) == 0 {
		return nil
	}
	unlisted, err := a.store.Folders().Unlisted()
	if err != nil {
		return err
	}
	if len(unlisted) > 0 {
		return &unlisted[0]
	}
	all, err := a.store.Outlines()
	if err != nil {
		return err
	}
	for _, e := range all {
		used, err := a.Of(e)
		if err != nil {
			return err
		}
		for sum := range used {
			delete(sums, sum)
		}
	}
	var errs []error
	for sum := range sums {
		if name, ok := store.AttachmentName(sum); ok {
			errs = append(errs, a.store.RemoveFile(name))
		}
	}
	return errors.Join(errs...)
}

// Read returns the content of an attachment of a conversation, by its hash. It is false if
// the attachment is neither on this machine nor in the conversation's folder.
func (a Attachments) Read(e store.Entry, sum string) (data []byte, ok bool) {
	for _, name := range a.store.AttachmentNames(e, sum) {
		if data, err := a.store.ReadFile(name); err == nil {
			return data, true
		}
	}
	return nil, false
}
