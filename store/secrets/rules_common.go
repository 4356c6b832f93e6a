package secrets

import "strings"

// commonRules returns the rules for credentials that no single vendor issues. They come
// last: if a vendor's rule finds the same value, that rule names the replacement.
func commonRules() []Rule {
	return []Rule{
		{
			ID:          "jwt",
			Description: "JSON Web Token, signed or encrypted",
			Source:      "https://www.rfc-editor.org/rfc/rfc7519",
			Keywords:    []string{"eyJ"},
			find:        webToken,
		},
		{
			ID:          "url-password",
			Description: "password in front of the host of a URL",
			Source:      "https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1",
			Keywords:    []string{"://"},
			find:        urlPassword,
		},
		{
			ID:          "bearer-token",
			Description: "token of the HTTP authentication scheme Bearer",
			Source:      "https://www.rfc-editor.org/rfc/rfc6750#section-2.1",
			Keywords:    []string{"bearer"},
			Fold:        true,
			find:        bearerToken,
		},
		{
			ID:          "basic-login",
			Description: "user and password of the HTTP authentication scheme Basic",
			Source:      "https://www.rfc-editor.org/rfc/rfc7617#section-2",
			Keywords:    []string{"basic"},
			Fold:        true,
			find:        basicLogin,
		},
		{
			ID:          "registry-login",
			Description: "user and password of a container registry in config.json",
			Source:      "https://docs.docker.com/reference/cli/docker/login/#credential-stores",
			Keywords:    []string{`"auth"`},
			find:        registryLogin,
		},
		{
			ID:          "authorization-header",
			Description: "HTTP Authorization header of any other scheme",
			Source:      "https://www.rfc-editor.org/rfc/rfc9110#section-11.6.2",
			Keywords:    []string{"authorization"},
			Fold:        true,
			find:        authorization,
		},
		{
			ID:          "curl-password",
			Description: "password in the option --user of curl",
			Source:      "https://curl.se/docs/manpage.html#-u",
			Keywords:    []string{" -u", "--user", "--proxy-user"},
			find:        curlPassword,
		},
		{
			ID:          "option-password",
			Description: "password in the option -p of sshpass or of a login",
			Source:      "https://docs.docker.com/reference/cli/docker/login/ and https://linux.die.net/man/1/sshpass",
			Keywords:    []string{"sshpass ", "docker login ", "podman login ", "az login "},
			pattern:     `(?:sshpass|(?:docker|podman|az) login)[^\n|;&]{0,160}?[ \t](?:-p|--password)[ =]{0,2}["']?([^\s"'\x60\\$<-][^\s"'\x60\\;|&]{3,})`,
			loose:       true,
			check:       func(v string) bool { return plausibleLogin("", v) },
		},
		{
			ID:          assignmentID,
			Description: "value given to a name that says password, secret, token, or key",
			Source:      "none; the name and the randomness of the value decide",
			Keywords:    assignmentWords(),
			Fold:        true,
			find:        assignment,
		},
	}
}

// webToken finds a JSON Web Token that starts at s[at:]: three parts, the second of which
// begins like the first, or the five parts of an encrypted token.
func webToken(s string, at, _ int) (start, stop int, ok bool) {
	jwt := Rule{}
	if !jwt.leftOpen(s, at) || at > 0 && (s[at-1] == '_' || s[at-1] == '-') {
		return 0, 0, false
	}
	var parts [5]string
	n := 0
	for stop = at; n < len(parts); stop++ {
		from := stop
		for stop < len(s) && (isAlnum(s[stop]) || s[stop] == '_' || s[stop] == '-') {
			stop++
		}
		parts[n] = s[from:stop]
		if n++; stop == len(s) || s[stop] != '.' {
			break
		}
	}
	if len(parts[0]) < 12 {
		return 0, 0, false
	}
	if n == len(parts) && len(parts[2]) == 16 && len(parts[3]) >= 8 && len(parts[4]) >= 16 {
		stop = at + 4 + len(strings.Join(parts[:], ""))
		return at, stop, entropy(s[at:stop]) > 3
	}
	if n < 3 || len(parts[1]) < 12 || !strings.HasPrefix(parts[1], "eyJ") {
		return 0, 0, false
	}
	stop = at + len(parts[0]) + 1 + len(parts[1]) + 1 + len(parts[2])
	return at, stop, entropy(s[at:stop]) > 3
}
