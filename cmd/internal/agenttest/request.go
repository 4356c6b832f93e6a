package agenttest

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Protocol is the API that a request used, and thereby the agent that sent it.
type Protocol string

// The protocols of [Server].
const (
	Anthropic Protocol = "anthropic" // Claude Code
	OpenAI    Protocol = "openai"    // OpenCode
	Google    Protocol = "google"    // Gemini CLI
)

// Request is one request for a model turn, in the same form for all agents.
type Request struct {
	Protocol Protocol
	Raw      []byte   // the uncompressed body, JSON
	Model    string   // the model asked for
	Tools    []string // names of the available tools

	system   content
	messages []message
	stream   bool            // stream the answer
	think    bool            // thinking is allowed
	schema   json.RawMessage // schema of a JSON answer, if one is requested
}

// Turn is one message of a request as text.
type Turn struct {
	Role string // user, assistant or system
	Text string
}

// message is one message. Its role is that of a [Turn].
type message struct {
	Role    string
	Content content
}

// content is a list of blocks.
type content []block

// block is a part of a message, named as in the Anthropic API: a text, a tool_use, a
// tool_result, or another block known only by its type.
type block struct {
	Type    string
	Text    string
	Name    string          // of the tool called
	Input   json.RawMessage // for the tool called
	Content content         // of a tool's answer
	IsError bool            // of a tool's answer
}

// Main reports whether this request carries the conversation itself. Agents also send
// side requests, for a title, a topic, a summary of an earlier session or who speaks
// next; those offer no tools. A request to compact the conversation is a main request in
// Claude Code, which offers its tools in it, and a side request in the other two, which
// do not.
func (r Request) Main() bool { return len(r.Tools) > 0 }

// System returns the system prompt, with its blocks separated by newlines. Messages with
// role system are in [Request.Turns] instead.
func (r Request) System() string { return r.system.String() }

// Turns returns the conversation, one turn per message in the order sent. The answers to
// parallel tool calls form one user turn, as they do in two of the protocols anyway.
func (r Request) Turns() []Turn {
	turns := make([]Turn, len(r.messages))
	for i, m := range r.messages {
		turns[i] = Turn{Role: m.Role, Text: m.Content.String()}
	}
	return turns
}

// String renders the blocks, separated by newlines: text unchanged, a tool call as
// "[tool_use Name {input}]", its answer as "[tool_result text]" or "[tool_error text]"
// (without ids, which differ on each run), and other blocks by their type, such as
// "[thinking]".
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
			return "[tool_use " + b.Name + "]" // no input
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

// calls reports whether the message calls a tool.
func (m message) calls() bool {
	for _, b := range m.Content {
		if b.Type == "tool_use" {
			return true
		}
	}
	return false
}

// textBlock returns a text block.
func textBlock(text string) block { return block{Type: "text", Text: text} }
