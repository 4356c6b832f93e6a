// Package hook handles the calls from the agents' hooks.
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

	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/slash"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/store"
)

// maxHookInput limits what a hook reads: no agent sends a prompt of 100 MB.
const maxHookInput = 128 << 20

// hookTime limits a hook to less than the 30 s after which the agent would end it.
const hookTime = 25 * time.Second

// hookMemory is the number of bytes above which garbage is collected after all.
const hookMemory = 200 << 20

// hooksVar is the variable that silences the hooks, as in an agent that cortext itself
// runs for a summary.
const hooksVar = "CORTEXT_HOOKS"

// hookNotice is how long a hook may continue after its time is up.
const hookNotice = 300 * time.Millisecond

// Nowhere is the home of a user who has none: a folder in which nothing is ever found.
var Nowhere = filepath.Join(string(filepath.Separator), "nonexistent")

// A Program is a program that hooks call.
type Program struct {
	Name     string // names the program to others that wait for its lock
	In       io.Reader
	Out      io.Writer
	Agents   []inject.Agent // events of an agent without [inject.Hooks] are handed over
	Machine  inject.Machine
	Now      func() time.Time       // time.Now
	Endpoint compact.Endpoint       // nil if this program asks none
	Cortext  func() (string, error) // the path of the program with all commands and agents
	Small    bool                   // this is the small program: it hands over everything but its agents' turns
}

// Run handles a hook call with the words <agent> <event>. It never fails, whatever its
// input. It returns when its time is up or a signal comes, even if work is unfinished:
// the next hook does the rest.
func (p Program) Run(ctx context.Context, words []string) {
	if len(words) != 2 || p.Machine.Getenv(hooksVar) == "off" {
		return
	}
	name, event := words[0], words[1]
	// The program ends before collecting garbage is worth it: that would take a tenth of
	// its time.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(hookMemory)
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	var opened atomic.Pointer[workspace.Workspace]
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
		notice *= 2 // the program it was handed over to reports it
	}
	select {
	case <-done:
	case <-time.After(notice):
		w := opened.Load()
		p.Failed(w, "", event, hookEnded(ctx))
		if w != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			p.refreshLater(w)
		}
	}
}

// hookEnded returns an error that says why a hook did not save everything.
func hookEnded(ctx context.Context) error {
	why := "it was ended by a signal"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = fmt.Sprintf("it took longer than %v", hookTime)
	}
	return errors.New(why + " before everything was saved: the next hook saves the rest, and so does cortext sync")
}

// call handles a hook call and stores the workspace in opened.
func (p Program) call(ctx context.Context, opened *atomic.Pointer[workspace.Workspace], name, event string) {
	var w *workspace.Workspace
	var h *handler
	starts := false // a session starts
	defer func() {
		if v := recover(); v != nil {
			p.Failed(w, "", event, fmt.Errorf("defect: %v", v))
		}
		if h != nil {
			p.LifecycleLater(w)
			p.compactLater(w, h.compact.TakeDue())
			if starts {
				p.archiveLater(w)
			}
			if w.Index.Behind() {
				p.refreshLater(w)
			}
			_ = w.Close()
		}
	}()
	i := slices.IndexFunc(p.Agents, func(known inject.Agent) bool { return known.Name() == name })
	if i < 0 {
		return
	}
	input, err := io.ReadAll(io.LimitReader(p.In, maxHookInput))
	if err != nil {
		p.Failed(nil, hookDir(), event, err)
		return
	}
	agent, ok := p.Agents[i].(hooked)
	if !ok {
		p.handOver(ctx, nil, name, event, input)
		return
	}
	if event == StatusLine {
		p.statusLine(ctx, agent, input)
		return
	}
	e, err := agent.Hook(p.Machine, event, input)
	if err != nil {
		p.Failed(nil, hookDir(), event, err)
		return
	}
	if e.Type == inject.Other || e.Dir == "" {
		return
	}
	if w = p.open(e.Dir, event); w == nil {
		return
	}
	opened.Store(w)
	h = newHandler(w, p.Endpoint)
	if p.Small && !h.ownTurn(agent, e) {
		p.handOver(ctx, w, name, event, input)
		return
	}
	starts = e.Type == inject.SessionStart
	p.logWarnings(w, event)
	p.answer(ctx, h, agent, e, event)
	for _, text := range h.capture.TakeWarnings() {
		p.Failed(w, "", event, errors.New(text))
	}
}

// A hooked agent is one whose hooks this program handles.
type hooked interface {
	inject.Agent
	inject.Hooks
}

// open opens the workspace that contains dir, or returns nil. It records a failure.
func (p Program) open(dir, event string) *workspace.Workspace {
	w, err := workspace.Open(workspace.Env{
		Dir: dir, Machine: p.Machine, Now: p.Now, Rand: rand.Reader,
		Holder: fmt.Sprintf("%s, pid %d", p.Name, os.Getpid()), Agents: p.Agents,
	})
	switch {
	case err == nil:
		return w
	case errors.Is(err, store.ErrNoWorkspace):
		return nil // this project does not use cortext
	}
	if root, err := store.Find(dir); err == nil {
		dir = root
	}
	p.Failed(nil, dir, event, err)
	return nil
}

// answer handles an event and prints what the agent should add to the prompt.
func (p Program) answer(ctx context.Context, h *handler, agent hooked, e inject.Event, event string) {
	say, err := h.handle(ctx, agent, e)
	if err != nil {
		if cause := ctx.Err(); cause != nil && errors.Is(err, cause) {
			err = hookEnded(ctx)
		}
		if say == "" && e.Type == inject.PromptSubmit {
			say = slash.Failed(e, err)
		}
	}
	reported := false
	if say != "" {
		_, writeErr := p.Out.Write(append(agent.Reply(event, say), '\n'))
		reported = writeErr == nil
	}
	switch {
	case err == nil:
	case reported:
		_ = p.logHook(h.ws, event, err) // the agent informs the user now
	default:
		p.Failed(h.ws, "", event, err)
	}
}

// hookDir returns the workspace that a hook was called in if its input does not name one,
// or "" if there is none.
func hookDir() string {
	root, err := store.Find(".")
	if err != nil {
		return ""
	}
	return root
}
