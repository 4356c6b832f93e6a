package secrets

import (
	"encoding/base64"
	"strings"
)

// keyRules returns the rules for private keys, which usually have files of their own.
func keyRules() []Rule {
	return []Rule{
		{
			ID:          "gcp-service-account-key",
			Description: "private key in the credentials file of a Google Cloud service account",
			Source:      "https://cloud.google.com/iam/docs/keys-create-delete",
			Keywords:    []string{"private_key"},
			findAll:     serviceAccountKey,
		},
		{
			ID:          "private-key",
			Description: "private key in PEM, OpenSSH, OpenPGP or SSH2 armour",
			Source:      "https://www.rfc-editor.org/rfc/rfc7468 and https://www.rfc-editor.org/rfc/rfc9580#section-6.2",
			Keywords:    []string{"PRIVATE KEY"},
			findAll:     pemBlock,
		},
		{
			ID:          "encoded-private-key",
			Description: "private key in PEM that is once more encoded, as in a kubeconfig file",
			Source:      "https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/#AuthInfo",
			Keywords:    []string{"LS0tLS1CRUdJTi"},
			find:        encodedKey,
		},
		{
			ID:          "putty-private-key",
			Description: "private part of a PuTTY-User-Key-File",
			Source:      "https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html",
			Keywords:    []string{"Private-Lines:"},
			findAll:     puttyKey,
		},
		{
			ID:          "age-secret-key",
			Description: "age identity",
			Source:      "https://github.com/C2SP/C2SP/blob/main/age.md",
			Keywords:    []string{"AGE-SECRET-KEY-"},
			pattern:     `AGE-SECRET-KEY-(?:PQ-)?1[02-9AC-HJ-NP-Z]{58,}`,
		},
	}
}

// pemBlock finds the private key announced by the words "PRIVATE KEY" at s[at:end]: the
// header and, close after it and to each other, long runs of base64. Line ends, line
// numbers and commas between the runs are part of the block, but quotes are not: if a key
// is a list of strings, each of them is a finding of its own. A truncated block ends with
// its last run. A header without a key is not a secret.
func pemBlock(s string, at, end int) []stretch {
	start, ok := pemHeader(s, at)
	if !ok {
		return nil
	}
	for strings.HasPrefix(s[end:], " BLOCK") {
		end += len(" BLOCK")
	}
	if !strings.HasPrefix(s[end:], "-") && !strings.HasPrefix(s[end:], " -") {
		return nil
	}
	found := base64Lines(s, start, end, 300)
	if len(found) == 0 {
		return nil
	}
	last := &found[len(found)-1]
	tail := s[last.stop:min(len(s), last.stop+160)]
	footer := strings.Index(tail, "END ")
	if footer < 0 || !plainGap(tail[:footer]) {
		return found
	}
	key := strings.Index(tail[footer:], "PRIVATE KEY")
	if key < 0 || key > 32 || hasQuote(tail[:footer+key]) {
		return shortLines(found, s, last.stop+footer)
	}
	n := footer + key + len("PRIVATE KEY")
	for strings.HasPrefix(tail[n:], " BLOCK") {
		n += len(" BLOCK")
	}
	for n < len(tail) && (tail[n] == '-' || tail[n] == ' ' && strings.HasPrefix(tail[n+1:], "-")) {
		n++
	}
	last.stop += n
	return found
}

// pemHeader returns the start of the header that contains the words at s[at:].
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

// shortLines adds the shorter runs of base64 between the last finding and limit, which
// are the last lines of a key.
func shortLines(found []stretch, s string, limit int) []stretch {
	for i := found[len(found)-1].stop; i < limit; i++ {
		from := i
		for i < limit && (isBase64(s[i]) || s[i] == '=') {
			i++
		}
		if i-from >= 4 {
			found = append(found, stretch{from, i})
		}
	}
	return found
}

// puttyKey finds the key after "Private-Lines:" in a PuTTY key file.
func puttyKey(s string, _, end int) []stretch {
	found := base64Lines(s, -1, end, 40)
	if len(found) == 0 {
		return nil
	}
	last := &found[len(found)-1]
	tail := s[last.stop:min(len(s), last.stop+120)]
	switch i := strings.Index(tail, "Private-MAC"); {
	case i < 0 || !plainGap(tail[:i]):
	case hasQuote(tail[:i]):
		return shortLines(found, s, last.stop+i)
	default:
		last.stop += len(trimLineEnds(tail[:i]))
	}
	return found
}

// trimLineEnds removes line ends, escaped or not, from the end of s.
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

// serviceAccountKey finds the key in the credentials file of a Google Cloud service
// account, in which "private_key" is s[at:end].
func serviceAccountKey(s string, _, end int) []stretch {
	head := s[end:min(len(s), end+64)]
	i := strings.Index(head, "PRIVATE KEY")
	if i < 0 || strings.Contains(head[:i], ",") || !strings.Contains(head[:i], ":") {
		return nil
	}
	return pemBlock(s, end+i, end+i+len("PRIVATE KEY"))
}

// encodedKey finds a PEM private key that is encoded in base64. s[at:end] is the encoded
// "-----BEGIN".
func encodedKey(s string, at, end int) (start, stop int, ok bool) {
	stop = end
	for stop < len(s) && (isBase64(s[stop]) || s[stop] == '=') {
		stop++
	}
	if stop-at < 160 || at > 0 && isBase64(s[at-1]) && s[at-1] != '/' {
		return 0, 0, false
	}
	head, err := base64.StdEncoding.DecodeString(s[at : at+64])
	return at, stop, err == nil && strings.Contains(string(head), "PRIVATE KEY")
}

const (
	longRun = 40 // the shortest run of base64 that counts as key material, in bytes
	runGap  = 48 // the longest gap between two such runs, in bytes
)

// A stretch is a part of a text.
type stretch struct{ start, stop int }

// base64Lines finds long runs of base64 from s[from:] on. The first must start within gap
// bytes. It returns runs without a quote between them as one stretch. The first stretch
// begins at start, unless start is negative or a quote precedes the run.
func base64Lines(s string, start, from, gap int) (found []stretch) {
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
		switch n := len(found); {
		case n > 0 && !hasQuote(between):
			found[n-1].stop = i
		case n == 0 && start >= 0 && !hasQuote(between):
			found = append(found, stretch{start, i})
		default:
			found = append(found, stretch{run, i})
		}
		end, limit = i, i+runGap
	}
	return found
}

// plainGap reports whether the text between two lines of a key only separates them.
func plainGap(s string) bool {
	return !strings.ContainsAny(s, "{}[]") && !strings.Contains(s, "BEGIN ")
}

// hasQuote reports whether s has a quote, escaped or not.
func hasQuote(s string) bool {
	return strings.ContainsAny(s, "\"'`") || strings.Contains(s, "u0022") || strings.Contains(s, "x22")
}
