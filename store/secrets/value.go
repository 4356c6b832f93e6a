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

// leastEntropy returns the entropy, in bits per byte, that a token in a vendor's format
// must have. Random tokens have clearly more, repetitions of a few characters less.
func leastEntropy(s string) float64 {
	if len(s) < 32 {
		return 2.5
	}
	return 3
}

// placeholder reports whether a token in a vendor's format is one that documentation made
// up. Its words must be too long to occur by chance.
func placeholder(token string) bool {
	return containsAny(token, "example", "placeholder", "xxxxx", "changeme",
		"your-", "your_", "redacted", "dummy", "123456789", "abcdefgh", "00000000")
}

// containsAny reports whether s contains one of the words, ignoring case. The words are
// in lower case.
func containsAny(s string, words ...string) bool {
	s = strings.ToLower(s)
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// A composition counts the kinds of bytes in a value.
type composition struct {
	lower, upper, digit, symbol int
	hex                         int // digits and a-f, A-F
	words                       bool
}

// compositionOf counts the kinds of bytes in s. It sets words if each run of letters and
// digits is a word, a number, or a word followed by a short number, as in "my-key-2" or
// "config.tokenV2": a name that a person wrote.
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

// randomLetters reports whether letters change case too often for a word or for a name
// made of several words.
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

// templated reports whether the real value comes from elsewhere: s is a variable, a
// format, an expression, a file or an address.
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

// stopWords occur in values that only take the place of a secret.
var stopWords = [...]string{
	"example", "placeholder", "changeme", "change_me", "change-me", "change_this", "change-this", "replace", "your",
	"xxxx", "dummy", "sample", "redacted", "process.env", "import.meta", "os.environ", "getenv", "secrets.", "env.",
	"undefined", "insert", "todo", "fake", "mock", "test", "demo", "foobar", "abc123", "123456", "abcdef", "qwerty",
	"password", "passwd", "passphrase", "secret", "token", "apikey", "api_key", "api-key", "credential", "privatekey", "private_key", "publickey", "hidden",
	"masked", "default", "notreal", "not-real", "not_real", "invalid", "expired", "sha256-", "sha384-", "sha512-",
	"sha256:", "sha1-", "md5-", "base64",
}

func hasStopWord(s string) bool { return containsAny(s, stopWords[:]...) }

// plausiblePassword reports whether s, the value of a name that means a password, is one.
// If s may be code, it must not look like a name.
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

// plausibleKey reports whether s, the value of a name that means a key, secret or token,
// is one.
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

// mixed reports whether s has letters of both cases and looks random. Base64 of some
// length does; hexadecimal hashes and words do not.
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
