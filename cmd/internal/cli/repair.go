package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/fork"
	"cortext/cmd/internal/repair"
	"cortext/store"
)

type repairOptions struct{ dryRun, undo bool }

func repairCommand(a *app) *cobra.Command {
	var o repairOptions
	cmd := &cobra.Command{
		Use:   "repair [<id>...]",
		Short: "Repair damaged conversations",
		Long: `Repairs conversations in which cortext check finds damage; without an id, all of them.
It keeps every whole record, and restores missing ones from .workspace/local, the agents'
transcripts and git: its index, branches, stashes and reflog. It fetches nothing. It
rebuilds a session.json that is missing or broken. It does not bring back removed
conversations. It also adds missing links from conversations to their forks.

Before a repair changes a file, it copies it to .workspace/local/kept/repairs. --undo
restores the files of the last repair, unless they have changed since. repair exits with
1 if it cannot restore everything.`,
		Example: "  cortext repair --dry-run",
		Args:    args(cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			if o.undo && o.dryRun {
				return &usageError{"--undo and --dry-run cannot be combined", "run " + cmd.CommandPath() + " --help"}
			}
			r := repairing{a: a, w: w, Repairer: repair.New(w.Workspace, w.capture), opts: o}
			if o.undo {
				return r.undo(list)
			}
			return r.run(cmd.Context(), list)
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be done; changes nothing")
	f.BoolVar(&o.undo, "undo", false, "restore the files from before the last repair")
	f.BoolVar(&a.screen.asJSON, "json", false, "print the result as JSON")
	return cmd
}

// A repairing is one run of the command.
type repairing struct {
	a *app
	w *opened
	*repair.Repairer
	opts repairOptions
}

// A repairedFile is an entry of files in repair --json.
type repairedFile struct {
	File  string         `json:"file"`
	Done  string         `json:"done"`
	Lines []repairedLine `json:"lines"`
}

type repairedLine struct {
	Line   int    `json:"line"`
	Byte   int64  `json:"byte"`
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	Done   string `json:"done"`
}

// A repaired is an entry of repairs in repair --json.
type repaired struct {
	ID    string         `json:"id"`
	Path  string         `json:"path"`
	Files []repairedFile `json:"files"`
	Kept  string         `json:"kept"` // the folder with the original files
	Error string         `json:"error"`
}

func (r repairing) run(ctx context.Context, queries []string) error {
	on := r.a.screen
	if err := r.finish(); err != nil {
		return err
	}
	damaged, err := r.Targets(ctx, func(text string) { on.warn(text) })
	if err != nil {
		return err
	}
	targets, err := r.pick(queries, damaged)
	if err != nil {
		return err
	}
	results, lost, errs := r.each(ctx, targets)
	for range repairPasses {
		if r.opts.dryRun || len(targets) == 0 {
			break
		}
		if lost = r.Remaining(ctx, targets); len(lost) == 0 || !changed(results) {
			break
		}
		more, err := r.Targets(ctx, func(string) {}) // damage that the first check could not reach
		if err != nil {
			return err
		}
		again, _, moreErrs := r.each(ctx, among(more, targets))
		if !changed(again) {
			break
		}
		results, errs = append(results, again...), append(errs, moreErrs...)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	links, err := r.link(queries, targets)
	if err != nil {
		errs = append(errs, err)
	}
	if r.a.screen.asJSON {
		errs = append(errs, r.printJSON(results, lost, links))
	} else {
		r.printEnd(results, lost, links)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(lost) > 0 {
		return errSilent
	}
	return nil
}

// A repairedLink is an entry of links in repair --json.
type repairedLink struct {
	ID   string `json:"id"`
	Path string `json:"path"`
	Fork string `json:"fork"` // the id that the conversation names now
}

// link adds missing links from conversations to their forks, or reports which it would add.
// It covers all conversations or, if there are queries, the targets.
func (r repairing) link(queries []string, targets []repair.Target) (links []repairedLink, err error) {
	links = []repairedLink{}
	if r.w.Tree.Operation() != "" {
		return links, nil // git is changing the files
	}
	all, err := r.w.Store.Outlines()
	if err != nil {
		return links, err
	}
	var errs []error
	for _, u := range fork.FindUnlinked(all) {
		if len(queries) > 0 && !slices.ContainsFunc(targets, func(t repair.Target) bool { return t.Path == u.Old.Path || t.Path == u.Fork.Path }) {
			continue
		}
		if !r.opts.dryRun {
			if err := fork.Link(r.w.Workspace, u.Old, u.Fork.Session.ID); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		links = append(links, repairedLink{u.Old.Session.ID, u.Old.Path, u.Fork.Session.ID})
		if !r.a.screen.asJSON {
			would := "names"
			if r.opts.dryRun {
				would = "would name"
			}
			fmt.Fprintf(r.a.screen.out, "%s: %s its fork %s\n", visible(u.Old.Path), would, visible(u.Fork.Path))
		}
	}
	return links, errors.Join(errs...)
}

// repairPasses limits how often one run repairs a conversation. A folder restored from git,
// for example, may lack records that a transcript has.
const repairPasses = 3

// each repairs conversations or plans their repair.
func (r repairing) each(ctx context.Context, targets []repair.Target) (results []repair.Result, lost []store.Damage, errs []error) {
	do := r.Repair
	if r.opts.dryRun {
		do = r.Plan
	}
	for i, t := range targets {
		if ctx.Err() != nil {
			break
		}
		if len(targets) > progressFrom {
			r.a.screen.progress("%d of %d conversations", i, len(targets))
		}
		got := do(ctx, t)
		r.a.screen.clearLine()
		if got.Err != nil {
			got.Err = fmt.Errorf("%s: %w", got.Path, got.Err)
			errs = append(errs, got.Err)
		}
		lost = append(lost, got.Lost...)
		results = append(results, got)
		if !r.a.screen.asJSON {
			r.print(got)
		}
	}
	return results, lost, errs
}

// changed reports whether any of the repairs changed something.
func changed(results []repair.Result) bool {
	return slices.ContainsFunc(results, func(got repair.Result) bool { return got.Err == nil && len(got.Steps) > 0 })
}

// among returns the targets in list that others also has.
func among(list, others []repair.Target) []repair.Target {
	return slices.DeleteFunc(list, func(t repair.Target) bool {
		return !slices.ContainsFunc(others, func(o repair.Target) bool { return o.Path == t.Path })
	})
}

// finish finishes the repairs that were killed.
func (r repairing) finish() error {
	unfinished, err := r.Unfinished()
	if err != nil {
		return err
	}
	for _, p := range unfinished {
		if r.opts.dryRun {
			r.a.screen.warn(fmt.Sprintf("a repair of %s was interrupted: it would be finished first", p.Path))
			continue
		}
		if err := r.Finish(p); err != nil {
			r.a.screen.warn(fmt.Sprintf("a repair of %s was interrupted and cannot be finished: %v", p.Path, err))
			continue
		}
		r.a.screen.warn(fmt.Sprintf("finished an interrupted repair of %s", p.Path))
	}
	return nil
}

// pick returns the damaged conversations that the arguments name, or all of them without
// arguments.
func (r repairing) pick(queries []string, damaged []repair.Target) ([]repair.Target, error) {
	if len(queries) == 0 {
		return damaged, nil
	}
	var targets []repair.Target
	add := func(t repair.Target) {
		if !slices.ContainsFunc(targets, func(have repair.Target) bool { return have.Path == t.Path }) {
			targets = append(targets, t)
		}
	}
queries:
	for _, query := range queries {
		for _, t := range damaged { // a conversation without a folder is not in any list
			if t.Entry == nil && (t.Path == query || path.Base(t.Path) == query) {
				add(t)
				continue queries
			}
		}
		entries, err := pickMany(r.w, []string{query})
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			found := repair.Target{Path: e.Path, Entry: &e}
			if i := slices.IndexFunc(damaged, func(t repair.Target) bool { return t.Path == e.Path }); i >= 0 {
				found = damaged[i]
			}
			add(found)
		}
	}
	return targets, nil
}

// print prints what a repair did to each file and line.
func (r repairing) print(got repair.Result) {
	on := r.a.screen
	for _, s := range got.Steps {
		fmt.Fprintf(on.out, "%s: %s\n", visible(s.File), visible(s.Done))
		for _, l := range s.Lines {
			fmt.Fprintf(on.out, "%s: %s\n", visible(s.File), visible(l.String()))
		}
	}
}

// printEnd prints the remaining damage and what to do about it.
func (r repairing) printEnd(results []repair.Result, lost []store.Damage, links []repairedLink) {
	on := r.a.screen
	for _, d := range lost {
		fmt.Fprintf(on.out, "still damaged: %s\n", visible(d.Error()))
	}
	repaired, failed := map[string]bool{}, 0
	for _, got := range results {
		if got.Err != nil {
			failed++
		} else if len(got.Steps) > 0 {
			repaired[got.Path] = true
		}
	}
	done := len(repaired)
	switch {
	case done > 0 && r.opts.dryRun:
		fmt.Fprintf(on.out, "%s would be repaired\n", count(done, "conversation"))
	case done > 0:
		fmt.Fprintf(on.out, "%s repaired; the original files are in .workspace/local/kept/repairs: cortext repair --undo restores them\n", count(done, "conversation"))
	case failed == 0 && len(lost) == 0 && len(links) == 0:
		fmt.Fprintln(on.out, "no damage: nothing to repair")
	}
	newer := slices.ContainsFunc(lost, func(d store.Damage) bool { return d.Kind == store.Newer })
	if newer {
		on.hint("a later cortext wrote some of these files: update cortext")
	} else if len(lost) > 0 {
		on.hint("no backup, transcript or commit on this machine has what is still missing; a clone may have it: fetch its branches and run cortext repair again, or run cortext stop ID to count the messages again")
	}
}

func (r repairing) printJSON(results []repair.Result, lost []store.Damage, links []repairedLink) error {
	list, left := []repaired{}, []foundDamage{}
	for _, got := range results {
		v := repaired{ID: got.ID, Path: got.Path, Files: []repairedFile{}, Kept: got.Kept}
		if got.Err != nil {
			v.Error = got.Err.Error()
		}
		for _, s := range got.Steps {
			f := repairedFile{File: s.File, Done: s.Done, Lines: []repairedLine{}}
			for _, l := range s.Lines {
				f.Lines = append(f.Lines, repairedLine{l.Line, l.Offset, string(l.Kind), l.Detail, l.Done})
			}
			v.Files = append(v.Files, f)
		}
		list = append(list, v)
	}
	for _, d := range lost {
		left = append(left, foundDamageOf(d))
	}
	return r.a.screen.json(map[string]any{"repairs": list, "links": links, "damage": left, "dry_run": r.opts.dryRun})
}

// An undone is an entry of undone in repair --undo --json.
type undone struct {
	ID    string   `json:"id"`
	Path  string   `json:"path"`
	Files []string `json:"files"`
}

// undo undoes the last run of the command, or the last repairs of the given conversations.
func (r repairing) undo(queries []string) error {
	var past []store.PastRepair
	for _, query := range queries {
		found, err := r.Last(query)
		if err == nil && len(found) == 0 {
			var entries []store.Entry
			if entries, err = pickMany(r.w, []string{query}); err == nil {
				found, err = r.Last(entries[0].Path)
			}
		}
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("%q has no repair to undo", query)
		}
		past = append(past, found...)
	}
	if len(queries) == 0 {
		var err error
		if past, err = r.Last(""); err != nil {
			return err
		}
		if len(past) == 0 {
			return errors.New("there is no repair to undo")
		}
	}
	list := []undone{}
	var errs []error
	for _, p := range past {
		if err := r.Undo(p); err != nil {
			errs = append(errs, fmt.Errorf("could not undo the repair of %s: %w", p.Path, err))
			continue
		}
		list = append(list, undone{p.ID, p.Path, p.Files})
		if r.a.screen.asJSON {
			continue
		}
		for _, file := range p.Files {
			fmt.Fprintf(r.a.screen.out, "%s: as before the repair of %s\n", visible(file), p.At.Time().Local().Format("2006-01-02 15:04:05"))
		}
	}
	if r.a.screen.asJSON {
		errs = append(errs, r.a.screen.json(map[string]any{"undone": list}))
	}
	return errors.Join(errs...)
}
