package digest

import (
	"slices"
	"strings"
)

// A purpose is what a simple command is for, such as "git push" or "go test", and its
// object.
type purpose struct {
	program, does string
	of            []string
	part          bool // a flag selects part of it: -run
}

// purposes splits the core of a script.
func purposes(core string) (all []purpose) {
	for part := range strings.SplitSeq(core, chained) {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		p := purpose{program: base(words[0])}
		words = words[1:]
		if p.program == "git" {
			words = gitVerb(words)
		}
		if listed("interpreters", p.program) {
			for len(words) > 0 && words[0][0] == '-' && !slices.Contains([]string{"-", "-c", "-e"}, words[0]) {
				words = words[1:]
			}
			switch {
			case len(words) == 0:
			case words[0][0] == '-': // a short inline program, written for this one use
				p.program, words = p.program+" "+words[0], nil
			case strings.Contains(base(words[0]), "."):
				p.program, words = base(words[0]), words[1:]
			}
		}
		for _, w := range words {
			switch {
			case w[0] == '-':
				flag, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
				p.part = p.part || slices.Contains([]string{"run", "k", "t", "only", "grep", "filter", "testNamePattern"}, flag)
			case w == "run" && p.does == "" && len(p.of) == 0:
			case p.does == "" && len(p.of) == 0 && verb(w):
				p.does = w
			default:
				p.of = append(p.of, w)
			}
		}
		all = append(all, p)
	}
	return all
}

// verb reports whether the first word after a program is its subcommand.
func verb(w string) bool {
	return !strings.ContainsFunc(w, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' && r != ':' && r != '_' })
}

// settles reports whether the success of one command resolves the failure of another.
// It does if it did the same to the same object, to part of it in another way, or to
// all of it, or if it supplied what was missing. For a chain, its last command
// counts.
func settles(success, failure string) bool {
	if success == failure {
		return true
	}
	f := aim(failure)
	return slices.ContainsFunc(purposes(success), func(s purpose) bool {
		switch {
		case s.has(tests) && f.has(tests) && !s.part && !slices.ContainsFunc(s.of, func(w string) bool { return strings.Trim(w, "./") != "" }):
			return true // all tests
		case s.program != f.program:
			return false
		case s.program == "git" && slices.Contains([]string{"commit", "push"}, s.does):
			return slices.Contains([]string{"merge", "rebase", "pull", "cherry-pick", "add", "commit", s.does}, f.does)
		case s.has(tests) && f.does == "build": // tests include a build
			return overlap(s.of, f.of)
		case s.does != f.does || s.part && !f.part:
			return false
		}
		return overlap(s.of, f.of) && !f.has(tests) || within(s.of, f.of) || within(f.of, s.of)
	})
}

// aim returns the purpose of a chain of commands: that of its last command.
func aim(core string) purpose {
	all := purposes(core)
	if len(all) == 0 {
		return purpose{}
	}
	return all[len(all)-1]
}

// checks reports whether a chain of commands only checks something, so that only its
// own success resolves its failure.
func checks(core string) bool {
	p := aim(core)
	return p.has(tests) || p.has(builds)
}

// Words in the names or arguments of programs that check something.
const (
	tests  = " test tests pytest jest vitest rspec phpunit ctest nextest "
	builds = " build compile lint vet check typecheck tsc eslint clippy mypy ruff make cmake ninja gradle gradlew mvn "
)

// has reports whether a word of the command is in the list.
func (p purpose) has(some string) bool {
	words := strings.FieldsFunc(p.program+" "+p.does, func(r rune) bool { return !wordRune(r) })
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(some, " "+w+" ") })
}

// overlap reports whether the lists have an element in common.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool { return slices.Contains(b, w) })
}

// within reports whether b contains all of a.
func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
}
