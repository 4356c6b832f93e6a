package organise

import (
	"math"
	"slices"
	"strconv"
	"time"

	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// Prune selects conversations to remove. All criteria must hold.
type Prune struct {
	Before   time.Time // last active before this time; zero: at any time
	Archived bool      // only archived ones
	Keep     int       // number of selected conversations to keep, the most recent first
}

// Select returns the conversations to remove from a list sorted by activity, most recent
// first. It never selects one that is active, was written by a newer cortext, or could not
// be read.
func (p Prune) Select(all []store.Entry) []store.Entry {
	list := slices.DeleteFunc(slices.Clone(all), func(e store.Entry) bool {
		s := e.Session
		switch {
		case s.Status == schema.Active, workspace.ShownStatus(e) == "newer", e.Unread() != nil:
			return true
		case p.Archived && !s.Archived:
			return true
		}
		return !p.Before.IsZero() && !s.LastActive.Time().Before(p.Before)
	})
	return list[min(p.Keep, len(list)):]
}

// ParseAge parses a time span such as 12h, 90d or 8w.
func ParseAge(s string) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	unit, ok := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[s[len(s)-1]]
	n, err := strconv.Atoi(s[:len(s)-1])
	if !ok || err != nil || n < 0 || int64(n) > math.MaxInt64/int64(unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
