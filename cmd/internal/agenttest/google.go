package agenttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// googleBody is the part of POST /v1beta/models/MODEL:METHOD that the server reads.
type googleBody struct {
	System   googleContent   `json:"systemInstruction"`
	Contents []googleContent `json:"contents"`
	Tools    []struct {
		Functions []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		MIME     string          `json:"responseMimeType"`
		Schema   json.RawMessage `json:"responseJsonSchema"`
		Thinking struct {
			Include bool `json:"includeThoughts"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type googleContent struct {
	Role  string       `json:"role"`
	Parts []googlePart `json:"parts"`
}

// googlePart is a text, a thought, a call, an answer or data, depending on which member
// is set.
type googlePart struct {
	Text    *string `json:"text"`
	Thought bool    `json:"thought"`
	Call    *struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Answer *struct {
		Response googleResponse `json:"response"`
	} `json:"functionResponse"`
	Data *struct {
		MIME string `json:"mimeType"`
	} `json:"inlineData"`
}

// googleResponse is the form that Gemini CLI gives a tool's output or error.
type googleResponse struct {
	Output, Error *string
	raw           string // of any other shape
}

func (r *googleResponse) UnmarshalJSON(raw []byte) error {
	var o struct {
		Output, Error *string
	}
	if json.Unmarshal(raw, &o) == nil {
		r.Output, r.Error = o.Output, o.Error
	}
	r.raw = string(raw)
	return nil
}

// neutral returns the part in the form of the other protocols.
func (p googlePart) neutral() block {
	switch {
	case p.Thought:
		return block{Type: "thinking"}
	case p.Text != nil:
		return textBlock(*p.Text)
	case p.Call != nil:
		return block{Type: "tool_use", Name: p.Call.Name, Input: p.Call.Args}
	case p.Answer != nil:
		b := block{Type: "tool_result"}
		switch response := p.Answer.Response; {
		case response.Error != nil:
			b.Content, b.IsError = content{textBlock(*response.Error)}, true
		case response.Output != nil:
			b.Content = content{textBlock(*response.Output)}
		default:
			b.Content = content{textBlock(response.raw)}
		}
		return b
	case p.Data != nil && strings.HasPrefix(p.Data.MIME, "image/"):
		return block{Type: "image"}
	default:
		return block{Type: "document"}
	}
}

func (c googleContent) neutral() content {
	blocks := make(content, len(c.Parts))
	for i, p := range c.Parts {
		blocks[i] = p.neutral()
	}
	return blocks
}

// parseGoogle reads the body of POST /v1beta/models/MODEL:METHOD.
func parseGoogle(model, method string, raw []byte) (Request, error) {
	var b googleBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return Request{}, fmt.Errorf("agenttest: parse request: %w", err)
	}
	r := Request{
		Protocol: Google, Raw: raw, Model: model,
		system: b.System.neutral(),
		stream: method == "streamGenerateContent",
		think:  b.Config.Thinking.Include,
	}
	if b.Config.MIME == "application/json" {
		r.schema = b.Config.Schema
		if r.schema == nil {
			r.schema = json.RawMessage(`{"type":"object"}`)
		}
	}
	for _, t := range b.Tools {
		for _, f := range t.Functions {
			r.Tools = append(r.Tools, f.Name)
		}
	}
	for _, c := range b.Contents {
		role := c.Role
		if role == "model" {
			role = "assistant"
		}
		r.messages = append(r.messages, message{role, c.neutral()})
	}
	return r, nil
}

// answerGoogle sends the planned turn as a response with a single candidate.
func (s *Server) answerGoogle(w http.ResponseWriter, r *http.Request, req Request, p plan) {
	var thought, calls []any
	if p.think != "" {
		thought = []any{map[string]any{"text": p.think, "thought": true}}
	}
	for _, c := range p.tools {
		calls = append(calls, map[string]any{"functionCall": map[string]any{"name": c.name, "args": c.input}})
	}
	response := func(parts []any, finish string) map[string]any {
		candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		in, out := guessTokens(len(req.Raw)), guessTokens(len(p.text))
		return map[string]any{
			"candidates":    []any{candidate},
			"usageMetadata": map[string]any{"promptTokenCount": in, "candidatesTokenCount": out, "totalTokenCount": in + out},
			"modelVersion":  req.Model,
			"responseId":    s.id("response"),
		}
	}
	text := func(text string) []any { return []any{map[string]any{"text": text}} }
	if !req.stream {
		if p.hang {
			s.hang(r)
		}
		all := append(thought, text(p.text)...)
		writeJSON(w, http.StatusOK, response(append(all, calls...), "STOP"))
		return
	}

	e := startEvents(w)
	if len(thought) > 0 {
		e.send("", response(thought, ""))
	}
	s.streamText(r, p, func(part string) { e.send("", response(text(part), "")) })
	if len(calls) == 0 {
		calls = text("")
	}
	e.send("", response(calls, "STOP"))
}

// failGoogle answers with an error in the API's format.
func failGoogle(w http.ResponseWriter, message string) {
	writeJSON(w, http.StatusBadRequest, map[string]any{
		"error": map[string]any{"code": http.StatusBadRequest, "status": "INVALID_ARGUMENT", "message": message},
	})
}

// leastJSON returns the smallest value that matches the schema: objects with the required
// members, the first word of an enum, the smallest number, which for integers is at least
// 1. Gemini CLI uses such schemas to ask who speaks next (the user), how hard a task is
// (a score from 1 to 100, which its schema does not say), and whether it is in a loop (it
// is not).
func leastJSON(schema json.RawMessage) any {
	var s struct {
		Type       string
		Enum       []any
		Minimum    float64
		Required   []string
		Properties map[string]json.RawMessage
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case strings.EqualFold(s.Type, "object"):
		o := map[string]any{}
		for _, name := range s.Required {
			o[name] = leastJSON(s.Properties[name])
		}
		return o
	case strings.EqualFold(s.Type, "array"):
		return []any{}
	case strings.EqualFold(s.Type, "boolean"):
		return false
	case strings.EqualFold(s.Type, "integer"):
		return max(1, s.Minimum)
	case strings.EqualFold(s.Type, "number"):
		return s.Minimum
	case strings.EqualFold(s.Type, "string"):
		return ""
	default:
		return nil
	}
}
