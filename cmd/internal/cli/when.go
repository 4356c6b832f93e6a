package cli

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A span is the time that the user named: a moment or a whole day.
type span struct {
	from time.Time
	to   time.Time // exclusive, unless the span is a moment
}

// whenForms describes what parseWhen accepts, for help and errors.
const whenForms = `2h, 3d, "3 days ago", yesterday, 2025-11-22 or 2025-11-22T10:00:00Z`

// agoForm matches an age: 2w, 3 days, "an hour ago".
var agoForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d{1,5}|an?) ?(m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|mo|mon|months?|y|yrs?|years?)( ago)?$`)
})

// parseWhen parses a time in the past, relative to now and in its time zone: a date, a
// time, an age, or a word such as yesterday.
func parseWhen(text string, now time.Time) (span, bool) {
	text = strings.Join(strings.Fields(text), " ")
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return span{at, at}, true
		}
	}
	if at, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return day(at), true
	}
	switch text = strings.ToLower(text); text {
	case "now":
		return span{now, now}, true
	case "today":
		return day(now), true
	case "yesterday":
		return day(now.AddDate(0, 0, -1)), true
	case "last week":
		return ago(now, 1, "w"), true
	case "last month":
		return ago(now, 1, "mo"), true
	case "last year":
		return ago(now, 1, "y"), true
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := strings.ToLower(d.String()); text == name || text == "last "+name {
			return day(now.AddDate(0, 0, -1-(int(now.Weekday()-d)+6)%7)), true
		}
	}
	m := agoForm().FindStringSubmatch(text)
	if m == nil {
		return span{}, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		n = 1
	}
	unit := m[2][:1]
	if strings.HasPrefix(m[2], "mo") {
		unit = "mo"
	}
	return ago(now, n, unit), n > 0
}

// ago returns the moment n units before now. Units are m, h, d, w, mo and y.
func ago(now time.Time, n int, unit string) span {
	at := now
	switch unit {
	case "m":
		at = now.Add(-time.Duration(n) * time.Minute)
	case "h":
		at = now.Add(-time.Duration(n) * time.Hour)
	case "d":
		at = now.Add(-time.Duration(n) * 24 * time.Hour)
	case "w":
		at = now.Add(-time.Duration(n) * 7 * 24 * time.Hour)
	case "mo":
		at = now.AddDate(0, -n, 0)
	case "y":
		at = now.AddDate(-n, 0, 0)
	}
	return span{at, at}
}

// day returns the day that contains a moment.
func day(at time.Time) span {
	y, m, d := at.Date()
	return span{time.Date(y, m, d, 0, 0, 0, 0, at.Location()), time.Date(y, m, d+1, 0, 0, 0, 0, at.Location())}
}
