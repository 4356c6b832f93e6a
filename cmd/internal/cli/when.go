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
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return span{at, at}, true
		}
	}
	if date, err := time.Parse(time.DateOnly, text); err == nil {
		return day(date, now.Location()), true
	}
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	switch text = strings.ToLower(text); text {
	case "now":
		return span{now, now}, true
	case "today":
		return day(today, now.Location()), true
	case "yesterday":
		return day(today.AddDate(0, 0, -1), now.Location()), true
	case "last week":
		return ago(now, 1, "w"), true
	case "last month":
		return ago(now, 1, "mo"), true
	case "last year":
		return ago(now, 1, "y"), true
	}
	for of := time.Sunday; of <= time.Saturday; of++ {
		if name := strings.ToLower(of.String()); text == name || text == "last "+name {
			return day(today.AddDate(0, 0, -1-(int(now.Weekday()-of)+6)%7), now.Location()), true
		}
	}
	parts := agoForm().FindStringSubmatch(text)
	if parts == nil {
		return span{}, false
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		n = 1
	}
	unit := parts[2][:1]
	if strings.HasPrefix(parts[2], "mo") {
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
		at = monthsBefore(now, n)
	case "y":
		at = monthsBefore(now, 12*n)
	}
	return span{at, at}
}

// monthsBefore returns the same day and time n months earlier, or the last day of that month if
// it is shorter.
func monthsBefore(now time.Time, n int) time.Time {
	y, m, d := now.Date()
	m -= time.Month(n)
	days := time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day()
	hour, minute, second := now.Clock()
	return time.Date(y, m, min(d, days), hour, minute, second, now.Nanosecond(), now.Location())
}

// day returns the day of a date, which is in UTC, in a time zone.
func day(date time.Time, in *time.Location) span {
	return span{midnight(date, in), midnight(date.AddDate(0, 0, 1), in)}
}

// midnight returns the first moment of a date in a time zone: one o'clock if summer time begins
// at midnight.
func midnight(date time.Time, in *time.Location) time.Time {
	y, m, d := date.Date()
	at := time.Date(y, m, d, 0, 0, 0, 0, in)
	if at.Day() != d {
		_, at = at.ZoneBounds()
	}
	return at
}
