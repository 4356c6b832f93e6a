package excerpt_test

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// leastSentence is the least length, in characters, of a sentence that counts: a
// shorter one says little, and occurs anywhere.
const leastSentence = 25

// sentencesOf returns the sentences of a text, with each run of space as one space. A
// sentence ends at a full stop, a question mark or an exclamation mark before a space
// and a capital, or at the end of a line. Fenced code has none.
func sentencesOf(text string) (all []string) {
	fence := ""
	for line := range strings.Lines(text) {
		line = squeeze(line)
		if mark := fenceMark(line); mark != "" && (fence == "" || strings.HasPrefix(mark, fence)) {
			if fence != "" {
				mark = ""
			}
			fence = mark
			continue
		}
		if fence != "" {
			continue
		}
		for line != "" {
			n := sentenceEnd(line)
			if s := strings.TrimSpace(line[:n]); utf8.RuneCountInString(s) >= leastSentence {
				all = append(all, s)
			}
			line = strings.TrimSpace(line[n:])
		}
	}
	return all
}

// fenceMark returns the run of backticks or tildes that opens or closes a code block.
func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// sentenceEnd returns the end of a line's first sentence.
func sentenceEnd(line string) int {
	for i := 0; i+2 < len(line); i++ {
		if strings.IndexByte(".!?", line[i]) >= 0 && line[i+1] == ' ' {
			if r, _ := utf8.DecodeRuneInString(line[i+2:]); unicode.IsUpper(r) {
				return i + 1
			}
		}
	}
	return len(line)
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// wholeSentences counts the sentences of a kind of speaker, and those that a payload
// has verbatim.
func wholeSentences(said []Said, kind, payload string) (whole, all int) {
	payload = squeeze(payload)
	for _, s := range said {
		if s.Kind != kind || strings.HasPrefix(s.Text, "<command-") || strings.HasPrefix(s.Text, "<bash-input>") { // cortext has what was typed
			continue
		}
		for _, sentence := range sentencesOf(s.Text) {
			all++
			if strings.Contains(payload, sentence) {
				whole++
			}
		}
	}
	return whole, all
}
