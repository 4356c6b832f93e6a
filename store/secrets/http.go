package secrets

import (
	"encoding/base64"
	"strings"
)

// urlPassword finds the password before the host of a URL whose "://" is s[at:end].
func urlPassword(s string, at, end int) (start, stop int, ok bool) {
	if at == 0 || !isAlnum(s[at-1]) {
		return 0, 0, false
	}
	colon, sign := -1, -1
	for i := end; i < len(s) && i-end < 512; i++ {
		c := s[i]
		if c <= ' ' || c == 0x7f || strings.IndexByte("/?#\"'`<>\\|", c) >= 0 {
			break
		}
		if c == ':' && colon < 0 {
			colon = i
		}
		if c == '@' {
			sign = i
		}
	}
	if colon < 0 || sign < colon || sign+1 >= len(s) || !isAlnum(s[sign+1]) && s[sign+1] != '[' {
		return 0, 0, false
	}
	user, password := s[end:colon], s[colon+1:sign]
	return colon + 1, sign, plausibleLogin(user, password)
}

// plausibleLogin reports whether the password of a user is more than an example or the
// default of a local service.
func plausibleLogin(user, password string) bool {
	if len(password) < 4 || strings.EqualFold(user, password) || templated(password) || strings.ContainsAny(password, "{}$[]*") {
		return false
	}
	if containsAny(password, "example", "placeholder", "changeme", "redacted", "your", "xxxx", "password", "passwd",
		"secret", "token", "dummy", "12345") {
		return false
	}
	switch strings.ToLower(password) {
	case "xxx", "pass", "passw0rd", "p@ssw0rd", "pwd", "admin", "root", "user", "test", "guest", "postgres", "mysql", "mongo",
		"redis", "rabbitmq", "minio", "minioadmin", "docker", "local", "localhost", "foobar", "test123", "1234", "apikey",
		"api_key", "x-oauth-basic", "developer", "default", "username", "credentials", "pass123", "dbpass":
		return false
	}
	m := compositionOf(password)
	// Upper case alone is the name of a variable; digits alone may be a port.
	return m.lower > 0 || m.upper > 0 && m.digit > 0
}

// bearerToken finds the token after the word "Bearer".
func bearerToken(s string, at, end int) (start, stop int, ok bool) {
	if at > 0 && isAlnum(s[at-1]) {
		return 0, 0, false
	}
	start = end
	if strings.HasPrefix(s[start:], "%20") || strings.HasPrefix(s[start:], "+") {
		start += strings.IndexAny(s[start:], "0+") + 1
	} else if start = skipBlanks(s, end); start == end {
		return 0, 0, false
	}
	stop = tokenEnd(s, start)
	return start, stop, plausibleKey(s[start:stop])
}

// basicLogin finds the encoded user and password after the word "Basic".
func basicLogin(s string, at, end int) (start, stop int, ok bool) {
	if at > 0 && isAlnum(s[at-1]) {
		return 0, 0, false
	}
	if start = skipBlanks(s, end); start == end {
		return 0, 0, false
	}
	stop = tokenEnd(s, start)
	return start, stop, encodedLogin(s[start:stop])
}

// registryLogin finds the encoded user and password after "auth", which is s[at:end], in
// the settings of container tools.
func registryLogin(s string, at, end int) (start, stop int, ok bool) {
	start, quote, ok := givenValue(s, at+1, end-1)
	if !ok || quote == 0 {
		return 0, 0, false
	}
	stop = tokenEnd(s, start)
	return start, stop, encodedLogin(s[start:stop])
}

// encodedLogin reports whether s is a user and a password in base64.
func encodedLogin(s string) bool {
	if len(s) < 8 || len(s) > 4096 {
		return false
	}
	login, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		login, err = base64.RawStdEncoding.DecodeString(s)
	}
	user, password, found := strings.Cut(string(login), ":")
	if err != nil || !found {
		return false
	}
	for _, c := range login {
		if c < ' ' || c > '~' {
			return false
		}
	}
	if password == "" {
		return plausibleKey(user)
	}
	return plausibleLogin(user, password)
}

// authorization finds the value of an Authorization header, whatever its scheme.
func authorization(s string, at, end int) (start, stop int, ok bool) {
	start, _, ok = givenValue(s, at, end)
	if !ok {
		return 0, 0, false
	}
	stop = tokenEnd(s, start)
	if next := skipBlanks(s, stop); next > stop && stop-start <= 16 {
		start, stop = next, tokenEnd(s, next)
	}
	return start, stop, plausibleKey(s[start:stop])
}

// tokenEnd returns the end of the token that starts at s[start:].
func tokenEnd(s string, start int) int {
	stop := start
	for stop < len(s) && isToken(s[stop]) {
		stop++
	}
	for stop > start && s[stop-1] == '.' {
		stop--
	}
	return stop
}

// curlPassword finds the password in the curl option s[at:end].
func curlPassword(s string, at, end int) (start, stop int, ok bool) {
	line := s[max(0, at-256):at]
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	if !strings.Contains(line, "curl") {
		return 0, 0, false
	}
	i := skipBlanks(s, end)
	if i < len(s) && s[i] == '=' {
		i++
	}
	if i < len(s) && isQuote(s[i]) {
		i++
	}
	colon := -1
	stop = i
	for stop < len(s) && stop-i < 512 && s[stop] > ' ' && !isQuote(s[stop]) && s[stop] != '\\' {
		if s[stop] == ':' && colon < 0 {
			colon = stop
		}
		stop++
	}
	if colon < 0 {
		return 0, 0, false
	}
	return colon + 1, stop, plausibleLogin(s[i:colon], s[colon+1:stop])
}
