package resume

import (
	"strconv"
	"strings"

	"cortext/resume/tildes"
)

// CutPayload finds a payload of [Build] in a text, by its block and the history after
// it. It returns the text before the block, which begins with the command's text, and
// the text after the history. ok is false without a payload. A block without a
// history does not count, since anyone may quote one.
//
// The text of a resume comes back in the agent's transcript. Capturing it again would
// add the history to itself with every resume.
func CutPayload(text string) (before, after string, ok bool) {
	for from := 0; ; {
		i := strings.Index(text[from:], blockOpen)
		if i < 0 {
			return "", "", false
		}
		at := from + i
		from = at + len(blockOpen)
		if at > 0 && text[at-1] != '\n' {
			continue
		}
		block, rest, found := strings.Cut(text[from:], blockClose+"\n")
		if !found {
			return "", "", false
		}
		if strings.Contains(block, "\n"+blockOpen) {
			continue // an unclosed quotation; each of our lines holds one text
		}
		if after, ok = cutHistory(rest); ok {
			return text[:at], after, true
		}
	}
}

// cutHistory removes the introduction and the fence from the beginning of text.
func cutHistory(text string) (after string, ok bool) {
	line, rest, _ := strings.Cut(text, "\n")
	run := 0
	for _, begins := range introductions() {
		if digits, ok := strings.CutPrefix(line, begins); ok {
			digits, _, _ = strings.Cut(digits, " ")
			run, _ = strconv.Atoi(digits)
		}
	}
	if run < tildes.Least || run > len(text) {
		return "", false
	}
	fence := strings.Repeat("~", run)
	rest, ok = strings.CutPrefix("\n"+rest, "\n"+fence+fenceOpen)
	if !ok {
		return "", false
	}
	// No other run is as long, so the first line with nothing else closes the fence.
	_, after, ok = strings.Cut("\n"+rest, "\n"+fence+"\n")
	if !ok && strings.HasSuffix(rest, "\n"+fence) { // an agent may trim the end
		return "", true
	}
	return after, ok
}

// introductions returns the possible beginnings of the line before a fence, up to the
// length of its run.
func introductions() (all []string) {
	for _, describe := range []func(run int) string{introduction, excerptIntroduction} {
		begins, _, _ := strings.Cut(describe(tildes.Least), strconv.Itoa(tildes.Least))
		all = append(all, begins)
	}
	return all
}
