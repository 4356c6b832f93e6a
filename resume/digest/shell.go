package digest

import (
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// ran takes in a call of the shell.
func (s *State) ran(t schema.Tool, result string, m *schema.Message) {
	raw := rawjson.Get(t.Input, "command")
	source := leading(raw)
	line := limit(oneLine(source))
	if line == "" {
		return
	}
	script := parse(source)
	whole := len(raw) <= endBytes
	if result == OK && script.piped && masked(t.Output) {
		result = Failed // the exit code is the last program's, which only cut the output
	}
	core := script.core()
	key := commandKey + core
	if whole && script.looks() {
		if key = lookKey + line; result != Failed || found(t) {
			s.result(key, line, t, OK, m)
			return
		}
	}
	s.result(key, line, t, result, m)
	c := Command{Line: line, Looks: strings.HasPrefix(key, lookKey), Outcome: result, ExitCode: t.ExitCode, Message: identity(m), N: s.Messages}
	s.Commands = slices.DeleteFunc(s.Commands, func(o Command) bool { return o.Line == line })
	s.Commands = bounded(append(s.Commands, c), maxCommands)
	if result == OK && whole && script.plain {
		for _, d := range script.deeds() {
			s.did(d, m)
		}
	}
}

// commandKey begins the key of a failed command.
const commandKey = "command "

// found reports whether what failed by its exit code only tells that nothing was
// found, or that there is a difference.
func found(t schema.Tool) bool {
	return t.ExitCode != nil && *t.ExitCode == 1 && !complains(strings.ToLower(oneLine(ends(t.Output))))
}

// masked reports whether the output of a pipe shows that a program before the
// last one failed.
func masked(output string) bool {
	for l := range strings.Lines(ends(output)) {
		if l = strings.TrimPrefix(l, "Output: "); strings.HasPrefix(l, "Error: (none)") {
			continue
		}
		for _, p := range []string{"FAIL\t", "--- FAIL", "FAIL:", "FAILED", "panic: ", "npm ERR!", "Traceback (most recent call last)", "make: ***", "fatal: ", "error: ", "error[", "BUILD FAILED", "Error: "} {
			if strings.HasPrefix(l, p) {
				return true
			}
		}
	}
	return false
}

// A script is a line for the shell, taken apart as far as its meaning is plain.
type script struct {
	commands [][]string // the words of each simple command
	plain    bool       // nothing but words, quoted words and &&: what the words name is what is meant
	piped    bool
	writes   bool // into a file, by redirection
}

// parse takes a line for the shell apart. It need not understand all of it, and
// says where it does not.
func parse(source string) script {
	p := parser{src: source, script: script{plain: true}}
	for p.at < len(p.src) {
		p.step()
	}
	p.end()
	return p.script
}

type parser struct {
	script
	src   string
	at    int
	words []string
	word  []byte
	begun bool   // a word, which may be empty
	until string // the line that ends a document in the text
}

func (p *parser) step() {
	c := p.src[p.at]
	p.at++
	next := func(c byte) bool { return p.at < len(p.src) && p.src[p.at] == c }
	switch c {
	case ' ', '\t', '\r':
		p.space()
	case '\n':
		p.end()
		p.plain = false
		p.skipDocument()
	case '\'', '"':
		p.quoted(c)
	case '\\':
		p.plain = false
		if p.at < len(p.src) {
			if p.src[p.at] != '\n' {
				p.put(p.src[p.at])
			}
			p.at++
		}
	case '&':
		switch {
		case next('&'):
			p.at++
		case next('>'):
			p.plain = false
			return
		default:
			p.plain = false
		}
		p.end()
	case '|', ';', '(', ')':
		p.plain = false
		if c == '|' && next('|') {
			p.at++
		} else if c == '|' {
			p.piped = true
		}
		p.end()
	case '>', '<':
		p.redirect(c)
	case '#':
		if p.begun {
			p.put(c)
			return
		}
		p.plain = false
		if i := strings.IndexByte(p.src[p.at:], '\n'); i >= 0 {
			p.at += i
		} else {
			p.at = len(p.src)
		}
	case '`', '$', '*', '?', '[', '~', '{', '}', '!':
		p.plain = false
		p.put(c)
		if c == '$' && next('(') {
			p.substitution()
		}
	default:
		p.put(c)
	}
}

func (p *parser) put(c byte) { p.word, p.begun = append(p.word, c), true }

// space ends a word.
func (p *parser) space() {
	if p.begun {
		p.words = append(p.words, string(p.word))
	}
	p.word, p.begun = nil, false
}

// end ends a simple command.
func (p *parser) end() {
	p.space()
	if len(p.words) > 0 {
		p.commands = append(p.commands, p.words)
	}
	p.words = nil
}

func (p *parser) quoted(mark byte) {
	p.begun = true
	for p.at < len(p.src) && p.src[p.at] != mark {
		c := p.src[p.at]
		p.at++
		if mark == '"' && (c == '$' || c == '`' || c == '\\') {
			p.plain = false
			if c == '\\' && p.at < len(p.src) {
				c = p.src[p.at]
				p.at++
			} else if c == '$' && p.at < len(p.src) && p.src[p.at] == '(' {
				p.put(c)
				p.substitution()
				continue
			}
		}
		p.put(c)
	}
	p.at++
}

// substitution takes what stands in $(…) as a part of the word.
func (p *parser) substitution() {
	depth := 0
	for p.at < len(p.src) {
		c := p.src[p.at]
		p.at++
		p.put(c)
		if c == '(' {
			depth++
		} else if c == ')' {
			if depth--; depth == 0 {
				return
			}
		}
	}
}

// redirect reads what follows > or <.
func (p *parser) redirect(c byte) {
	p.plain = false
	if strings.Trim(string(p.word), "0123456789") == "" {
		p.word, p.begun = nil, false // the number of a file: 2>
	}
	p.space()
	document := false
	for p.at < len(p.src) && strings.IndexByte("<>&-|", p.src[p.at]) >= 0 {
		document = document || c == '<' && p.src[p.at] == '<'
		p.at++
	}
	rest := strings.TrimLeft(p.src[p.at:], " \t")
	n := strings.IndexAny(rest, " \t\n;|&()<>")
	if n < 0 {
		n = len(rest)
	}
	target := strings.Trim(rest[:n], `'"\`)
	p.at = len(p.src) - len(rest) + n
	switch {
	case document:
		p.until = target
	case c == '>' && target != "/dev/null" && strings.Trim(target, "0123456789") != "":
		p.writes = true
	}
}

// skipDocument goes behind the document that the line before announced.
func (p *parser) skipDocument() {
	if p.until == "" {
		return
	}
	for p.at < len(p.src) {
		l, _, _ := strings.Cut(p.src[p.at:], "\n")
		p.at = min(p.at+len(l)+1, len(p.src))
		if strings.TrimSpace(l) == p.until {
			break
		}
	}
	p.until = ""
}

// core is what a script does, without what only looks or goes somewhere: "" if
// that is all of it.
func (s script) core() string {
	var parts []string
	for _, words := range s.commands {
		if words = program(words); len(words) > 0 && !looking(words) {
			parts = append(parts, oneLine(strings.Join(words, " ")))
		}
	}
	return strings.Join(parts, " && ")
}

// looks reports whether a script changes nothing.
func (s script) looks() bool { return s.core() == "" && !s.writes }

// program leaves out what stands before the name of a program.
func program(words []string) []string {
	for len(words) > 0 {
		if words[0] == "command" && len(words) > 1 && strings.HasPrefix(words[1], "-") {
			return []string{"which"} // command -v
		}
		name, _, assigns := strings.Cut(words[0], "=")
		if !slices.Contains([]string{"do", "then", "else", "if", "elif", "while", "until", "!", "time", "sudo", "command", "nohup", "{", "}"}, words[0]) &&
			(!assigns || name == "" || strings.ContainsFunc(name, func(r rune) bool { return !wordRune(r) })) {
			break
		}
		words = words[1:]
	}
	return words
}

// A deed is what a shell command did to a path.
type deed struct{ path, action string }

// deeds returns what a plain script that succeeded did away with, and what came
// to be by moving.
func (s script) deeds() (all []deed) {
	for _, words := range s.commands {
		if words = program(words); len(words) == 0 {
			continue
		}
		if words[0] == "cd" || words[0] == "pushd" {
			return nil // the paths behind it are another folder's
		}
		if words[0] == "git" {
			words = words[1:]
		}
		if len(words) == 0 || !slices.Contains([]string{"rm", "unlink", "mv"}, words[0]) {
			continue
		}
		paths, flags := operands(words[1:])
		if slices.ContainsFunc(flags, func(f string) bool {
			return strings.HasPrefix(f, "--") && f != "--force" && f != "--recursive" || f == "-n" || strings.HasPrefix(f, "-t")
		}) {
			continue
		}
		if words[0] == "mv" {
			all = append(all, moves(paths)...)
			continue
		}
		for _, p := range paths {
			all = append(all, deed{p, Deleted})
		}
	}
	return all
}

func operands(words []string) (paths, flags []string) {
	for i, w := range words {
		if w == "--" {
			return append(paths, words[i+1:]...), flags
		}
		if len(w) > 1 && w[0] == '-' {
			flags = append(flags, w)
		} else {
			paths = append(paths, w)
		}
	}
	return paths, flags
}

// moves returns what moving all but the last of paths to the last one does;
// where that may be a folder or not, it does not say what came to be.
func moves(paths []string) (all []deed) {
	if len(paths) < 2 {
		return nil
	}
	to := paths[len(paths)-1]
	for _, from := range paths[:len(paths)-1] {
		all = append(all, deed{from, Deleted})
		switch {
		case len(paths) > 2 || strings.HasSuffix(to, "/"):
			all = append(all, deed{strings.TrimSuffix(to, "/") + "/" + base(from), Created})
		case to == "." || to == ".." || strings.Contains(base(from), ".") && !strings.Contains(base(to), "."):
		default:
			all = append(all, deed{to, Created})
		}
	}
	return all
}

func base(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}
