// Package tildes computes the length of a fence of tildes that a text cannot close.
package tildes

import "strings"

// Least is the shortest fence: one tilde more than Markdown's own.
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

// Around returns the length of a fence that no run of up to longest tildes closes.
func Around(longest int) int { return max(longest+1, Least) }

// Cut shortens each run of more than n tildes in s to n, followed by mark.
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
