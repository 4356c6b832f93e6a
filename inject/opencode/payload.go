package opencode

import (
	"fmt"
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

// The document that opencode import accepts (FACTS.md, "Resuming a session").
// Import replaces the folder and project with those of the run.
type (
	importDocument struct {
		Info     importSession   `json:"info"`
		Messages []importMessage `json:"messages"`
	}
	importSession struct {
		ID        string                       `json:"id"`
		Slug      string                       `json:"slug"`
		ProjectID string                       `json:"projectID"`
		Directory string                       `json:"directory"`
		Title     string                       `json:"title"`
		Version   string                       `json:"version"`
		Metadata  map[string]map[string]string `json:"metadata"`
		Time      importTimes                  `json:"time"`
	}
	importTimes struct {
		Created int64 `json:"created"`
		Updated int64 `json:"updated,omitempty"`
	}
	importMessage struct {
		Info  importInfo   `json:"info"`
		Parts []importPart `json:"parts"`
	}
	importInfo struct {
		ID        string      `json:"id"`
		SessionID string      `json:"sessionID"`
		Role      string      `json:"role"`
		Time      importTimes `json:"time"`
		Agent     string      `json:"agent"`
		Model     importModel `json:"model"`
	}
	importModel struct {
		ProviderID string `json:"providerID"`
		ModelID    string `json:"modelID"`
	}
	importPart struct {
		ID        string `json:"id"`
		MessageID string `json:"messageID"`
		SessionID string `json:"sessionID"`
		Type      string `json:"type"`
		Text      string `json:"text"`
		Synthetic bool   `json:"synthetic,omitempty"` // sent but not shown
		Ignored   bool   `json:"ignored,omitempty"`   // shown but not sent
	}
)

// payloadDocument renders the payload as a session of one message. modelName,
// "provider/model" or empty, becomes that message's model. A turn without a terminal
// uses it unless the launch names another.
func payloadDocument(r inject.Request, at time.Time, version, modelName string) string {
	text := string([]rune(r.Payload)) // JSON cannot encode any other text
	session, id, ms := sessionID(r.NativeID, at), payloadMessageID(text, at), at.UnixMilli()
	provider, name, ok := strings.Cut(modelName, "/")
	if !ok {
		provider, name = nobody, nobody
	}
	d := importDocument{
		Info: importSession{
			ID: session, Slug: nobody, ProjectID: "global", Directory: r.Dir, Title: titleOf(text), Version: version,
			Metadata: map[string]map[string]string{"cortext": {"payload": inject.PayloadID(text)}},
			Time:     importTimes{ms, ms},
		},
		Messages: []importMessage{{
			Info:  importInfo{id, session, "user", importTimes{Created: ms}, nobody, importModel{provider, name}},
			Parts: []importPart{{ID: payloadID("prt", text, at), MessageID: id, SessionID: session, Type: "text", Text: text}},
		}},
	}
	if r.Shown != "" {
		parts := &d.Messages[0].Parts
		(*parts)[0].Synthetic = true
		*parts = append(*parts, importPart{ID: payloadID("prt", text+"\n"+r.Shown, at), MessageID: id, SessionID: session, Type: "text", Text: string([]rune(r.Shown)), Ignored: true})
	}
	return inject.JSONLines(d)
}

// titleOf returns the title that the block in the payload has. For a session without a
// title, the program would send the whole payload to a model to get one.
func titleOf(payload string) string {
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

// An OpenCode id is a prefix, 12 hex digits for the time, and 14 digits of base 62
// (1.18.33). The time is in milliseconds, each with 4096 places for a counter from 1
// on, cut to 48 bits; session ids count downwards. Our ids use place 0, so that they
// sort before everything that the program makes in that millisecond or later, and end
// in hex digits.

const (
	idTailLen = 14
	timeBits  = 48
)

func clock(at time.Time) uint64 { return uint64(at.UnixMilli()) << 12 & (1<<timeBits - 1) }

// sessionID returns the id for a session that begins at that time; uuid makes it
// unique.
func sessionID(uuid string, at time.Time) string {
	return fmt.Sprintf("ses_%012x%s", ^clock(at)&(1<<timeBits-1), idTail(uuid))
}

// payloadMessageID returns the id for a message with a payload of ours at that time.
// Its end is derived from the text, so that we recognize the message in any copy of
// the session that keeps ids.
func payloadMessageID(text string, at time.Time) string { return payloadID("msg", text, at) }

func payloadID(prefix, text string, at time.Time) string {
	return fmt.Sprintf("%s_%012x%s", prefix, clock(at), idTail(inject.PayloadID(text)))
}

// isPayloadMessage reports whether a launch of ours made the message with that id and
// text, at any time.
func isPayloadMessage(id, text string) bool {
	rest, ok := strings.CutPrefix(id, "msg_")
	return ok && len(rest) == timeBits/4+idTailLen && rest[timeBits/4:] == idTail(inject.PayloadID(text))
}

// idTail returns the end of an id, from a UUID: its first digits, which are valid in
// base 62.
func idTail(uuid string) string {
	digits := strings.ReplaceAll(uuid, "-", "") + strings.Repeat("0", idTailLen)
	return digits[:idTailLen]
}
