package program

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/inject"
)

// Turn is the payload as the text of a user's turn. The program drops an imported
// turn that begins with "/", "?" or a tag of its own (FACTS.md, "Taking a session up
// again"): such a one gets a line before it, and nothing else changes.
func Turn(payload string) string {
	if !utf8.ValidString(payload) {
		payload = string([]rune(payload)) // as JSON spells it
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

// Transcript spells the payload as a session of one user turn. These members are
// what the program needs (FACTS.md, "Taking a session up again"); it keeps the id of the
// turn, and shows displayContent in the place of the text.
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

// shown is what the program shows of the payload.
func shown(r inject.Request) string {
	if r.Shown != "" {
		return r.Shown
	}
	return "[RESUMED CONVERSATION]"
}
