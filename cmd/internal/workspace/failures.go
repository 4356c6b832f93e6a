package workspace

import (
	"slices"
	"strings"
	"time"
)

// untoldName is the cache file for failures, such as a failed commit, that could not be
// shown at once. The next command reports them.
const untoldName = "untold"

// MaxUntold is how many failures are kept for the next command, maxUntoldText the
// characters kept of each.
const (
	MaxUntold     = 10
	maxUntoldText = 1000
)

// TellLater keeps an error for the next command to report: the last MaxUntold, each once.
func (w *Workspace) TellLater(err error) error {
	defer w.lockUntold()()
	b, _ := w.Store.ReadCache(untoldName)
	text := Plain(err.Error())
	if r := []rune(text); len(r) > maxUntoldText {
		text = string(r[:maxUntoldText]) + "…"
	}
	list := slices.DeleteFunc(strings.Split(string(b), "\n"), func(line string) bool { return line == "" || line == text })
	list = append(list, text)
	return w.Store.WriteCache(untoldName, []byte(strings.Join(list[max(0, len(list)-MaxUntold):], "\n")))
}

// Untold returns, once, the failures that could not be shown at once, one per line.
func (w *Workspace) Untold() string {
	if _, ok := w.Store.ReadCache(untoldName); !ok {
		return "" // the usual case takes no lock
	}
	defer w.lockUntold()()
	b, ok := w.Store.ReadCache(untoldName)
	if ok {
		_ = w.Store.RemoveCache(untoldName)
	}
	return string(b)
}

// lockUntold serializes access to the pending warnings. Without the lock, a failure may
// be reported twice or lost.
func (w *Workspace) lockUntold() (unlock func()) {
	unlock, err := w.Store.LockCache(untoldName, time.Second)
	if err != nil {
		return func() {}
	}
	return unlock
}
