// Package install makes a folder a workspace, and puts the agents' slash commands and hooks
// into it.
package install

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/schema/prompt"
	"cortext/store"
)

// Init makes dir a workspace and returns the files that it created or changed. It leaves
// existing files as they are. commit and capture set the settings of these names; empty:
// the default.
func Init(dir, commit, capture string) (created []string, err error) {
	st, created, err := store.Init(dir)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	files := map[string]string{settings.WorkspaceFile: settings.Text(cmp.Or(commit, settings.CommitOff), cmp.Or(capture, settings.CaptureCommands))}
	for _, typ := range prompt.Types() {
		text, _ := prompt.BuiltIn(typ)
		files[workspace.CommandFile(typ)] = text
	}
	for _, name := range initFiles() {
		if ok, err := st.Exists(name); err != nil || ok {
			if err != nil {
				return created, err
			}
			continue
		}
		if err := st.WriteFile(name, []byte(files[name])); err != nil {
			return created, err
		}
		created = append(created, name)
	}
	return created, nil
}

// Missing lists the files that Init would create in dir or add lines to.
func Missing(dir string) (names []string, err error) {
	for _, name := range initFiles() {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			names = append(names, name)
		} else if err != nil {
			return nil, err
		}
	}
	lines, _, err := store.MissingAttributes(dir)
	if len(lines) > 0 {
		names = append(names, store.AttributesFile)
	}
	return names, err
}

// initFiles lists the files of a new workspace, in order.
func initFiles() []string {
	names := []string{settings.WorkspaceFile}
	for _, typ := range prompt.Types() {
		names = append(names, workspace.CommandFile(typ))
	}
	return names
}
