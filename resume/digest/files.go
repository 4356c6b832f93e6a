package digest

import (
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// changed records a call that writes files.
func (s *State) changed(k schema.ToolKind, t schema.Tool, result string, m *schema.Message) {
	if k == schema.PatchTool {
		s.patched(t, result, m)
		return
	}
	at := text(t.Input, "file_path", "filePath", "notebook_path", "absolute_path", "path")
	if at == "" {
		return
	}
	at = named(at, t.Output)
	s.result(fileKey+at, at, t, result, m)
	if result != OK {
		return
	}
	action := Modified
	switch {
	case matches(Created, t.Output):
		action = Created
	case matches(Modified, t.Output) || s.knows(at):
	case k == schema.WriteTool || string(rawjson.Get(t.Input, "old_string")) == `""` || string(rawjson.Get(t.Input, "oldString")) == `""`:
		action = Created
	}
	s.touch(at, action, m)
}

// named returns the full path of a written file from Gemini CLI's output if its input
// had a path relative to the working folder, else the path as given.
func named(at, output string) string {
	line, _, _ := strings.Cut(output[:min(len(output), 2*maxText)], "\n")
	if _, whole, ok := strings.Cut(line, ": "); ok && !absolute(at) {
		whole, _, _ = strings.Cut(whole, " (")
		whole, _, _ = strings.Cut(whole, " with provided content")
		if whole = path(strings.TrimSuffix(whole, ".")); absolute(whole) && sameFile(whole, at) {
			return whole
		}
	}
	return at
}

// absolute reports whether a path is absolute.
func absolute(at string) bool {
	return strings.HasPrefix(at, "/") || len(at) > 2 && at[1] == ':' && (at[2] == '\\' || at[2] == '/')
}

// sameFile reports whether two paths may name the same file: they are equal, or one
// is a suffix of the other, which is absolute.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	if absolute(a) {
		a, b = b, a
	}
	a, b = strings.ReplaceAll(a, `\`, "/"), strings.ReplaceAll(b, `\`, "/")
	a = strings.TrimPrefix(strings.TrimPrefix(a, "./"), "~/")
	return a != "" && !absolute(a) && absolute(b) && strings.HasSuffix(b, "/"+a)
}

// patched records an OpenCode patch: "*** Add File: a" and so on.
func (s *State) patched(t schema.Tool, result string, m *schema.Message) {
	last := ""
	for l := range strings.Lines(rawjson.String(rawjson.Get(t.Input, "patchText"))) {
		rest, ok := strings.CutPrefix(l, "*** ")
		if !ok {
			continue
		}
		verb, name, _ := strings.Cut(rest, ": ")
		action := map[string]string{"Add File": Created, "Update File": Modified, "Delete File": Deleted, "Move to": Created}[verb]
		if name = path(name); name == "" || action == "" {
			continue
		}
		moved := verb == "Move to"
		if !moved {
			s.result(fileKey+name, name, t, result, m)
		}
		if result != OK {
			continue
		}
		if moved && last != "" {
			s.touch(last, Deleted, m)
		}
		s.touch(name, action, m)
		last = name
	}
}

// touch records what m did to the file at a path.
func (s *State) touch(at, action string, m *schema.Message) {
	f := File{Path: at}
	if i := s.file(at); i >= 0 {
		f = s.Files[i]
		s.Files = slices.Delete(s.Files, i, i+1)
	}
	if absolute(at) {
		f.Path = at
	}
	if f.Action == "" || f.Action == Deleted || action == Deleted {
		f.Action = action
	}
	f.Message, f.N = identity(m), s.Messages
	f.Times++
	s.Files = bounded(append(s.Files, f), maxFiles)
	if action == Deleted {
		s.Errors = slices.DeleteFunc(s.Errors, func(e Note) bool { return settled(e.Key, shortKey(fileKey+at)) })
	}
}

// forget removes the file at a path, or the files in that folder.
func (s *State) forget(at string) {
	at = s.known(at)
	s.Files = slices.DeleteFunc(s.Files, func(f File) bool { return f.Path == at || strings.HasPrefix(f.Path, strings.TrimSuffix(at, "/")+"/") })
}

// file returns the index in s.Files of the file at a path, or -1. Tools and commands
// name a file by its absolute path or by one relative to their working folder. A path
// that fits two files matches neither. A bare name never matches an absolute path,
// since any folder may contain it.
func (s *State) file(at string) int {
	found := -1
	for i, f := range s.Files {
		switch {
		case f.Path == at:
			return i
		case !sameFile(f.Path, at), absolute(f.Path) && bareName(at), absolute(at) && bareName(f.Path):
		case found >= 0:
			found = len(s.Files)
		default:
			found = i
		}
	}
	if found == len(s.Files) {
		return -1
	}
	return found
}

func bareName(at string) bool { return !strings.Contains(strings.TrimPrefix(at, "./"), "/") }

// knows reports whether the file at a path existed when it was last mentioned.
func (s *State) knows(at string) bool {
	if i := s.file(at); i >= 0 {
		return s.Files[i].Action != Deleted
	}
	return slices.ContainsFunc(s.Fold.Seen, func(p string) bool { return p == at || !bareName(at) && sameFile(p, at) })
}

// folder reports whether a path is a folder of known files.
func (s *State) folder(at string) bool {
	dir := strings.TrimSuffix(at, "/") + "/"
	return slices.ContainsFunc(s.Files, func(f File) bool { return strings.HasPrefix(f.Path, dir) })
}

// seen records that a file exists.
func (s *State) seen(at string) {
	s.Fold.Seen = slices.DeleteFunc(s.Fold.Seen, func(p string) bool { return p == at })
	s.Fold.Seen = bounded(append(s.Fold.Seen, at), maxSeen)
}

// saw records the files that a call read.
func (s *State) saw(input schema.Raw) {
	names := []string{text(input, "file_path", "filePath", "absolute_path", "path", "notebook_path")}
	for _, list := range []string{"paths", "include"} { // in Gemini CLI's read_many_files
		if values, err := rawjson.Array(rawjson.Get(input, list)); err == nil {
			for _, v := range values[:min(len(values), maxSeen)] {
				names = append(names, path(leading(v)))
			}
		}
	}
	for _, at := range names {
		if at != "" {
			s.seen(at)
		}
	}
}

// did records the effect of a shell command on a path. A folder stands for the known
// files in it.
func (s *State) did(d deed, m *schema.Message) {
	at := path(d.path)
	if d.from != "" && s.folder(at) {
		at = strings.TrimSuffix(at, "/") + "/" + base(d.from)
	}
	if at = strings.TrimSuffix(at, "/"); at == "" {
		return
	}
	if d.from != "" {
		s.seen(path(d.from))
	}
	if d.action == Modified {
		if i := s.file(at); i >= 0 && s.Files[i].Action == Deleted { // echo a >> b
			d.action = Created
		}
	}
	if d.action == Deleted {
		at = s.known(at)
		dir := strings.TrimSuffix(at, "/") + "/"
		for _, f := range slices.Clone(s.Files) {
			if strings.HasPrefix(f.Path, dir) && f.Action != Deleted {
				s.touch(f.Path, Deleted, m)
			}
		}
	}
	if d.action == written {
		d.action = Created
		if s.knows(at) {
			d.action = Modified
		}
	}
	s.touch(at, d.action, m)
}

// known returns the path under which a file is known, else the path as given.
func (s *State) known(at string) string {
	if i := s.file(at); i >= 0 {
		return s.Files[i].Path
	}
	return at
}
