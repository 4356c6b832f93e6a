package digest

import (
	"cmp"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// ran records a call of the shell.
func (s *State) ran(t schema.Tool, result string, m *schema.Message) {
	raw := rawjson.Get(t.Input, "command")
	source := leading(raw)
	line := limitMiddle(oneLine(source))
	if strings.Contains(source, "\n") { // a document is identified by its beginning
		line = limit(oneLine(source))
	}
	if line == "" {
		return
	}
	script := parse(source)
	whole := len(raw) <= endBytes
	looks := whole && script.looks()
	if looks && (result != Failed || found(t)) {
		return
	}
	if !looks { // looking for something that does not exist is no error
		s.result(script.key(), line, t, result, m)
		if result == OK {
			s.worked()
		}
	}
	c := Command{Line: line, Looks: looks, Outcome: result, ExitCode: t.ExitCode, Message: identity(m), N: s.Messages}
	run := script.run()
	s.Commands = slices.DeleteFunc(s.Commands, func(o Command) bool {
		return o.Line == line || run != "" && strings.Contains(o.Line, run[strings.LastIndexByte(run, ' ')+1:]) && parse(o.Line).run() == run
	})
	s.Commands = bounded(append(s.Commands, c), maxCommands)
	if result == OK && whole {
		s.done(script, t, m)
	}
}

// run returns the script's last command that does more than look: the program, its
// verb and the file it is for, or "" if it is for none. Every git command counts as
// new.
func (s script) run() string {
	for _, c := range slices.Backward(s.commands) {
		if words := program(c.words); len(words) > 0 && !looking(words) {
			if file := words[len(words)-1]; words[0] != "git" && matches("files", file) {
				p := purposes(oneLine(strings.Join(words, " ")))[0]
				return p.program + " " + p.does + " " + file
			}
			break
		}
	}
	return ""
}

// key returns the key for the script's failure. A script that ends by writing text
// into a file is keyed by that file, however it writes.
func (s script) key() string {
	if n := len(s.commands) - 1; n >= 0 && s.commands[n].spells() {
		if into := s.commands[n].into; len(into) > 0 {
			return fileKey + path(into[len(into)-1].path)
		}
	}
	return commandKey + cmp.Or(s.core(true), s.core(false))
}

// found reports whether a nonzero exit code only means that nothing was found, or
// that there is a difference.
func found(t schema.Tool) bool {
	return t.ExitCode != nil && *t.ExitCode == 1 && !slices.ContainsFunc(slices.Collect(outputLines(t)), complains)
}

// chained separates the commands of a core.
const chained = " && "

// core returns a script as a chain of commands. With deeds, it keeps only those that
// do more than look or change folder; "" if there are none.
func (s script) core(deeds bool) string {
	var parts []string
	for _, c := range s.commands {
		if words := program(c.words); len(words) > 0 && !(deeds && looking(words)) {
			part := strings.ReplaceAll(strings.Join(words, " "), chained, " ; ") // may come from another shell
			parts = append(parts, oneLine(part))
		}
	}
	return strings.Join(parts, chained)
}

// looks reports whether a script changes nothing.
func (s script) looks() bool { return s.core(true) == "" && !s.writes }

// program drops the words before the name of a program.
func program(words []string) []string {
	for len(words) > 0 {
		if words[0] == "command" && len(words) > 1 && strings.HasPrefix(words[1], "-") {
			return []string{"which"} // command -v
		}
		name, _, assigns := strings.Cut(words[0], "=")
		if !slices.Contains([]string{"sudo", "command", "nohup"}, words[0]) &&
			(!assigns || name == "" || strings.ContainsFunc(name, func(r rune) bool { return !wordRune(r) })) {
			break
		}
		words = words[1:]
	}
	return words
}

// looking reports whether a simple command only looks at something or changes folder.
func looking(words []string) bool {
	program, args := words[0], words[1:]
	program = strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	switch program {
	case "git":
		args = gitVerb(args)
	case "xargs": // runs what follows its flags
		i := slices.IndexFunc(args, func(a string) bool { return a != "" && a[0] != '-' && strings.Trim(a, "0123456789{}") != "" })
		return i < 0 || looking(args[i:])
	case "ssh": // runs its last word elsewhere
		return len(args) > 1 && strings.ContainsAny(args[len(args)-1], " /") && parse(args[len(args)-1]).looks()
	case "sed":
		return !slices.ContainsFunc(args, inPlaceFlag)
	}
	line := strings.Join(append([]string{strings.TrimSuffix(program, ".exe")}, args...), " ")
	return matches("looks", line) && !patterns()["changes"].MatchString(line)
}

// gitVerb drops what precedes the verb of git: -C and a folder.
func gitVerb(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-C" || args[0] == "-c" {
			args = args[1:]
		}
		args = args[min(1, len(args)):]
	}
	return args
}
