package gemini

import (
	"cmp"

	"cortext/inject"
	"cortext/schema/rawjson"
)

// A record is a line of a session's file, or a message of a document: a header, a
// message, or a change to what precedes it (FACTS.md, "Records of a transcript").
type record struct {
	ID, Type, Role      string
	Timestamp, Model    string
	Session, Hash, Kind string
	Start               string
	Rewind              string
	Content, Display    []byte
	ToolCalls, Thoughts []byte
	Tokens, Set         []byte
	Messages, History   []byte
	Foreign             bool // it has the envelope of another agent
	unnamed             bool // it has no id, type or role
}

func parseRecord(raw []byte) (record, error) {
	members, err := rawjson.Members(raw)
	if err != nil {
		return record{}, err
	}
	var r record
	for _, m := range members {
		switch m.Name {
		case "id":
			r.ID = rawjson.String(m.Value)
		case "type":
			r.Type = rawjson.String(m.Value)
		case "role":
			r.Role = rawjson.String(m.Value)
		case "timestamp":
			r.Timestamp = rawjson.String(m.Value)
		case "model":
			r.Model = rawjson.String(m.Value)
		case "sessionId":
			r.Session = rawjson.String(m.Value)
		case "projectHash":
			r.Hash = rawjson.String(m.Value)
		case "kind":
			r.Kind = rawjson.String(m.Value)
		case "startTime":
			r.Start = rawjson.String(m.Value)
		case "$rewindTo":
			r.Rewind = rawjson.String(m.Value)
		case "content":
			r.Content = m.Value
		case "parts": // in a checkpoint's turns
			if r.Content == nil {
				r.Content = m.Value
			}
		case "displayContent":
			r.Display = m.Value
		case "toolCalls":
			r.ToolCalls = m.Value
		case "thoughts":
			r.Thoughts = m.Value
		case "tokens":
			r.Tokens = m.Value
		case "$set":
			r.Set = m.Value
		case "messages":
			r.Messages = m.Value
		case "history":
			r.History = m.Value
		case "message", "payload", "uuid", "parentUuid":
			r.Foreign = true
		}
	}
	r.unnamed = r.ID == "" && r.Type == "" && r.Role == ""
	return r, nil
}

type unitKind int

const (
	unknownUnit unitKind = iota
	userUnit
	modelUnit
	eventUnit
)

// kindOf returns the speaker of a message. Checkpoints and some writers have a role
// instead of a type, and "model" instead of "gemini".
func kindOf(r record) unitKind {
	switch cmp.Or(r.Type, r.Role) {
	case "user":
		return userUnit
	case "gemini", "model", "assistant":
		return modelUnit
	case "info", "error", "warning":
		return eventUnit
	}
	return unknownUnit
}

// A part is one element of a message's content (Part of the Gemini API).
type part struct {
	text                       string
	isText, thought            bool
	call, response, data, file []byte
	unknown                    string
}

// parts returns the content of a message. A string becomes one text.
func parts(content []byte) []part {
	if len(content) == 0 {
		return nil
	}
	elements := [][]byte{content}
	if content[0] == '[' {
		var err error
		if elements, err = rawjson.Array(content); err != nil {
			return nil
		}
	}
	list := make([]part, 0, len(elements))
	for _, e := range elements {
		if e[0] == '"' {
			list = append(list, part{text: rawjson.String(e), isText: true})
			continue
		}
		members, err := rawjson.Members(e)
		if err != nil {
			continue
		}
		list = append(list, parsePart(members))
	}
	return list
}

func parsePart(members []rawjson.Member) (p part) {
	known := false
	for _, m := range members {
		switch m.Name {
		case "text":
			p.text, p.isText = rawjson.String(m.Value), true
		case "thought":
			p.thought = inject.IsTrue(m.Value)
		case "functionCall":
			p.call = m.Value
		case "functionResponse":
			p.response = m.Value
		case "inlineData":
			p.data = m.Value
		case "fileData":
			p.file = m.Value
		case "thoughtSignature", "videoMetadata", "type", "partMetadata", "mediaResolution":
			known = true
		default:
			if p.unknown == "" {
				p.unknown = inject.KindName(m.Name)
			}
		}
	}
	if known || p.isText || p.call != nil || p.response != nil || p.data != nil || p.file != nil {
		p.unknown = ""
	}
	return p
}

// A call is a tool call of a message, with its outcome if it has one.
type call struct {
	native, name  string
	args, result  []byte
	display       []byte
	status, stamp string
	agent         string // the sub-agent that it started
}

// calls lists the tool calls of a model's message: its toolCalls, and the calls in
// its content that are not among them.
func calls(r record, s spoken) []call {
	var list []call
	named := map[string]bool{}
	elements, _ := rawjson.Array(r.ToolCalls)
	for _, e := range elements {
		members, err := rawjson.Members(e)
		if err != nil {
			continue
		}
		var c call
		for _, m := range members {
			switch m.Name {
			case "id":
				c.native = rawjson.String(m.Value)
			case "name":
				c.name = rawjson.String(m.Value)
			case "args":
				c.args = m.Value
			case "result":
				c.result = m.Value
			case "resultDisplay":
				c.display = m.Value
			case "status":
				c.status = rawjson.String(m.Value)
			case "timestamp":
				c.stamp = rawjson.String(m.Value)
			case "agentId":
				c.agent = rawjson.String(m.Value)
			}
		}
		named[c.native] = true
		list = append(list, c)
	}
	for _, i := range s.items {
		if i.call == nil {
			continue
		}
		c := call{native: rawjson.String(rawjson.Get(i.call, "id")), name: rawjson.String(rawjson.Get(i.call, "name")), args: rawjson.Get(i.call, "args")}
		if !named[c.native] && (c.native != "" || len(elements) == 0) {
			named[c.native] = c.native != ""
			list = append(list, c)
		}
	}
	return list
}
