package serve

import (
	"fmt"
	"hash/maphash"
	"net/http"
	"slices"
	"strconv"
	"sync"

	tools "cortext/cmd/internal/export/call"
	"cortext/cmd/internal/history"
	"cortext/schema"
	"cortext/store"
)

// A content is a conversation as read: a branch of it, in order. Several requests may share
// it, and none changes it.
type content struct {
	schema.History
	Branches []history.Branch
	about    *history.Overview
	root     string // the folder that contains most of its files
	tag      string // names this content, while the server runs
}

// messages returns a part of the content, at most n messages from the i-th on.
func (c *content) messages(i, n int) []message {
	out := []message{}
	part := c.Messages[min(i, len(c.Messages)):]
	for k := range part[:min(n, len(part))] {
		out = append(out, messageOf(&part[k], c.Calls(&part[k])))
	}
	return out
}

// index returns the position of a message, or -1.
func (c *content) index(id string) int {
	return slices.IndexFunc(c.Messages, func(m schema.Message) bool { return m.ID == id })
}

// A reader keeps the content of a few conversations, so that the parts of a long one do not
// each read it from its beginning. It uses what it keeps only while the logs are the same.
type reader struct {
	mu   sync.Mutex
	seed maphash.Seed
	kept []keptContent // the most recently used last
}

// A keptKey names a branch of a conversation.
type keptKey struct {
	root, path string
	branch     int
}

// logStates are the states of both logs.
type logStates [2]store.LogState

type keptContent struct {
	key     keptKey
	states  logStates
	content *content
}

// keptMost is how many conversations a reader keeps.
const keptMost = 4

// get returns what is kept, if the logs are still in these states.
func (k *reader) get(key keptKey, states logStates) *content {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.kept, func(have keptContent) bool { return have.key == key })
	if i < 0 {
		return nil
	}
	have := k.kept[i]
	if k.kept = slices.Delete(k.kept, i, i+1); have.states != states {
		return nil
	}
	k.kept = append(k.kept, have)
	return have.content
}

func (k *reader) put(add keptContent) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = slices.DeleteFunc(k.kept, func(have keptContent) bool { return have.key == add.key })
	if k.kept = append(k.kept, add); len(k.kept) > keptMost {
		k.kept = slices.Delete(k.kept, 0, 1)
	}
}

// statesOf returns the states of the logs; known is false if they cannot tell whether the
// content is the same later.
func statesOf(c *store.Conversation) (states logStates, known bool) {
	logs, ok := c.OpenLogs()
	if !ok {
		return states, false
	}
	defer logs.Close()
	known = true
	for i, l := range []*store.Log{logs.Messages, logs.Tools} {
		states[i] = l.State()
		known = known && (states[i].Known || l.Size() == 0 && l.Err() == nil) // a missing log is empty
	}
	return states, known
}

// tagOf names a content.
func (k *reader) tagOf(c *content) string {
	var h maphash.Hash
	h.SetSeed(k.seed)
	c.hash(&h, 0, len(c.Messages))
	return strconv.FormatUint(h.Sum64(), 36)
}

// hash hashes the messages from one position to another, with their calls.
func (c *content) hash(h *maphash.Hash, from, to int) {
	var line []byte
	for i := range c.Messages[from:to] {
		m := &c.Messages[from+i]
		line = schema.AppendMessage(line[:0], m)
		_, _ = h.Write(line)
		for _, t := range c.Calls(m) {
			line = schema.AppendTool(line[:0], &t)
			_, _ = h.Write(line)
		}
	}
}

// content reads a branch of a conversation; 0 is the one that a resume continues.
func (s *Server) content(space *Space, e store.Entry, branch int) (*content, error) {
	c, err := space.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	key := keptKey{space.Store.Root(), e.Path, branch}
	states, known := statesOf(c) // before reading: what is written meanwhile makes them old
	if known {
		if have := s.reader.get(key, states); have != nil {
			return have, nil
		}
		// One request reads it, the others wait and use what it read.
		defer s.readers.lock(fmt.Sprint(key.root, "\n", key.path, "\n", branch))()
		if have := s.reader.get(key, states); have != nil {
			return have, nil
		}
	}
	out, err := readContent(space, e, c, branch)
	if err == nil {
		out.tag = s.reader.tagOf(out)
	}
	if err == nil && known {
		s.reader.put(keptContent{key, states, out})
	}
	return out, err
}

// onBranch is on, and reads the branch that the query names. Without one, it is the branch
// that a resume continues. The caller ends the space.
func (s *Server) onBranch(r *http.Request) (*Space, store.Entry, *content, error) {
	branch, err := intParam(r, "branch", 1, 1<<20, 0)
	if err != nil {
		return nil, store.Entry{}, nil, err
	}
	space, e, err := s.on(r)
	if err != nil {
		return nil, store.Entry{}, nil, err
	}
	c, err := s.content(space, e, branch)
	if err != nil {
		space.End()
		return nil, store.Entry{}, nil, err
	}
	return space, e, c, nil
}

func readContent(space *Space, e store.Entry, c *store.Conversation, branch int) (out *content, err error) {
	all, err := history.Messages(c.Messages())
	if err != nil {
		return nil, err
	}
	out = &content{Branches: history.BranchesOf(all)}
	end := ""
	if branch != 0 {
		i := slices.IndexFunc(out.Branches, func(b history.Branch) bool { return b.Number == branch })
		if i < 0 {
			return nil, &history.BranchError{Number: branch, Have: out.Branches}
		}
		end = out.Branches[i].End
	}
	if out.History, _, err = c.History(store.Limit{End: end}); err != nil {
		return nil, err
	}
	out.root = tools.Root(out.Tools)
	out.about, err = history.Describe(space.Workspace, e)
	return out, err
}
