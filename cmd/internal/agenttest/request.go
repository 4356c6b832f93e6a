package agenttest

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Protocol is the API that a request came by, and so the agent it came from.
type Protocol string

// The protocols that [Server] speaks.
const (
	Anthropic Protocol = "anthropic" // Claude Code
	OpenAI    Protocol = "openai"    // OpenCode
	Google    Protocol = "google"    // Gemini CLI
)

// Request is one request for a model turn, the same whichever agent sent it.
type Request struct {
	Protocol Protocol
	Raw      []byte   // the body as JSON, unpacked
	Model    string   // the model asked for
	Tools    []string // names of the tools offered

	system   content
	messages []message
	stream   bool            // the answer is to be streamed
	think    bool            // thinking is allowed
	schema   json.RawMessage // what a JSON answer must look like, if one is asked for
}

// Turn is one message of a request, as text.
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

// block is a part of a message, by the names that the Anthropic API has for it:
// a text, a tool_use, a tool_result, or something else known by its type only.
type block struct {
	Type    string
	Text    string
	Name    string          // of the tool called
	Input   json.RawMessage // for the tool called
	Content content         // of a tool's answer
	IsError bool            // of a tool's answer
}

// Main tells whether this request carries the conversation itself. An agent
// also asks on the side, for a title, a topic, a summary of an earlier session
// or who speaks next: those requests offer no tools that could be called. A
// request to compact the conversation is a main one of Claude Code, which offers
// its tools in it, and one on the side of the two others, which do not.
func (r Request) Main() bool { return len(r.Tools) > 0 }

// System returns the system prompt: its blocks, one below the other. Entries of
// role system among the messages are in [Request.Turns] instead.
func (r Request) System() string { return r.system.String() }

// Turns returns the conversation, one turn for each message in the order sent.
// The answers to tools called at once are one turn of the user's, as two of the
// protocols have it anyway.
func (r Request) Turns() []Turn {
	turns := make([]Turn, len(r.messages))
	for i, m := range r.messages {
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

// textBlock is a block of text.
func textBlock(text string) block { return block{Type: "text", Text: text} }
