// Package summarize asks a model for a summary of a part of a conversation, or for its
// title: a model behind an OpenAI-compatible endpoint, or the user's own agent, started
// headless. It writes the prompt and extracts the text from the answer.
package summarize

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/clip"
)

// A Result is a model's answer: a summary that passed [Check], or a title that passed
// [CheckTitle], perhaps longer than requested.
type Result struct {
	Text  string
	Model string // empty if unknown
}

// Away reports whether an error of a Summarize means that the model does not answer or
// denies access. Then asking again at once has the same result.
func Away(err error) bool { return errors.As(err, new(*awayError)) }

// AsAway wraps err so that [Away] reports true.
func AsAway(err error) error { return &awayError{err} }

type awayError struct{ err error }

func (e *awayError) Error() string { return e.err.Error() }
func (e *awayError) Unwrap() error { return e.err }

// MaxAnswer limits how many bytes of an answer are read: a summary has a few thousand.
const MaxAnswer = 1 << 20

// maxSaid is how many bytes of another program's output an error shows.
const maxSaid = 200

// Said returns the first meaningful line of text for an error, shortened and without
// control characters.
func Said(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || r == utf8.RuneError) {
			return -1
		}
		return r
	}, schema.WithoutEscapes(text))
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > maxSaid {
		line = clip.Head(line, maxSaid) + clip.Mark
	}
	return strings.TrimSpace(line)
}
