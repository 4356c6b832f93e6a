package secrets

import "strings"

// assignmentID is the id of the rule for values whose name suggests a secret.
const assignmentID = "secret-assignment"

// assignmentWords returns the words that make a name suggest a secret.
func assignmentWords() []string {
	return []string{
		"password", "passwd", "passphrase", "pwd", "secret", "token", "credential",
		"apikey", "api_key", "api-key", "api key", "access key", "secret key", "accesskey", "access_key", "access-key",
		"privatekey", "private_key", "private-key", "authkey", "auth_key", "auth-key",
		"signingkey", "signing_key", "signing-key", "encryptionkey", "encryption_key", "encryption-key",
		"masterkey", "master_key", "master-key",
	}
}

// isPasswordWord reports whether one of the [assignmentWords] means a password, not a
// key.
func isPasswordWord(word string) bool {
	return len(word) >= 3 && word[0]|0x20 == 'p' && word[1]|0x20 != 'r'
}

// assignment finds the value of a name that contains the word s[at:end], as in `export
// API_KEY=...`, `"password": "..."`, `token := "..."`, `X-Auth-Token: ...`, `--secret
// ...`, `<password>...` and `the API key is ...`.
func assignment(s string, at, end int) (start, stop int, ok bool) {
	from, to := at, end
	for to < len(s) && to-end < 24 && isName(s[to]) {
		to++
	}
	if to == len(s) || strings.IndexByte("=: \t\"'`],?>", s[to]) < 0 || !listed(secretSuffixes, s[end:to]) {
		return 0, 0, false
	}
	for from > 0 && at-from < 48 && isName(s[from-1]) {
		from--
	}
	start, quote, ok := givenValue(s, from, to)
	if !ok || strings.HasSuffix(s[:from], "://") || !isSecretName(s[from:at], s[at:end], s[end:to]) {
		return 0, 0, false
	}
	word := s[at:end]
	if quote != 0 {
		stop = closingQuote(s, start, quote)
		inList := strings.IndexByte(s[to:start], ',') >= 0
		return start, stop, stop > start && !spansStrings(s[start:stop]) && plausible(word, s[start:stop], inList)
	}
	stop = start
	for stop < len(s) && isBare(s[stop]) && !(s[stop] == '&' && s[start-1] == '=') {
		stop++
	}
	if stop < len(s) && strings.IndexByte("([{<", s[stop]) >= 0 && !strings.HasPrefix(s[stop:], "</") {
		return 0, 0, false
	}
	for stop > start && s[start-1] != '=' && strings.IndexByte(".:!?", s[stop-1]) >= 0 {
		stop--
	}
	return start, stop, plausible(word, s[start:stop], !isSetting(s, from, to, start))
}

// isSetting reports whether the unquoted value at s[start:] cannot be code, because it
// follows the name of an environment variable, an option or an XML tag.
func isSetting(s string, from, to, start int) bool {
	return start == to+1 && (s[to] == '>' || s[to] == '=' && strings.ToUpper(s[from:to]) == s[from:to]) ||
		strings.HasPrefix(s[from:], "--")
}

// namedValue finds the start of the value of a name that contains s[at:end], as in
// "DATADOG_API_KEY=" or "Datadog api key: ". The rest of the name must contain one of the
// words, if there are any.
func namedValue(s string, at, end int, words []string) (start int, ok bool) {
	to := end
	for to < len(s) && to-end < 32 && (isName(s[to]) || s[to] == ' ' && to+1 < len(s) && isName(s[to+1])) {
		to++
	}
	if len(words) > 0 && !containsAny(s[end:to], words...) {
		return 0, false
	}
	start, _, ok = givenValue(s, at, to)
	return start, ok
}

// namesSecret reports whether the name makes the value a secret.
func namesSecret(name, value string) bool {
	for _, word := range assignmentWords() {
		for at := 0; at+len(word) <= len(name); at++ {
			end := at + len(word)
			if equalFold(name[at:end], word) && isSecretName(name[:at], name[at:end], name[end:]) &&
				plausible(word, value, false) {
				return true
			}
		}
	}
	return false
}

// equalFold reports whether s equals word, ignoring the case of ASCII letters. word is in
// lower case.
func equalFold(s, word string) bool {
	for i := range len(word) {
		if c := s[i]; c != word[i] && (c < 'A' || c > 'Z' || c|0x20 != word[i]) {
			return false
		}
	}
	return true
}

// plausible reports whether value may be the secret that word, one of the
// [assignmentWords], names. code says that value may be a piece of code.
func plausible(word, value string, code bool) bool {
	if isPasswordWord(word) {
		return !strings.ContainsAny(value, " \t\r\n") && plausiblePassword(value, code)
	}
	if isUUID(value) && strings.EqualFold(word, "token") {
		return false
	}
	return plausibleKey(value)
}

func isName(c byte) bool { return isAlnum(c) || c == '_' || c == '-' || c == '.' }

// isBare reports whether c may be part of a value without quotes.
func isBare(c byte) bool {
	return c > ' ' && c <= '~' && strings.IndexByte("\"'`,;()[]{}<>|\\", c) < 0
}

// plainPrefixes are words that make the name of a token, secret or key harmless if they
// precede it: "nextToken", "max_token".
const plainPrefixes = " next page continuation continue cursor sync max min total num number count input output prompt" +
	" completion cache cached special design css lexer syntax cancel cancellation resume delimiter public publishable" +
	" anon mask idempotency dedup upload sentinel hash tokenizer parse grammar reasoning thought stop start end "

// secretSuffixes are the words that may follow one of the [assignmentWords]. After any
// other word the value is not the secret itself: "tokenType", "password_field",
// "secret-name".
const secretSuffixes = "  s key keys keybase base value val secret token string str prod production dev development live" +
	" staging main raw text plain plaintext encoded old new current "

// isSecretName reports whether a name, split into word and the text before and after it,
// names the secret itself.
func isSecretName(prefix, word, suffix string) bool {
	if !listed(secretSuffixes, suffix) {
		return false
	}
	if isPasswordWord(word) {
		return true
	}
	switch strings.ToLower(prefix) {
	case "--export-", "--delete-", "--list-": // gpg's, which are given the fingerprint of a public key
		return false
	}
	for i := 0; i < len(prefix); {
		start := i
		for i < len(prefix) && isLetter(prefix[i]) && (i == start || prefix[i] >= 'a' || prefix[i-1] < 'a') {
			i++
		}
		if i == start {
			i++
			continue
		}
		if listed(plainPrefixes, prefix[start:i]) {
			return false
		}
	}
	return true
}

// listed reports whether list contains word, ignoring everything in word but its letters.
// list holds lower-case words with spaces around them.
func listed(list, word string) bool {
	var buf [26]byte
	key := append(buf[:0], ' ')
	for i := range len(word) {
		if isLetter(word[i]) {
			key = append(key, word[i]|0x20)
		}
	}
	return strings.Contains(list, string(append(key, ' ')))
}

// spansStrings reports whether s, found between two quotes, seems to be the text between
// two strings, or has escape sequences other than those of a quote or a backslash. Such
// text is searched again with its escape sequences decoded.
func spansStrings(s string) bool {
	if strings.IndexByte(":,;]})", s[0]) >= 0 || strings.ContainsAny(s, "[]{}") {
		return true
	}
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '\\' {
			if i++; s[i] != '\\' && !isQuote(s[i]) {
				return true
			}
		}
	}
	return false
}

// givenValue finds the start of the value of the name s[from:to], and its quote if it has
// one.
func givenValue(s string, from, to int) (start int, quote byte, ok bool) {
	i := to
	quotedName := i < len(s) && isQuote(s[i])
	if quotedName {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	i = skipBlanks(s, i)
	switch rest := s[i:]; {
	case strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "=~"):
		return 0, 0, false
	case strings.HasPrefix(rest, ":="), strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, "?="):
		i += 2
	case strings.HasPrefix(rest, ":"):
		i = skipType(s, i+1)
	case strings.HasPrefix(rest, "="):
		i++
	case strings.HasPrefix(rest, ",") && quotedName:
		i++
		if j := skipBlanks(s, i); j >= len(s) || !isQuote(s[j]) {
			return 0, 0, false
		}
	case strings.HasPrefix(rest, ">") && from > 0 && s[from-1] == '<':
		return i + 1, 0, i == to
	case strings.HasPrefix(rest, "is ") && i > to:
		i += len("is ")
	case i > to && (strings.HasPrefix(s[from:], "--") || afterLogin(s, from)):
	default:
		return 0, 0, false
	}
	i = skipBlanks(s, i)
	if i+1 < len(s) && strings.IndexByte("bfruL@", s[i]) >= 0 && isQuote(s[i+1]) {
		i++
	}
	if i >= len(s) {
		return 0, 0, false
	}
	if isQuote(s[i]) {
		return i + 1, s[i], true
	}
	return i, 0, true
}

// skipType skips the type in `apiKey: string = "..."`.
func skipType(s string, i int) int {
	j := skipBlanks(s, i)
	for k := j; k < len(s) && k-j < 24 && (isLetter(s[k]) || strings.IndexByte("&<>[]", s[k]) >= 0); k++ {
		if n := skipBlanks(s, k+1); n+1 < len(s) && s[n] == '=' && s[n+1] != '=' && n > k+1 {
			return n + 1
		}
	}
	return i
}

// afterLogin reports whether "login <name>" precedes s[at:], as in a netrc file.
func afterLogin(s string, at int) bool {
	head := s[max(0, at-80):at]
	if !strings.Contains(head, "login") {
		return false
	}
	words := strings.Fields(head)
	return len(words) >= 2 && words[len(words)-2] == "login"
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

func skipBlanks(s string, i int) int {
	for limit := i + 12; i < len(s) && i < limit && (s[i] == ' ' || s[i] == '\t'); i++ {
	}
	return i
}

// closingQuote returns the end of the quoted value that starts at s[start:], or -1 if it
// does not end on its line.
func closingQuote(s string, start int, quote byte) int {
	for i := start; i < len(s) && i-start <= 2048; i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			return i
		case '\n':
			return -1
		case '"':
			// A value in other quotes must not extend beyond its JSON string.
			return -1
		}
	}
	return -1
}
