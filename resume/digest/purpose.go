package digest

import (
	"slices"
	"strings"
)

// A purpose is what a simple command is for: "git push", "go test", and what it
// does that to.
type purpose struct {
	program, does string
	of            []string
	part          bool // a flag picks some of it: -run
}

// purposes takes the core of a script apart.
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
			case words[0][0] == '-': // a few lines that are written for this once
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

// verb reports whether the first word behind a program says what it is to do.
func verb(w string) bool {
	return !strings.ContainsFunc(w, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' && r != ':' && r != '_' })
}

// settles reports whether success of the one settles a failure of the other: the same
// done to the same, or to some of it in another way; to all of it; or with what was
// missing. Of a chain its end is what it was for.
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
		case s.has(tests) && f.does == "build": // what is tested was built
			return overlap(s.of, f.of)
		case s.does != f.does || s.part && !f.part:
			return false
		}
		return overlap(s.of, f.of) && !f.has(tests) || within(s.of, f.of) || within(f.of, s.of)
	})
}

// aim is what a chain of commands is for, which is what its end is for.
func aim(core string) purpose {
	all := purposes(core)
	if len(all) == 0 {
		return purpose{}
	}
	return all[len(all)-1]
}

// checks reports whether a chain of commands is for finding out whether something is as it
// should be, so that only its own success settles it.
func checks(core string) bool {
	p := aim(core)
	return p.has(tests) || p.has(builds)
}

// What programs that check something have in their names or arguments.
const (
	tests  = " test tests pytest jest vitest rspec phpunit ctest nextest "
	builds = " build compile lint vet check typecheck tsc eslint clippy mypy ruff make cmake ninja gradle gradlew mvn "
)

// has reports whether one of the words of a command is among some.
func (p purpose) has(some string) bool {
	words := strings.FieldsFunc(p.program+" "+p.does, func(r rune) bool { return !wordRune(r) })
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(some, " "+w+" ") })
}

// overlap reports whether something is in both lists.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool { return slices.Contains(b, w) })
}

// within reports whether all of a is in b.
func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
}
