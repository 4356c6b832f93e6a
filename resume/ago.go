package resume

import (
	"fmt"
	"time"

	"cortext/schema"
)

const (
	day   = 24 * time.Hour
	month = 30 * day
	year  = 365 * day
)

// Ago formats how long before now the moment was, in the largest unit that fits at
// least once: minutes, hours, days, months of 30 days, years of 365. The result is
// always relative: a moment in this minute or in the future is "0 minutes ago", and
// the zero time is "an unknown time ago".
func Ago(now, moment time.Time) string {
	if moment.IsZero() {
		return "an unknown time ago"
	}
	d := max(now.Sub(moment), 0)
	units := []struct {
		name string
		size time.Duration
	}{{"year", year}, {"month", month}, {"day", day}, {"hour", time.Hour}, {"minute", time.Minute}}
	for _, u := range units {
		n := int(d / u.size)
		if n == 0 && u.size > time.Minute {
			continue
		}
		if n == 1 {
			return "1 " + u.name + " ago"
		}
		return fmt.Sprintf("%d %ss ago", n, u.name)
	}
	return ""
}

// lastActive returns when the conversation was last active: the session's own value,
// else the time of its newest message, else its creation time.
func lastActive(s *schema.Session, messages []schema.Message) time.Time {
	if t := s.LastActive.Time(); !t.IsZero() {
		return t
	}
	for i := len(messages) - 1; i >= 0; i-- {
		if t := messages[i].Timestamp.Time(); !t.IsZero() {
			return t
		}
	}
	return s.CreatedAt.Time()
}
