package secrets

import "strings"

// pemBlock finds the private key that the words "PRIVATE KEY" at s[at:end]
// announce: the header and, within a few bytes of each other, long runs of
// base64. What stands between the runs (line ends, line numbers, quotes,
// commas) is part of the block. A block that was cut off ends with its last
// run. A header without a key behind it is only talk of one.
func pemBlock(s string, at, end int) (start, stop int, ok bool) {
	from := max(0, at-48)
	i := strings.LastIndex(s[from:at], "BEGIN ")
	if i < 0 || strings.IndexByte(s[from+i:at], '\n') >= 0 {
		return 0, 0, false
	}
	dash := from + i - 1
	if dash > 0 && s[dash] == ' ' {
		dash--
	}
	start = dash + 1
	for start > 0 && s[start-1] == '-' && dash-start < 4 {
		start--
	}
	if start > dash {
		return 0, 0, false
	}
	for strings.HasPrefix(s[end:], " BLOCK") {
		end += len(" BLOCK")
	}
	if !strings.HasPrefix(s[end:], "-") && !strings.HasPrefix(s[end:], " -") {
		return 0, 0, false
	}
	_, last, ok := base64Lines(s, end, 300)
	if !ok {
		return 0, 0, false
	}
	tail := s[last:min(len(s), last+160)]
	if i := strings.Index(tail, "END "); i >= 0 && plainGap(tail[:i]) && strings.Contains(tail[i:], "PRIVATE KEY") {
		n := i + strings.Index(tail[i:], "PRIVATE KEY") + len("PRIVATE KEY")
		for strings.HasPrefix(tail[n:], " BLOCK") {
			n += len(" BLOCK")
		}
		for n < len(tail) && (tail[n] == '-' || tail[n] == ' ' && strings.HasPrefix(tail[n+1:], "-")) {
			n++
		}
		last += n
	}
	return start, last, true
}

// puttyKey finds the key in a file of PuTTY behind "Private-Lines:".
func puttyKey(s string, _, end int) (start, stop int, ok bool) {
	start, last, ok := base64Lines(s, end, 40)
	if !ok {
		return 0, 0, false
	}
	tail := s[last:min(len(s), last+120)]
	if i := strings.Index(tail, "Private-MAC"); i >= 0 && plainGap(tail[:i]) {
		last += len(strings.TrimRight(tail[:i], " \r\n"))
	}
	return start, last, true
}

// serviceAccountKey finds the key in the credentials file of a Google Cloud
// service account, where "private_key" stands at s[at:end].
func serviceAccountKey(s string, _, end int) (start, stop int, ok bool) {
	head := s[end:min(len(s), end+64)]
	i := strings.Index(head, "PRIVATE KEY")
	if i < 0 || strings.Contains(head[:i], ",") || !strings.Contains(head[:i], ":") {
		return 0, 0, false
	}
	return pemBlock(s, end+i, end+i+len("PRIVATE KEY"))
}

const (
	longRun = 40 // the shortest run of base64 that counts as key material
	runGap  = 48 // what may stand between two of them
)

// base64Lines walks over long runs of base64 from s[from:] on and returns where
// the first one starts and the last one ends. The first must start within gap
// bytes.
func base64Lines(s string, from, gap int) (first, last int, ok bool) {
	last = from
	for i, limit := from, from+gap; i < len(s) && i < limit; {
		if !isBase64(s[i]) {
			i++
			continue
		}
		run := i
		for i < len(s) && (isBase64(s[i]) || s[i] == '=') {
			i++
		}
		if i-run < longRun {
			continue
		}
		if !mixed(s[run:i]) || !plainGap(s[last:run]) {
			break
		}
		if !ok {
			first, ok = run, true
		}
		last, limit = i, i+runGap
	}
	return first, last, ok
}

// plainGap reports whether the text between two lines of a key holds nothing
// that would tear the structure around it when the key is replaced.
func plainGap(s string) bool {
	if strings.ContainsAny(s, "{}[]") || strings.Contains(s, "BEGIN ") {
		return false
	}
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return true
		}
		if s = strings.TrimLeft(s[i+1:], " \t\r\n"); strings.HasPrefix(s, ":") {
			return false
		}
	}
}
