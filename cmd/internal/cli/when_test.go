package cli

import (
	"testing"
	"time"
)

// TestParseWhen: dates, times, ages and words, in the zone of now. A day is a span.
func TestParseWhen(t *testing.T) {
	zone := time.FixedZone("", 3600)
	now := time.Date(2025, 11, 26, 12, 0, 0, 0, zone) // a Wednesday
	const form = "2006-01-02T15:04"
	for _, c := range []struct{ text, from, to string }{
		{"2025-11-22", "2025-11-22T00:00", "2025-11-23T00:00"},
		{"2025-11-22T10:00:00Z", "2025-11-22T11:00", "2025-11-22T11:00"},
		{"2025-11-22T10:00Z", "2025-11-22T11:00", "2025-11-22T11:00"},
		{"2025-11-22T10:00", "2025-11-22T10:00", "2025-11-22T10:00"},
		{"2025-11-22 10:00:00", "2025-11-22T10:00", "2025-11-22T10:00"},
		{"now", "2025-11-26T12:00", "2025-11-26T12:00"},
		{"today", "2025-11-26T00:00", "2025-11-27T00:00"},
		{" Yesterday ", "2025-11-25T00:00", "2025-11-26T00:00"},
		{"5m", "2025-11-26T11:55", "2025-11-26T11:55"},
		{"2h", "2025-11-26T10:00", "2025-11-26T10:00"},
		{"3d", "2025-11-23T12:00", "2025-11-23T12:00"},
		{"2w", "2025-11-12T12:00", "2025-11-12T12:00"},
		{"1mo", "2025-10-26T12:00", "2025-10-26T12:00"},
		{"2y", "2023-11-26T12:00", "2023-11-26T12:00"},
		{"3 days ago", "2025-11-23T12:00", "2025-11-23T12:00"},
		{"3 days", "2025-11-23T12:00", "2025-11-23T12:00"},
		{"an hour ago", "2025-11-26T11:00", "2025-11-26T11:00"},
		{"a week ago", "2025-11-19T12:00", "2025-11-19T12:00"},
		{"10 minutes ago", "2025-11-26T11:50", "2025-11-26T11:50"},
		{"last week", "2025-11-19T12:00", "2025-11-19T12:00"},
		{"last month", "2025-10-26T12:00", "2025-10-26T12:00"},
		{"last year", "2024-11-26T12:00", "2024-11-26T12:00"},
		{"monday", "2025-11-24T00:00", "2025-11-25T00:00"},
		{"wednesday", "2025-11-19T00:00", "2025-11-20T00:00"},
		{"last thursday", "2025-11-20T00:00", "2025-11-21T00:00"},
	} {
		got, ok := parseWhen(c.text, now)
		if from, to := got.from.In(zone).Format(form), got.to.In(zone).Format(form); !ok || from != c.from || to != c.to {
			t.Errorf("%q: %s to %s, %t; want %s to %s", c.text, from, to, ok, c.from, c.to)
		}
	}
	for _, text := range []string{"", "h", "0d", "-3d", "3 parsecs", "2025-13-01", "2025-11-22T25:00", "123456d", "ago", "tomorrow", "３d"} {
		if got, ok := parseWhen(text, now); ok {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

// TestParseWhenInShortMonths: a month or a year before a day that the month lacks is its last day.
func TestParseWhenInShortMonths(t *testing.T) {
	for _, c := range []struct{ now, text, want string }{
		{"2026-03-31T12:00", "1mo", "2026-02-28T12:00"},
		{"2026-03-31T12:00", "2mo", "2026-01-31T12:00"},
		{"2026-03-31T12:00", "last month", "2026-02-28T12:00"},
		{"2026-01-31T12:00", "2mo", "2025-11-30T12:00"},
		{"2028-02-29T12:00", "1y", "2027-02-28T12:00"},
		{"2028-02-29T12:00", "4y", "2024-02-29T12:00"},
		{"2026-03-31T12:00", "99999mo", "-6308-12-31T12:00"},
	} {
		const form = "2006-01-02T15:04"
		now, err := time.Parse(form, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := parseWhen(c.text, now); !ok || got.from.Format(form) != c.want {
			t.Errorf("%q at %s is %s, %t; want %s", c.text, c.now, got.from.Format(form), ok, c.want)
		}
	}
}

// TestParseWhenWithoutMidnight: where summer time begins at midnight, that day is still a day.
func TestParseWhenWithoutMidnight(t *testing.T) {
	for _, c := range []struct{ zone, date, from, to string }{
		{"America/Santiago", "2026-09-06", "2026-09-06T01:00", "2026-09-07T00:00"},
		{"America/Santiago", "2026-09-05", "2026-09-05T00:00", "2026-09-06T01:00"},
		{"America/Havana", "2026-03-08", "2026-03-08T01:00", "2026-03-09T00:00"},
		{"Africa/Cairo", "2026-04-24", "2026-04-24T01:00", "2026-04-25T00:00"},
		{"Europe/Berlin", "2026-03-29", "2026-03-29T00:00", "2026-03-30T00:00"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		date, err := time.Parse(time.DateOnly, c.date)
		if err != nil {
			t.Fatal(err)
		}
		y, m, d := date.Date()
		for text, now := range map[string]time.Time{
			c.date:      time.Date(2026, 12, 1, 12, 0, 0, 0, zone),
			"today":     time.Date(y, m, d, 12, 0, 0, 0, zone),
			"yesterday": time.Date(y, m, d+1, 1, 30, 0, 0, zone),
		} {
			got, ok := parseWhen(text, now)
			const form = "2006-01-02T15:04"
			if from, to := got.from.In(zone).Format(form), got.to.In(zone).Format(form); !ok || from != c.from || to != c.to {
				t.Errorf("%s, %q at %s: %s to %s, want %s to %s", c.zone, text, now, from, to, c.from, c.to)
			}
		}
	}
}
