// Package screen lets the user find and choose a conversation on a full screen. [Run] draws a
// list that it filters while the user types, with a preview of the chosen conversation. It
// restores the terminal and returns what the user decided. It launches nothing, changes
// nothing and prints nothing but its screen.
package screen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// framesPerSecond halves the delay between key and screen, compared with the default.
const framesPerSecond = 120

// Run is a [picker.Picker].
func Run(ctx context.Context, on picker.Terminal, load picker.Loader) (picker.Choice, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if f, ok := on.In.(*os.File); ok {
		on.In = input{f, func() { cancel(errors.New("the terminal is gone")) }}
	}
	first := &starting{ready: make(chan loaded, 1)}
	var wheel flood
	program := tea.NewProgram(first, tea.WithContext(ctx), tea.WithInput(on.In), tea.WithOutput(on.Out), tea.WithEnvironment(on.Environ),
		tea.WithColorProfile(colorprofile.Env(on.Environ)), tea.WithFPS(framesPerSecond), tea.WithFilter(wheel.fold), tea.WithoutSignalHandler())
	go first.load(ctx, load, func(p progress) { program.Send(p) })
	last, err := program.Run()
	ended := context.Cause(ctx)
	cancel(nil)
	choice := first.choice
	if m, ok := last.(*model); ok {
		m.work.wait()
		choice = m.choice
	}
	switch {
	case ended != nil:
		return picker.Choice{}, ended
	case first.err != nil:
		return picker.Choice{}, first.err
	case err != nil:
		return picker.Choice{}, fmt.Errorf("the picker failed: %w", err)
	}
	return choice, nil
}

// An input is a terminal that reports when it is gone: bubbletea would continue without
// input, and a process that ignores SIGHUP, as after nohup, learns of it in no other way.
type input struct {
	*os.File
	ended func()
}

func (in input) Read(p []byte) (int, error) {
	n, err := in.File.Read(p)
	if err != nil {
		in.ended()
	}
	return n, err
}

// A work runs functions of the caller. None may outlive [Run], because the caller then
// changes the conversations.
type work struct {
	mu      sync.Mutex
	over    bool
	running sync.WaitGroup
}

// do returns a command that runs f, unless the picker has ended.
func (w *work) do(f func() tea.Msg) tea.Cmd {
	return func() tea.Msg {
		w.mu.Lock()
		if w.over {
			w.mu.Unlock()
			return nil
		}
		w.running.Add(1)
		w.mu.Unlock()
		defer w.running.Done()
		return f()
	}
}

// wait waits until no function is running.
func (w *work) wait() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.running.Wait()
}

// cloned returns a copy of a row that is valid after its listing is closed.
func cloned(r listing.Row) listing.Row {
	for _, s := range []*string{&r.ID, &r.Path, &r.Title, &r.Type, &r.Status, &r.Agent, &r.Agents, &r.Model, &r.Provider, &r.Summary, &r.Description, &r.Workspace} {
		*s = strings.Clone(*s)
	}
	for _, list := range []*[]string{&r.Tags, &r.Twins} {
		*list = slices.Clone(*list)
		for i, s := range *list {
			(*list)[i] = strings.Clone(s)
		}
	}
	return r
}
