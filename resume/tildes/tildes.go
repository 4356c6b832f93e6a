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
