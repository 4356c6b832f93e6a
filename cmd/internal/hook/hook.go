// Package hook does what an agent's hook calls cortext for.
package hook

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/store"
)

// maxHookInput bounds what a hook reads: a prompt of 100 MB is one that no agent
// sends.
const maxHookInput = 128 << 20

// hookTime bounds a hook: less than the 30 s after which the agent would end it.
const hookTime = 25 * time.Second

// hookMemory is from when on the garbage is collected all the same, in bytes.
const hookMemory = 200 << 20

// hooksVar is the variable that keeps the hooks still, as in an agent that cortext
// itself runs to sum something up.
const hooksVar = "CORTEXT_HOOKS"

// hookNotice is how long a hook whose time is up may take to notice.
const hookNotice = 300 * time.Millisecond

// Nowhere is the home of a user without one: nothing is found there.
var Nowhere = filepath.Join(string(filepath.Separator), "nonexistent")

// A Program is one that hooks call.
type Program struct {
	Name    string // others are told that it holds a lock
	In      io.Reader
	Out     io.Writer
	Agents  []inject.Agent // one without Hook is handed over
	Machine inject.Machine
	Now     func() time.Time // time.Now
	Open    func(workspace.Env) (*flow.Workspace, error)
	Cortext func() (string, error) // the path of the program that has all commands and agents
	Small   bool                   // this is another one: what is no turn of its agents is handed over
}

// Run does what a hook is called for with the words <agent> <event>. It never fails,
// whatever it is given. It ends when its time is up or a signal comes, even if what it
// does goes on: the next hook does the rest.
func (p Program) Run(ctx context.Context, words []string) {
	if len(words) != 2 || p.Machine.Getenv(hooksVar) == "off" {
		return
	}
	name, event := words[0], words[1]
	// It ends before garbage is worth collecting: that would be a tenth of its time.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(hookMemory)
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	var opened atomic.Pointer[flow.Workspace]
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.call(ctx, &opened, name, event)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	notice := hookNotice
	if p.Small {
		notice *= 2 // who it was handed over to says so
	}
	select {
	case <-done:
	case <-time.After(notice):
		p.Failed(opened.Load(), "", event, hookEnded(ctx))
	}
}

// hookEnded says why a hook did not save everything.
func hookEnded(ctx context.Context) error {
	why := "it was ended by a signal"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = fmt.Sprintf("it took longer than %v", hookTime)
	}
	return errors.New(why + " before everything was saved: the next hook saves the rest, and so does cortext sync")
}

// call does what a hook is called for, in a workspace that it stores in opened.
func (p Program) call(ctx context.Context, opened *atomic.Pointer[flow.Workspace], name, event string) {
	var w *flow.Workspace
	defer func() {
		if v := recover(); v != nil {
			p.Failed(w, "", event, fmt.Errorf("defect: %v", v))
		}
		if w != nil {
			p.LifecycleLater(w)
			p.sumUpLater(w)
			_ = w.Close()
		}
	}()
	i := slices.IndexFunc(p.Agents, func(known inject.Agent) bool { return known.Name == name })
	if i < 0 {
		return
	}
	agent := p.Agents[i]
	input, err := io.ReadAll(io.LimitReader(p.In, maxHookInput))
	if err != nil {
		p.Failed(nil, hookDir(), event, err)
		return
	}
	if agent.Hook == nil {
		p.handOver(ctx, nil, name, event, input)
		return
	}
	e, err := agent.Hook(p.Machine, event, input)
	if err != nil {
		p.Failed(nil, hookDir(), event, err)
		return
	}
	if e.Moment == inject.Other || e.Dir == "" {
		return
	}
	w, err = p.Open(workspace.Env{
		Dir: e.Dir, Machine: p.Machine, Now: p.Now, Rand: rand.Reader,
		Holder: fmt.Sprintf("%s, pid %d", p.Name, os.Getpid()), Agents: p.Agents,
	})
	if errors.Is(err, store.ErrNoWorkspace) {
		return // cortext has no part in this project
	}
	if err != nil {
		dir := e.Dir
		if root, err := store.Find(dir); err == nil {
			dir = root
		}
		p.Failed(nil, dir, event, err)
		return
	}
	opened.Store(w)
	if p.Small && !w.OwnTurn(agent, e) {
		p.handOver(ctx, w, name, event, input)
		return
	}
	p.logWarnings(w, event)
	say, err := w.Hook(ctx, agent, e)
	if err != nil {
		if cause := ctx.Err(); cause != nil && errors.Is(err, cause) {
			err = hookEnded(ctx)
		}
		if say == "" && e.Moment == inject.Prompted {
			say = w.SayFailed(e, err)
		}
	}
	told := false
	if say != "" {
		_, writeErr := p.Out.Write(append(agent.Reply(event, say), '\n'))
		told = writeErr == nil
	}
	switch {
	case err == nil:
	case told:
		_ = p.logHook(w, event, err) // the agent tells the user now
	default:
		p.Failed(w, "", event, err)
	}
	for _, text := range w.TakeWarnings() {
		p.Failed(w, "", event, errors.New(text))
	}
}

// hookDir is the workspace that a hook was called in, of which what it was given does
// not tell; empty if that is none.
func hookDir() string {
	root, err := store.Find(".")
	if err != nil {
		return ""
	}
	return root
}
