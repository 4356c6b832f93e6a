// Package summarize asks a model to sum up a part of a conversation: one behind an
// OpenAI-compatible endpoint, or the user's own agent, started headless. It says what the
// model is told, and what of its answer is a summary.
package summarize

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
)

// A Result is what a model answered: a summary by [Check], perhaps longer than
// asked.
type Result struct {
	Text  string
	Model string // empty where nobody says
}

// Away reports whether an error of a Summarize says that nobody answers, or that we are
// not let in: who asks again at once is told the same.
func Away(err error) bool { return errors.As(err, new(*awayError)) }

// AsAway makes err one of which [Away] reports true.
func AsAway(err error) error { return &awayError{err} }

type awayError struct{ err error }

func (e *awayError) Error() string { return e.err.Error() }
func (e *awayError) Unwrap() error { return e.err }

// MaxAnswer bounds what is read of an answer, in bytes: a summary has a few thousand.
const MaxAnswer = 1 << 20

// maxSaid is how much of what another program said is shown in an error, in bytes.
const maxSaid = 200

// Said is the first line of text that says anything, for an error: cut, and without
// what a terminal would obey.
func Said(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || r == utf8.RuneError) {
			return -1
		}
		return r
	}, schema.WithoutEscapes(text))
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > maxSaid {
		i := maxSaid
		for i > 0 && !utf8.RuneStart(line[i]) {
			i--
		}
		line = line[:i] + "…"
	}
	return strings.TrimSpace(line)
}
