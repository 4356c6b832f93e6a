package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema/prompt"
	"cortext/store"
	"cortext/store/atomicfile"
)

// An Installer installs the agents' commands and hooks in one workspace.
type Installer struct{ ws *workspace.Workspace }

// New returns an Installer for a workspace.
func New(ws *workspace.Workspace) Installer { return Installer{ws} }

// IsNew reports whether dir is not a workspace yet.
func IsNew(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(settings.WorkspaceFile)))
	return errors.Is(err, fs.ErrNotExist)
}

// Open opens dir as a workspace, even if it is not one yet, to plan what would be put
// into it.
func Open(env workspace.Env, dir string) (*workspace.Workspace, error) {
	if IsNew(dir) {
		return workspace.OpenNew(env, dir)
	}
	return workspace.Open(env)
}

// Options choose among the files of an agent.
type Options struct {
	Plugin bool // for opencode: the plugin that captures each turn
	User   bool // also change the settings in the user's home
}

// Plan returns the files that an agent's slash commands and hooks need in the
// workspace, each with the action to take. It changes nothing.
func (i Installer) Plan(name string, options Options) ([]inject.Change, error) {
	var installer inject.Installer
	var known []string
	for _, a := range i.ws.Env.Agents {
		if can, ok := a.(inject.Installer); ok {
			known = append(known, a.Name())
			if a.Name() == name {
				installer = can
			}
		}
	}
	if installer == nil {
		return nil, &capture.AgentError{Agent: name, Known: known}
	}
	var types []inject.Type
	for _, typ := range i.ws.Prompts.Types() {
		text, _ := prompt.BuiltIn(typ)
		b, err := i.ws.Store.ReadFile(workspace.CommandFile(typ))
		switch {
		case err == nil:
			text = string(b)
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		types = append(types, inject.Type{Name: typ, Source: i.ws.Prompts.Fill(text)})
	}
	o := inject.InstallOptions{Types: types, AfterTool: bool(i.ws.Config.AfterTool), Plugin: options.Plugin, User: options.User}
	changes, err := installer.Install(o, func(path string) (string, bool, error) {
		if at, ok := strings.CutPrefix(path, homePrefix); ok {
			return readHome(filepath.Join(i.ws.Env.Machine.Home, filepath.FromSlash(at)))
		}
		b, err := i.ws.Store.ReadFile(path)
		if errors.Is(err, store.ErrNotFound) {
			return "", false, nil
		}
		return string(b), err == nil, err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if strings.HasPrefix(c.Path, homePrefix) {
			continue
		}
		for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
			info, err := os.Lstat(filepath.Join(i.ws.Store.Root(), filepath.FromSlash(dir)))
			if err == nil && !info.IsDir() {
				return nil, fmt.Errorf("%s is not a folder but a %s: cortext writes into folders of the workspace only", dir, info.Mode().Type())
			}
		}
	}
	return changes, nil
}

// Apply writes the files that Plan returned.
func (i Installer) Apply(changes []inject.Change) error {
	for _, c := range changes {
		switch c.Action {
		case inject.Same, inject.Keep:
			continue
		case inject.Remove:
			if err := i.ws.Store.RemoveFile(c.Path); err != nil {
				return err
			}
			continue
		}
		if at, ok := strings.CutPrefix(c.Path, homePrefix); ok {
			if err := atomicfile.WriteLinked(filepath.Join(i.ws.Env.Machine.Home, filepath.FromSlash(at)), []byte(c.Text)); err != nil {
				return err
			}
			continue
		}
		if !strings.HasPrefix(c.Path, ".") {
			return fmt.Errorf("%q is not a file of an agent's settings", c.Path)
		}
		if err := i.ws.Store.WriteFile(c.Path, []byte(c.Text)); err != nil {
			return err
		}
	}
	return nil
}

// homePrefix prefixes the path of a file in the user's home.
const homePrefix = "~/"

func readHome(file string) (text string, ok bool, err error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(b), err == nil, err
}
