//go:build unix

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// secretTranscript returns a transcript of Claude Code with a text wherever one may be. With
// first, the prompt that names the conversation begins with it.
func secretTranscript(dir, secret string, first bool) string {
	topic := "the login of all the many people here and elsewhere, who are more than one thinks, with "
	if first {
		topic = "try "
	}
	command := "<command-message>workspace.brainstorm</command-message>\n<command-name>/workspace.brainstorm</command-name>\n<command-args>" + topic + secret + " here</command-args>"
	t := &secretLines{dir: dir, prefix: "u"}
	t.user(command)
	t.say(secret, 0)
	t.line(object{"type": "custom-title", "customTitle": "about " + secret, "sessionId": "s1"})
	for i := range 8 {
		t.user(fmt.Sprintf("Question %d: why did %s fail? It said error %d.", i, secret, i))
		t.answer(fmt.Sprintf("Decision %d: we use %s, because it failed with error %d.", i, secret, i))
	}
	return t.String()
}

// secretTurns continues secretTranscript.
func secretTurns(dir, secret string) string {
	t := &secretLines{dir: dir, prefix: "v"}
	t.user("again " + secret)
	t.say(secret, 1)
	return t.String()
}

// secretSubagent returns the transcript of a sub-agent.
func secretSubagent(secret string) string {
	t := &secretLines{prefix: "a", more: object{"isSidechain": true, "agentId": "aa11"}}
	t.user("find " + secret)
	t.answer("found " + secret)
	return t.String()
}

// secretLines are lines of a transcript.
type secretLines struct {
	strings.Builder
	dir, prefix string
	n           int
	more        object
}

func (t *secretLines) line(o object) {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	t.Write(append(b, '\n'))
}

func (t *secretLines) put(kind string, message object) {
	t.n++
	o := object{
		"type": kind, "uuid": fmt.Sprintf("%s%d", t.prefix, t.n), "parentUuid": nil, "isSidechain": false, "sessionId": "s1",
		"timestamp": fmt.Sprintf("2025-11-22T1%d:%02d:00.000Z", strings.Index("uv", t.prefix)+2, t.n), "cwd": t.dir, "version": "2.1.329", "message": message,
	}
	if t.n > 1 {
		o["parentUuid"] = fmt.Sprintf("%s%d", t.prefix, t.n-1)
	} else if t.prefix == "v" {
		o["parentUuid"] = "u21"
	}
	for k, v := range t.more {
		o[k] = v
	}
	t.line(o)
}

func (t *secretLines) user(content any) {
	t.put("user", object{"role": "user", "content": content})
}

func (t *secretLines) answer(content any) {
	if text, ok := content.(string); ok {
		content = []object{{"type": "text", "text": text}}
	}
	t.put("assistant", object{"id": fmt.Sprintf("m-%s%d", t.prefix, t.n), "role": "assistant", "model": "m", "content": content, "stop_reason": "end_turn"})
}

// say puts the text into reasoning, calls, results and attachments.
func (t *secretLines) say(secret string, turn int) {
	inner, err := json.Marshal(object{"key": secret, "list": []string{secret}})
	if err != nil {
		panic(err)
	}
	call := func(n int) string { return fmt.Sprintf("c%d", 5*turn+n) }
	t.user([]object{
		{"type": "text", "text": "See the file. " + secret},
		{"type": "document", "title": secret + ".txt", "source": object{"type": "base64", "media_type": "text/plain", "data": base64.StdEncoding.EncodeToString([]byte(fmt.Sprintf("The key of %d:\n%s\n", turn, secret)))}},
	})
	t.answer([]object{
		{"type": "thinking", "thinking": "Is it " + secret + "?", "signature": "x"},
		{"type": "text", "text": "Let me try " + secret + "."},
		{"type": "tool_use", "id": call(1), "name": "Bash", "input": object{"command": "login " + secret, "nested": object{secret: []any{secret, object{"json": string(inner)}}}}},
		{"type": "tool_use", "id": call(2), "name": "Read", "input": object{"file_path": "/tmp/" + secret + ".go"}},
		{"type": "tool_use", "id": call(3), "name": "TodoWrite", "input": object{"todos": []object{{"content": "try " + secret, "status": "pending", "activeForm": "trying"}}}},
		{"type": "tool_use", "id": call(4), "name": "Bash", "input": object{"command": "cat log"}},
		{"type": "tool_use", "id": call(5), "name": "Agent", "input": object{"description": "look", "prompt": "find " + secret, "subagent_type": "general"}},
	})
	long := strings.Repeat("a line of the log\n", 100) + secret + strings.Repeat("\nanother line of the log", 100)
	t.user([]object{
		{"type": "tool_result", "tool_use_id": call(1), "content": "Error: " + secret + " was refused", "is_error": true},
		{"type": "tool_result", "tool_use_id": call(2), "content": "package " + secret},
		{"type": "tool_result", "tool_use_id": call(3), "content": "ok"},
		{"type": "tool_result", "tool_use_id": call(4), "content": long},
		{"type": "tool_result", "tool_use_id": call(5), "content": "found " + secret},
	})
	t.answer("It was " + secret + ".")
}
