package summarize

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"cortext/resume/summary"
	"cortext/schema/clip"
)

// The errors of [Check] for an unusable answer. Callers of models return them, too:
// ErrCut if the model reports that the answer was cut off.
var (
	ErrEmpty   = errors.New("the answer is empty")
	ErrRefused = errors.New("the model refused")
	ErrCut     = errors.New("the answer is cut off")
)

// Check extracts the summary from a model's answer, without the thoughts that some models
// put before it, control characters, and surrounding space. The error is one of
// [ErrEmpty], [ErrRefused] and [ErrCut].
func Check(answer string) (string, error) {
	answer, err := withoutThoughts(answer)
	if err != nil {
		return "", err
	}
	switch {
	case answer == "":
		return "", ErrEmpty
	case refusal(answer):
		return "", fmt.Errorf("%w: %q", ErrRefused, beginning(answer))
	case !summary.EndsSentence(answer):
		return "", fmt.Errorf("%w: it ends in %q", ErrCut, clip.Tail(answer, maxQuoted/2))
	}
	return answer, nil
}

// CheckTitle extracts a title from a model's answer: its first line, without the markup,
// quotation marks and full stop that some models add. The error is one of [ErrEmpty],
// [ErrRefused] and [ErrCut].
func CheckTitle(answer string) (string, error) {
	answer, err := withoutThoughts(answer)
	if err != nil {
		return "", err
	}
	title, _, _ := strings.Cut(answer, "\n")
	const around = " \t*_#`\"'“”‘’«»„"
	title = strings.Trim(title, around)
	for _, label := range []string{"title:", "title**:"} {
		if len(title) >= len(label) && strings.EqualFold(title[:len(label)], label) {
			title = strings.Trim(title[len(label):], around)
		}
	}
	if bare := strings.TrimSuffix(title, "."); !strings.HasSuffix(bare, ".") { // keep an ellipsis
		title = strings.Trim(bare, around)
	}
	switch {
	case !strings.ContainsFunc(title, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return "", ErrEmpty
	case refusal(title):
		return "", fmt.Errorf("%w: %q", ErrRefused, beginning(title))
	}
	return title, nil
}

// withoutThoughts returns an answer as plain text, without the thoughts that some models
// put before it. The error is [ErrCut].
func withoutThoughts(answer string) (string, error) {
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
	return answer, nil
}

// refusal reports whether an answer begins like a refusal. The same words further on are
// from the conversation.
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

// maxQuoted is how many bytes of an answer an error quotes.
const maxQuoted = 100

// beginning returns the beginning of a text's first line.
func beginning(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return clip.Head(s, maxQuoted)
}
