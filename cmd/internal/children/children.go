// Package children ends a program together with the programs that it started, and keeps the
// end of what a program prints.
package children

import (
	"strings"
	"sync"
)

// A Tail keeps the last Len bytes that are written to it. It is safe for concurrent use.
type Tail struct {
	Len int

	mu  sync.Mutex
	end []byte
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p[max(len(p)-t.Len, 0):]...)
	t.end = t.end[max(len(t.end)-t.Len, 0):]
	return len(p), nil
}

// String returns what t has kept, without white space around it. U+FFFD replaces what is not
// UTF-8.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.end), "\uFFFD"))
}
