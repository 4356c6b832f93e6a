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
