package agenttest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// openAIBody is the part of POST /v1/chat/completions that the server reads.
type openAIBody struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	Messages []openAIMessage `json:"messages"`
	Tools    []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

type openAIMessage struct {
	Role      string `json:"role"`
	Content   parts  `json:"content"`
	Reasoning string `json:"reasoning_content"`
	ToolCalls []struct {
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// parseOpenAI reads the body of POST /v1/chat/completions. The protocol does not say
// whether thinking is allowed or whether a tool failed.
func parseOpenAI(raw []byte) (Request, error) {
	var b openAIBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return Request{}, fmt.Errorf("agenttest: parse request: %w", err)
	}
	r := Request{Protocol: OpenAI, Raw: raw, Model: b.Model, stream: b.Stream, think: true}
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	answers := false // the previous message is a tool's answer
	for _, m := range b.Messages {
		switch {
		case m.Role == "system" && len(r.messages) == 0:
			r.system = append(r.system, m.Content...)
		case m.Role == "tool" && answers:
			last := &r.messages[len(r.messages)-1]
			last.Content = append(last.Content, m.neutral().Content...)
		default:
			r.messages = append(r.messages, m.neutral())
		}
		answers = m.Role == "tool"
	}
	return r, nil
}

// neutral returns the message in the form of the other protocols.
func (m openAIMessage) neutral() message {
	if m.Role == "tool" {
		return message{"user", content{{Type: "tool_result", Content: content(m.Content)}}}
	}
	var blocks content
	if m.Reasoning != "" {
		blocks = append(blocks, block{Type: "thinking"})
	}
	for _, b := range m.Content {
		if m.Role == "assistant" && b.Type == "text" && b.Text == "" {
			continue // accompanies calls without text
		}
		blocks = append(blocks, b)
	}
	for _, c := range m.ToolCalls {
		blocks = append(blocks, block{Type: "tool_use", Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
	}
	return message{m.Role, blocks}
}

// answerOpenAI sends the planned turn as a chat completion.
func (s *Server) answerOpenAI(w http.ResponseWriter, r *http.Request, req Request, p plan) {
	finish := "stop"
	var calls []map[string]any
	for i, c := range p.tools {
		finish = "tool_calls"
		calls = append(calls, map[string]any{
			"index": i, "id": s.id("call"), "type": "function",
			"function": map[string]any{"name": c.name, "arguments": string(c.input)},
		})
	}
	id := s.id("chatcmpl")
	choice := func(object, field string, value, finish any, usage map[string]any) map[string]any {
		return map[string]any{
			"id": id, "object": object, "created": 1, "model": req.Model, "usage": usage,
			"choices": []any{map[string]any{"index": 0, field: value, "finish_reason": finish}},
		}
	}
	if !req.stream {
		if p.hang {
			s.hang(r)
		}
		whole := map[string]any{"role": "assistant", "content": p.text}
		if p.think != "" {
			whole["reasoning_content"] = p.think
		}
		if len(calls) > 0 {
			whole["tool_calls"] = calls
		}
		writeJSON(w, http.StatusOK, choice("chat.completion", "message", whole, finish, openAIUsage(req, p)))
		return
	}

	e := startEvents(w)
	delta := func(d map[string]any) {
		e.send("", choice("chat.completion.chunk", "delta", d, nil, nil))
	}
	delta(map[string]any{"role": "assistant", "content": ""})
	if p.think != "" {
		delta(map[string]any{"reasoning_content": p.think})
	}
	s.streamText(r, p, func(part string) { delta(map[string]any{"content": part}) })
	for _, c := range calls {
		delta(map[string]any{"tool_calls": []any{c}})
	}
	e.send("", choice("chat.completion.chunk", "delta", map[string]any{}, finish, openAIUsage(req, p)))
	e.write("", []byte("[DONE]"))
}

func openAIUsage(req Request, p plan) map[string]any {
	in, out := guessTokens(len(req.Raw)), guessTokens(len(p.text))
	return map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

// failOpenAI answers with an error in the API's format.
func failOpenAI(w http.ResponseWriter, message string) {
	writeJSON(w, http.StatusBadRequest, map[string]any{
		"error": map[string]any{"type": "invalid_request_error", "message": message},
	})
}
