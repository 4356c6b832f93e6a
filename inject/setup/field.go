package setup

import "strings"

// Field returns the named text in a YAML frontmatter, on one line.
func Field(front, name string) string {
	var text []string
	within := false
	for line := range strings.Lines(front) {
		value, ok := strings.CutPrefix(line, name+":")
		switch {
		case ok:
			within = true
			text = append(text, strings.TrimLeft(strings.TrimSpace(value), "|>-+"))
		case within && strings.TrimLeft(line, " \t") != line:
			text = append(text, line)
		default:
			within = false
		}
	}
	value := strings.Join(strings.Fields(strings.Join(text, " ")), " ")
	if bare, _, ok := strings.Cut(value, " #"); ok && name != "description" { // people write descriptions with an unquoted #
		value = bare
	}
	return unquote(value)
}

// unquote removes the quotes of a YAML scalar.
func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	inner := s[1 : len(s)-1]
	switch s[0] {
	case '\'':
		return strings.ReplaceAll(inner, "''", "'")
	case '"':
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(inner)
	}
	return s
}
