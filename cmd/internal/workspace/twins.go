package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cortext/cmd/internal/listing"
	"cortext/schema"
	"cortext/store"
)

// Seen returns a fingerprint of the conversation folders. It costs one stat per day.
func (c Conversations) Seen() string {
	sum := sha256.New()
	root := filepath.Join(c.Store.Root(), "conversations")
	days, _ := os.ReadDir(root)
	for _, d := range days {
		if info, err := d.Info(); err == nil {
			fmt.Fprintf(sum, "%s %d\n", d.Name(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Twinned returns the folders of a conversation if several have records of it, so that the
// writer merges them, or if a folder other than at has them.
func (c Conversations) Twinned(id, at string) (store.Entry, bool) {
	l, err := c.listingFor(listing.OnlyFolders)
	if err != nil {
		return store.Entry{}, false
	}
	defer l.Close()
	i, ok := l.ByID(id)
	if !ok {
		return store.Entry{}, false
	}
	r := l.Row(i)
	folders := append([]string{r.Path}, r.Twins...)
	if len(r.Twins) == 0 || r.Waiting {
		return store.Entry{}, false
	}
	others := folders
	if at == folders[0] {
		others = folders[1:]
	}
	if !slices.ContainsFunc(others, c.Store.HasRecords) {
		return store.Entry{}, false
	}
	return store.Entry{Path: folders[0], Twins: folders[1:]}, true
}

// FullTwins lists the other folders of a conversation that still have records.
func (c Conversations) FullTwins(e store.Entry) (full []string) {
	for _, name := range e.Twins {
		if c.Store.HasRecords(name) {
			full = append(full, name)
		}
	}
	return full
}

// MergeTwins moves the records of a conversation in several folders into the logs of the
// first folder, before a write that the user asked for.
func (c Conversations) MergeTwins(e store.Entry) error {
	if len(e.Twins) == 0 || c.Tree.Operation() != "" {
		return nil
	}
	first, err := c.Store.Open(e)
	if err != nil {
		return err
	}
	defer first.Close()
	if c.Tree.Away(first) != "" {
		return nil
	}
	return first.Update(func(*store.Tx, *schema.Session) error { return nil })
}
