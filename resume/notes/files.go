package notes

import (
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// addWrite records a call that writes files.
func (s *Notes) addWrite(k schema.ToolKind, t schema.Tool, result string, m *schema.Message) {
	if k == schema.PatchTool {
		s.addPatch(t, result, m)
		return
	}
	at := stringMember(t.Input, "file_path", "filePath", "notebook_path", "absolute_path", "path")
	if at == "" {
		return
	}
	at = fullPath(at, t.Output)
	s.addResult(fileKey+at, at, t, result, m)
	if result != OK {
		return
	}
	action := Modified
	switch {
	case matches(Created, t.Output):
		action = Created
	case matches(Modified, t.Output) || s.exists(at):
	case k == schema.WriteTool || string(rawjson.Get(t.Input, "old_string")) == `""` || string(rawjson.Get(t.Input, "oldString")) == `""`:
		action = Created
	}
	s.touch(at, action, m)
}

// fullPath returns the full path of a written file from Gemini CLI's output if its input
// had a path relative to the working folder, else the path as given.
func fullPath(at, output string) string {
	line, _, _ := strings.Cut(output[:min(len(output), 2*maxText)], "\n")
	if _, whole, ok := strings.Cut(line, ": "); ok && !absolute(at) {
		whole, _, _ = strings.Cut(whole, " (")
		whole, _, _ = strings.Cut(whole, " with provided content")
		if whole = safePath(strings.TrimSuffix(whole, ".")); absolute(whole) && sameFile(whole, at) {
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

// addPatch records an OpenCode patch: "*** Add File: a" and so on.
func (s *Notes) addPatch(t schema.Tool, result string, m *schema.Message) {
	last := ""
	for l := range strings.Lines(rawjson.String(rawjson.Get(t.Input, "patchText"))) {
		rest, ok := strings.CutPrefix(l, "*** ")
		if !ok {
			continue
		}
		verb, name, _ := strings.Cut(rest, ": ")
		action := map[string]string{"Add File": Created, "Update File": Modified, "Delete File": Deleted, "Move to": Created}[verb]
		if name = safePath(name); name == "" || action == "" {
			continue
		}
		moved := verb == "Move to"
		if !moved {
			s.addResult(fileKey+name, name, t, result, m)
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
func (s *Notes) touch(at, action string, m *schema.Message) {
	f := File{Path: at}
	if i := s.indexOf(at); i >= 0 {
		f = s.Files[i]
		s.Files = slices.Delete(s.Files, i, i+1)
	}
	if absolute(at) {
		f.Path = at
	}
	if f.Action == "" || f.Action == Deleted || action == Deleted {
		f.Action = action
	}
	f.Message, f.Number = shortID(m), s.Messages
	f.Times++
	s.Files = lastOf(append(s.Files, f), maxFiles)
	if action == Deleted {
		s.Errors = slices.DeleteFunc(s.Errors, func(e Note) bool { return resolves(e.Key, shortKey(fileKey+at)) })
	}
}

// forget removes the file at a path, or the files in that folder.
func (s *Notes) forget(at string) {
	at = s.knownPath(at)
	s.Files = slices.DeleteFunc(s.Files, func(f File) bool { return f.Path == at || strings.HasPrefix(f.Path, strings.TrimSuffix(at, "/")+"/") })
}

// indexOf returns the index in s.Files of the file at a path, or -1. Tools and commands
// name a file by its absolute path or by one relative to their working folder. A path
// that fits two files matches neither. A bare name never matches an absolute path,
// since any folder may contain it.
func (s *Notes) indexOf(at string) int {
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

// exists reports whether the file at a path existed when it was last mentioned.
func (s *Notes) exists(at string) bool {
	if i := s.indexOf(at); i >= 0 {
		return s.Files[i].Action != Deleted
	}
	return slices.ContainsFunc(s.Turn.Seen, func(p string) bool { return p == at || !bareName(at) && sameFile(p, at) })
}

// isFolder reports whether a path is a folder of known files.
func (s *Notes) isFolder(at string) bool {
	dir := strings.TrimSuffix(at, "/") + "/"
	return slices.ContainsFunc(s.Files, func(f File) bool { return strings.HasPrefix(f.Path, dir) })
}

// addSeen records that a file exists.
func (s *Notes) addSeen(at string) {
	s.Turn.Seen = slices.DeleteFunc(s.Turn.Seen, func(p string) bool { return p == at })
	s.Turn.Seen = lastOf(append(s.Turn.Seen, at), maxSeen)
}

// addReads records the files that a call read.
func (s *Notes) addReads(input schema.Raw) {
	names := []string{stringMember(input, "file_path", "filePath", "absolute_path", "path", "notebook_path")}
	for _, list := range []string{"paths", "include"} { // in Gemini CLI's read_many_files
		if values, err := rawjson.Array(rawjson.Get(input, list)); err == nil {
			for _, v := range values[:min(len(values), maxSeen)] {
				names = append(names, safePath(leadingString(v)))
			}
		}
	}
	for _, at := range names {
		if at != "" {
			s.addSeen(at)
		}
	}
}

// addEffect records the effect of a shell command on a path. A folder stands for the known
// files in it.
func (s *Notes) addEffect(d effect, m *schema.Message) {
	at := safePath(d.path)
	if d.from != "" && s.isFolder(at) {
		at = strings.TrimSuffix(at, "/") + "/" + base(d.from)
	}
	if at = strings.TrimSuffix(at, "/"); at == "" {
		return
	}
	if d.from != "" {
		s.addSeen(safePath(d.from))
	}
	if d.action == Modified {
		if i := s.indexOf(at); i >= 0 && s.Files[i].Action == Deleted { // echo a >> b
			d.action = Created
		}
	}
	if d.action == Deleted {
		at = s.knownPath(at)
		dir := strings.TrimSuffix(at, "/") + "/"
		for _, f := range slices.Clone(s.Files) {
			if strings.HasPrefix(f.Path, dir) && f.Action != Deleted {
				s.touch(f.Path, Deleted, m)
			}
		}
	}
	if d.action == written {
		d.action = Created
		if s.exists(at) {
			d.action = Modified
		}
	}
	s.touch(at, d.action, m)
}

// knownPath returns the path under which a file is known, else the path as given.
func (s *Notes) knownPath(at string) string {
	if i := s.indexOf(at); i >= 0 {
		return s.Files[i].Path
	}
	return at
}
