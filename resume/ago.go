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

// Ago says how long before now the moment was, in the greatest unit that fits
// whole at least once: minutes, hours, days, months of 30 days, years of 365. It
// is always relative: a moment of this minute or of the future is "0 minutes
// ago", and one that is not known is "an unknown time ago".
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

// lastActive is when something last happened in the conversation: what its
// session says, else its newest message, else its beginning.
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
