package workspace

import (
	"slices"
	"strings"
	"time"

	"cortext/store"
)

// pendingName is the cache file for failures, such as a failed commit, that could not be
// shown at once. The next command reports them.
const pendingName = "untold"

// MaxPending is how many failures are kept for the next command, and maxPendingText how
// many characters of each.
const (
	MaxPending     = 10
	maxPendingText = 1000
)

// Pending are the failures that the next command reports.
type Pending struct{ store *store.Store }

// Add keeps an error for the next command to report: the last MaxPending, each once.
func (p Pending) Add(err error) error {
	defer p.lock()()
	b, _ := p.store.ReadCache(pendingName)
	text := Plain(err.Error())
	if r := []rune(text); len(r) > maxPendingText {
		text = string(r[:maxPendingText]) + "…"
	}
	list := slices.DeleteFunc(strings.Split(string(b), "\n"), func(line string) bool { return line == "" || line == text })
	list = append(list, text)
	return p.store.WriteCache(pendingName, []byte(strings.Join(list[max(0, len(list)-MaxPending):], "\n")))
}

// Take returns, once, the failures that could not be shown at once, one per line.
func (p Pending) Take() string {
	if _, ok := p.store.ReadCache(pendingName); !ok {
		return "" // the usual case takes no lock
	}
	defer p.lock()()
	b, ok := p.store.ReadCache(pendingName)
	if ok {
		_ = p.store.RemoveCache(pendingName)
	}
	return string(b)
}

// lock serializes access to the pending warnings. Without the lock, a failure may
// be reported twice or lost.
func (p Pending) lock() (unlock func()) {
	unlock, err := p.store.LockCache(pendingName, time.Second)
	if err != nil {
		return func() {}
	}
	return unlock
}
