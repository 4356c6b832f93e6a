package secrets

import "strings"

// pemBlock adds the private key that the words "PRIVATE KEY" at s[at:end]
// announce: the header and, within a few bytes of each other, long runs of
// base64. What stands between the runs (line ends, line numbers, commas) is part
// of the block, but quotes are not: where a key is a list of strings, each of
// them is added alone. A block that was cut off ends with its last run. A header
// without a key behind it is only talk of one.
func pemBlock(s string, at, end int, add func(start, stop int)) {
	start, ok := pemHeader(s, at)
	if !ok {
		return
	}
	for strings.HasPrefix(s[end:], " BLOCK") {
		end += len(" BLOCK")
	}
	if !strings.HasPrefix(s[end:], "-") && !strings.HasPrefix(s[end:], " -") {
		return
	}
	last, ok := base64Lines(s, start, end, 300, add)
	if !ok {
		return
	}
	tail := s[last.stop:min(len(s), last.stop+160)]
	footer := strings.Index(tail, "END ")
	if footer < 0 || !plainGap(tail[:footer]) {
		add(last.start, last.stop)
		return
	}
	key := strings.Index(tail[footer:], "PRIVATE KEY")
	if key < 0 || key > 32 || hasQuote(tail[:footer+key]) {
		addEnd(s, last, last.stop+footer, add)
		return
	}
	n := footer + key + len("PRIVATE KEY")
	for strings.HasPrefix(tail[n:], " BLOCK") {
		n += len(" BLOCK")
	}
	for n < len(tail) && (tail[n] == '-' || tail[n] == ' ' && strings.HasPrefix(tail[n+1:], "-")) {
		n++
	}
	add(last.start, last.stop+n)
}

// pemHeader returns where the header starts that has the words at s[at:].
func pemHeader(s string, at int) (start int, ok bool) {
	from := max(0, at-48)
	i := strings.LastIndex(s[from:at], "BEGIN ")
	if i < 0 || strings.IndexByte(s[from+i:at], '\n') >= 0 || hasQuote(s[from+i:at]) {
		return 0, false
	}
	dash := from + i - 1
	if dash > 0 && s[dash] == ' ' {
		dash--
	}
	start = dash + 1
	for start > 0 && s[start-1] == '-' && dash-start < 4 {
		start--
	}
	return start, start <= dash
}

// addEnd adds a stretch and each run of base64 behind it up to limit, the last
// and shorter lines of a key.
func addEnd(s string, last stretch, limit int, add func(start, stop int)) {
	add(last.start, last.stop)
	for i := last.stop; i < limit; i++ {
		from := i
		for i < limit && (isBase64(s[i]) || s[i] == '=') {
			i++
		}
		if i-from >= 4 {
			add(from, i)
		}
	}
}

// puttyKey adds the key in a file of PuTTY behind "Private-Lines:".
func puttyKey(s string, _, end int, add func(start, stop int)) {
	last, ok := base64Lines(s, -1, end, 40, add)
	if !ok {
		return
	}
	tail := s[last.stop:min(len(s), last.stop+120)]
	switch i := strings.Index(tail, "Private-MAC"); {
	case i < 0 || !plainGap(tail[:i]):
		add(last.start, last.stop)
	case hasQuote(tail[:i]):
		addEnd(s, last, last.stop+i, add)
	default:
		add(last.start, last.stop+len(trimLineEnds(tail[:i])))
	}
}

// trimLineEnds cuts line ends, escaped or not, off the end of s.
func trimLineEnds(s string) string {
	for {
		t := strings.TrimRight(s, " \r\n")
		if n := len(t); n > 1 && t[n-2] == '\\' && (t[n-1] == 'n' || t[n-1] == 'r') {
			t = strings.TrimRight(t[:n-1], `\`)
		}
		if len(t) == len(s) {
			return t
		}
		s = t
	}
}

// serviceAccountKey adds the key in the credentials file of a Google Cloud
// service account, where "private_key" stands at s[at:end].
func serviceAccountKey(s string, _, end int, add func(start, stop int)) {
	head := s[end:min(len(s), end+64)]
	i := strings.Index(head, "PRIVATE KEY")
	if i < 0 || strings.Contains(head[:i], ",") || !strings.Contains(head[:i], ":") {
		return
	}
	pemBlock(s, end+i, end+i+len("PRIVATE KEY"), add)
}

const (
	longRun = 40 // the shortest run of base64 that counts as key material
	runGap  = 48 // what may stand between two of them
)

// stretch is a part of a text.
type stretch struct{ start, stop int }

// base64Lines walks over long runs of base64 from s[from:] on, the first of
// which must start within gap bytes. Runs with a quote between them are separate
// stretches; all but the last are added. The first reaches back to start unless
// that is negative.
func base64Lines(s string, start, from, gap int, add func(start, stop int)) (last stretch, ok bool) {
	end := from
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
		between := s[end:run]
		if !mixed(s[run:i]) || !plainGap(between) {
			break
		}
		switch apart := hasQuote(between); {
		case !ok && (apart || start < 0):
			last.start = run
		case !ok:
			last.start = start
		case apart:
			add(last.start, last.stop)
			last.start = run
		}
		last.stop, end, limit, ok = i, i, i+runGap, true
	}
	return last, ok
}

// plainGap reports whether what stands between two lines of a key is no more
// than what separates lines.
func plainGap(s string) bool {
	return !strings.ContainsAny(s, "{}[]") && !strings.Contains(s, "BEGIN ")
}

// hasQuote reports whether there is a quote in s, escaped in whatever way.
func hasQuote(s string) bool {
	return strings.ContainsAny(s, "\"'`") || strings.Contains(s, "u0022") || strings.Contains(s, "x22")
}
