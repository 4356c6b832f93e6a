package digest

import (
	"slices"
	"strings"

	"cortext/schema"
)

// A deed is what a shell command did to a path; what came to be by moving has the
// path that it was moved from.
type deed struct{ path, action, from string }

// moved takes in what a script that succeeded did away with and moved. Where a
// command may have failed without the script (mv a b; ls), only what it did to
// files that are known counts, if nothing tells of a failure.
func (s *State) moved(script script, t schema.Tool, m *schema.Message) {
	all := script.deeds()
	if !script.chain {
		failed := strings.Contains(t.Output, "rm: ") || strings.Contains(t.Output, "mv: ")
		all = slices.DeleteFunc(all, func(d deed) bool {
			if d.from == "" {
				d.from = d.path
			}
			at := path(d.from)
			return failed || !s.knows(at) && !slices.ContainsFunc(s.Files, func(f File) bool { return strings.HasPrefix(f.Path, strings.TrimSuffix(at, "/")+"/") })
		})
	}
	for _, d := range all {
		s.did(d, m)
	}
}

// deeds returns what a script does away with, and what comes to be by moving, as
// far as it is plain.
func (s script) deeds() (all []deed) {
	dir := ""
	for i, words := range s.commands {
		if words = program(words); len(words) == 0 {
			continue
		}
		if words[0] == "cd" || words[0] == "pushd" {
			if dir = folder(dir, words[1:]); dir == "" || !s.literal[i] {
				return all // the paths behind it are of a folder that is not known
			}
			continue
		}
		if words[0] == "git" {
			words = words[1:]
		}
		if len(words) == 0 || !s.literal[i] || !slices.Contains([]string{"rm", "unlink", "mv"}, words[0]) {
			continue
		}
		paths, flags := operands(words[1:])
		if slices.ContainsFunc(flags, func(f string) bool {
			return strings.HasPrefix(f, "--") && f != "--force" && f != "--recursive" || f == "-n" || strings.HasPrefix(f, "-t")
		}) {
			continue
		}
		for i, p := range paths {
			if dir != "" && !absolute(p) && p != "." && p != ".." {
				paths[i] = dir + "/" + strings.TrimPrefix(p, "./")
			}
		}
		if words[0] == "mv" {
			all = append(all, moves(paths)...)
			continue
		}
		for _, p := range paths {
			all = append(all, deed{path: p, action: Deleted})
		}
	}
	return all
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

// moves returns what moving all but the last of paths to the last one does;
// where that may be a folder or not, it does not say what came to be.
func moves(paths []string) (all []deed) {
	if len(paths) < 2 {
		return nil
	}
	to := paths[len(paths)-1]
	for _, from := range paths[:len(paths)-1] {
		all = append(all, deed{path: from, action: Deleted})
		switch {
		case len(paths) > 2 || strings.HasSuffix(to, "/"):
			all = append(all, deed{strings.TrimSuffix(to, "/") + "/" + base(from), Created, from})
		case to == "." || to == ".." || strings.Contains(base(from), ".") && !strings.Contains(base(to), "."):
		default:
			all = append(all, deed{to, Created, from})
		}
	}
	return all
}

func base(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}
