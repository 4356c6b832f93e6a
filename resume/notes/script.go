package notes

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A script is a parsed shell command line, as far as its meaning is clear.
type script struct {
	commands   []simpleCommand
	sequential bool // each command runs only if the one before it succeeded
	piped      bool
	writes     bool // redirects into a file
}

// A simpleCommand is a simple command of a script.
type simpleCommand struct {
	words   []string
	literal []bool   // by word: it is literal
	run     []string // words without those before the name of the program
	looks   bool     // it only looks at something or changes folder
	targets []target
	certain bool // if the script succeeded, this command ran, and succeeded or printed an error
}

// A target is a file that a command's output is written to.
type target struct {
	path    string
	action  string // modified if appended to; else written
	literal bool   // it is literal
}

// onlyPrints reports whether a command only prints its words or its input.
func (c simpleCommand) onlyPrints() bool {
	return len(c.run) > 0 && slices.Contains([]string{"cat", "echo", "printf", ":"}, c.run[0])
}

// printsErrors reports whether a command prints an error when it fails, so that
// silence means success, and is not just a test of a condition.
func (c simpleCommand) printsErrors() bool {
	return len(c.run) > 0 && listed("complaining programs", c.run[0])
}

// parse parses a shell command line. It may understand only part of it, and marks what
// it does not understand.
func parse(source string) script {
	file, err := syntax.NewParser().Parse(strings.NewReader(source), "")
	var wrong syntax.ParseError
	if errors.As(err, &wrong) {
		// If a here-document is unclosed or cut off, a shell takes what there is.
		if _, end, ok := strings.Cut(wrong.Text, "unclosed here-document `"); ok {
			source += "\n" + strings.TrimSuffix(end, "`") + "\n"
			file, err = syntax.NewParser().Parse(strings.NewReader(source), "")
		}
	}
	p := parser{src: source}
	p.sequential = err == nil && len(file.Stmts) <= 1
	p.list(file.Stmts, err == nil, true)
	if len(p.commands) == 0 && err != nil { // another shell's syntax, or an unclosed quote
		for _, l := range strings.FieldsFunc(source, func(r rune) bool { return strings.ContainsRune("\n;&|", r) }) {
			if words := strings.Fields(strings.NewReplacer("'", "", `"`, "").Replace(l)); len(words) > 0 {
				p.add(simpleCommand{words: words, literal: make([]bool, len(words))})
			}
		}
	}
	return p.script
}

type parser struct {
	script
	src string
}

// list adds statements that run one after the other. If ok, the success of the last
// means that all succeeded.
func (p *parser) list(all []*syntax.Stmt, sure, ok bool) {
	for i, st := range all {
		p.statement(st, sure, ok && i == len(all)-1)
		if n := len(p.commands); n > 0 && slices.Contains([]string{"exit", "return", "exec"}, p.commands[n-1].words[0]) {
			sure = false
		}
	}
}

// statement adds a statement. sure: it certainly ran; ok: it also succeeded.
func (p *parser) statement(st *syntax.Stmt, sure, ok bool) {
	if st.Background || st.Coprocess || st.Negated {
		p.sequential, sure = false, false
	}
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		p.call(c.Args, st.Redirs, sure)
		return
	case nil:
		p.call(nil, st.Redirs, sure)
		return
	case *syntax.BinaryCmd:
		from := len(p.commands)
		switch c.Op {
		case syntax.AndStmt:
			p.statement(c.X, sure, ok)
			p.statement(c.Y, sure && (ok || !slices.ContainsFunc(p.commands[from:], func(c simpleCommand) bool { return !c.printsErrors() })), ok)
		case syntax.OrStmt:
			p.sequential = false
			p.statement(c.X, sure, false)
			p.statement(c.Y, false, false)
		default:
			p.sequential, p.piped = false, true
			p.statement(c.X, false, false)
			p.statement(c.Y, false, false)
		}
	case *syntax.Block:
		p.sequential = false
		p.list(c.Stmts, sure, ok)
	default: // may run, or not, or several times, or in a subshell
		p.sequential = false
		syntax.Walk(c, func(n syntax.Node) bool {
			inner, ok := n.(*syntax.Stmt)
			if !ok {
				return true
			}
			call, ok := inner.Cmd.(*syntax.CallExpr)
			if ok {
				p.call(call.Args, inner.Redirs, false)
			}
			return !ok
		})
	}
	p.redirect(st.Redirs)
}

// call adds a simple command.
func (p *parser) call(args []*syntax.Word, redirs []*syntax.Redirect, sure bool) {
	c := simpleCommand{certain: sure, targets: p.redirect(redirs)}
	for _, w := range args {
		word, plain := p.word(w)
		c.words, c.literal = append(c.words, word), append(c.literal, plain)
	}
	if len(c.words) == 0 {
		if len(c.targets) == 0 {
			return
		}
		c.words, c.literal = []string{":"}, []bool{true} // > file
	}
	p.add(c)
}

// add adds a command with its words.
func (p *parser) add(c simpleCommand) {
	c.run = withoutPrefix(c.words)
	c.looks = len(c.run) > 0 && isReadOnly(c.run)
	p.commands = append(p.commands, c)
}

// redirect returns the files that standard output goes to.
func (p *parser) redirect(all []*syntax.Redirect) (into []target) {
	for _, r := range all {
		t := target{action: written}
		if r.Op == syntax.AppOut || r.Op == syntax.AppAll {
			t.action = Modified
		}
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.DplOut:
			t.path, t.literal = p.word(r.Word)
		}
		if t.path == "" || strings.HasPrefix(t.path, "/dev/") || r.Op == syntax.DplOut && strings.Trim(t.path, "0123456789-") == "" {
			continue
		}
		p.writes = true
		if r.N == nil || r.N.Value == "1" {
			into = append(into, t)
		}
	}
	return into
}

// word returns a word's value and whether it is literal. An expansion is returned as
// written.
func (p *parser) word(w *syntax.Word) (string, bool) {
	var b strings.Builder
	plain := true
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word, *syntax.DblQuoted, nil:
		case *syntax.SglQuoted:
			plain = plain && !n.Dollar
			b.WriteString(n.Value)
		case *syntax.Lit:
			plain = plain && !strings.ContainsAny(n.Value, `*?[{~\`)
			b.WriteString(n.Value)
		default:
			plain = false
		}
		return plain
	})
	from, to := int(w.Pos().Offset()), int(w.End().Offset())
	if plain || from > to || to > len(p.src) {
		return b.String(), plain
	}
	return p.src[from:to], false
}
