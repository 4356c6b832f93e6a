package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/resume/excerpt"
	"cortext/schema"
	"cortext/schema/clip"
	"cortext/schema/prompt"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

// Extract summarizes a range without a model, in at most maxTokens tokens. It uses
// the user's requests and the agent's answers, like the payload of a history that
// does not fit.
func Extract(h schema.History, r Range, maxTokens int) string {
	var sections []excerpt.Section
	var speakers []string
	turn, manages := 0, false
	for i := max(r.Start, 0); i < min(r.End, len(h.Messages)); i++ {
		m := &h.Messages[i]
		text := strings.TrimSpace(clip.Ends(rawjson.Text(m.Content), endBytes))
		kind, speaker := excerpt.Assistant, "Agent: "
		if m.Role == schema.User {
			turn++
			manages = prompt.Manages(m.Content)
			kind, speaker = excerpt.User, "User: "
		}
		if text == "" || manages || m.Sealed != "" || m.Role != schema.User && m.Role != schema.Assistant {
			continue
		}
		sections = append(sections, excerpt.Section{Turn: turn, Heading: 2, Texts: []excerpt.Text{{Kind: kind, Text: text}}})
		speakers = append(speakers, speaker)
	}
	return render(sections, speakers, maxTokens)
}

// Condense returns text if it has at most maxTokens tokens of o200k_base. Otherwise
// it returns what a payload would include of it, with marks for the rest, or "" if
// nothing fits.
func Condense(text string, maxTokens int) string {
	text = strings.TrimSpace(text)
	if text == "" || maxTokens <= 0 {
		return ""
	}
	if !tokens.Exceed(text, maxTokens) {
		return text
	}
	return render([]excerpt.Section{{Texts: []excerpt.Text{{Kind: excerpt.Assistant, Text: clip.Ends(text, endBytes)}}}}, []string{""}, maxTokens)
}

// render renders an excerpt of sections in at most maxTokens tokens, each after its
// speaker.
func render(sections []excerpt.Section, speakers []string, maxTokens int) string {
	history := excerpt.Read(sections)
	for room := maxTokens; room > 0; {
		var b strings.Builder
		for i, c := range history.Choose(room, nil) {
			if strings.Trim(c.Text, " \n"+excerpt.Gap) != "" {
				b.WriteString(speakers[i] + strings.TrimSpace(c.Text) + "\n")
			}
		}
		text := strings.TrimSpace(b.String())
		n := tokens.Count(text)
		if n <= maxTokens {
			return text
		}
		room -= max(n-maxTokens, 1)
	}
	return ""
}

// endBytes is how many bytes of each end of a message are read. The middle of a pasted
// log does not improve a summary.
const endBytes = 16 << 10

// EndsSentence reports whether the last sentence of s is complete. An emoji may
// follow it; some models add one.
func EndsSentence(s string) bool {
	s = strings.TrimRightFunc(s, func(r rune) bool { return unicode.Is(unicode.So, r) || unicode.IsMark(r) || r == ' ' })
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, ")]\"'”’»*_`」』）"))
	return r != utf8.RuneError && strings.ContainsRune(".!?…。！？", r)
}
