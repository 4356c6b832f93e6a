// Package watch captures the agents' sessions as they grow, without hooks: it watches the
// agents' stores and runs a sync after each change.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/store"
)

// Options control a watch.
type Options struct {
	Adopt bool                              // also capture sessions that no /workspace command began
	Done  func(*capture.SyncResult, string) // called after each look that found something, with the conversations paused as idle
	Ready func()                            // called once the stores are watched and missed messages are captured
}

// patience limits how long a change waits while more changes follow, in debounce
// intervals.
const patience = 5

// lastLook limits the final look at recent changes.
const lastLook = 5 * time.Second

// Run captures changes in the agents' stores into a workspace until ctx ends, starting with
// what was missed. It keeps working if a store is deleted and recreated.
func Run(ctx context.Context, ws *workspace.Workspace, c *capture.Capture, o Options) error {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer notify.Close()
	v := &watcher{ws: ws, capture: c, opts: o, notify: notify, dirty: map[string]bool{}}
	v.addStores()
	if err := v.look(ctx, nil); err != nil {
		return v.ended(ctx, err)
	}
	if o.Ready != nil {
		o.Ready()
	}
	return v.ended(ctx, v.run(ctx))
}

// A watcher is the state of a Run.
type watcher struct {
	ws      *workspace.Workspace
	capture *capture.Capture
	opts    Options
	notify  *fsnotify.Watcher
	dirty   map[string]bool // agents whose stores changed
	unseen  error           // why a folder cannot be watched
}

func (v *watcher) run(ctx context.Context) error {
	debounce := time.Duration(v.ws.Config.DebounceMS) * time.Millisecond
	tick := time.NewTicker(time.Duration(v.ws.Config.IntervalS) * time.Second)
	defer tick.Stop()
	fire := time.NewTimer(time.Hour)
	fire.Stop()
	var since time.Time // the first change not yet handled
	for {
		select {
		case <-ctx.Done():
			v.anywhere() // recent changes may not have been reported yet
			return ctx.Err()
		case e, ok := <-v.notify.Events:
			if !ok {
				return errors.New("watching the agents' stores ended")
			}
			if !v.changed(e) {
				continue
			}
			if now := time.Now(); since.IsZero() {
				since = now
				fire.Reset(debounce)
			} else if now.Sub(since) < patience*debounce {
				fire.Reset(debounce)
			}
		case err, ok := <-v.notify.Errors:
			if !ok {
				return errors.New("watching the agents' stores ended")
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return err
			}
			fire.Reset(debounce)
			v.anywhere()
		case <-fire.C:
			since = time.Time{}
			if err := v.look(ctx, v.take()); err != nil {
				return err
			}
		case <-tick.C:
			v.addStores()
			if err := v.look(ctx, nil); err != nil {
				return err
			}
		}
	}
}

// anywhere marks all stores as possibly changed.
func (v *watcher) anywhere() {
	for _, agent := range v.ws.Env.Agents {
		v.dirty[agent.Name()] = true
	}
}

// ended captures remaining changes when ctx has ended, which is not an error.
func (v *watcher) ended(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	if len(v.dirty) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	return v.look(ctx, v.take())
}

// take returns the agents whose stores changed, and clears the list.
func (v *watcher) take() (names []string) {
	for name := range v.dirty {
		names = append(names, name)
	}
	clear(v.dirty)
	slices.Sort(names)
	return names
}

// look captures new messages and pauses idle conversations. With autosave: pause it
// captures only idle sessions, and with autosave: off nothing.
func (v *watcher) look(ctx context.Context, agents []string) error {
	out, o := &capture.SyncResult{}, capture.SyncOptions{Agents: agents, Adopt: v.opts.Adopt}
	config := v.ws.Config
	if config.Autosave == settings.AutosavePause {
		o.Until = v.ws.Env.Now().Add(-time.Duration(config.IdleMinutes) * time.Minute)
	}
	if config.Autosave != settings.AutosaveOff {
		got, err := v.capture.DiscoverAll(ctx, o)
		if got != nil {
			out = got
		}
		if ctx.Err() != nil {
			for _, name := range agents { // the look at them was cut short
				v.dirty[name] = true
			}
			return ctx.Err()
		}
		if err != nil {
			out.Errors = append(out.Errors, err)
		}
	}
	if v.unseen != nil {
		out.Errors = append(out.Errors, v.unseen)
	}
	paused, err := v.ws.Idle.Pause(ctx, "")
	if err != nil {
		out.Errors = append(out.Errors, err)
	}
	if v.opts.Done != nil {
		v.opts.Done(out, pausedTitles(paused))
	}
	return nil
}

// changed records which store an event is about; it also watches new folders.
func (v *watcher) changed(e fsnotify.Event) (ours bool) {
	for _, agent := range v.ws.Env.Agents {
		for _, s := range v.stores(agent) {
			depth := depthIn(s.Dir, e.Name)
			if depth < 0 {
				if depthIn(e.Name, s.Dir) >= 0 { // a folder above the store appeared or disappeared
					v.watch(s)
					v.dirty[agent.Name()], ours = true, true
				}
				continue
			}
			if e.Has(fsnotify.Create) {
				v.add(e.Name, s.Depth-depth)
			}
			if depth == 0 && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
				v.watch(s)
			}
			v.dirty[agent.Name()], ours = true, true
		}
	}
	return ours
}

func (v *watcher) stores(agent inject.Agent) []inject.Store {
	return agent.Stores(v.ws.Env.Machine)
}

// addStores starts watching the stores of all agents.
func (v *watcher) addStores() {
	for _, agent := range v.ws.Env.Agents {
		for _, s := range v.stores(agent) {
			v.watch(s)
		}
	}
}

// watch watches a store, or the nearest existing folder above it, where the store will
// appear.
func (v *watcher) watch(s inject.Store) {
	for dir := s.Dir; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			if dir == s.Dir {
				v.add(dir, s.Depth)
			}
			v.see(dir)
			if up := filepath.Dir(dir); dir == s.Dir {
				v.see(up) // it may be deleted and recreated
			}
			return
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// add watches a folder and depth levels below it.
func (v *watcher) add(dir string, depth int) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return
	}
	v.see(dir)
	if depth <= 0 {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, e := range entries {
		if e.IsDir() || e.Type()&fs.ModeSymlink != 0 {
			v.add(filepath.Join(dir, e.Name()), depth-1)
		}
	}
}

// see watches one folder. Folders that cannot be watched are polled.
func (v *watcher) see(dir string) {
	if err := v.notify.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) && v.unseen == nil {
		v.unseen = fmt.Errorf("%s and perhaps more folders cannot be watched, and are only checked every %d s: %w (on Linux, fs.inotify.max_user_watches limits how many can)",
			dir, v.ws.Config.IntervalS, err)
	}
}

// depthIn returns how many levels path is below top: 0 for top itself, negative if path
// is not below top.
func depthIn(top, path string) int {
	rel, err := filepath.Rel(top, path)
	if err != nil || !filepath.IsLocal(rel) {
		return -1
	}
	if rel == "." {
		return 0
	}
	n := 1
	for dir := filepath.Dir(rel); dir != "."; dir = filepath.Dir(dir) {
		n++
	}
	return n
}

// pausedTitles lists the titles of conversations for display.
func pausedTitles(list []store.Entry) string {
	var titles []string
	for _, e := range list {
		titles = append(titles, workspace.Plain(e.Session.DisplayTitle()))
	}
	return strings.Join(titles, ", ")
}
