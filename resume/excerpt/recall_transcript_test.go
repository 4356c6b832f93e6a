package excerpt_test

import (
	"encoding/json"
	"strings"
)

// A Transcript is a session file of an agent.
type Transcript struct {
	Name  string
	Agent string
	Said  []Said
	Cut   func(at int) []byte // the file as it was before the Said with that At
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }
func list(v any) []any            { l, _ := v.([]any); return l }
func str(v any) string            { s, _ := v.(string); return s }

func spelled(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n")
}

func readClaude(data []byte) *Transcript {
	lines := strings.SplitAfter(string(data), "\n")
	t := &Transcript{Agent: "claude", Cut: func(at int) []byte { return []byte(strings.Join(lines[:at], "")) }}
	for n, line := range lines {
		var r map[string]any
		kind := ""
		if json.Unmarshal([]byte(line), &r) == nil {
			kind = str(r["type"])
		}
		if kind != "user" && kind != "assistant" || r["isMeta"] == true || r["isSidechain"] == true || r["isCompactSummary"] == true {
			continue
		}
		content := object(r["message"])["content"]
		if s, ok := content.(string); ok {
			content = []any{map[string]any{"type": "text", "text": s}}
		}
		for _, c := range list(content) {
			switch b := object(c); str(b["type"]) {
			case "text":
				t.Said = append(t.Said, Said{kind, str(b["text"]), n})
			case "tool_use":
				t.Said = append(t.Said, Said{"call", str(b["name"]) + " " + spelled(b["input"]), n})
			case "tool_result":
				text := str(b["content"])
				var parts []string
				for _, p := range list(b["content"]) {
					parts = append(parts, str(object(p)["text"]))
				}
				if len(parts) > 0 {
					text = strings.Join(parts, "\n")
				}
				t.Said = append(t.Said, Said{"result", text, n})
			}
		}
	}
	return t
}

// readDocument reads an export of OpenCode or a session of Gemini CLI.
func readDocument(data []byte) *Transcript {
	var doc map[string]any
	if json.Unmarshal(data, &doc) != nil {
		return nil
	}
	messages := list(doc["messages"])
	t := &Transcript{Agent: "opencode", Cut: func(at int) []byte {
		doc["messages"] = messages[:at]
		return []byte(spelled(doc))
	}}
	if doc["projectHash"] != nil {
		t.Agent = "gemini"
	}
	for n, v := range messages {
		m := object(v)
		role := str(object(m["info"])["role"])
		for _, v := range list(m["parts"]) {
			p := object(v)
			switch state := object(p["state"]); {
			case str(p["type"]) == "text" && p["synthetic"] != true && p["ignored"] != true:
				t.Said = append(t.Said, Said{role, str(p["text"]), n})
			case str(p["type"]) == "tool":
				out := str(state["output"])
				if out == "" {
					out = str(state["error"])
				}
				t.Said = append(t.Said, Said{"call", str(p["tool"]) + " " + spelled(state["input"]), n}, Said{"result", out, n})
			}
		}
		text := str(m["content"])
		for _, p := range list(m["content"]) {
			text += str(object(p)["text"]) + "\n"
		}
		if kind := str(m["type"]); (kind == "user" || kind == "gemini") && text != "" {
			t.Said = append(t.Said, Said{map[string]string{"user": "user", "gemini": "assistant"}[kind], text, n})
		}
		for _, v := range list(m["toolCalls"]) {
			c := object(v)
			t.Said = append(t.Said, Said{"call", str(c["name"]) + " " + spelled(c["args"]), n}, Said{"result", spelled(c["result"]), n})
		}
	}
	return t
}

// Read reads a transcript of Claude Code (.jsonl), an export of OpenCode or a session
// of Gemini CLI; nil if it is none of these.
func Read(name string, data []byte) *Transcript {
	var t *Transcript
	if !strings.HasSuffix(name, ".jsonl") {
		t = readDocument(data)
	}
	if t == nil { // a transcript may have been renamed
		t = readClaude(data)
	}
	if len(t.Said) == 0 {
		return nil
	}
	t.Name = name
	return t
}

// Patterns returns where readable transcripts are, relative to a folder of them.
func Patterns() []string { return []string{"claude/*/*.jsonl", "opencode/*/*.json", "gemini/*/*.json"} }
