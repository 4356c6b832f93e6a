package program

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"cortext/inject"
	"cortext/schema/clip"
)

// nobody is the agent and, if it does not matter, the model of the message with the
// payload. The terminal program adopts both from the last message if they exist, so
// with this name it keeps the user's choices (1.18.33).
const nobody = "cortext"

// The document that opencode import accepts (FACTS.md, "Taking a session up again").
// Import replaces the folder and project with those of the run.
type (
	document struct {
		Info     info      `json:"info"`
		Messages []message `json:"messages"`
	}
	info struct {
		ID        string                       `json:"id"`
		Slug      string                       `json:"slug"`
		ProjectID string                       `json:"projectID"`
		Directory string                       `json:"directory"`
		Title     string                       `json:"title"`
		Version   string                       `json:"version"`
		Metadata  map[string]map[string]string `json:"metadata"`
		Time      times                        `json:"time"`
	}
	times struct {
		Created int64 `json:"created"`
		Updated int64 `json:"updated,omitempty"`
	}
	message struct {
		Info  messageInfo `json:"info"`
		Parts []part      `json:"parts"`
	}
	messageInfo struct {
		ID        string `json:"id"`
		SessionID string `json:"sessionID"`
		Role      string `json:"role"`
		Time      times  `json:"time"`
		Agent     string `json:"agent"`
		Model     model  `json:"model"`
	}
	model struct {
		ProviderID string `json:"providerID"`
		ModelID    string `json:"modelID"`
	}
	part struct {
		ID        string `json:"id"`
		MessageID string `json:"messageID"`
		SessionID string `json:"sessionID"`
		Type      string `json:"type"`
		Text      string `json:"text"`
		Synthetic bool   `json:"synthetic,omitempty"` // sent but not shown
		Ignored   bool   `json:"ignored,omitempty"`   // shown but not sent
	}
)

// Document renders the payload as a session of one message. Turns that run without a
// terminal and without a model of their own use the message's, "provider/model";
// empty is none.
func Document(r inject.Request, at time.Time, version, modelName string) string {
	text := string([]rune(r.Payload)) // JSON cannot encode any other text
	session, id, ms := SessionID(r.NativeID, at), PayloadMessageID(text, at), at.UnixMilli()
	provider, name, ok := strings.Cut(modelName, "/")
	if !ok {
		provider, name = nobody, nobody
	}
	d := document{
		Info: info{
			ID: session, Slug: nobody, ProjectID: "global", Directory: r.Dir, Title: title(text), Version: version,
			Metadata: map[string]map[string]string{"cortext": {"payload": inject.PayloadID(text)}},
			Time:     times{ms, ms},
		},
		Messages: []message{{
			Info:  messageInfo{id, session, "user", times{Created: ms}, nobody, model{provider, name}},
			Parts: []part{{ID: payloadID("prt", text, at), MessageID: id, SessionID: session, Type: "text", Text: text}},
		}},
	}
	if r.Shown != "" {
		parts := &d.Messages[0].Parts
		(*parts)[0].Synthetic = true
		*parts = append(*parts, part{ID: payloadID("prt", text+"\n"+r.Shown, at), MessageID: id, SessionID: session, Type: "text", Text: string([]rune(r.Shown)), Ignored: true})
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(d) // strings and numbers only: it cannot fail
	return b.String()
}

// title names the session as the block in the payload does. For a session without a
// title, the program would send the whole payload to a model to get one.
func title(payload string) string {
	const most = 100 // characters
	name := "Resumed conversation"
	_, block, _ := strings.Cut(payload, "[RESUMED CONVERSATION]\n")
	block, _, _ = strings.Cut(block, "\n[END RESUMED CONTEXT]")
	for line := range strings.Lines(block) {
		if rest, ok := strings.CutPrefix(line, "Conversation: "); ok && strings.TrimSpace(rest) != "" {
			name = strings.TrimSpace(rest)
			break
		}
	}
	return clip.Characters(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "�")), most)
}
