package gemini

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/inject"
)

// turnText returns the payload as the text of a user's turn. The program drops an
// imported turn that begins with "/", "?" or a tag of its own (FACTS.md, "Resuming
// a session"). turnText puts a line before such a payload and changes nothing
// else.
func turnText(payload string) string {
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

// transcriptOf renders the payload as a session of one user turn, with the members that
// the program requires (FACTS.md, "Resuming a session"). The program keeps the
// turn's id, and shows displayContent instead of the text.
func transcriptOf(r inject.Request) string {
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
	text := turnText(r.Payload)
	turn := struct {
		ID      string `json:"id"`
		Time    string `json:"timestamp"`
		Type    string `json:"type"`
		Content []part `json:"content"`
		Display []part `json:"displayContent"`
	}{inject.PayloadID(text), r.Time, "user", []part{{text}}, []part{{displayed(r)}}}
	return inject.JSONLines(head, turn)
}

// displayed returns what the program shows for the payload.
func displayed(r inject.Request) string {
	if r.Shown != "" {
		return r.Shown
	}
	return "[RESUMED CONVERSATION]"
}
