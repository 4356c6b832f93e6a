package secrets

import (
	"math"
	"strings"
)

// entropy returns the Shannon entropy of s in bits per byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			sum += float64(n) * math.Log2(float64(n))
		}
	}
	if len(s) == 0 {
		return 0
	}
	return math.Log2(float64(len(s))) - sum/float64(len(s))
}

// leastEntropy is what a token in the format of a vendor has at least. Random
// tokens have clearly more, rows of the same few characters less.
func leastEntropy(s string) float64 {
	if len(s) < 32 {
		return 2.5
	}
	return 3
}

// placeholder reports whether a token in the format of a vendor is one that
// documentation made up. Its words must be too long for chance to make them.
func placeholder(token string) bool {
	return containsAny(token, "example", "placeholder", "xxxxx", "changeme",
		"your-", "your_", "redacted", "dummy", "123456789", "abcdefgh", "00000000")
}

// containsAny reports whether s has one of the words, without regard to letter
// case. The words are in lower case.
func containsAny(s string, words ...string) bool {
	s = strings.ToLower(s)
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// composition is what a value is made of.
type composition struct {
	lower, upper, digit, symbol int
	hex                         int // digits and a-f, A-F
	words                       bool
}

// compositionOf counts the kinds of bytes in s. words is set when each stretch of
// letters and digits is a word, a number, or a word with a short number behind
// it, as in "my-key-2" or "config.tokenV2": text that a human wrote as a name.
func compositionOf(s string) composition {
	m := composition{words: true}
	for i := 0; i < len(s); {
		if !isAlnum(s[i]) {
			m.symbol++
			i++
			continue
		}
		start, turns, tail := i, 0, 0
		for ; i < len(s) && isAlnum(s[i]); i++ {
			c := s[i]
			switch {
			case isDigit(c):
				m.digit++
				tail++
			case c >= 'a':
				m.lower++
				tail = 0
			default:
				m.upper++
				tail = 0
			}
			if isHex(c) {
				m.hex++
			}
			if i > start && isDigit(c) != isDigit(s[i-1]) {
				turns++
			}
		}
		switch {
		case turns == 0 && isLetter(s[start]):
			m.words = m.words && !randomLetters(s[start:i])
		case turns == 0:
			m.words = m.words && i-start <= 10
		case turns == 1 && isLetter(s[start]):
			m.words = m.words && tail <= 4 && !randomLetters(s[start:i-tail])
		default:
			m.words = false
		}
	}
	return m
}

// randomLetters reports whether letters change their case too often for a word
// or a name of several words.
func randomLetters(s string) bool {
	changes := 0
	for i := 1; i < len(s); i++ {
		if s[i]&0x20 != s[i-1]&0x20 {
			changes++
		}
	}
	return len(s) >= 12 && 100*changes > 38*len(s) || len(s) >= 20 && 3*changes > len(s)
}

func (m composition) letters() int { return m.lower + m.upper }

// templated reports whether a value is filled in elsewhere: a variable, a
// format, an expression, a file, an address.
func templated(s string) bool {
	if s == "" || strings.IndexByte("$<{/*", s[0]) >= 0 {
		return true
	}
	for _, start := range [...]string{"./", "../", "~/", "~\\", "env:", "vault:", "op:"} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	for _, part := range [...]string{
		"${", "$(", "{{", "}}", "#{", "://", "...", "\u2026", "***", "\u2022\u2022", "<", "%s", "%v", "%d", "%w", "[redacted", "::", "->",
	} {
		if strings.Contains(s, part) {
			return true
		}
	}
	if i := strings.IndexByte(s, '('); i > 0 && isAlnum(s[i-1]) {
		return true
	}
	return len(s) > 2 && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// stopWords are in values that stand for a secret but are none.
var stopWords = [...]string{
	"example", "placeholder", "changeme", "change_me", "change-me", "change_this", "change-this", "replace", "your",
	"xxxx", "dummy", "sample", "redacted", "process.env", "import.meta", "os.environ", "getenv", "secrets.", "env.",
	"undefined", "insert", "todo", "fake", "mock", "test", "demo", "foobar", "abc123", "123456", "abcdef", "qwerty",
	"password", "passwd", "passphrase", "secret", "token", "apikey", "api_key", "api-key", "credential", "privatekey", "private_key", "publickey", "hidden",
	"masked", "default", "notreal", "not-real", "not_real", "invalid", "expired", "sha256-", "sha384-", "sha512-",
	"sha256:", "sha1-", "md5-", "base64",
}

func hasStopWord(s string) bool { return containsAny(s, stopWords[:]...) }

// plausiblePassword reports whether s, given to a name that says password, is
// one. Where it may be code, it must not look like a name.
func plausiblePassword(s string, code bool) bool {
	if len(s) < 8 || len(s) > 128 || templated(s) || hasStopWord(s) || strings.Contains(s, `":`) {
		return false
	}
	m := compositionOf(s)
	if m.letters() == 0 || m.words && m.digit == 0 || entropy(s) < 2.2 {
		return false
	}
	return !m.words || !code && m.symbol+m.upper > 0
}

// plausibleKey reports whether s, given to a name that says key, secret or
// token, is one.
func plausibleKey(s string) bool {
	if len(s) < 16 || len(s) > 2048 || templated(s) || hasStopWord(s) {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' || strings.IndexByte("\"'`\\(){}[]<>", s[i]) >= 0 {
			return false
		}
	}
	m := compositionOf(s)
	if m.words || m.letters() == 0 || 4*m.symbol > len(s) {
		return false
	}
	if m.hex == m.letters()+m.digit {
		return len(s)-m.symbol >= 24 && entropy(s) >= 2.8
	}
	return entropy(s) >= 3.3
}

// mixed reports whether s has letters of both cases and looks random, as base64
// of some length does and hexadecimal hashes and words do not.
func mixed(s string) bool {
	m := compositionOf(s)
	return m.lower > 0 && m.upper > 0 && (m.digit > 0 || !m.words)
}

// notWords reports whether s has digits or looks random.
func notWords(s string) bool {
	m := compositionOf(s)
	return m.digit > 0 || !m.words
}

// isUUID reports whether s has the form of a UUID.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return false
			}
		default:
			if !isHex(s[i]) {
				return false
			}
		}
	}
	return true
}
