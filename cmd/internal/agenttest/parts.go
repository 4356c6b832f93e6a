package agenttest

import "encoding/json"

// parts is content in the Anthropic and OpenAI APIs: a string, or a list of typed parts.
// A string is read as a single text.
type parts content

func (p *parts) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		*p = parts{textBlock(text)}
		return nil
	}
	var list []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`
		Content parts           `json:"content"`
		IsError bool            `json:"is_error"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	*p = nil
	for _, b := range list {
		switch b.Type { // convert to the Anthropic API's names
		case "image_url":
			b.Type = "image"
		case "file":
			b.Type = "document"
		}
		*p = append(*p, block{
			Type: b.Type, Text: b.Text, Name: b.Name, Input: b.Input,
			Content: content(b.Content), IsError: b.IsError,
		})
	}
	return nil
}
