package digest

import (
	"cmp"
	slashed "path"
	"slices"
	"strings"

	"cortext/schema"
)

// A deed is what a shell command did to a path. What came to be by moving or copying
// has the path of what it was made from.
type deed struct{ path, action, from string }

// written is the action of a deed that made a file or wrote it anew: which of both
// depends on what is known of it.
const written = "written"

// done takes in what a script that succeeded did to files. Where a command may have
// failed without the script (mv a b; ls), only what it made of files that are known,
// or wrote into them, counts, if nothing tells of a failure.
func (s *State) done(script script, t schema.Tool, m *schema.Message) {
	all := script.deeds()
	if !script.chain {
		if complained(ends(t.Output)) {
			return
		}
		all = slices.DeleteFunc(all, func(d deed) bool {
			from := path(cmp.Or(d.from, d.path))
			return (d.action == Deleted || d.from != "") && !s.knows(from) && !s.folder(from)
		})
	}
	for _, d := range all {
		s.did(d, m)
	}
}

// complained reports whether a command that changes files says in the output that it
// could not.
func complained(output string) bool {
	for l := range strings.Lines(output) {
		l = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(l), "Output: "), "Error: ")
		if i := strings.Index(l, ": line "); i > 0 && !strings.Contains(l[:i], " ") { // bash: line 3: a: No such file
			return true
		}
		for _, p := range []string{"rm: ", "mv: ", "cp: ", "sed: ", "cd: ", "mkdir: ", "touch: ", "tee: "} {
			if strings.HasPrefix(l, p) {
				return true
			}
		}
		for _, end := range []string{": No such file or directory", ": Permission denied", ": permission denied", ": Read-only file system", ": Is a directory", ": Not a directory"} {
			if strings.HasSuffix(l, end) {
				return true
			}
		}
	}
	return false
}

// deeds returns what a script writes, does away with, and what comes to be by moving
// and copying, as far as it is plain.
func (s script) deeds() (all []deed) {
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
	var wrote []string // by this script, into files of their own
	away := false      // a shell of its own went somewhere
	for i, c := range s.commands {
		if away = away && c.apart; away {
			continue
		}
		words := program(c.words)
		if len(words) == 0 {
			continue
		}
		plain := c.plain[len(c.plain)-len(words):]
		switch words[0] {
		case "cd", "pushd", "popd":
			if c.apart {
				away = true
				continue
			}
			if dir = folder(dir, words); dir == "" || !c.run || slices.Contains(plain, false) {
				return all // the paths behind it are of a folder that is not known
			}
			continue
		}
		var done []deed
		for _, t := range c.into {
			if !c.run || !t.plain {
				continue
			}
			wrote = append(wrote, in(t.path))
			if c.spells() {
				done = append(done, write(t.path, t.adds))
			}
		}
		switch {
		case c.fed && words[0] == "tee":
			paths, flags := operands(words[1:])
			for _, p := range sure(paths, words, plain) {
				done = append(done, write(p, len(flags) > 0))
			}
		case c.run:
			done = append(done, doneBy(words, plain)...)
		}
		for _, d := range done {
			d.path = in(d.path)
			if d.from != "" {
				d.from = in(d.from)
			}
			if slices.Contains(wrote, cmp.Or(d.from, d.path)) && words[0] == "mv" { // a filter: f x > y && mv y x
				if d.action == Deleted {
					continue
				}
				if s.read(d.path, in, i) {
					d.action = Modified
				}
				d.from = ""
			}
			all = append(all, d)
		}
	}
	return all
}

// read reports whether one of the first commands of a script has a file among its words.
func (s script) read(at string, in func(string) string, first int) bool {
	return slices.ContainsFunc(s.commands[:first], func(c command) bool {
		return slices.ContainsFunc(c.words, func(w string) bool { return in(w) == at })
	})
}

// write is the deed of writing into a file.
func write(at string, adds bool) deed {
	if adds {
		return deed{path: at, action: Modified}
	}
	return deed{path: at, action: written}
}

// clean is the shortest path that names the same, of one with slashes.
func clean(at string) string {
	if strings.Contains(at, `\`) {
		return at
	}
	return slashed.Clean(at)
}

// sure returns those of paths that are what they say: words, of which plain tells it.
func sure(paths, words []string, plain []bool) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !plain[slices.Index(words, p)] })
}

// doneBy returns what a command does.
func doneBy(words []string, plain []bool) (all []deed) {
	if words[0] == "git" && len(words) > 1 {
		words, plain = words[1:], plain[1:]
	}
	if words[0] == "sed" || words[0] == "perl" {
		for _, p := range sure(inPlace(words), words, plain) {
			all = append(all, deed{path: p, action: Modified})
		}
		return all
	}
	paths, flags := operands(words[1:])
	for _, f := range flags {
		if strings.HasPrefix(f, "--") && f != "--force" && f != "--recursive" || f == "-n" || strings.HasPrefix(f, "-t") {
			return nil
		}
		if words[0] == "cp" && strings.ContainsAny(f, "rRa") {
			return nil
		}
	}
	switch words[0] {
	case "rm", "unlink":
		for _, p := range sure(paths, words, plain) {
			all = append(all, deed{path: p, action: Deleted})
		}
	case "mv", "cp":
		if !slices.Contains(plain, false) {
			all = moves(paths, words[0] == "mv")
		}
	}
	return all
}

// inPlace returns the files that sed or perl changes: none without -i.
func inPlace(words []string) (paths []string) {
	in, script := false, true // the script is yet to come
	for i := 1; i < len(words); i++ {
		w := words[i]
		if w == "" || w[0] != '-' || w == "-" {
			if w != "" { // that of BSD's sed: no copy
				paths = append(paths, w)
			}
			continue
		}
		in = in || inPlaceFlag(w)
		at := strings.IndexAny(w, "eEf") // the script follows, here or in the next word
		if words[0] == "sed" {
			at = strings.IndexAny(w, "ief") // -i: the ending of a copy
		}
		switch {
		case w == "--expression", w == "--file":
			script = false
			i++
		case w == "-I":
			i++ // perl's folder
		case strings.HasPrefix(w, "--expression="), strings.HasPrefix(w, "--file="):
			script = false
		case strings.HasPrefix(w, "--"), at < 0, w[at] == 'i':
		case at == len(w)-1:
			script = false
			i++
		default:
			script = false
		}
	}
	if script && len(paths) > 0 {
		if words[0] == "sed" && strings.HasPrefix(paths[0], ".") && len(paths) > 2 { // of BSD's: -i .bak
			paths = paths[1:]
		}
		paths = paths[1:]
	}
	if !in || words[0] == "perl" && script {
		return nil
	}
	return paths
}

// inPlaceFlag reports whether a flag of sed or perl says that files are changed.
func inPlaceFlag(flag string) bool {
	k := strings.IndexByte(flag, 'i')
	return strings.HasPrefix(flag, "--in-place") || k > 0 && flag[0] == '-' && strings.Trim(flag[1:k], "nErsuzlpw01234567") == ""
}

// folder is where cd goes from dir, "" if that is not known.
func folder(dir string, words []string) string {
	if len(words) != 2 || words[1] == "-" || dir == "" && !absolute(words[1]) {
		return ""
	}
	if absolute(words[1]) {
		return clean(words[1])
	}
	return clean(dir + "/" + words[1])
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

// moves returns what moving, or copying, all but the last of paths to the last one
// does; where that may be a folder or not, it does not say what came to be.
func moves(paths []string, away bool) (all []deed) {
	if len(paths) < 2 {
		return nil
	}
	to := paths[len(paths)-1]
	for _, from := range paths[:len(paths)-1] {
		if away {
			all = append(all, deed{path: from, action: Deleted})
		}
		switch {
		case len(paths) > 2 || strings.HasSuffix(to, "/"):
			all = append(all, deed{strings.TrimSuffix(to, "/") + "/" + base(from), written, from})
		case to == "." || to == ".." || strings.Contains(base(from), ".") && !strings.Contains(base(to), ".") || strings.HasPrefix(base(to), ".") && !strings.HasPrefix(base(from), ".") || strings.HasSuffix(to, ".d"):
		default:
			all = append(all, deed{to, written, from})
		}
	}
	return all
}

func base(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}
