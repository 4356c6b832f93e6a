package notes

import (
	"slices"
	"strings"
)

// A purpose is what a simple command is for, such as "git push" or "go test", and its
// object.
type purpose struct {
	program, verb string
	objects       []string
	partial       bool // a flag selects part of it: -run
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
				p.partial = p.partial || slices.Contains([]string{"run", "k", "t", "only", "grep", "filter", "testNamePattern"}, flag)
			case w == "run" && p.verb == "" && len(p.objects) == 0:
			case p.verb == "" && len(p.objects) == 0 && isVerb(w):
				p.verb = w
			default:
				p.objects = append(p.objects, w)
			}
		}
		all = append(all, p)
	}
	return all
}

// isVerb reports whether the first word after a program is its subcommand.
func isVerb(w string) bool {
	return !strings.ContainsFunc(w, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' && r != ':' && r != '_' })
}

// resolvesCommand reports whether the success of one command resolves the failure of
// another. It does if it did the same to the same object, to part of it in another way,
// or to all of it, or if it supplied what was missing. For a chain of commands, the
// last one counts.
func resolvesCommand(success, failure string) bool {
	if success == failure {
		return true
	}
	f := lastPurpose(failure)
	return slices.ContainsFunc(purposes(success), func(s purpose) bool {
		switch {
		case s.has(tests) && f.has(tests) && !s.partial && !slices.ContainsFunc(s.objects, func(w string) bool { return strings.Trim(w, "./") != "" }):
			return true // all tests
		case s.program != f.program:
			return false
		case s.program == "git" && slices.Contains([]string{"commit", "push"}, s.verb):
			return slices.Contains([]string{"merge", "rebase", "pull", "cherry-pick", "add", "commit", s.verb}, f.verb)
		case s.has(tests) && f.verb == "build": // tests include a build
			return intersect(s.objects, f.objects)
		case s.verb != f.verb || s.partial && !f.partial:
			return false
		}
		return intersect(s.objects, f.objects) && !f.has(tests) || containsAll(s.objects, f.objects) || containsAll(f.objects, s.objects)
	})
}

// lastPurpose returns the purpose of a chain of commands: that of its last command.
func lastPurpose(core string) purpose {
	all := purposes(core)
	if len(all) == 0 {
		return purpose{}
	}
	return all[len(all)-1]
}

// isCheck reports whether a chain of commands only checks something, so that only its
// own success resolves its failure.
func isCheck(core string) bool {
	p := lastPurpose(core)
	return p.has(tests) || p.has(builds)
}

// Words in the names or arguments of programs that check something.
const (
	tests  = " test tests pytest jest vitest rspec phpunit ctest nextest "
	builds = " build compile lint vet check typecheck tsc eslint clippy mypy ruff make cmake ninja gradle gradlew mvn "
)

// has reports whether a word of the command is in the list.
func (p purpose) has(some string) bool {
	words := strings.FieldsFunc(p.program+" "+p.verb, func(r rune) bool { return !wordRune(r) })
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(some, " "+w+" ") })
}

// intersect reports whether the lists have an element in common.
func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(w string) bool { return slices.Contains(b, w) })
}

// containsAll reports whether b contains all of a.
func containsAll(a, b []string) bool {
	return !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
}
