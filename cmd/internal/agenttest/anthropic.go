package agenttest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// anthropicBody is the part of POST /v1/messages that the server reads.
type anthropicBody struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	System   parts  `json:"system"`
	Messages []struct {
		Role    string `json:"role"`
		Content parts  `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Thinking struct{ Type string } `json:"thinking"`
}

// parseAnthropic reads the body of POST /v1/messages.
func parseAnthropic(raw []byte) (Request, error) {
	var b anthropicBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return Request{}, fmt.Errorf("agenttest: parse request: %w", err)
	}
	r := Request{
		Protocol: Anthropic, Raw: raw, Model: b.Model, stream: b.Stream,
		system: content(b.System),
		think:  b.Thinking.Type == "enabled" || b.Thinking.Type == "adaptive",
	}
	for _, t := range b.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for _, m := range b.Messages {
		r.messages = append(r.messages, message{m.Role, content(m.Content)})
	}
	return r, nil
}

// answerAnthropic sends the planned turn as a message.
func (s *Server) answerAnthropic(w http.ResponseWriter, r *http.Request, req Request, p plan) {
	blocks := s.anthropicBlocks(p)
	head := map[string]any{
		"id": s.id("msg"), "type": "message", "role": "assistant", "model": req.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": anthropicUsage(req, 1),
	}
	stop := map[string]any{"stop_reason": "end_turn", "stop_sequence": nil}
	if len(p.tools) > 0 {
		stop["stop_reason"] = "tool_use"
	}
	w.Header().Set("Request-Id", s.id("req"))
	total := anthropicUsage(req, guessTokens(len(p.text)))
	if !req.stream {
		if p.hang {
			s.hang(r)
		}
		head["content"], head["stop_reason"], head["usage"] = blocks, stop["stop_reason"], total
		writeJSON(w, http.StatusOK, head)
		return
	}

	e := startEvents(w)
	send := func(name string, fields map[string]any) {
		fields["type"] = name
		e.send(name, fields)
	}
	send("message_start", map[string]any{"message": head})
	for i, b := range blocks {
		start := func(b map[string]any) {
			send("content_block_start", map[string]any{"index": i, "content_block": b})
		}
		delta := func(kind, field string, value any) {
			send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": kind, field: value}})
		}
		switch b["type"] {
		case "thinking":
			start(map[string]any{"type": "thinking", "thinking": "", "signature": ""})
			delta("thinking_delta", "thinking", b["thinking"])
			delta("signature_delta", "signature", b["signature"])
		case "tool_use":
			start(map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}})
			delta("input_json_delta", "partial_json", string(b["input"].(json.RawMessage)))
		default:
			start(map[string]any{"type": "text", "text": ""})
			s.streamText(r, p, func(part string) { delta("text_delta", "text", part) })
		}
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{"delta": stop, "usage": total})
	send("message_stop", map[string]any{})
}

// anthropicBlocks returns the content of the planned turn.
func (s *Server) anthropicBlocks(p plan) []map[string]any {
	var blocks []map[string]any
	if p.think != "" {
		// The agent treats a signature as opaque base64, which it only sends back.
		blocks = append(blocks, map[string]any{"type": "thinking", "thinking": p.think, "signature": "YWdlbnR0ZXN0"})
	}
	if p.text != "" || len(p.tools) == 0 {
		blocks = append(blocks, map[string]any{"type": "text", "text": p.text})
	}
	for _, c := range p.tools {
		blocks = append(blocks, map[string]any{
			"type": "tool_use", "id": s.id("toolu"), "name": c.name, "input": c.input,
		})
	}
	return blocks
}

func anthropicUsage(req Request, out int) map[string]any {
	return map[string]any{
		"input_tokens": guessTokens(len(req.Raw)), "output_tokens": out,
		"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
	}
}

// failAnthropic answers with an error in the API's format.
func failAnthropic(w http.ResponseWriter, message string) {
	writeJSON(w, http.StatusBadRequest, map[string]any{
		"type":  "error",
		"error": map[string]any{"type": "invalid_request_error", "message": message},
	})
}
