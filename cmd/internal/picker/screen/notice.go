package screen

import (
	"context"
	"errors"
)

// A notice is one line above the keys, until the next key.
type notice struct {
	text   string
	failed bool // it is an error
}

// say shows a text.
func (n *notice) say(text string) { *n = notice{text: text} }

// fail shows an error.
func (n *notice) fail(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		*n = notice{err.Error(), true}
	}
}
