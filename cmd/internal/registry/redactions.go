package registry

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cortext/schema"
	"cortext/store/secrets"
)

// The agent's transcript still has a text after the user redacts it from a conversation.
// The registry therefore records redactions by conversation, and every capture on this
// machine redacts the text again. It contains only salted hashes of the texts, and no
// expressions, because those could reveal the text.

func (r Registry) redactedFile(key string) string {
	return filepath.Join(r.dir, "redacted", schema.PathElement(key)+".json")
}

// Redacted returns the redactions of the conversation with an id. An unreadable file is an
// error, because the texts would be captured again.
func (r Registry) Redacted(id string) (list []secrets.Known, err error) {
	if !filepath.IsAbs(r.dir) {
		return nil, nil
	}
	name := r.redactedFile(schema.IDKey(id))
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // most conversations have none: a stat costs less than an open
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: repair the file, or delete it and redact again", name, err)
	}
	return list, nil
}

// Redact adds texts found in the conversation with an id to those redacted under a name,
// and returns the redaction. A new redaction uses entropy for its salt.
func (r Registry) Redact(id, name string, found *secrets.Found, entropy io.Reader) (k secrets.Known, err error) {
	err = r.locked(func() error {
		list, err := r.Redacted(id)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(k secrets.Known) bool { return k.Name == name })
		if i < 0 {
			var random [24]byte
			if _, err := io.ReadFull(entropy, random[:]); err != nil {
				return err
			}
			i, list = len(list), append(list, secrets.Known{ID: hex.EncodeToString(random[:8]), Name: name, Salt: random[8:]})
		}
		list[i].Add(found)
		k = list[i]
		b, err := json.Marshal(list)
		if err != nil {
			return err
		}
		return r.write(r.redactedFile(schema.IDKey(id)), b)
	})
	return k, err
}

// Files lists the absolute paths of the registry's files.
func (r Registry) Files() (files []string) {
	if !filepath.IsAbs(r.dir) {
		return nil
	}
	_ = filepath.WalkDir(r.dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, name)
		}
		return nil
	})
	return files
}
