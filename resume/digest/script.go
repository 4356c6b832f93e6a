package digest

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
	plain []bool // of each word: it is what it says
	into  []target
	sure  bool // if the script succeeded it was run, and succeeded or complained
}

// A target is a file that a command's output goes to.
type target struct {
	path   string
	action string // modified, where it is added to; else written
	plain  bool   // it is what it says
}

// spells reports whether a command only says what its words or its input say.
func (c command) spells() bool {
	words := program(c.words)
	return len(words) > 0 && slices.Contains([]string{"cat", "echo", "printf", ":"}, words[0])
}

// complains reports whether a command says so when it fails, so that silence is
// success, and does not just answer a question.
func (c command) complains() bool {
	words := program(c.words)
	return len(words) > 0 && listed("complaining programs", words[0])
}

// parse takes a line for the shell apart. It need not understand all of it, and
// says where it does not.
func parse(source string) script {
	file, err := syntax.NewParser().Parse(strings.NewReader(source), "")
	var wrong syntax.ParseError
	if errors.As(err, &wrong) {
		// Of a document that does not end, or was cut, a shell takes what there is.
		if _, end, ok := strings.Cut(wrong.Text, "unclosed here-document `"); ok {
			source += "\n" + strings.TrimSuffix(end, "`") + "\n"
			file, err = syntax.NewParser().Parse(strings.NewReader(source), "")
		}
	}
	p := parser{src: source}
	p.chain = err == nil && len(file.Stmts) <= 1
	p.list(file.Stmts, err == nil, true)
	if len(p.commands) == 0 && err != nil { // of another shell, or a word in quotes that do not end
		for _, l := range strings.FieldsFunc(source, func(r rune) bool { return strings.ContainsRune("\n;&|", r) }) {
			if words := strings.Fields(strings.NewReplacer("'", "", `"`, "").Replace(l)); len(words) > 0 {
				p.commands = append(p.commands, command{words: words, plain: make([]bool, len(words))})
			}
		}
	}
	return p.script
}

type parser struct {
	script
	src string
}

// list takes in statements that are run one after the other, of which the success of the
// last is that of all, if ok.
func (p *parser) list(all []*syntax.Stmt, sure, ok bool) {
	for i, st := range all {
		p.statement(st, sure, ok && i == len(all)-1)
		if n := len(p.commands); n > 0 && slices.Contains([]string{"exit", "return", "exec"}, p.commands[n-1].words[0]) {
			sure = false
		}
	}
}

// statement takes in a statement that is sure to be run, and to have succeeded if ok.
func (p *parser) statement(st *syntax.Stmt, sure, ok bool) {
	if st.Background || st.Coprocess || st.Negated {
		p.chain, sure = false, false
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
			p.statement(c.Y, sure && (ok || !slices.ContainsFunc(p.commands[from:], func(c command) bool { return !c.complains() })), ok)
		case syntax.OrStmt:
			p.chain = false
			p.statement(c.X, sure, false)
			p.statement(c.Y, false, false)
		default:
			p.chain, p.piped = false, true
			p.statement(c.X, false, false)
			p.statement(c.Y, false, false)
		}
	case *syntax.Block:
		p.chain = false
		p.list(c.Stmts, sure, ok)
	default: // what may be run, or not, or more than once, or in a shell of its own
		p.chain = false
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

// call takes in a simple command.
func (p *parser) call(args []*syntax.Word, redirs []*syntax.Redirect, sure bool) {
	c := command{sure: sure, into: p.redirect(redirs)}
	for _, w := range args {
		word, plain := p.word(w)
		c.words, c.plain = append(c.words, word), append(c.plain, plain)
	}
	if len(c.words) == 0 {
		if len(c.into) == 0 {
			return
		}
		c.words, c.plain = []string{":"}, []bool{true} // > file
	}
	p.commands = append(p.commands, c)
}

// redirect returns the files that the standard output goes to.
func (p *parser) redirect(all []*syntax.Redirect) (into []target) {
	for _, r := range all {
		t := target{action: written}
		if r.Op == syntax.AppOut || r.Op == syntax.AppAll {
			t.action = Modified
		}
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.DplOut:
			t.path, t.plain = p.word(r.Word)
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

// word is what a word says, and whether it is plain: what stands for something else
// is given as it is written.
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
