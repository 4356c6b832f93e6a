package workspace

import (
	"slices"
	"strings"
	"time"
)

// untoldName is the cache file for what failed, such as a commit, when nobody could be
// told: the next command reports it.
const untoldName = "untold"

// MaxUntold is how many failures are kept for the next command, maxUntoldText how many
// characters of each.
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

// Untold returns, once, what failed when nobody could be told, one failure a line.
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
