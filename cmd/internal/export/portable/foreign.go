package portable

import (
	"errors"
	"fmt"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// Documents of other programs have only the original members of the format.

// foreign reports whether another program wrote the document.
func (c *Conversation) foreign() bool { return c.Session == nil || c.Session.ID == "" }

// foreignSession describes a conversation of another program.
func foreignSession(values map[string][]byte) *schema.Session {
	s := &schema.Session{Version: schema.Version, Title: rawjson.String(values["name"]), ContextSummary: rawjson.String(values["longTermSummary"])}
	if provider := rawjson.String(values["provider"]); provider != "" {
		SetProvider(s, provider)
	}
	if m, err := object(values["modes"]); err == nil {
		is := func(name string) bool { return string(m[name]) == "true" }
		if modes := (Modes{is("orchestrate"), is("plan"), is("bypassPermissions")}); modes != (Modes{}) {
			SetModes(s, modes)
		}
	}
	return s
}

// foreignMessage reads message number n of another program. Its parent is the previous
// message.
func (c *Conversation) foreignMessage(values map[string][]byte, n int) error {
	m := schema.Message{ID: rawjson.String(values["id"]), Role: schema.Role(rawjson.String(values["role"]))}
	switch m.Role {
	case schema.User, schema.Assistant, schema.System:
	default:
		return fmt.Errorf("its role %.40q is not user, assistant or system", string(m.Role))
	}
	if values["content"] == nil || values["content"][0] != '"' {
		return errors.New("its content is not a text")
	}
	m.Content = rawjson.String(values["content"])
	if metadata := values["metadata"]; metadata != nil {
		m.Unknown = []rawjson.Member{{Name: "metadata", Value: metadata}}
	}
	if m.ID == "" {
		m.ID = fmt.Sprintf("message-%d", n)
	}
	if last := len(c.Messages); last > 0 {
		m.ParentID = c.Messages[last-1].ID
	}
	var err error
	if m.Timestamp, err = timeIn(values["timestamp"]); err != nil {
		return err
	}
	k := 0
	for item, err := range each(values["toolCalls"]) {
		if err != nil {
			return err
		}
		call, err := object(item)
		if err != nil {
			return err
		}
		k++
		t := foreignCall(call)
		if t.ID == "" {
			t.ID = fmt.Sprintf("%s-call-%d", m.ID, k)
		}
		t.MessageID, t.Timestamp = m.ID, m.Timestamp
		m.ToolCalls = append(m.ToolCalls, schema.ToolCall{ID: t.ID, Name: t.Name})
		c.Tools = append(c.Tools, t)
	}
	c.Messages = append(c.Messages, m)
	return nil
}

// foreignCall reads a tool call in any of the forms that other programs use.
func foreignCall(call map[string][]byte) schema.Tool {
	t := schema.Tool{ID: rawjson.String(call["id"]), Name: rawjson.String(call["name"])}
	for _, name := range []string{"input", "arguments", "args"} {
		if v := call[name]; v != nil && t.Input == nil {
			t.Input = schema.Raw(v)
		}
	}
	for _, name := range []string{"output", "result"} {
		v := call[name]
		if v == nil || t.Output != "" {
			continue
		}
		if t.Output = rawjson.String(v); v[0] != '"' {
			t.Output = string(v)
		}
		done := true
		t.Success = &done
	}
	if text := rawjson.String(call["error"]); text != "" {
		failed := false
		t.Success, t.Error = &failed, text
	}
	return t
}
