package excerpt_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// longShard is the least length, in characters, of a line that is readable on its
// own, even if cut.
const longShard = 100

// ourMark is the beginning of cortext's own lines in a payload's history: a heading,
// a gap, or a list entry.
var ourMark = regexp.MustCompile(`^(~{3,}|…|- )`)

// shardsIn counts the characters of a payload that are in shards: short lines of its
// history that are neither a whole line nor a whole sentence of the history, nor
// ours.
func shardsIn(history []Said, payload string) (shards, all int) {
	whole := map[string]bool{}
	for _, s := range history {
		for _, text := range textsIn(s) {
			for line := range strings.Lines(text) {
				whole[strings.TrimSpace(line)] = true
			}
			for _, sentence := range everySentenceOf(text) {
				whole[sentence] = true
			}
		}
	}
	for line := range strings.Lines(payload) {
		n := utf8.RuneCountInString(line)
		all += n
		line = strings.TrimSpace(line)
		if n < longShard && line != "" && !ourMark.MatchString(line) && !whole[line] && !madeOfSentences(line, whole) {
			shards += n
		}
	}
	return shards, all
}

// textsIn returns the texts of what was said: the result of a Gemini CLI call is
// JSON.
func textsIn(s Said) []string {
	var value any
	if s.Kind != "result" || json.Unmarshal([]byte(s.Text), &value) != nil {
		return []string{s.Text}
	}
	return stringsIn(value)
}

// stringsIn returns the strings in a JSON value.
func stringsIn(value any) (all []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			all = append(all, stringsIn(e)...)
		}
	case map[string]any:
		for _, e := range v {
			all = append(all, stringsIn(e)...)
		}
	}
	return all
}

// everySentenceOf is sentencesOf including short ones.
func everySentenceOf(text string) (all []string) {
	for line := range strings.Lines(text) {
		for line = squeeze(line); line != ""; {
			n := sentenceEnd(line)
			all = append(all, strings.TrimSpace(line[:n]))
			line = strings.TrimSpace(line[n:])
		}
	}
	return all
}

// madeOfSentences reports whether a line consists of whole sentences.
func madeOfSentences(line string, whole map[string]bool) bool {
	for line = squeeze(line); line != ""; {
		n := sentenceEnd(line)
		if !whole[strings.TrimSpace(line[:n])] {
			return false
		}
		line = strings.TrimSpace(line[n:])
	}
	return true
}

// splitPayload splits a payload into cortext's own text (the command, the block, the
// introduction, notes and summaries) and what comes from the history.
func splitPayload(payload string) (ours, history string) {
	m := regexp.MustCompile(`(?m)^(~{3,}) history\n`).FindStringSubmatchIndex(payload)
	switch {
	case m == nil && strings.Contains(payload, "[RESUMED CONVERSATION]"):
		return payload, ""
	case m == nil: // a simple payload
		return "", payload
	}
	fence := payload[m[2]:m[3]]
	ours = payload[:m[0]]
	for i, section := range strings.Split(payload[m[0]:], "\n"+fence+" ") {
		if name, _, _ := strings.Cut(section, "\n"); i > 0 && (name == "state" || name == "notes" || strings.HasPrefix(name, "summary ")) {
			ours += section + "\n"
		} else {
			history += "\n" + fence + " " + section
		}
	}
	return ours, history
}
