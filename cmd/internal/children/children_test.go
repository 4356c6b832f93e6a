package children

import (
	"fmt"
	"strings"
	"testing"
)

// TestTail: however it is written, the end stays.
func TestTail(t *testing.T) {
	for _, parts := range [][]string{
		{"", "ab"},
		{" first\n", "sec", "ond \n"},
		{strings.Repeat("x", 20), "0123456789é\n"},
		{strings.Repeat("x", 20) + "\xff0123456"},
		{"日本語日本語"},
	} {
		tail := Tail{Len: 12}
		all := ""
		for _, p := range parts {
			if n, err := tail.Write([]byte(p)); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
			all += p
		}
		want := strings.TrimSpace(strings.ToValidUTF8(all[max(len(all)-12, 0):], "\uFFFD"))
		if got := tail.String(); got != want || fmt.Sprint(&tail) != want {
			t.Errorf("%q: %q, want %q", parts, got, want)
		}
	}
}
