package agenttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// pieces is how many parts a slow answer is streamed in.
const pieces = 20

// answer sends the planned turn, streamed if the request asks for that.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req Request, p plan) {
	blocks := s.blocks(req, p)
	head := map[string]any{
		"id": s.id("msg"), "type": "message", "role": "assistant", "model": req.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage(req, 1),
	}
	stop := map[string]any{"stop_reason": "end_turn", "stop_sequence": nil}
	if len(p.tools) > 0 {
		stop["stop_reason"] = "tool_use"
	}
	w.Header().Set("Request-Id", s.id("req"))
	total := usage(req, guessTokens(len(p.text)))
	if !req.body.Stream {
		if p.hang {
			s.hang(r)
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		head["content"], head["stop_reason"], head["usage"] = blocks, stop["stop_reason"], total
		writeJSON(w, http.StatusOK, head)
		return
	}

	w.Header().Set("Content-Type", "text/event-stream")
	e := &events{w: w, flush: http.NewResponseController(w).Flush}
	e.send("message_start", map[string]any{"message": head})
	for i, b := range blocks {
		s.stream(e, r, i, b, p)
	}
	e.send("message_delta", map[string]any{"delta": stop, "usage": total})
	e.send("message_stop", map[string]any{})
}

// blocks returns the content of the planned turn.
func (s *Server) blocks(req Request, p plan) []map[string]any {
	var blocks []map[string]any
	if t := req.body.Thinking.Type; p.think != "" && (t == "enabled" || t == "adaptive") {
		// A signature is base64 to the agent, which only hands it back.
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

// stream sends one block. A turn that hangs ends here, in its text.
func (s *Server) stream(e *events, r *http.Request, index int, b map[string]any, p plan) {
	start := func(b map[string]any) {
		e.send("content_block_start", map[string]any{"index": index, "content_block": b})
	}
	delta := func(kind, field string, value any) {
		e.send("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": kind, field: value}})
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
		if p.hang {
			delta("text_delta", "text", HangText)
			s.hang(r)
			panic(http.ErrAbortHandler)
		}
		text := []rune(p.text)
		step := max(1, len(text))
		if p.slow > 0 {
			step = len(text)/pieces + 1
		}
		for len(text) > 0 {
			n := min(step, len(text))
			delta("text_delta", "text", string(text[:n]))
			text = text[n:]
			s.pause(r, p.slow/pieces)
		}
	}
	e.send("content_block_stop", map[string]any{"index": index})
}

// hang waits until the client goes away or the server is closed.
func (s *Server) hang(r *http.Request) {
	select {
	case s.hung <- struct{}{}:
	default:
	}
	select {
	case <-r.Context().Done():
	case <-s.ctx.Done():
	}
}

// pause waits between two pieces, unless nobody listens any more.
func (s *Server) pause(r *http.Request, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	case <-s.ctx.Done():
	}
}

func usage(req Request, out int) map[string]any {
	return map[string]any{
		"input_tokens": guessTokens(len(req.Raw)), "output_tokens": out,
		"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
	}
}

// events writes server-sent events. Once the client has gone away nothing more is written.
type events struct {
	w     http.ResponseWriter
	flush func() error
	gone  bool
}

func (e *events) send(name string, fields map[string]any) {
	if e.gone {
		return
	}
	fields["type"] = name
	data, err := json.Marshal(fields)
	if err != nil { // only plain values are sent
		panic(err)
	}
	if _, err := fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, data); err != nil {
		e.gone = true
		return
	}
	e.gone = e.flush() != nil
}
