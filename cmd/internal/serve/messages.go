package serve

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"

	"cortext/cmd/internal/history"
	"cortext/schema"
	"cortext/store"
)

// A message is a message as a client gets it.
type message struct {
	ID        string    `json:"id"`
	Role      string    `json:"role"`
	Content   string    `json:"content"`
	Timestamp int64     `json:"timestamp"`
	ToolCalls []call    `json:"toolCalls,omitempty"`
	Metadata  *metadata `json:"metadata,omitempty"`
}

// A call is a tool call with its outcome.
type call struct {
	ID         string          `json:"id"`
	MessageID  string          `json:"messageId"`
	Name       string          `json:"name"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     string          `json:"output,omitempty"`
	Success    *bool           `json:"success,omitempty"` // absent while there is no outcome
	Error      string          `json:"error,omitempty"`
	ExitCode   *int            `json:"exitCode,omitempty"`
	DurationMS int64           `json:"durationMs,omitempty"`
}

// metadata is what else is known about a message.
type metadata struct {
	Number      int          `json:"number,omitempty"` // in its branch, from 1
	ParentID    string       `json:"parentId,omitempty"`
	Model       string       `json:"model,omitempty"`
	Reasoning   string       `json:"reasoning,omitempty"`
	Finish      string       `json:"finishReason,omitempty"`
	Tokens      int          `json:"tokens,omitempty"`
	Attachments []attachment `json:"attachments,omitempty"`
}

type attachment struct {
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
}

func messageOf(m *schema.Message, calls []schema.Tool) message {
	out := message{ID: m.ID, Role: string(m.Role), Content: m.Content, Timestamp: millisOf(m.Timestamp)}
	for i := range calls {
		out.ToolCalls = append(out.ToolCalls, callOf(&calls[i]))
	}
	about := metadata{Number: m.Number, ParentID: m.ParentID, Model: m.Model, Reasoning: m.Reasoning, Finish: m.FinishReason, Tokens: m.Tokens}
	for _, a := range m.Attachments {
		about.Attachments = append(about.Attachments, attachment{a.Name, a.MediaType, a.Bytes, a.SHA256})
	}
	out.Metadata = &about
	return out
}

func callOf(t *schema.Tool) call {
	c := call{ID: t.ID, MessageID: t.MessageID, Name: t.Name, Output: t.Output, Success: t.Success, Error: t.Error, ExitCode: t.ExitCode, DurationMS: t.DurationMS}
	if json.Valid(t.Input) {
		c.Input = json.RawMessage(t.Input)
	}
	return c
}

// content is a conversation as read: a branch of it, in order.
type content struct {
	schema.History
	Branches []history.Branch
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
// each read it from its beginning. It trusts what it keeps only while the logs have not
// changed.
type reader struct {
	mu   sync.Mutex
	kept []keptContent // the most recently used last
}

type keptContent struct {
	root, path string
	branch     int
	at         store.Checkpoint
	content    *content
}

// keptMost is how many conversations a reader keeps.
const keptMost = 4

func (k *reader) get(root, path string, branch int, c *store.Conversation) *content {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, have := range k.kept {
		if have.root == root && have.path == path && have.branch == branch {
			k.kept = slices.Delete(k.kept, i, i+1)
			if !c.Unchanged(have.at) {
				return nil
			}
			k.kept = append(k.kept, have)
			return have.content
		}
	}
	return nil
}

func (k *reader) put(add keptContent) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept = append(k.kept, add); len(k.kept) > keptMost {
		k.kept = slices.Delete(k.kept, 0, 1)
	}
}

// content reads a branch of a conversation; 0 is the one that a resume continues.
func (s *Server) content(space *Space, e store.Entry, branch int) (*content, error) {
	c, err := space.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	root := space.Store.Root()
	if have := s.reader.get(root, e.Path, branch, c); have != nil {
		return have, nil
	}
	at, err := c.CheckpointNow() // before reading: what is written meanwhile makes it stale
	if err != nil {
		return nil, err
	}
	all, err := history.ByID(c.Messages(), func(m *schema.Message) (string, int64) { return m.ID, m.Precedence() })
	if err != nil {
		return nil, err
	}
	out := &content{Branches: history.BranchesOf(all)}
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
	s.reader.put(keptContent{root, e.Path, branch, at, out})
	return out, nil
}

const (
	messagesLen  = 200  // messages on a page, unless the client asks for another number
	messagesMost = 1000 // messages on a page
)

// messages answers GET /api/sessions/{id}/messages. Without a position, it returns the last
// messages; with after=ID, those that followed a message.
func (s *Server) messages(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	limit, err := number(r, "limit", 1, messagesMost, messagesLen)
	if err != nil {
		return nil, err
	}
	offset, err := number(r, "offset", 0, 1<<30, -1)
	if err != nil {
		return nil, err
	}
	branch, err := number(r, "branch", 1, 1<<20, 0)
	if err != nil {
		return nil, err
	}
	space, e, err := s.on(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
	c, err := s.content(space, e, branch)
	if err != nil {
		return nil, err
	}
	from := max(0, len(c.Messages)-limit)
	switch id := r.URL.Query().Get("after"); {
	case id != "":
		i := c.index(id)
		if i < 0 {
			return nil, &problem{status: http.StatusNotFound, detail: "there is no message " + id + " on this branch", hint: "read the conversation again from its beginning"}
		}
		from = i + 1
	case offset >= 0:
		from = offset
	}
	return &answer{body: map[string]any{"messages": c.messages(from, limit), "offset": from, "total": len(c.Messages)}}, nil
}
