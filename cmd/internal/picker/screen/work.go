package screen

import (
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"cortext/cmd/internal/listing"
)

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
