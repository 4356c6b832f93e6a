package flow

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"cortext/resume/digest"
	"cortext/schema"
	"cortext/store"
)

// A keptState is what the cache has of the state of a conversation: that of all
// turns but the last, which may still grow. It may be deleted at any time.
type keptState struct {
	Last  string       `json:"last"` // id of the last message that is in it
	Logs  store.Mark   `json:"logs"` // what stands before it in the logs was looked at
	State digest.State `json:"state"`
}

func stateName(c *store.Conversation) string {
	return "state/" + schema.PathElement(c.Path()) + ".json"
}

// stateTokens is how much of the end of a conversation a state is made of that was
// not kept: one that was captured turn by turn is kept from its beginning on.
const stateTokens = 1_600_000

// stateOf returns the state of a conversation: what the cache has of it, extended
// by what is new. keep puts that into the cache, which only who writes may do; a
// failure costs the next reader time only.
func (w *Workspace) stateOf(c *store.Conversation, keep bool) (*digest.State, error) {
	var kept keptState
	b, ok := w.Store.ReadCache(stateName(c))
	if !ok || json.Unmarshal(b, &kept) != nil || kept.State.Version != digest.StateVersion || kept.Last == "" {
		kept = keptState{}
	}
	logs := w.markLogs(c) // before they are read: what is appended meanwhile is looked at the next time
	h, _, err := c.History(store.Limit{After: kept.Last, Tokens: stateTokens})
	if err != nil {
		return nil, err
	}
	// Another branch, or more than that; or what is in the state is told anew.
	if kept.Last != "" && (len(h.Messages) > 0 && h.Messages[0].ParentID != kept.Last || w.retold(c, kept.Logs, h)) {
		kept = keptState{}
		if h, _, err = c.History(store.Limit{Tokens: stateTokens}); err != nil {
			return nil, err
		}
	}
	if kept.Last == "" {
		kept.State.Messages = h.Earlier
	}
	h.Messages = brief(h.Messages)
	done, rest := h, h
	turn := lastTurn(h.Messages)
	done.Messages, rest.Messages = h.Messages[:turn], h.Messages[turn:]
	kept.State.Add(done)
	if keep && (turn > 0 || kept.Last != "" && kept.Logs != logs) {
		if turn > 0 {
			kept.Last = done.Messages[turn-1].ID
		}
		kept.Logs = logs
		if b, err = json.Marshal(kept); err != nil {
			return nil, fmt.Errorf("the state of %q: %w", c.Path(), err)
		}
		_ = w.Store.WriteCache(stateName(c), b)
	}
	kept.State.Add(rest)
	return &kept.State, nil
}

// lastTurn is the index of the message that the last turn begins with.
func lastTurn(messages []schema.Message) int {
	for i := len(messages) - 1; i > 0; i-- {
		if messages[i].Role == schema.User {
			return i
		}
	}
	return 0
}

// The logs of a conversation, as schema/FORMAT.md names them.
const (
	messagesLog = "messages.jsonl"
	toolsLog    = "tools.jsonl"
)

// retold reports whether the logs have got, since a state was kept, a line of a
// message that is in it or of a call that such a message made: a state takes each
// in once. h is what is not in the state. Where the logs are not as they were it is
// taken for granted.
func (w *Workspace) retold(c *store.Conversation, since store.Mark, h schema.History) bool {
	open, calls := map[string]bool{"": true}, map[string]bool{}
	for _, m := range h.Messages {
		open[m.ID] = true
		for _, call := range m.ToolCalls {
			calls[call.ID] = true
		}
	}
	told := false
	whole := w.appended(c, messagesLog, since.Messages, func(line []byte) {
		m, err := schema.ParseMessage(bytes.TrimSpace(line))
		told = told || err == nil && !open[m.ID]
	}) && w.appended(c, toolsLog, since.Tools, func(line []byte) {
		t, err := schema.ParseTool(bytes.TrimSpace(line))
		told = told || err == nil && !calls[t.ID]
	})
	return told || !whole
}

// appended calls f for the lines of a log behind a mark. It returns false if what
// stands before the mark is not what stood there, or if the log cannot be read.
func (w *Workspace) appended(c *store.Conversation, name string, since store.LogMark, f func(line []byte)) bool {
	log, size, err := w.openLog(c, name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) && since == store.LogMark{}
	}
	defer log.Close()
	if markOf(log, since.Size) != since {
		return false
	}
	in := bufio.NewReader(io.NewSectionReader(log, since.Size, size-since.Size))
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return errors.Is(err, io.EOF) // what has no end yet does not count
		}
		f(line)
	}
}

// markLogs marks the ends of the logs of a conversation.
func (w *Workspace) markLogs(c *store.Conversation) store.Mark {
	end := func(name string) store.LogMark {
		log, size, err := w.openLog(c, name)
		if err != nil {
			return store.LogMark{}
		}
		defer log.Close()
		return markOf(log, size)
	}
	return store.Mark{Messages: end(messagesLog), Tools: end(toolsLog)}
}

// markOf marks a place in a log by the last bytes before it.
func markOf(log io.ReaderAt, size int64) store.LogMark {
	const known = 32
	last := make([]byte, min(max(size, 0), known))
	if _, err := log.ReadAt(last, size-int64(len(last))); err != nil && len(last) > 0 {
		return store.LogMark{Size: -1} // fits nothing
	}
	return store.LogMark{Size: size, Last: hex.EncodeToString(last)}
}

// openLog opens a log of a conversation for reading; nothing that is no file is
// waited for.
func (w *Workspace) openLog(c *store.Conversation, name string) (log *os.File, size int64, err error) {
	root, err := os.OpenRoot(w.Store.Root())
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	name = filepath.FromSlash(path.Join(c.Path(), ".session", name))
	info, err := root.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%q is no file", name)
	}
	log, err = root.Open(name)
	return log, info.Size(), err
}
