package stats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"time"

	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// cacheFile holds the tallies of all conversations. It may be deleted at any time.
const cacheFile = "stats.json"

// cacheVersion changes when a tally counts something differently.
const cacheVersion = "1"

// tallies are the cached tallies of a workspace.
type tallies struct {
	Zone   string           `json:"zone"` // days are local
	ByPath map[string]tally `json:"by_path"`
	fresh  map[string]tally // tallies of the requested conversations
	read   bool             // whether a log was read
}

func readTallies(st *store.Store) *tallies {
	t := &tallies{fresh: map[string]tally{}}
	b, _ := st.ReadCache(cacheFile)
	sum, text, _ := bytes.Cut(b, []byte("\n"))
	if string(sum) != sumOf(text) || json.Unmarshal(text, t) != nil || t.Zone != zone() {
		t.ByPath = nil
	}
	t.Zone = zone()
	return t
}

func sumOf(text []byte) string {
	return fmt.Sprintf("%s %08x", cacheVersion, crc32.ChecksumIEEE(text))
}

func zone() string { return time.Local.String() }

// of returns the tally of a conversation, from the cache if its logs have not changed.
func (t *tallies) of(w *workspace.Workspace, e store.Entry) (tally, error) {
	state := stateOf(w, e)
	if have, ok := t.ByPath[e.Path]; ok && state != "" && have.State == state {
		t.fresh[e.Path] = have
		return have, nil
	}
	now, err := tallyOf(w, e)
	if err != nil {
		return now, err
	}
	t.read = true
	if now.State = state; state != "" {
		t.fresh[e.Path] = now
	}
	return now, nil
}

// write caches the requested tallies if a log was read. A failure only makes the next count
// slower.
func (t *tallies) write(st *store.Store) {
	if !t.read {
		return
	}
	t.ByPath = t.fresh
	if text, err := json.Marshal(t); err == nil {
		_ = st.WriteCache(cacheFile, fmt.Appendf(nil, "%s\n%s", sumOf(text), text))
	}
}

// stateOf describes the state of a conversation's logs without opening them, or "" if they
// are in several folders or may change without looking different.
func stateOf(w *workspace.Workspace, e store.Entry) string {
	if e.Waiting || len(e.Twins) > 0 {
		return ""
	}
	_, states, ok := w.Store.Folders().LogStates(e.Path)
	if !ok || !states[0].Known || !states[1].Known {
		return ""
	}
	return fmt.Sprint(states)
}
