package registry

import (
	"encoding/hex"
	"io"
	"slices"

	"cortext/schema"
	"cortext/store/secrets"
)

// Redactions are the texts that the user redacted, by conversation.
//
// The agent's transcript still has a text after the user redacts it from a conversation.
// The registry therefore records redactions by conversation, and every capture on this
// machine redacts the text again. It contains only salted hashes of the texts, and no
// expressions, because those could reveal the text.
type Redactions struct{ files files }

func (l Redactions) file(id string) string { return l.files.file("redacted", schema.IDKey(id)) }

// Of returns the redactions of the conversation with the given id. An unreadable file is an
// error, because the texts would be captured again.
func (l Redactions) Of(id string) (list []secrets.Known, err error) {
	if !l.files.known() {
		return nil, nil
	}
	err = readAny(l.file(id), &list, "repair the file, or delete it and redact again")
	return list, err
}

// Add records texts found in the conversation with the given id as redacted under a name,
// and returns the redaction. It uses entropy for the id and the salt. Only the same texts
// are the same redaction, as when it is repeated: a merge of two branches or work trees
// relies on it to tell which texts are redacted in which line.
func (l Redactions) Add(id, name string, found *secrets.Found, entropy io.Reader) (k secrets.Known, err error) {
	err = l.files.locked(func() error {
		list, err := l.Of(id)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(k secrets.Known) bool { return k.Name == name && k.Is(found) })
		if i < 0 {
			var random [24]byte
			if _, err := io.ReadFull(entropy, random[:]); err != nil {
				return err
			}
			i, list = len(list), append(list, secrets.Known{ID: hex.EncodeToString(random[:8]), Name: name, Salt: random[8:]})
		}
		list[i].Add(found)
		k = list[i]
		return l.files.write(l.file(id), list)
	})
	return k, err
}
