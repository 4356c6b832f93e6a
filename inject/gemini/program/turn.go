package program

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/inject"
)

// Turn returns the payload as the text of a user's turn. The program drops an
// imported turn that begins with "/", "?" or a tag of its own (FACTS.md, "Taking a
// session up again"). Turn puts a line before such a payload and changes nothing
// else.
func Turn(payload string) string {
	if !utf8.ValidString(payload) {
		payload = string([]rune(payload)) // as JSON encodes it
	}
	const mark = "[cortext]\n"
	start := strings.TrimLeftFunc(payload, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	for _, dropped := range []string{"/", "?", "<session_context>", "<hook_context>"} {
		if strings.HasPrefix(start, dropped) {
			return mark + payload
		}
	}
	return payload
}

// Transcript renders the payload as a session of one user turn, with the members that
// the program requires (FACTS.md, "Taking a session up again"). The program keeps the
// turn's id, and shows displayContent instead of the text.
func Transcript(r inject.Request) string {
	type part struct {
		Text string `json:"text"`
	}
	head := struct {
		Session string `json:"sessionId"`
		Project string `json:"projectHash"`
		Start   string `json:"startTime"`
		Updated string `json:"lastUpdated"`
		Kind    string `json:"kind"`
	}{r.NativeID, "cortext", r.Time, r.Time, "main"}
	text := Turn(r.Payload)
	turn := struct {
		ID      string `json:"id"`
		Time    string `json:"timestamp"`
		Type    string `json:"type"`
		Content []part `json:"content"`
		Display []part `json:"displayContent"`
	}{inject.PayloadID(text), r.Time, "user", []part{{text}}, []part{{shown(r)}}}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(head) // strings only: it cannot fail
	_ = enc.Encode(turn)
	return b.String()
}

// shown returns what the program shows for the payload.
func shown(r inject.Request) string {
	if r.Shown != "" {
		return r.Shown
	}
	return "[RESUMED CONVERSATION]"
}
