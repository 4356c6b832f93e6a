package summarize

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"cortext/resume/summary"
)

// The errors of [Check], for what is no summary. Whoever asks a model returns them
// too: ErrCut where it is said that the answer was cut off.
var (
	ErrEmpty   = errors.New("the answer is empty")
	ErrRefused = errors.New("the model refused")
	ErrCut     = errors.New("the answer is cut off")
)

// Check returns the summary in what a model answered: without the thoughts that some
// models put before it, without control characters, and without space around it. The
// error is one of [ErrEmpty], [ErrRefused] and [ErrCut].
func Check(answer string) (string, error) {
	answer = strings.TrimSpace(summary.Plain(answer))
	for _, tag := range []string{"think", "thinking"} {
		if rest, ok := strings.CutPrefix(answer, "<"+tag+">"); ok {
			_, rest, ok = strings.Cut(rest, "</"+tag+">")
			if !ok {
				return "", fmt.Errorf("%w: it ends in the model's thoughts", ErrCut)
			}
			answer = strings.TrimSpace(rest)
		}
	}
	switch {
	case answer == "":
		return "", ErrEmpty
	case refusal(answer):
		return "", fmt.Errorf("%w: %q", ErrRefused, beginning(answer))
	case !summary.EndsSentence(answer):
		return "", fmt.Errorf("%w: it ends in %q", ErrCut, end(answer))
	}
	return answer, nil
}

// refusal reports whether an answer begins as one does that declines. The same words
// later on are what somebody said in the conversation.
func refusal(answer string) bool {
	s := strings.ToLower(strings.ReplaceAll(beginning(answer), "’", "'"))
	s = strings.TrimLeft(s, "*_\"'# ")
	for _, p := range []string{"i can't", "i cannot", "i can not", "i won't", "i will not", "i'm not able", "i am not able", "i'm unable", "i am unable", "i must decline", "i have to decline",
		"i'm sorry", "i am sorry", "i apologize", "sorry, ", "sorry but", "unfortunately, i ", "as an ai"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// maxQuoted is how much of an answer an error quotes, in bytes.
const maxQuoted = 100

// beginning is the beginning of a text's first line.
func beginning(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) <= maxQuoted {
		return s
	}
	i := maxQuoted
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return s[:i]
}

// end is the end of a text.
func end(s string) string {
	i := max(0, len(s)-maxQuoted/2)
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}
