package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/workspace"
	"cortext/store"
	"cortext/store/mergefile"
)

func mergeDriverCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "merge-driver BASE OURS THEIRS NAME",
		Short: "Merge a file of a conversation (called by git)",
		Long: `Merges two versions of a file of a conversation into OURS, as git's merge
driver. The result does not depend on which side is ours. If the merge fails, OURS is
unchanged. cortext init sets up the driver; without it, git keeps the lines of both sides.`,
		Example: "  git config merge.cortext.driver \"cortext merge-driver %O %A %B %P\"",
		Hidden:  true,
		Args:    args(cobra.ExactArgs(4)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return mergeFiles(cmd.Context(), a.file(list[0]), a.file(list[1]), a.file(list[2]), list[3])
		},
	}
}

// maxMerged is the size of the largest file to merge in memory, in bytes.
const maxMerged = 1 << 30

// mergeFiles merges two versions of a file into the file ours. It replaces ours atomically,
// because git merges differently if this fails.
func mergeFiles(ctx context.Context, base, ours, theirs, name string) error {
	var texts [3][]byte
	odd := false // something else than records and members is in one of them
	for i, file := range []string{base, ours, theirs} {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if info.Size() > maxMerged {
			return fmt.Errorf("%s has %d bytes: %w", name, info.Size(), mergefile.ErrUnsure)
		}
		if texts[i], err = os.ReadFile(file); err != nil {
			return err
		}
		odd = odd || len(texts[i]) > 0 && texts[i][0] != '{'
	}
	var merged []byte
	var err error
	if filter := (git.Filter{Path: name}); odd && filter.Is(ctx) {
		merged, err = mergeFiltered(ctx, filter, texts)
	} else {
		merged, err = mergefile.Merge(name, texts[0], texts[1], texts[2])
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(ours), filepath.Base(ours)+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(merged)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), ours)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(tmp.Name()))
	}
	return err
}

// mergeFiltered merges git's version of a file to which a filter applies.
func mergeFiltered(ctx context.Context, filter git.Filter, texts [3][]byte) (merged []byte, err error) {
	for i, text := range texts {
		if len(text) == 0 {
			continue
		}
		if texts[i], err = filter.Smudge(ctx, text); err != nil {
			return nil, err
		}
	}
	if merged, err = mergefile.Merge(filter.Path, texts[0], texts[1], texts[2]); err != nil {
		return nil, err
	}
	return filter.Clean(ctx, merged)
}

// mergeDriver returns the merge driver for the conversations of a workspace. It runs the
// link to cortext, which survives an installation elsewhere.
func mergeDriver(l links) (git.Driver, error) {
	program := filepath.Join(l.dir, "cortext")
	if _, err := os.Stat(program); err != nil {
		if program, err = os.Executable(); err != nil {
			return git.Driver{}, err
		}
	}
	return git.Driver{Name: "cortext", Title: "conversations of cortext", Program: program, Command: "merge-driver", Patterns: store.MergedFiles()}, nil
}

// driverSuggestion names the suggestion of the merge driver in the registry.
const driverSuggestion = "merge-driver"

// suggestDriver offers the merge driver when the first command runs in a clone.
func suggestDriver(ctx context.Context, a *app, ws *workspace.Workspace) {
	root := ws.Here.Workspace()
	d, err := mergeDriver(linksOn(a.Machine))
	if err != nil || git.CommonDir(root) == "" || d.In(root) {
		return
	}
	if _, some, err := store.MissingAttributes(root); err != nil || !some || !ws.Registry.Suggest(driverSuggestion, ws.Here.Place()) {
		return
	}
	if !a.terminal.present() {
		a.screen.warn("this clone does not use cortext as merge driver, so git keeps the lines of both sides; cortext init changes that")
		return
	}
	yes, err := a.terminal.ask(ctx, "Let cortext merge conversations in this clone, with a merge driver in .git/config?")
	if err == nil && yes {
		err = d.Set(ctx, root)
	}
	if err != nil && !errors.Is(err, errSilent) {
		a.screen.warn("the merge driver is not set up: " + err.Error())
	}
}
