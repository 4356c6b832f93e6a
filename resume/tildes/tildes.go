// Package tildes says how long a fence of tildes must be that a text cannot end.
package tildes

import "strings"

// Least is the shortest fence: one more than markdown's own have.
const Least = 4

// Longest is the length of the longest run of tildes in s.
func Longest(s string) int {
	longest := 0
	for {
		at := strings.IndexByte(s, '~')
		if at < 0 {
			return longest
		}
		s = s[at:]
		rest := strings.TrimLeft(s, "~")
		longest = max(longest, len(s)-len(rest))
		s = rest
	}
}

// Around is the length of a fence that no run of tildes of that length ends.
func Around(longest int) int { return max(longest+1, Least) }

// Cut cuts each run of more than n tildes in s to n, with a mark behind it.
func Cut(s string, n int, mark string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(s, '~')
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:at])
		rest := strings.TrimLeft(s[at:], "~")
		run := len(s) - at - len(rest)
		b.WriteString(s[at : at+min(run, n)])
		if run > n {
			b.WriteString(mark)
		}
		s = rest
	}
}
