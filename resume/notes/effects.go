package notes

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cortext/schema"
)

// An effect is the effect of a shell command on a path. A moved or copied file also
// has its source path.
type effect struct {
	path, action, from string
	onlyKnown          bool // applies only to a known file, or a folder of known files
	recreated          bool // the deleted file may exist again: a later command names it
	refilled           bool // for a folder: a later command may write into it
}

// written is the action of an effect that created or overwrote a file. Which one
// depends on what is known about the file.
const written = "written"

// addScript records what a successful script did to files. A command may fail without
// its script failing (mv a b; ls). For such a command only its effects on known files
// count, and what it wrote to them, if no output reports a failure.
func (a *adder) addScript(script script, t schema.Tool) {
	all := script.effects()
	if !script.sequential {
		if slices.ContainsFunc(strings.Split(headAndTail(t.Output), "\n"), func(l string) bool { return matches("failed commands", strings.TrimSpace(l)) }) {
			return
		}
		all = slices.DeleteFunc(all, func(e effect) bool {
			from := safePath(cmp.Or(e.from, e.path))
			return (e.action == Deleted || e.from != "") && !a.exists(from) && !a.Files.haveFolder(from)
		})
	}
	for _, e := range all {
		at := safePath(e.path)
		switch {
		case e.onlyKnown && !a.exists(at) && !a.Files.haveFolder(at):
		case e.recreated || e.refilled && a.Files.haveFolder(at):
			a.Files = a.Files.without(at)
		default:
			a.addEffect(e)
		}
	}
}

// effects returns what a script is certain to have written, deleted, moved and copied,
// as far as its text is literal.
func (s script) effects() (all []effect) {
	dir := ""
	in := func(p string) string {
		if dir != "" && !absolute(p) {
			p = dir + "/" + p
		}
		if strings.HasSuffix(p, "/") {
			return clean(p) + "/" // a folder
		}
		return clean(p)
	}
	var wrote, named []string // by this script
	for i, c := range s.commands {
		words := c.run
		for _, w := range words {
			if words[0] != "mv" {
				named = append(named, in(w))
			}
		}
		for _, t := range c.targets {
			wrote = append(wrote, in(t.path))
		}
		if !c.certain || len(words) == 0 {
			continue
		}
		plain := c.literal[len(c.literal)-len(words):]
		switch words[0] {
		case "cd", "pushd", "popd":
			if len(words) != 2 || words[1] == "-" || dir == "" && !absolute(words[1]) || slices.Contains(plain, false) {
				return all // the paths after it are relative to an unknown folder
			}
			dir = strings.TrimSuffix(in(words[1]), "/")
			continue
		}
		var done []effect
		for _, t := range c.targets {
			if t.literal && c.onlyPrints() {
				done = append(done, effect{path: t.path, action: t.action})
			}
		}
		for _, e := range append(done, effectsOf(words, plain)...) {
			e.path = in(e.path)
			if e.from != "" {
				e.from = in(e.from)
			}
			if words[0] == "mv" && slices.Contains(wrote, cmp.Or(e.from, e.path)) { // a filter: f x > y && mv y x
				if e.action == Deleted {
					continue
				}
				if e.from = ""; slices.Contains(named, e.path) {
					e.action = Modified
				}
			}
			if e.action == Deleted {
				e.recreated, e.refilled = madeAgain(s.commands[i+1:], base(e.path))
			}
			all = append(all, e)
		}
	}
	return all
}

// madeAgain reports whether one of the commands may recreate the file of this name:
// named if a command contains the name, anywhere if it may write any file. Commands
// with known effects are not guessed at.
func madeAgain(later []simpleCommand, name string) (named, anywhere bool) {
	for _, c := range later {
		words := c.run
		if len(words) == 0 || c.printsErrors() || words[0] == "git" || c.looks && len(c.targets) == 0 {
			continue
		}
		anywhere = true
		named = named || strings.Contains(strings.Join(words, " "), name) || slices.ContainsFunc(c.targets, func(t target) bool { return base(t.path) == name })
	}
	return named, anywhere
}

// clean returns the shortest equivalent of a path with slashes.
func clean(at string) string {
	if strings.Contains(at, `\`) {
		return at
	}
	return path.Clean(at)
}

// literalOnly returns the paths that are literal; plain says which of words are.
func literalOnly(paths, words []string, plain []bool) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !plain[slices.Index(words, p)] })
}

// effectsOf returns the effects of a command.
func effectsOf(words []string, plain []bool) (all []effect) {
	if words[0] == "git" && len(words) > 1 {
		words, plain = words[1:], plain[1:]
	}
	if (words[0] == "sed" || words[0] == "perl") && slices.ContainsFunc(words, inPlaceFlag) {
		for _, p := range literalOnly(words[1:], words, plain) {
			if !strings.HasPrefix(p, "-") {
				all = append(all, effect{path: p, action: Modified, onlyKnown: true})
			}
		}
		return all
	}
	paths, flags := operands(words[1:])
	forced := false // succeeds whether or not the file exists, or takes whole folders
	for _, f := range flags {
		forced = forced || strings.ContainsAny(f, "frR")
		if strings.HasPrefix(f, "--") && f != "--force" && f != "--recursive" || f == "-n" || strings.HasPrefix(f, "-t") {
			return nil
		}
		if words[0] == "cp" && strings.ContainsAny(f, "rRa") {
			return nil
		}
	}
	switch words[0] {
	case "rm", "unlink":
		for _, p := range literalOnly(paths, words, plain) {
			all = append(all, effect{path: p, action: Deleted, onlyKnown: forced})
		}
	case "mv", "cp":
		if !slices.Contains(plain, false) {
			all = moves(paths, words[0] == "mv")
		}
	}
	return all
}

// inPlaceFlag reports whether a flag makes sed or perl edit files in place.
func inPlaceFlag(flag string) bool {
	k := strings.IndexByte(flag, 'i')
	return strings.HasPrefix(flag, "--in-place") || k > 0 && flag[0] == '-' && strings.Trim(flag[1:k], "nErsuzlpw01234567") == ""
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

// moves returns the effects of moving or copying all paths but the last to the last
// one. If the last may or may not be a folder, the resulting path is unknown.
func moves(paths []string, away bool) (all []effect) {
	if len(paths) < 2 {
		return nil
	}
	to := paths[len(paths)-1]
	for _, from := range paths[:len(paths)-1] {
		if away {
			all = append(all, effect{path: from, action: Deleted})
		}
		switch {
		case len(paths) > 2 || strings.HasSuffix(to, "/"):
			all = append(all, effect{path: folder(to) + base(from), action: written, from: from})
		case to == "." || to == ".." || strings.Contains(base(from), ".") && !strings.Contains(base(to), ".") || strings.HasPrefix(base(to), ".") && !strings.HasPrefix(base(from), ".") || strings.HasSuffix(to, ".d"):
		default:
			all = append(all, effect{path: to, action: written, from: from})
		}
	}
	return all
}

func base(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}
