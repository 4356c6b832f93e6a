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
	run   bool // whenever the script is run and succeeds
	apart bool // in a shell of its own, so that where it goes is its own matter
	fed   bool // by a command before, which is run whenever the script is, and only says what it is told
}

// A target is a file that a command's output goes to.
type target struct {
	path  string
	adds  bool // to its end
	plain bool // it is what it says
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
	return len(words) > 0 && slices.Contains([]string{"cd", "mkdir", "touch", "cp", "mv", "rm", "sed", "cat", "echo", "printf", "chmod", "tee", "set", "export", ":"}, words[0])
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
	p.list(file.Stmts, situation{run: err == nil, ok: err == nil})
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

// A situation is that of a part of a script which succeeded.
type situation struct {
	run   bool // the part is run
	ok    bool // and succeeded
	apart bool
	fed   bool
}

// list takes in statements that are run one after the other.
func (p *parser) list(all []*syntax.Stmt, s situation) {
	whole, strict := s.ok, false
	for i, st := range all {
		s.ok = whole && (strict || i == len(all)-1)
		p.statement(st, s)
		if c, ok := st.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			switch c.Args[0].Lit() {
			case "exit", "return", "exec":
				s.run = false
			case "set":
				strict = strict || len(c.Args) > 1 && strings.HasPrefix(c.Args[1].Lit(), "-e")
			}
		}
	}
}

func (p *parser) statement(st *syntax.Stmt, s situation) {
	if st.Background || st.Coprocess || st.Negated {
		p.chain = false
		s.run, s.ok = s.run && st.Negated, false
	}
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		p.call(c.Args, st.Redirs, s)
		return
	case nil:
		p.call(nil, st.Redirs, s)
		return
	case *syntax.BinaryCmd:
		p.both(c, s)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			p.statement(c.Stmt, s)
		}
	case *syntax.Block:
		p.chain = false
		p.list(c.Stmts, s)
	case *syntax.Subshell:
		p.chain = false
		s.apart = true
		p.list(c.Stmts, s)
	default:
		p.chain = false
		p.inner(c, s)
	}
	p.redirect(st.Redirs)
}

// both takes in two commands and what joins them.
func (p *parser) both(c *syntax.BinaryCmd, s situation) {
	x, y := s, s
	switch c.Op {
	case syntax.AndStmt:
		from := len(p.commands)
		p.statement(c.X, x)
		y.run = s.run && (s.ok || !slices.ContainsFunc(p.commands[from:], func(c command) bool { return !c.complains() }))
		p.statement(c.Y, y)
	case syntax.OrStmt:
		p.chain = false
		x.ok, y.run, y.ok = false, false, false
		p.statement(c.X, x)
		p.statement(c.Y, y)
	default: // a pipe
		p.chain, p.piped = false, true
		x.ok, x.run, x.apart, y.apart = false, false, true, true
		p.statement(c.X, x)
		last := p.commands[max(len(p.commands)-1, 0):]
		y.fed = s.run && len(last) == 1 && last[0].spells() && !last[0].fed
		y.run, y.ok = false, false
		p.statement(c.Y, y)
	}
}

// inner takes in what may be run, or not, or more than once.
func (p *parser) inner(c syntax.Command, s situation) {
	cond := situation{run: s.run, apart: s.apart}
	body := situation{apart: s.apart}
	switch c := c.(type) {
	case *syntax.IfClause:
		p.list(c.Cond, cond)
		p.list(c.Then, body)
		if c.Else != nil {
			p.inner(c.Else, body)
		}
	case *syntax.WhileClause:
		p.list(c.Cond, cond)
		p.list(c.Do, body)
	case *syntax.ForClause:
		p.list(c.Do, body)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			p.list(item.Stmts, body)
		}
	case *syntax.FuncDecl:
		p.statement(c.Body, body)
	}
}

// call takes in a simple command.
func (p *parser) call(args []*syntax.Word, redirs []*syntax.Redirect, s situation) {
	c := command{run: s.run, apart: s.apart, fed: s.fed, into: p.redirect(redirs)}
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
		t := target{adds: r.Op == syntax.AppOut || r.Op == syntax.AppAll}
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
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			plain = !outside(&b, part.Value) && plain
		case *syntax.SglQuoted:
			plain = plain && !part.Dollar
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, in := range part.Parts {
				if lit, ok := in.(*syntax.Lit); ok {
					inside(&b, lit.Value)
					continue
				}
				plain = false
				p.verbatim(&b, in)
			}
		default:
			plain = false
			p.verbatim(&b, part)
		}
	}
	s := b.String()
	return s, plain && !strings.HasPrefix(s, "~")
}

func (p *parser) verbatim(b *strings.Builder, n syntax.Node) {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from <= to && to <= len(p.src) {
		b.WriteString(p.src[from:to])
	}
}

// outside writes what stands outside of quotes, and reports whether it stands for
// something else.
func outside(b *strings.Builder, s string) (stands bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		case '*', '?', '[', '{':
			stands = true
		}
		b.WriteByte(s[i])
	}
	return stands
}

// inside writes what stands between double quotes.
func inside(b *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
}
