package cli

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

func cloneCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "clone <url> [<dir>]",
		Short: "Clone a repository and set up its conversations",
		Long: `Clones a repository with your own git, and makes cortext the merge driver of the clone,
as cortext init does. Nothing in the work tree changes.`,
		Example: "  cortext clone git@example.com:team/app.git",
		Args:    args(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return runClone(cmd, a, list)
		},
	}
}

func runClone(cmd *cobra.Command, a *app, list []string) error {
	ctx := cmd.Context()
	url := strings.TrimSuffix(strings.TrimRight(filepath.ToSlash(list[0]), "/"), "/.git")
	name := strings.TrimSuffix(path.Base(url), ".git")
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	if len(list) > 1 {
		name = list[1]
	}
	dir, err := filepath.Abs(a.file(name))
	if err != nil {
		return err
	}
	from, err := filepath.Abs(a.file("."))
	if err != nil {
		return err
	}
	if err := git.Clone(ctx, from, list[0], dir); err != nil {
		return err
	}
	fmt.Fprintf(a.screen.out, "cloned into %s\n", visible(dir))
	root, err := store.Find(dir)
	if errors.Is(err, store.ErrNoWorkspace) || err == nil && root != dir {
		a.screen.hint("it has no workspace at its top: cortext init makes one")
		return nil
	}
	if err != nil {
		return err
	}
	if err := linksOn(a.Machine).make(); err != nil {
		a.screen.warn("the hooks find cortext on the PATH only: " + err.Error())
	}
	d, err := mergeDriver(linksOn(a.Machine))
	if err == nil {
		err = d.Set(ctx, dir)
	}
	if err != nil {
		return fmt.Errorf("git's merge driver is not set up: %w", err)
	}
	fmt.Fprintln(a.screen.out, "set merge.cortext in this clone's git configuration")
	w, err := workspace.Open(a.env(cmd, dir))
	if err != nil {
		return err
	}
	if w.Config.Commit == settings.CommitRef {
		a.screen.hint("its conversations are in no branch: cortext pull brings them")
	}
	return w.Close()
}
