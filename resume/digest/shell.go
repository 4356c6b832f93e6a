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
	line := limitMiddle(oneLine(source))
	if strings.Contains(source, "\n") { // a document is known by what it begins with
		line = limit(oneLine(source))
	}
	if line == "" {
		return
	}
	script := parse(source)
	whole := len(raw) <= endBytes
	if result == OK {
		s.worked(script.core(false))
	}
	looks := whole && script.looks()
	if looks && (result != Failed || found(t)) {
		return
	}
	if !looks { // what is not there to look at is no error
		s.result(script.key(), line, t, result, m)
	}
	c := Command{Line: line, Looks: looks, Outcome: result, ExitCode: t.ExitCode, Message: identity(m), N: s.Messages}
	s.Commands = slices.DeleteFunc(s.Commands, func(o Command) bool { return o.Line == line })
	s.Commands = bounded(append(s.Commands, c), maxCommands)
	if result == OK && whole {
		s.done(script, t, m)
	}
}

// key is that of the script's failure. One that ends in writing a text into a file
// is for that file, whatever writes it.
func (s script) key() string {
	if n := len(s.commands) - 1; n >= 0 && s.commands[n].into != "" && s.commands[n].spells() {
		return fileKey + path(s.commands[n].into)
	}
	if core := s.core(true); core != "" {
		return commandKey + core
	}
	return commandKey + s.core(false)
}

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
	commands []command
	chain    bool // one command after the other as long as they succeed
	piped    bool
	writes   bool // into a file, by redirection
}

// A command is a simple command of a script.
type command struct {
	words []string
	run   bool   // whenever the script is
	fed   bool   // by the command before, which is run whenever the script is
	plain bool   // what its words name is what is meant
	into  string // the file that it writes into by redirection
	adds  bool   // to the end of that file
}

// spells reports whether a command only says what its words or its input say.
func (c command) spells() bool { return slices.Contains([]string{"cat", "echo", "printf"}, c.words[0]) }

// parse takes a line for the shell apart. It need not understand all of it, and
// says where it does not.
func parse(source string) script {
	p := parser{src: strings.TrimSpace(source), script: script{chain: true}, command: command{plain: true}}
	for p.at < len(p.src) {
		p.step()
	}
	p.end()
	return p.script
}

type parser struct {
	script
	command
	src    string
	at     int
	word   []byte
	begun  bool   // a word, which may be empty
	until  string // the line that ends a document in the text
	unsure bool   // the commands up to the end of the list may not be run, or are told of by others
	feeds  bool   // the command before is fed into this one, and is run
	depth  int    // of what is run under a condition, or again, or elsewhere
}

func (p *parser) step() {
	c := p.src[p.at]
	p.at++
	next := func(c byte) bool { return p.at < len(p.src) && p.src[p.at] == c }
	switch c {
	case ' ', '\t', '\r':
		p.space()
	case '\n':
		p.chain = p.chain && len(p.commands) == 0 && len(p.words) == 0 && !p.begun
		p.end()
		p.unsure = false
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
	case '&', '|', ';', '(', ')':
		p.operator(c)
	case '>', '<':
		p.redirect(c)
	case '#':
		if p.begun {
			p.put(c)
			return
		}
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

// operator reads what stands between commands, and begins with c.
func (p *parser) operator(c byte) {
	next := p.at < len(p.src) && p.src[p.at] == c
	switch {
	case c == '&' && next:
		p.at++
		p.end()
		return
	case c == '&' && p.at < len(p.src) && p.src[p.at] == '>': // &> file
		return
	case c == '|' && !next:
		p.piped, p.plain = true, false
		defer func(feeds bool) { p.feeds = feeds }(!p.unsure && p.depth == 0)
	case c == '&':
		p.plain = false
	}
	if next {
		p.at++
	}
	p.chain = false
	p.end()
	switch c {
	case '(':
		p.depth++
	case ')':
		p.depth = max(p.depth-1, 0)
	case '|': // what follows || depends on what went before
		p.unsure = p.unsure || next
	default:
		p.unsure = false
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
		switch p.words[0] {
		case "for", "while", "until", "if", "case", "{", "function":
			p.depth++
			p.chain = false
		case "done", "fi", "esac", "}":
			p.depth = max(p.depth-1, 0)
		}
		p.fed, p.feeds = p.feeds, false
		p.run = !p.unsure && p.depth == 0 && !p.fed
		p.commands = append(p.commands, p.command)
	}
	p.command = command{plain: true}
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
	if strings.Trim(string(p.word), "0123456789") == "" {
		p.word, p.begun = nil, false // the number of a file: 2>
	}
	p.space()
	twice := strings.HasPrefix(p.src[p.at:], string(c)) && !strings.HasPrefix(p.src[p.at:], "<<") // <<< is no document
	for p.at < len(p.src) && strings.IndexByte("<>&-|", p.src[p.at]) >= 0 {
		p.at++
	}
	rest := strings.TrimLeft(p.src[p.at:], " \t")
	n := strings.IndexAny(rest, " \t\n;|&()<>")
	if n < 0 {
		n = len(rest)
	}
	if q := rest[:min(n, 1)]; q == "'" || q == `"` {
		if i := strings.Index(rest[1:], q); i >= 0 {
			n = i + 2
		}
	}
	target := strings.Trim(rest[:n], `'"\`)
	p.at = len(p.src) - len(rest) + n
	switch {
	case twice && c == '<':
		p.until = target
	case c == '>' && target != "/dev/null" && strings.Trim(target, "0123456789") != "":
		p.writes, p.into, p.adds = true, target, twice
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

// chained stands between the commands of a core.
const chained = " && "

// core is what a script does, as a chain of commands; with deeds, only what does
// more than look or go somewhere: "" if there is none.
func (s script) core(deeds bool) string {
	var parts []string
	for _, c := range s.commands {
		if words := program(c.words); len(words) > 0 && !(deeds && looking(words)) {
			part := strings.ReplaceAll(strings.Join(words, " "), chained, " ; ") // of another shell
			parts = append(parts, oneLine(part))
		}
	}
	return strings.Join(parts, chained)
}

// looks reports whether a script changes nothing.
func (s script) looks() bool { return s.core(true) == "" && !s.writes }

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
