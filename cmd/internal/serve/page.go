package serve

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"strings"

	"cortext/cmd/internal/export/page"
	"cortext/schema"
	"cortext/schema/clip"
)

// rendered is a range of messages as HTML.
type rendered struct {
	HTML  string `json:"html"` // sections like those of an exported page, with nothing active in them
	From  int    `json:"from"` // number of the first message
	To    int    `json:"to"`   // and of the last
	Total int    `json:"total"`
}

// html answers GET /api/sessions/{id}/html: messages as an exported page shows them.
func (s messageRoutes) html(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	from, err := intParam(r, "from", 1, 1<<30, 1)
	if err != nil {
		return nil, err
	}
	to, err := intParam(r, "to", 1, 1<<30, 1<<30)
	if err != nil {
		return nil, err
	}
	space, e, c, err := s.onBranch(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
	out := rendered{From: from, To: min(to, len(c.Messages), from+messagesMost-1), Total: len(c.Messages)}
	known := tagFor(r, c)
	if hasTag(r.Header.Get("If-None-Match"), known) {
		return &answer{status: http.StatusNotModified, tag: known}, nil
	}
	in := page.Input{Session: e.Session, History: c.History, Root: c.root, Content: func(sum string) ([]byte, bool) { return space.Attachments.Read(e, sum) }}
	out.HTML, err = s.fragment(c, &in, out.From, out.To)
	return &answer{body: out, tag: known}, err
}

// fragment returns the HTML of the messages with numbers from first to last.
func (s messageRoutes) fragment(c *content, in *page.Input, first, last int) (string, error) {
	name := s.fragments.nameOf(in.Root, c, first, last)
	if html, ok := s.fragments.get(name); ok {
		return html, nil
	}
	// One request renders it, the others wait and get what it rendered.
	defer s.renderers.lock(name)()
	if html, ok := s.fragments.get(name); ok {
		return html, nil
	}
	var html bytes.Buffer
	if s.Markdown != nil {
		in.Markdown = s.Markdown()
	}
	if err := page.WriteMessages(&html, in, first, last); err != nil {
		return "", err
	}
	s.fragments.put(name, html.String())
	return html.String(), nil
}

// tagFor returns the ETag of what a request gets of a conversation's messages.
func tagFor(r *http.Request, c *content) string {
	return tagOf([]byte(c.tag + r.URL.Path + "?" + r.URL.RawQuery))
}

// A promptLine is a prompt of the user, in an index.
type promptLine struct {
	Number    int    `json:"number"`
	ID        string `json:"id"`
	Timestamp int64  `json:"timestamp"`
	Text      string `json:"text"` // its first 200 characters, on one line
}

const promptLen = 200

// A promptsAnswer is an index of a conversation.
type promptsAnswer struct {
	Prompts []promptLine `json:"prompts"`
	Total   int          `json:"total"` // messages on this branch
}

// prompts answers GET /api/sessions/{id}/prompts.
func (s messageRoutes) prompts(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	space, _, c, err := s.onBranch(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
	list := []promptLine{}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role == schema.User {
			list = append(list, promptLine{m.Number, m.ID, millisOf(m.Timestamp), clip.Characters(strings.Join(strings.Fields(m.Content), " "), promptLen)})
		}
	}
	return &answer{body: promptsAnswer{list, len(c.Messages)}, tag: tagFor(r, c)}, nil
}

//go:embed openapi.json
var openapiJSON []byte

// openapi answers GET /api/openapi.json.
func (s findRoutes) openapi(http.ResponseWriter, *http.Request) (*answer, error) {
	return &answer{body: json.RawMessage(openapiJSON)}, nil
}
