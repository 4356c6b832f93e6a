package digest

import (
	"cmp"
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
		out := ends(t.Output)
		failed := slices.ContainsFunc([]string{"rm: ", "mv: ", "cp: ", "sed: ", "No such file or directory", "ermission denied", "Read-only file system", "Is a directory"}, func(p string) bool { return strings.Contains(out, p) })
		all = slices.DeleteFunc(all, func(d deed) bool {
			from := path(cmp.Or(d.from, d.path))
			known := s.knows(from) || slices.ContainsFunc(s.Files, func(f File) bool { return strings.HasPrefix(f.Path, strings.TrimSuffix(from, "/")+"/") })
			return failed || !known && (d.action == Deleted || d.from != "")
		})
	}
	for _, d := range all {
		s.did(d, m)
	}
}

// deeds returns what a script writes, does away with, and what comes to be by moving
// and copying, as far as it is plain.
func (s script) deeds() (all []deed) {
	dir := ""
	in := func(p string) string {
		if dir != "" && !absolute(p) && p != "." && p != ".." {
			return dir + "/" + strings.TrimPrefix(p, "./")
		}
		return p
	}
	for i, c := range s.commands {
		words := program(c.words)
		if len(words) == 0 {
			continue
		}
		if words[0] == "cd" || words[0] == "pushd" {
			if dir = folder(dir, words[1:]); dir == "" || !c.run || !c.plain {
				return all // the paths behind it are of a folder that is not known
			}
			continue
		}
		if c.run && c.into != "" && c.spells() && !strings.ContainsAny(c.into, "$`*?[~{") && !strings.HasPrefix(c.into, "/dev/") {
			d := deed{path: in(c.into), action: written}
			if c.adds {
				d.action = Modified
			}
			all = append(all, d)
		}
		if c.fed && c.plain && words[0] == "tee" && s.commands[i-1].spells() {
			d := deed{action: written}
			paths, flags := operands(words[1:])
			if len(flags) > 0 { // -a
				d.action = Modified
			}
			for _, p := range paths {
				d.path = in(p)
				all = append(all, d)
			}
		}
		if !c.run || !c.plain {
			continue
		}
		if words[0] == "git" {
			words = words[1:]
		}
		for _, d := range deeds(words) {
			d.path = in(d.path)
			if d.from != "" {
				d.from = in(d.from)
			}
			all = append(all, d)
		}
	}
	return all
}

// deeds returns what a command does.
func deeds(words []string) (all []deed) {
	if len(words) == 0 {
		return nil
	}
	paths, flags := operands(words[1:])
	has := func(f ...string) bool {
		return slices.ContainsFunc(flags, func(g string) bool { return slices.Contains(f, g) })
	}
	long := slices.ContainsFunc(flags, func(f string) bool {
		return strings.HasPrefix(f, "--") && f != "--force" && f != "--recursive"
	})
	target := slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "-t") })
	switch words[0] {
	case "rm", "unlink":
		if long || has("-n") {
			return nil
		}
		for _, p := range paths {
			all = append(all, deed{path: p, action: Deleted})
		}
	case "mv":
		if !long && !target && !has("-n") {
			all = moves(paths, true)
		}
	case "cp":
		if !long && !target && !has("-n") && !slices.ContainsFunc(flags, func(f string) bool { return strings.ContainsAny(f, "rRa") }) {
			all = moves(paths, false)
		}
	case "sed", "perl":
		for _, p := range inPlace(words) {
			all = append(all, deed{path: p, action: Modified})
		}
	}
	return all
}

// inPlace returns the files that sed or perl changes: none without -i.
func inPlace(words []string) (paths []string) {
	in, script := false, words[0] == "sed" // the script is yet to come
	for i := 1; i < len(words); i++ {
		w := words[i]
		k := inPlaceAt(w)
		in = in || k >= 0
		switch {
		case strings.HasPrefix(w, "--"), w == "": // of the sed of BSD: no copy
		case w[0] == '-' && len(w) > 1:
			if k >= 0 && words[0] == "sed" {
				w = w[:k] // what follows is the ending of a copy
			}
			if strings.HasSuffix(w, "e") || w == "-f" {
				script = false
				i++
			}
		case script:
			script = false
		default:
			paths = append(paths, w)
		}
	}
	if !in {
		return nil
	}
	return paths
}

// inPlaceAt is where a flag of sed or perl says that files are changed, -1 if it does
// not.
func inPlaceAt(flag string) int {
	k := strings.IndexByte(flag, 'i')
	if strings.HasPrefix(flag, "--in-place") || k > 0 && flag[0] == '-' && strings.Trim(flag[1:k], "nErsuzlpw0") == "" {
		return k
	}
	return -1
}

// folder is where cd goes from dir, "" if that is not known.
func folder(dir string, args []string) string {
	if len(args) != 1 || args[0] == "-" || strings.HasPrefix(args[0], "..") || dir == "" && !absolute(args[0]) {
		return ""
	}
	to := strings.TrimRight(args[0], "/")
	if absolute(args[0]) {
		return to
	}
	return dir + "/" + strings.TrimPrefix(to, "./")
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
		case to == "." || to == ".." || strings.Contains(base(from), ".") && !strings.Contains(base(to), "."):
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
