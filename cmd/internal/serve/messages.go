package serve

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"cortext/schema"
	"cortext/schema/rawjson"
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

	foreign []rawjson.Member // what the client or another program sent as metadata
}

// foreign is the member of a message that holds the metadata of another program, as in an
// import of its document.
const foreign = "metadata"

// MarshalJSON adds the members of another program, except those that have a name of ours.
func (m metadata) MarshalJSON() ([]byte, error) {
	type plain metadata
	b, err := json.Marshal(plain(m))
	if err != nil {
		return nil, err
	}
	for _, other := range m.foreign {
		if slices.Contains(ourMetadata(), other.Name) {
			continue
		}
		if b = b[:len(b)-1]; len(b) > 1 {
			b = append(b, ',')
		}
		b = append(rawjson.AppendQuote(b, other.Name), ':')
		b = append(append(b, other.Value...), '}')
	}
	return b, nil
}

// ourMetadata returns the names of the members of metadata.
var ourMetadata = sync.OnceValue(func() (names []string) {
	for f := range reflect.TypeFor[metadata]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
})

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
	for _, member := range m.Unknown {
		if member.Name == foreign {
			about.foreign, _ = rawjson.Object(member.Value) // something else is not shown
		}
	}
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

const (
	messagesLen  = 200  // messages on a page, unless the client asks for another number
	messagesMost = 1000 // messages on a page
)

// A messagesPage is a part of a conversation's messages.
type messagesPage struct {
	Messages []message `json:"messages"`
	Offset   int       `json:"offset"` // of the first of messages
	Total    int       `json:"total"`  // messages on this branch
}

// messages answers GET /api/sessions/{id}/messages. Without a position, it returns the last
// messages; with after=ID, those that followed a message.
func (s messageRoutes) messages(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	limit, err := intParam(r, "limit", 1, messagesMost, messagesLen)
	if err != nil {
		return nil, err
	}
	offset, err := intParam(r, "offset", 0, 1<<30, -1)
	if err != nil {
		return nil, err
	}
	space, _, c, err := s.onBranch(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
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
	known := tagFor(r, c)
	if hasTag(r.Header.Get("If-None-Match"), known) {
		return &answer{status: http.StatusNotModified, tag: known}, nil
	}
	return &answer{body: messagesPage{c.messages(from, limit), from, len(c.Messages)}, tag: known}, nil
}
