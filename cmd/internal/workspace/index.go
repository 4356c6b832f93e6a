package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/listing"
	"cortext/store"
)

// An Index tells capture about all conversations without reading them: it asks the index
// that lists use.
type Index struct {
	store  *store.Store
	behind *atomic.Bool // see Behind
	looked *atomic.Bool // see OfSession
}

func newIndex(st *store.Store) Index { return Index{st, new(atomic.Bool), new(atomic.Bool)} }

// open returns the listing for capture.
func (x Index) open(checks listing.Checks) (*listing.Listing, error) {
	opts := listing.Options{Git: func() string { return git.State(x.store.Root()) }, Checks: checks}
	l, err := listing.Open(x.store, opts)
	if err == nil && l.Behind() {
		x.behind.Store(true)
	}
	return l, err
}

// Behind reports whether a capture found that the listing should be refreshed.
func (x Index) Behind() bool { return x.behind.Load() }

// All describes all conversations as a list does, with their sources, after a look at the
// files of each; see [listing.All].
func (x Index) All() ([]store.Entry, error) { return x.described(listing.AllFiles) }

// Written is All without a look at the files: it relies on what cortext noted and git shows.
func (x Index) Written() ([]store.Entry, error) { return x.described(listing.ForCapture) }

func (x Index) described(checks listing.Checks) ([]store.Entry, error) {
	l, err := x.open(checks)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return listing.All(l)
}

// OfSession returns the conversations that may have records of a native session; see
// [listing.OfSession]. The first call looks at the files of all conversations: nothing
// notes what another program or a killed cortext wrote, and a session that is not found in
// its conversation would begin another one.
func (x Index) OfSession(nativeID string) ([]store.Entry, error) {
	if x.looked.Swap(true) {
		return x.OfEmpty(nativeID)
	}
	return x.ofSession(nativeID, listing.AllFiles)
}

// OfEmpty is OfSession for a session without messages, which nothing can put into a second
// conversation: it relies on what cortext noted and git shows.
func (x Index) OfEmpty(nativeID string) ([]store.Entry, error) {
	return x.ofSession(nativeID, listing.ForCapture)
}

func (x Index) ofSession(nativeID string, checks listing.Checks) ([]store.Entry, error) {
	l, err := x.open(checks)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return listing.OfSession(l, nativeID)
}

// Seen returns a fingerprint of the conversation folders. It costs one stat per day.
func (x Index) Seen() string {
	sum := sha256.New()
	root := filepath.Join(x.store.Root(), "conversations")
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
func (x Index) Twinned(id, at string) (store.Entry, bool) {
	l, err := x.open(listing.OnlyFolders)
	if err != nil {
		return store.Entry{}, false
	}
	defer l.Close()
	i, ok := l.ByID(id)
	if !ok {
		return store.Entry{}, false
	}
	r := l.Row(i)
	folders := r.Folders()
	if len(r.Twins) == 0 || r.Waiting {
		return store.Entry{}, false
	}
	others := folders
	if at == folders[0] {
		others = folders[1:]
	}
	if !slices.ContainsFunc(others, x.store.HasRecords) {
		return store.Entry{}, false
	}
	return store.Entry{Path: folders[0], Twins: folders[1:]}, true
}
