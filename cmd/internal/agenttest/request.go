package agenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Request is one request for a model turn.
type Request struct {
	Raw   []byte   // the body as JSON, unpacked
	Model string   // the model asked for
	Tools []string // names of the tools offered

	body body
}

// Turn is one message of a request, as text.
type Turn struct {
	Role string // user, assistant or system
	Text string
}

// body is what the server reads of a request.
type body struct {
	Model    string                `json:"model"`
	Stream   bool                  `json:"stream"`
	System   content               `json:"system"`
	Messages []message             `json:"messages"`
	Tools    []tool                `json:"tools"`
	Thinking struct{ Type string } `json:"thinking"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type tool struct {
	Name string `json:"name"`
}

// content is a string or a list of blocks; a string reads as one text block.
type content []block

type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content content         `json:"content"`
	IsError bool            `json:"is_error"`
}

func (c *content) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(raw, (*[]block)(c))
}

func parseRequest(raw []byte) (Request, error) {
	r := Request{Raw: raw}
	if err := json.Unmarshal(raw, &r.body); err != nil {
		return Request{}, fmt.Errorf("agenttest: parse request: %w", err)
	}
	r.Model = r.body.Model
	for _, t := range r.body.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	return r, nil
}

// Main tells whether this request carries the conversation itself. An agent
// also asks for a title or a topic on the side: those offer no tools. A request to
// compact the conversation carries it, with tools, and so is a main one.
func (r Request) Main() bool { return len(r.Tools) > 0 }

// System returns the system prompt: its blocks, one below the other. Entries of
// role system among the messages are in [Request.Turns] instead.
func (r Request) System() string { return r.body.System.String() }

// Turns returns the conversation, one turn for each message in the order sent.
func (r Request) Turns() []Turn {
	turns := make([]Turn, len(r.body.Messages))
	for i, m := range r.body.Messages {
		turns[i] = Turn{Role: m.Role, Text: m.Content.String()}
	}
	return turns
}

// String renders the blocks one below the other: text as it is, a tool call as
// "[tool_use Name {input}]", its answer as "[tool_result text]" or
// "[tool_error text]" (without ids, which differ on each run), and whatever
// else there is by its type alone, such as "[thinking]".
func (c content) String() string {
	parts := make([]string, len(c))
	for i, b := range c {
		parts[i] = b.String()
	}
	return strings.Join(parts, "\n")
}

func (b block) String() string {
	switch b.Type {
	case "text":
		return b.Text
	case "tool_use":
		var input bytes.Buffer
		if err := json.Compact(&input, b.Input); err != nil {
			return "[tool_use " + b.Name + "]" // no input given
		}
		return "[tool_use " + b.Name + " " + input.String() + "]"
	case "tool_result":
		if b.IsError {
			return "[tool_error " + b.Content.String() + "]"
		}
		return "[tool_result " + b.Content.String() + "]"
	default:
		return "[" + b.Type + "]"
	}
}

// calls tells whether the message calls a tool.
func (m message) calls() bool {
	for _, b := range m.Content {
		if b.Type == "tool_use" {
			return true
		}
	}
	return false
}
