// Package workspace holds the settings, prompts and conversations of an open workspace, and
// records what the user decides about them. It prints nothing, reads no transcripts
// (package capture does) and runs no agents (package launch does).
package workspace

import (
	"crypto/rand"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/removal"
	"cortext/cmd/internal/settings"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// Env is the environment of a workspace.
type Env struct {
	Dir     string // the user's current folder, absolute
	Machine inject.Machine
	Now     func() time.Time
	Rand    io.Reader
	Holder  string         // names this process to others that wait for its locks
	Agents  []inject.Agent // in detection order
}

// Agent returns the agent with the given name.
func (e *Env) Agent(name string) (inject.Agent, bool) {
	i := slices.IndexFunc(e.Agents, func(a inject.Agent) bool { return a.Name() == name })
	if i < 0 {
		return nil, false
	}
	return e.Agents[i], true
}

// AgentNames lists the names of the agents.
func (e *Env) AgentNames() []string {
	names := make([]string, len(e.Agents))
	for i, a := range e.Agents {
		names[i] = a.Name()
	}
	return names
}

// Entropy returns the source of randomness.
func (e *Env) Entropy() io.Reader {
	if e.Rand != nil {
		return e.Rand
	}
	return rand.Reader
}

// A Workspace is an open workspace. It belongs to one goroutine.
type Workspace struct {
	Conversations
	Config      settings.Config
	Settings    *settings.Loaded // where Config comes from
	Warnings    []string         // about the settings
	Registry    registry.Registry
	Here        *registry.Here   // among the user's workspaces
	Removed     *removal.Removed // what the user does not want saved
	Prompts     Prompts
	Events      Events
	Pending     Pending
	Notes       Notes
	Idle        Idle
	Status      Status
	Repository  Repository
	Attachments Attachments
	Env         Env

	identities identities
}

// Open opens the workspace that contains env.Dir. The error is [store.ErrNoWorkspace] if
// there is none.
func Open(env Env) (*Workspace, error) {
	root, err := store.Find(env.Dir)
	if err != nil {
		return nil, err
	}
	var w *Workspace
	var asking sync.Mutex // the store lists conversations in several goroutines
	st, err := store.Open(root, store.Options{
		Now: env.Now, Rand: env.Rand, Holder: env.Holder, Agents: env.AgentNames(),
		Identify: func(folder string, nativeIDs []string) (string, []schema.Source) {
			asking.Lock()
			defer asking.Unlock()
			return w.identities.of(folder, nativeIDs)
		},
		Redacted: registry.In(StateDir(env.Machine)).Redactions.Of,
		Limits:   func() store.Limits { return limits(&w.Config) },
	})
	if err != nil {
		return nil, err
	}
	_ = st.IgnoreLocal() // a user who cannot write can still read
	w = with(env, st)
	w.Warnings = append(w.Warnings, w.removing().interrupted()...)
	return w, nil
}

// OpenNew opens env.Dir, which is not a workspace yet, to plan the files to create in it.
func OpenNew(env Env) (*Workspace, error) {
	st, err := store.OpenFolder(env.Dir)
	if err != nil {
		return nil, err
	}
	return with(env, st), nil
}

func with(env Env, st *store.Store) *Workspace {
	w := &Workspace{Conversations: Conversations{st, &Tree{store: st}, newIndex(st)}, Env: env, Registry: registry.In(StateDir(env.Machine)), Here: registry.At(st.Root())}
	w.Idle = Idle{w}
	w.Status = Status{w.Conversations, &w.Config, &w.Events, env.Now}
	w.Repository = Repository{st, &w.Config, env.Now}
	w.identities = identities{w.Registry, w.Here, env.AgentNames()}
	w.Removed = removal.In(st, w.Registry, w.Here, env.AgentNames())
	w.ReadSettings()
	w.Pending, w.Notes, w.Attachments = Pending{st}, Notes{st}, Attachments{store: st}
	return w
}

// ReadSettings reads the settings of the workspace and the user.
func (w *Workspace) ReadSettings() {
	m := w.Env.Machine
	state := StateDir(m)
	w.Settings = settings.Load(settings.Sources{
		Workspace: settings.InWorkspace(w.Store),
		User:      settings.OfUser(m, state),
		Getenv:    m.Getenv,
		Trusts: func(name, value string) bool {
			was, err := lifecycle.RegisterIn(state).Allowed(w.Store.Root())
			return err == nil && was.Trusts(name, value)
		},
	})
	w.Config, w.Warnings = w.Settings.Config, w.Settings.Warnings
	w.Prompts = Prompts{w.Store, &w.Settings.Shared}
}

// limits returns what the settings let conversations' folders hold.
func limits(c *settings.Config) store.Limits {
	tools := map[string]store.ToolData{settings.ToolsTrimmed: store.ToolsTrimmed, settings.ToolsOff: store.ToolsOff}
	return store.Limits{Tools: tools[c.Tools], Output: c.ToolOutputKB << 10, Attachments: c.Attachments == settings.AttachmentsCommit}
}

// StateDir returns the folder for user state: $XDG_STATE_HOME, or ~/.local/state. A
// relative $XDG_STATE_HOME would be in the work tree, so it is ignored.
func StateDir(m inject.Machine) string {
	if dir := m.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Home, ".local", "state")
}

// Launches returns the notes of the launches in this workspace.
func (w *Workspace) Launches() registry.Launches {
	return w.Registry.Launches(w.Here.Workspace())
}

// Close releases the workspace.
func (w *Workspace) Close() error {
	_ = w.Tree.close() // git has answered, and a signal may have ended it
	return w.Store.Close()
}
