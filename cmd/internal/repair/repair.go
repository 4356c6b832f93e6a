// Package repair mends damaged conversations with records that it finds in other places,
// and reports what it repaired and what it could not restore.
package repair

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/check"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// A Repairer repairs the conversations of one workspace.
type Repairer struct {
	ws      *workspace.Workspace
	capture *capture.Capture
	check   check.Checker
}

// New returns a Repairer for a workspace.
func New(ws *workspace.Workspace, c *capture.Capture) *Repairer {
	return &Repairer{ws, c, check.New(ws, c)}
}

// A Target is a conversation to repair.
type Target struct {
	Path   string         // the folder, relative to the workspace
	Entry  *store.Entry   // nil if the folder is not in the work tree
	Damage []store.Damage // empty if only file modes need repair
}

// A Result says what a repair did or would do.
type Result struct {
	Path  string
	ID    string
	Steps []store.RepairStep
	Lost  []store.Damage // damage for which no other place has the records
	Kept  string         // the folder with the original files; empty if nothing was changed
	Err   error          // why the repair failed
}

// Targets checks the workspace and returns the damaged conversations, sorted by folder.
func (r *Repairer) Targets(ctx context.Context, note func(string)) ([]Target, error) {
	byFolder := map[string][]store.Damage{}
	for d := range r.check.Damage(ctx, note) {
		folder := folderOf(d.File)
		byFolder[folder] = append(byFolder[folder], d)
	}
	all, err := r.ws.Store.Outlines()
	if err != nil {
		return nil, err
	}
	entries := map[string]*store.Entry{} // by folder, including the folders of twins
	for i, e := range all {
		for _, folder := range e.Folders() {
			entries[folder] = &all[i]
		}
	}
	var list []Target
	at := map[string]int{}
	for folder, damage := range byFolder {
		e := entries[folder]
		if e != nil {
			folder = e.Path
		}
		i, ok := at[folder]
		if !ok {
			i, at[folder] = len(list), len(list)
			list = append(list, Target{Path: folder, Entry: e})
		}
		list[i].Damage = append(list[i].Damage, damage...)
	}
	slices.SortFunc(list, func(a, b Target) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// folderOf returns the conversation folder that a damaged file belongs to, even if the file
// is not in that folder.
func folderOf(file string) string {
	parts := strings.Split(file, "/")
	if at := slices.Index(parts, "conversations"); at > 0 { // below .workspace/local/kept
		parts = parts[at:]
	}
	return path.Join(parts[:min(3, len(parts))]...)
}

// Plan returns what Repair would do, without changing anything.
func (r *Repairer) Plan(ctx context.Context, t Target) Result {
	return r.run(ctx, t, r.ws.Store.Repairs().Plan, r.ws.Store.Repairs().PlanFolder)
}

// Repair repairs a conversation. Undo reverts its changes.
func (r *Repairer) Repair(ctx context.Context, t Target) Result {
	return r.run(ctx, t, r.ws.Store.Repairs().Repair, r.ws.Store.Repairs().RepairFolder)
}

// run repairs a conversation or plans the repair. restore does the same for one whose folder is gone.
func (r *Repairer) run(ctx context.Context, t Target, mend func(*store.Conversation, *store.Copies) (*store.Repair, error),
	restore func(folder, from string, files map[string][]byte) (*store.Repair, error)) (out Result) {
	out.Path = t.Path
	var done *store.Repair
	if op := r.ws.Tree.Operation(); op != "" {
		out.Err = fmt.Errorf("a git %s is under way: finish or abort it, then repair the conversation", op)
		return out
	}
	if t.Entry == nil {
		done, out.Err = r.restoreFolder(ctx, t, restore)
	} else {
		out.ID = t.Entry.Session.ID
		done, out.Err = r.mend(ctx, t, mend)
	}
	if done != nil {
		out.Steps, out.Lost, out.Kept = done.Steps, done.Lost, done.Kept
	}
	return out
}

// maxRestored limits the bytes of one conversation that are read from git.
const maxRestored = 1 << 30

// restoreFolder restores a missing folder from git's index.
func (r *Repairer) restoreFolder(ctx context.Context, t Target, restore func(folder, from string, files map[string][]byte) (*store.Repair, error)) (*store.Repair, error) {
	files := map[string][]byte{}
	err := git.IndexFiles(ctx, r.ws.Store.Root(), t.Path, maxRestored, func(f git.File) error {
		files[f.Path] = f.Content
		return nil
	})
	if err != nil && (!ignorable(err) || len(files) > 0) {
		return nil, err
	}
	if len(files) == 0 || strings.Count(t.Path, "/") < 2 {
		return nil, errors.New("it is not a folder, and git has no version of it: put the folder back")
	}
	return restore(t.Path, "the index of git", files)
}

func (r *Repairer) mend(ctx context.Context, t Target, do func(*store.Conversation, *store.Copies) (*store.Repair, error)) (*store.Repair, error) {
	c, err := r.ws.Store.OpenDamaged(*t.Entry)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if r.ws.Tree.Outside(t.Path) {
		return nil, errors.New("its files are outside of the sparse checkout: git has them")
	}
	var copies *store.Copies
	if wantsRecords(t.Damage) {
		gone, err := r.ws.Removed.Conversation(t.Entry.Session.ID)
		if err != nil {
			return nil, err
		}
		if !gone {
			if copies, err = r.copies(ctx, *t.Entry, c); err != nil {
				return nil, err
			}
		}
	}
	return do(c, copies)
}

// wantsRecords reports whether the damage may have destroyed records or session.json. A
// summary can be made again.
func wantsRecords(damage []store.Damage) bool {
	return slices.ContainsFunc(damage, func(d store.Damage) bool {
		return d.Kind != store.Newer && path.Base(path.Dir(d.File)) != "summaries"
	})
}

// Remaining returns the damage that some conversations still have.
func (r *Repairer) Remaining(ctx context.Context, targets []Target) (left []store.Damage) {
	folders := map[string]bool{}
	for _, t := range targets {
		folders[t.Path] = true
		for _, d := range t.Damage {
			folders[folderOf(d.File)] = true
		}
	}
	for d := range r.check.Damage(ctx, func(string) {}) {
		if folders[folderOf(d.File)] {
			left = append(left, d)
		}
	}
	return left
}

// Unfinished returns the repairs that were killed.
func (r *Repairer) Unfinished() ([]store.PastRepair, error) {
	past, err := r.ws.Store.Repairs().Past()
	return slices.DeleteFunc(past, func(p store.PastRepair) bool { return !p.Unfinished }), err
}

// Finish completes a repair that was killed.
func (r *Repairer) Finish(p store.PastRepair) error { return r.ws.Store.Repairs().Finish(p) }

// Last returns the repairs that an undo would revert: those of the last run that repaired
// anything. With a path or an id, it is the last run that repaired that conversation.
func (r *Repairer) Last(conversation string) ([]store.PastRepair, error) {
	past, err := r.ws.Store.Repairs().Past()
	if err != nil {
		return nil, err
	}
	var last []store.PastRepair
	for _, p := range past {
		switch {
		case p.Undone, conversation != "" && p.Path != conversation && p.ID != conversation && path.Base(p.Path) != conversation:
		case len(last) == 0, p.Run == last[0].Run:
			last = append(last, p)
		}
	}
	return last, nil
}

// Undo restores the files to their state before a repair.
func (r *Repairer) Undo(p store.PastRepair) error {
	if op := r.ws.Tree.Operation(); op != "" {
		return fmt.Errorf("a git %s is under way: finish or abort it, then undo the repair", op)
	}
	return r.ws.Store.Repairs().Undo(p)
}
