package notes

import (
	"cmp"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// addCommand records a call of the shell that ran script.
func (a *adder) addCommand(t schema.Tool, script script, result string) {
	raw := rawjson.Get(t.Input, "command")
	source := leadingString(raw)
	line := limitMiddle(oneLine(source))
	if strings.Contains(source, "\n") { // a document is identified by its beginning
		line = limit(oneLine(source))
	}
	if line == "" {
		return
	}
	whole := len(raw) <= endBytes
	readOnly := whole && script.readOnly()
	if readOnly && (result != Failed || foundNothing(t)) {
		return
	}
	if !readOnly { // it is not an error to look for something that does not exist
		a.addResult(script.key(), line, t, result)
		if result == OK {
			a.addSuccess()
		}
	}
	c := Command{Line: line, ReadOnly: readOnly, Outcome: result, ExitCode: t.ExitCode, Message: shortID(a.message), Number: a.Messages}
	run := script.lastRun()
	a.Commands = slices.DeleteFunc(a.Commands, func(o Command) bool {
		return o.Line == line || run != "" && strings.Contains(o.Line, run[strings.LastIndexByte(run, ' ')+1:]) && parse(o.Line).lastRun() == run
	})
	a.Commands = lastOf(append(a.Commands, c), maxCommands)
	if result == OK && whole {
		a.addScript(script, t)
	}
}

// lastRun returns the script's last command that does more than look: the program, its
// verb and the file it is for, or "" if it is for none. Every git command counts as
// new.
func (s script) lastRun() string {
	for _, c := range slices.Backward(s.commands) {
		if len(c.run) > 0 && !c.looks {
			if file := c.run[len(c.run)-1]; c.run[0] != "git" && matches("files", file) {
				p := purposes(oneLine(strings.Join(c.run, " ")))[0]
				return p.program + " " + p.verb + " " + file
			}
			break
		}
	}
	return ""
}

// key returns the key for the script's failure. A script that ends by writing text
// into a file is keyed by that file, however it writes.
func (s script) key() string {
	if n := len(s.commands) - 1; n >= 0 && s.commands[n].onlyPrints() {
		if into := s.commands[n].targets; len(into) > 0 {
			return fileKey + safePath(into[len(into)-1].path)
		}
	}
	return commandKey + cmp.Or(s.changes(), s.chain(func(simpleCommand) bool { return true }))
}

// foundNothing reports whether a nonzero exit code only means that nothing was found,
// or that there is a difference.
func foundNothing(t schema.Tool) bool {
	return t.ExitCode != nil && *t.ExitCode == 1 && !slices.ContainsFunc(slices.Collect(outputLines(t)), reportsFailure)
}

// chained separates the commands of a core.
const chained = " && "

// chain returns the commands of a script that keep accepts, as one line.
func (s script) chain(keep func(simpleCommand) bool) string {
	var parts []string
	for _, c := range s.commands {
		if len(c.run) > 0 && keep(c) {
			part := strings.ReplaceAll(strings.Join(c.run, " "), chained, " ; ") // may come from another shell
			parts = append(parts, oneLine(part))
		}
	}
	return strings.Join(parts, chained)
}

// changes returns the chain of commands that do more than look or change folder; ""
// if there are none.
func (s script) changes() string {
	return s.chain(func(c simpleCommand) bool { return !c.looks })
}

// readOnly reports whether a script changes nothing.
func (s script) readOnly() bool { return !s.writes && s.changes() == "" }

// withoutPrefix drops the words before the name of a program.
func withoutPrefix(words []string) []string {
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

// isReadOnly reports whether a simple command only looks at something or changes
// folder.
func isReadOnly(words []string) bool {
	program, args := words[0], words[1:]
	program = strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	switch program {
	case "git":
		args = gitVerb(args)
	case "xargs": // runs what follows its flags
		i := slices.IndexFunc(args, func(a string) bool { return a != "" && a[0] != '-' && strings.Trim(a, "0123456789{}") != "" })
		return i < 0 || isReadOnly(args[i:])
	case "ssh": // runs its last word elsewhere
		return len(args) > 1 && strings.ContainsAny(args[len(args)-1], " /") && parse(args[len(args)-1]).readOnly()
	case "sed":
		return !slices.ContainsFunc(args, inPlaceFlag)
	}
	line := strings.Join(append([]string{strings.TrimSuffix(program, ".exe")}, args...), " ")
	first, _, _ := strings.Cut(line, " ")
	return (listed("read-only programs", first) || matches("read-only commands", line)) && !patterns()["changing commands"].MatchString(line)
}

// gitVerb drops what precedes git's verb, such as -C and a folder.
func gitVerb(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-C" || args[0] == "-c" {
			args = args[1:]
		}
		args = args[min(1, len(args)):]
	}
	return args
}
