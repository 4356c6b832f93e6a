package workspace

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cortext/cmd/internal/git"
	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/store"
)

// maxCheck limits how many bytes a check reads from git.
const maxCheck = 1 << 30

// Check yields all damage in the workspace: what [store.Store.Check] finds in the files,
// and what the work tree lacks from git's last commit and index. Waiting records count as
// present. What the user removed or did not check out is not damage. If a conversation was
// removed elsewhere and its folder remains here, nothing counts as missing from it. Check
// calls note for everything that it could not check.
func (w *Workspace) Check(ctx context.Context, note func(string)) iter.Seq[store.Damage] {
	return func(yieldAll func(store.Damage) bool) {
		k := checker{w, note}
		if w.Removed.Any() {
			_ = w.Removed.ReadResumed() // without it, each question below reads the same
		}
		removed, outside := sync.OnceValue(k.removedFolders), sync.OnceValue(w.Tree.LogsOutside)
		yield := func(d store.Damage) bool {
			return d.Kind == store.Missing && removed()[folderOf(d.File)] || yieldAll(d)
		}
		gone := map[string]store.Damage{} // files that git may be able to restore
		lost := map[string]bool{}         // conversations that lack messages
		for d := range w.Store.Check() {
			if d.Kind == store.Missing && outside()(d.File) {
				continue
			}
			if parts := strings.Split(d.File, "/"); d.Kind == store.Missing && len(parts) == 5 && parts[4] == "messages.jsonl" {
				lost[folderOf(d.File)] = true
			}
			if d.Kind == store.Missing && d.Line == 0 && d.Detail == "" {
				gone[d.File] = d
				continue
			}
			if !yield(d) {
				return
			}
		}
		found, ids, err := k.compareGit(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			note("git's versions were not compared: " + err.Error())
		}
		for folder, id := range ids { // if session.json is gone, git knows whose folder it is
			if gone, err := w.Removed.Conversation(id); err == nil && gone {
				removed()[folder] = true
			}
		}
		w.Tree.noteTracked(ctx, note)
		oneSided, err := w.Tree.OneSided(ctx, "")
		if err != nil {
			note(err.Error())
		}
		for _, text := range oneSided {
			note(text)
		}
		for _, d := range found {
			delete(gone, d.File)
			if !yield(d) {
				return
			}
		}
		for _, d := range k.findLost(ctx, slices.Sorted(maps.Keys(lost))) {
			if !yield(d) {
				return
			}
		}
		for _, name := range slices.Sorted(maps.Keys(gone)) {
			if !yield(gone[name]) {
				return
			}
		}
	}
}

// A checker looks for damage, and calls note for what it cannot look at.
type checker struct {
	w    *Workspace
	note func(string)
}

// removedFolders returns the folders of conversations that were removed elsewhere.
func (k checker) removedFolders() map[string]bool {
	removed, err := k.w.Removed.Leftovers()
	if err != nil {
		k.note("which conversations were removed is not known: " + err.Error())
	}
	folders := map[string]bool{}
	for _, e := range removed {
		for _, name := range e.Folders() {
			folders[name] = true
		}
	}
	return folders
}

// folderOf returns the folder of the conversation that a file belongs to, both relative
// to the workspace.
func folderOf(file string) string {
	parts := strings.Split(file, "/")
	return path.Join(parts[:min(3, len(parts))]...)
}

// findLost finds the branches that have the missing messages of some conversations.
func (k checker) findLost(ctx context.Context, paths []string) (found []store.Damage) {
	ctx, cancel := context.WithTimeout(ctx, lostTime)
	defer cancel()
	for _, name := range paths {
		c, err := k.w.Store.Conversation(name)
		if err != nil {
			continue
		}
		lost, err := k.w.Tree.FindLost(ctx, c, 0)
		_ = c.Close()
		if err == nil && len(lost.Branches) > 0 {
			found = append(found, store.Damage{File: messagesOf(name), Damage: jsonl.Damage{Kind: store.Missing,
				Detail: fmt.Sprintf("git has %d of the missing messages in %s", lost.Found, strings.Join(lost.Branches, ", "))}})
		}
	}
	return found
}

// A gitCheck compares the work tree with git.
type gitCheck struct {
	w       *Workspace
	root    *os.Root
	entries map[string]*store.Entry // by folder, including the folders of twins
	here    map[string]bool         // keys of the ids of conversations
	sparse  map[string]bool         // files that the user did not check out
	staged  map[string]string       // ids of the files in the index
	ids     map[string]string       // of folders that are not here, from git's session.json
	absent  map[string]bool         // those folders
	found   []store.Damage
	named   map[string]bool // losses in found
}

// compareGit compares the work tree with git's index and last commit. ids maps folders
// whose session.json is not in the work tree to the ids that git has for them.
func (k checker) compareGit(ctx context.Context) (found []store.Damage, ids map[string]string, err error) {
	if git.Dir(k.w.Store.Root()) == "" {
		return nil, nil, nil
	}
	root, err := os.OpenRoot(k.w.Store.Root())
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	g := gitCheck{
		w: k.w, root: root, entries: map[string]*store.Entry{}, here: map[string]bool{},
		sparse: map[string]bool{}, staged: map[string]string{}, ids: map[string]string{}, absent: map[string]bool{}, named: map[string]bool{},
	}
	all, err := k.w.Store.Outlines()
	if err != nil {
		return nil, nil, err
	}
	for i, e := range all {
		for _, name := range e.Folders() {
			g.entries[name] = &all[i]
		}
		g.here[schema.IDKey(e.Session.ID)] = true
	}
	absent := map[string]bool{} // not fetched
	fetch := ""
	sparse, err := k.w.Tree.allOutside()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range sparse {
		g.sparse[name] = true
	}
	read := func(files func(context.Context, string, string, int64, func(git.File) error) error, yield func(git.File) error) error {
		err := files(ctx, k.w.Store.Root(), conversationsDir, maxCheck, yield)
		var missing *git.NotFetchedError
		switch {
		case errors.Is(err, git.ErrUnborn):
			return nil
		case errors.As(err, &missing):
			for _, name := range missing.Paths {
				absent[name] = true
			}
			fetch = cmp.Or(fetch, missing.Command())
			return nil
		}
		return err
	}
	if err := read(git.IndexFiles, func(f git.File) error { g.staged[f.Path] = f.ID; return g.compare(f, git.Index) }); err != nil {
		return g.found, nil, err
	}
	if err := read(g.inHead, func(f git.File) error { return g.compare(f, "HEAD") }); err != nil {
		return g.found, nil, err
	}
	g.nameAbsent()
	if len(absent) > 0 {
		k.note(fmt.Sprintf("%d files in git were not compared because they are not fetched; to fetch them, run %s", len(absent), fetch))
	}
	if len(sparse) > 0 {
		k.note(fmt.Sprintf("%d files of conversations are outside of the sparse checkout: git has them", len(sparse)))
	}
	return g.found, g.ids, nil
}

// inHead calls yield for the files of the last commit that were not compared in the index.
func (g *gitCheck) inHead(ctx context.Context, root, prefix string, limit int64, yield func(git.File) error) error {
	list, err := git.InHead(ctx, root, prefix)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(f git.File) bool { return g.staged[f.Path] == f.ID })
	return git.Files(ctx, root, list, limit, yield)
}

const conversationsDir = "conversations"

// compare compares a file in the index or in HEAD with the work tree.
func (g *gitCheck) compare(f git.File, from string) error {
	where := "the last commit"
	if from == git.Index {
		where = "the index"
	}
	parts := strings.Split(f.Path, "/")
	if len(parts) < 5 || parts[3] != ".session" || g.sparse[f.Path] {
		return nil
	}
	folder, name := folderOf(f.Path), path.Base(f.Path)
	if name != "session.json" && name != "messages.jsonl" && name != "tools.jsonl" {
		return nil
	}
	if f.Path == folder+"/.session/session.json" {
		if _, err := g.root.Lstat(filepath.FromSlash(f.Path)); err != nil {
			if s, err := schema.ParseSession(f.Content); err == nil {
				g.ids[folder] = s.ID
			}
		}
	}
	e := g.entries[folder]
	if e == nil {
		if len(f.Content) > 0 { // an empty log alone is what a merge leaves of a removed conversation
			g.absent[folder] = true
		}
		return nil
	}
	if same, err := g.beginsWith(f); same || err != nil {
		return err
	}
	sub := ""
	if len(parts) == 7 && parts[4] == "subagents" {
		sub = parts[5]
	}
	if _, err := g.root.Lstat(filepath.FromSlash(f.Path)); errors.Is(err, os.ErrNotExist) && e.Path == folder && !e.Waiting {
		if len(f.Content) > 0 {
			g.missing(f.Path, 0, fmt.Sprintf("%s of git has it: %s restores it", where, git.RestoreCommand(g.w.Store.Root(), from, f.Path)))
		}
		return nil
	}
	if name == "session.json" {
		return nil // what it says may change
	}
	have, err := g.idsOf(*e, sub, name)
	if err != nil {
		return nil // the store's check says why it cannot be read; others can be compared
	}
	if n := lostIn(f.Content, have); n > 0 {
		records := "1 record that is"
		if n > 1 {
			records = fmt.Sprintf("%d records that are", n)
		}
		g.missing(f.Path, n, fmt.Sprintf("%s of git has %s missing here: %s shows the log, cortext sync --restore restores what the transcript still has",
			where, records, git.ShowCommand(g.w.Store.Root(), from, f.Path)))
	}
	return nil
}

// missing adds a loss. The last commit usually shows the same loss as the index.
func (g *gitCheck) missing(file string, records int, detail string) {
	key := fmt.Sprintf("%s %d", file, records)
	if !g.named[key] {
		g.named[key] = true
		g.found = append(g.found, store.Damage{File: file, Damage: jsonl.Damage{Kind: store.Missing, Detail: detail}})
	}
}

// beginsWith reports whether the work tree's file begins with git's content.
func (g *gitCheck) beginsWith(f git.File) (bool, error) {
	info, err := g.root.Lstat(filepath.FromSlash(f.Path))
	if err != nil || !info.Mode().IsRegular() || info.Size() < int64(len(f.Content)) {
		return false, nil
	}
	file, err := g.root.Open(filepath.FromSlash(f.Path))
	if err != nil {
		return false, nil // the store's check reports it
	}
	defer file.Close()
	r, chunk, rest := bufio.NewReader(file), make([]byte, 64<<10), f.Content
	for len(rest) > 0 {
		n, err := io.ReadFull(r, chunk[:min(len(chunk), len(rest))])
		if !bytes.Equal(chunk[:n], rest[:n]) || err != nil {
			return false, nil
		}
		rest = rest[n:]
	}
	return true, nil
}

// idsOf returns the ids in a log of a conversation or of its sub-agent, from all of its
// folders and from waiting records.
func (g *gitCheck) idsOf(e store.Entry, sub, log string) (ids map[string]bool, err error) {
	c, err := g.w.Store.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if sub != "" {
		if c, err = c.Subagent(sub); err != nil {
			return nil, err
		}
		defer c.Close()
	}
	ids = map[string]bool{}
	take := func(id string, err error) error {
		if err == nil {
			ids[id] = true
		} else if !errors.As(err, new(*store.Damage)) {
			return err
		}
		return nil
	}
	if log == "tools.jsonl" {
		for t, err := range c.Tools() {
			if err := take(t.ID, err); err != nil {
				return nil, err
			}
		}
		return ids, nil
	}
	for m, err := range c.Messages() {
		if err := take(m.ID, err); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// lostIn counts the records of a log whose ids are not in have.
func lostIn(log []byte, have map[string]bool) (n int) {
	for id := range idsIn(log) {
		if !have[id] {
			n++
		}
	}
	return n
}

// idsIn returns the ids in a log. Logs of the first Cortext have none.
func idsIn(log []byte) map[string]bool {
	ids := map[string]bool{}
	for line := range bytes.Lines(log) {
		var r struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(line, &r) == nil && r.ID != "" {
			ids[r.ID] = true
		}
	}
	return ids
}

// nameAbsent reports the conversations whose folder is gone, unless the user removed them
// or keeps them in another folder.
func (g *gitCheck) nameAbsent() {
	for _, folder := range slices.Sorted(maps.Keys(g.absent)) {
		id := g.ids[folder]
		if id != "" && g.here[schema.IDKey(id)] {
			continue
		}
		removed, err := g.w.Removed.Conversation(id)
		if removed && err == nil || g.staged[folder+"/.session/session.json"] == "" && g.staged[folder+"/.session/messages.jsonl"] == "" {
			continue // with cortext rm or git rm
		}
		g.missing(folder, 0, fmt.Sprintf("git has the conversation: %s restores it; cortext rm or git rm -r removes it for good",
			git.RestoreCommand(g.w.Store.Root(), git.Index, folder)))
	}
}
