package secrets

import (
	"regexp"
	"strings"
	"testing"
)

func TestAndShortened(t *testing.T) {
	const text = "key 0123456789 of\nthe old  house"
	known := &Found{}
	plain := Matching(regexp.MustCompile(regexp.QuoteMeta(text)), "x", known)
	if _, err := plain.Text(text, nil); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ s, want string }{
		{"use " + text + " now", "use [redacted: x] now"},
		{"use key 0123456789 of the old house now", "use [redacted: x] now"},
		{"use key 0123456789 of the ol…", "use [redacted: x]…"},
		{"use key 01234…", "use [redacted: x]…"},
		{"use key 012…", "use key 012…"}, // too short to tell
		{"use key 01234 now…", "use key 01234 now…"},
		{"use key 01234\n…\nold house now", "use [redacted: x]\n…\n[redacted: x] now"},
		{"key 0123456789 of", "[redacted: x]"},
		{"key 0123456789 of it", "key 0123456789 of it"},
		{"… … …", "… … …"},
	} {
		got, err := plain.AndShortened(nil, known).Text(tc.s, Counts{})
		if err != nil || got != tc.want {
			t.Errorf("%q: %q, %v, want %q", tc.s, got, err, tc.want)
		}
		if again, _ := plain.AndShortened(known).Text(got, nil); again != got {
			t.Errorf("%q again: %q", got, again)
		}
	}
	long := strings.Repeat("…", 1<<14)
	if got, err := plain.AndShortened(known).Text(long, nil); err != nil || got != long {
		t.Errorf("%v, %d bytes", err, len(got))
	}
}
