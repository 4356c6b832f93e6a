package listing

import (
	"bufio"
	"io"
	"path"
	"strconv"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// A Listed is a conversation in the lists of --json; its fields are stable.
type Listed struct {
	ID             string      `json:"id"`
	ConversationID string      `json:"conversation_id"`
	Path           string      `json:"path"`
	Title          string      `json:"title"`
	Type           string      `json:"type"`
	Status         string      `json:"status"` // "newer" if a later cortext wrote it
	Archived       bool        `json:"archived"`
	Agent          string      `json:"agent"`      // that it began in
	LastAgent      string      `json:"last_agent"` // that it was last used in
	CreatedAt      schema.Time `json:"created_at"`
	LastActive     schema.Time `json:"last_active"`
	MessageCount   int         `json:"message_count"`
	Tokens         int64       `json:"tokens"`
	Summary        string      `json:"summary"`
	Tags           []string    `json:"tags"`
	Waiting        int         `json:"waiting"` // messages that are not in the work tree's log yet
	Model          string      `json:"model"`   // that answered last
	Provider       string      `json:"provider"`
	Description    string      `json:"description"`         // the first message of the user, shortened
	Workspace      string      `json:"workspace,omitempty"` // the absolute path of its folder, with --all
}

// Append adds the conversation to b as a JSON object, in the same form as encoding/json
// without HTML escaping. It is much faster, because a list may have 100,000 conversations.
func (r *Listed) Append(b []byte) []byte {
	text := func(name, value string) {
		b = append(append(b, `,"`...), name...)
		b = rawjson.AppendQuote(append(b, `":`...), value)
	}
	b = rawjson.AppendQuote(append(b, `{"id":`...), r.ID)
	text("conversation_id", r.ConversationID)
	text("path", r.Path)
	text("title", r.Title)
	text("type", r.Type)
	text("status", r.Status)
	b = strconv.AppendBool(append(b, `,"archived":`...), r.Archived)
	text("agent", r.Agent)
	text("last_agent", r.LastAgent)
	text("created_at", string(r.CreatedAt))
	text("last_active", string(r.LastActive))
	b = strconv.AppendInt(append(b, `,"message_count":`...), int64(r.MessageCount), 10)
	b = strconv.AppendInt(append(b, `,"tokens":`...), r.Tokens, 10)
	text("summary", r.Summary)
	b = append(b, `,"tags":[`...)
	for i, tag := range r.Tags {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendQuote(b, tag)
	}
	b = strconv.AppendInt(append(b, `],"waiting":`...), int64(r.Waiting), 10)
	text("model", r.Model)
	text("provider", r.Provider)
	text("description", r.Description)
	if r.Workspace != "" {
		text("workspace", r.Workspace)
	}
	return append(b, '}')
}

// MarshalJSON returns the output of Append.
func (r Listed) MarshalJSON() ([]byte, error) { return r.Append(nil), nil }

// Listed returns the row in the form of --json. It shares the row's strings.
func (r *Row) Listed() Listed {
	l := Listed{
		ID: r.ID, ConversationID: path.Base(r.Path), Path: r.Path, Title: r.Title, Type: r.Type, Status: r.Status, Archived: r.Archived,
		Agent: r.Agent, LastAgent: r.LastAgent(), CreatedAt: schema.NewTime(r.Created), LastActive: schema.NewTime(r.LastActive), MessageCount: r.Messages, Tokens: r.Tokens,
		Summary: r.Summary, Tags: r.Tags, Model: r.Model, Provider: r.Provider, Description: r.Description,
	}
	if l.Tags == nil {
		l.Tags = []string{}
	}
	return l
}

// WriteJSON writes the page as an array of JSON objects, which the index holds precomputed.
func (p *Page) WriteJSON(out io.Writer) error {
	if err := p.again(p.checkJSON()); err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, copied)
	_ = w.WriteByte('[') // the error is returned at the end
	for k := 0; k < len(p.at); {
		if k > 0 {
			_ = w.WriteByte(',')
		}
		n := p.run(k)
		if n == 0 {
			r := p.Row(k)
			listed := r.Listed()
			_, _ = w.Write(listed.Append(nil))
			k++
			continue
		}
		at, size, err := p.view.jsonOf(p.at[k], n)
		if err == nil {
			err = p.view.base.sections.copyTo(w, jsonSection, at, size)
		}
		if err != nil {
			return err
		}
		k += n
	}
	_, _ = w.WriteString("]\n")
	return w.Flush()
}

// checkJSON verifies that the JSON of all rows can be read before any of it is written.
func (p *Page) checkJSON() error {
	if len(p.at) > Looked {
		return p.view.base.sections.check(jsonSection)
	}
	for k := 0; k < len(p.at); {
		n := p.run(k)
		if n == 0 {
			k++
			continue
		}
		at, size, err := p.view.jsonOf(p.at[k], n)
		if err == nil {
			_, err = p.view.base.sections.bytes(jsonSection, at, size)
		}
		if err != nil {
			return err
		}
		k += n
	}
	return nil
}

// run returns how many rows of the page, from a given one on, are consecutive in the index.
// It is 0 for a row that is not in the index.
func (p *Page) run(k int) (n int) {
	at := p.at[k]
	if base, _ := p.view.layout.find(at); base < 0 {
		return 0
	}
	end := at + p.view.layout.left(at)
	for n = 1; k+n < len(p.at) && p.at[k+n] == at+n && at+n < end; n++ {
	}
	return n
}

// jsonOf returns the extent of the JSON of n consecutive rows of the index, from a position
// on. Commas separate the rows.
func (v *view) jsonOf(at, n int) (from, size int64, err error) {
	base, _ := v.layout.find(at)
	first, err := v.base.sections.fixed(base)
	if err != nil {
		return 0, 0, err
	}
	last, err := v.base.sections.fixed(base + n - 1)
	from = int64(first.json.at)
	return from, int64(last.json.at) + int64(last.json.size) - from, err
}
