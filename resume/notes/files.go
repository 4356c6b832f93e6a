package notes

import (
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// addWrite records a call that writes files.
func (a *adder) addWrite(k schema.ToolKind, t schema.Tool, result string) {
	if k == schema.PatchTool {
		a.addPatch(t, result)
		return
	}
	at := stringMember(t.Input, "file_path", "filePath", "notebook_path", "absolute_path", "path")
	if at == "" {
		return
	}
	at = fullPath(at, t.Output)
	a.addResult(fileKey+at, at, t, result)
	if result != OK {
		return
	}
	action := Modified
	switch {
	case matches(Created, t.Output):
		action = Created
	case matches(Modified, t.Output) || a.exists(at):
	case k == schema.WriteTool || string(rawjson.Get(t.Input, "old_string")) == `""` || string(rawjson.Get(t.Input, "oldString")) == `""`:
		action = Created
	}
	a.touch(at, action)
}

// fullPath returns the full path of a written file from Gemini CLI's output if its
// input had a path relative to the working folder, else the path as given.
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
func (a *adder) addPatch(t schema.Tool, result string) {
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
			a.addResult(fileKey+name, name, t, result)
		}
		if result != OK {
			continue
		}
		if moved && last != "" {
			a.touch(last, Deleted)
		}
		a.touch(name, action)
		last = name
	}
}

// touch records what the message did to the file at the given path.
func (a *adder) touch(at, action string) {
	f := File{Path: at}
	if i := a.Files.indexOf(at); i >= 0 {
		f = a.Files[i]
		a.Files = slices.Delete(a.Files, i, i+1)
	}
	if absolute(at) {
		f.Path = at
	}
	if f.Action == "" || f.Action == Deleted || action == Deleted {
		f.Action = action
	}
	f.Message, f.Number = shortID(a.message), a.Messages
	f.Times++
	a.Files = lastOf(append(a.Files, f), maxFiles)
	if action == Deleted {
		a.Errors = slices.DeleteFunc(a.Errors, func(e Note) bool { return resolves(e.Key, shortKey(fileKey+at)) })
	}
}

func bareName(at string) bool { return !strings.Contains(strings.TrimPrefix(at, "./"), "/") }

// exists reports whether the file at the given path existed when it was last mentioned.
func (a *adder) exists(at string) bool {
	if i := a.Files.indexOf(at); i >= 0 {
		return a.Files[i].Action != Deleted
	}
	return slices.ContainsFunc(a.Turn.Seen, func(p string) bool { return p == at || !bareName(at) && sameFile(p, at) })
}

// addSeen records that a file exists.
func (a *adder) addSeen(at string) {
	a.Turn.Seen = slices.DeleteFunc(a.Turn.Seen, func(p string) bool { return p == at })
	a.Turn.Seen = lastOf(append(a.Turn.Seen, at), maxSeen)
}

// addReads records the files that a call read.
func (a *adder) addReads(input schema.Raw) {
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
			a.addSeen(at)
		}
	}
}

// addEffect records the effect of a shell command on a path. A folder stands for the
// known files in it.
func (a *adder) addEffect(e effect) {
	at := safePath(e.path)
	if e.from != "" && a.Files.haveFolder(at) {
		at = folder(at) + base(e.from)
	}
	if at = strings.TrimSuffix(at, "/"); at == "" {
		return
	}
	if e.from != "" {
		a.addSeen(safePath(e.from))
	}
	if e.action == Modified {
		if i := a.Files.indexOf(at); i >= 0 && a.Files[i].Action == Deleted { // echo a >> b
			e.action = Created
		}
	}
	if e.action == Deleted {
		at = a.Files.known(at)
		dir := folder(at)
		for _, f := range slices.Clone(a.Files) {
			if strings.HasPrefix(f.Path, dir) && f.Action != Deleted {
				a.touch(f.Path, Deleted)
			}
		}
	}
	if e.action == written {
		e.action = Created
		if a.exists(at) {
			e.action = Modified
		}
	}
	a.touch(at, e.action)
}

// files lists files under the paths that the agent wrote, the most recently changed
// last.
type files []File

// indexOf returns the index of the file at the given path, or -1. Tools and commands name a
// file by its absolute path or by one relative to their working folder. A path that fits
// two files matches neither. A bare name never matches an absolute path, since any folder
// may contain it.
func (all files) indexOf(at string) int {
	found := -1
	for i, f := range all {
		switch {
		case f.Path == at:
			return i
		case !sameFile(f.Path, at), absolute(f.Path) && bareName(at), absolute(at) && bareName(f.Path):
		case found >= 0:
			found = len(all)
		default:
			found = i
		}
	}
	if found == len(all) {
		return -1
	}
	return found
}

// known returns the path under which a file is known, else the path as given.
func (all files) known(at string) string {
	if i := all.indexOf(at); i >= 0 {
		return all[i].Path
	}
	return at
}

// haveFolder reports whether a path is a folder of known files.
func (all files) haveFolder(at string) bool {
	dir := folder(at)
	return slices.ContainsFunc(all, func(f File) bool { return strings.HasPrefix(f.Path, dir) })
}

// without returns all files except the one at the given path, or those in that folder.
func (all files) without(at string) files {
	at = all.known(at)
	dir := folder(at)
	return slices.DeleteFunc(all, func(f File) bool { return f.Path == at || strings.HasPrefix(f.Path, dir) })
}

// folder returns a path with a slash at its end.
func folder(at string) string { return strings.TrimSuffix(at, "/") + "/" }

// Written returns the files that a call wrote, by the paths that it names. A call that
// failed or has no outcome wrote none. Commands of a shell are not examined.
func Written(t schema.Tool) (paths []string) {
	switch k := schema.KindOf(t.Name); k {
	case schema.WriteTool, schema.EditTool, schema.PatchTool:
		a := adder{Notes: new(Notes), message: new(schema.Message)}
		a.addWrite(k, t, Outcome(t))
		for _, f := range a.Files {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// Changed returns the files that a call changed, by the paths that it names: those that it
// wrote, and what its commands certainly wrote, moved and deleted.
func Changed(t schema.Tool) (paths []string) {
	if schema.KindOf(t.Name) != schema.ShellTool {
		return Written(t)
	}
	if script := commandOf(t); commandOutcome(t, script) == OK {
		for _, e := range script.effects() {
			for _, at := range []string{e.path, e.from} {
				if at != "" {
					paths = append(paths, safePath(at))
				}
			}
		}
	}
	return paths
}

// MayChange reports whether a call may have changed files that it does not name, as a shell
// command or the tool of a server may. A command that commits them does not.
func MayChange(t schema.Tool) bool {
	switch schema.KindOf(t.Name) {
	case schema.ShellTool:
		script := commandOf(t)
		return commandOutcome(t, script) != Refused && (script.writes || script.mayChange())
	case schema.OtherTool:
		return Outcome(t) != Refused
	}
	return false
}

// MayLeave is [MayChange] for a call that made a commit: it reports whether the call may have
// changed files that it did not commit and does not name. Files that its commands only
// print into do not count if it names or adds them.
func MayLeave(t schema.Tool) bool {
	script, names := commandOf(t), Changed(t)
	for _, c := range script.commands {
		names = append(names, c.staged()...)
	}
	return script.mayChange() || slices.ContainsFunc(script.commands, func(c simpleCommand) bool {
		return slices.ContainsFunc(c.targets, func(into target) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, clean(into.path)) })
		})
	})
}

// mayChange reports whether a script has commands that may change files, other than by what
// they print. A command that commits does not.
func (s script) mayChange() bool {
	return slices.ContainsFunc(s.commands, func(c simpleCommand) bool {
		return len(c.run) > 0 && len(c.staged()) == 0 && (!c.looks || matches("writing programs", strings.Join(c.run, " ")))
	})
}

// staged returns the words of a git command that adds files to a commit, or sends commits, from its
// verb on; nil for every other command.
func (c simpleCommand) staged() []string {
	if len(c.run) == 0 || c.run[0] != "git" {
		return nil
	}
	verb := gitVerb(c.run[1:])
	if len(verb) == 0 || !slices.Contains([]string{"add", "commit", "push"}, verb[0]) {
		return nil
	}
	return verb
}

func commandOf(t schema.Tool) script {
	return parse(leadingString(rawjson.Get(t.Input, "command")))
}
