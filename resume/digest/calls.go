package digest

import (
	"slices"
	"strings"
	"unicode"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// A kind is what a tool does, whatever its agent calls it.
type kind int

const (
	other kind = iota
	writes
	edits
	patches
	runs
	reads
	looks // finds, lists, fetches
	asks
	plans
)

// kindOf knows the tools of Claude Code, OpenCode and Gemini CLI.
func kindOf(name string) kind {
	switch spelled(name) {
	case "write", "writefile":
		return writes
	case "edit", "multiedit", "notebookedit", "replace":
		return edits
	case "patch", "applypatch":
		return patches
	case "bash", "runshellcommand", "shell":
		return runs
	case "read", "notebookread", "readfile", "readmanyfiles":
		return reads
	case "grep", "glob", "ls", "list", "listdirectory", "searchfilecontent", "grepsearch", "webfetch", "websearch", "googlewebsearch", "codesearch", "lsp",
		"bashoutput", "taskoutput", "tasklist", "taskget", "todoread", "toolsearch", "skill", "activateskill":
		return looks
	case "askuserquestion", "question", "askuser":
		return asks
	case "exitplanmode", "planexit":
		return plans
	}
	return other
}

// called takes in a call of the message m.
func (s *State) called(t schema.Tool, m *schema.Message) {
	k := kindOf(t.Name)
	if !s.Fold.Closed {
		if c := chosen(t); c != "" {
			s.decide(c, schema.User, m)
			s.decided(c)
		}
		s.Fold.Last.Asked = append(s.Fold.Last.Asked, asked(t)...)
		s.Fold.Last.Asked = s.Fold.Last.Asked[:min(len(s.Fold.Last.Asked), maxQuestions)]
	}
	s.Fold.Todos.apply(t)
	result := outcome(t)
	if words := refusal(t); words != "" {
		s.decide(words, schema.User, m)
	}
	switch k {
	case runs:
		s.ran(t, result, m)
	case asks, plans:
	case writes, edits, patches:
		s.changed(k, t, result, m)
	default:
		key, what := "tool "+spelled(t.Name), oneLine(t.Name)
		if k == reads {
			what = text(t.Input, "file_path", "filePath", "absolute_path", "path", "notebook_path")
			key = "read " + what
			if result == OK {
				s.saw(t.Input)
			}
		}
		if k == reads || k == looks {
			key = lookKey + key
		}
		s.result(key, what, t, result, m)
	}
}

// lookKey begins the key of a failure to look at something: it matters in its
// turn only.
const lookKey = "look: "

// outcome says how a call ended.
func outcome(t schema.Tool) string {
	code := 0
	if t.ExitCode != nil {
		code = *t.ExitCode
	}
	switch {
	case t.Success != nil && !*t.Success && rejected(t):
		return Refused
	case t.Success == nil, code == 0 && aborted(t): // whatever the agent calls that
		return NoResult
	case !*t.Success, code != 0:
		return Failed
	}
	return OK
}

// rejected reports whether the user did not let a call happen, as the agents say
// it.
func rejected(t schema.Tool) bool {
	return begin(t, "The user doesn't want to", "The user rejected permission", "User rejected", "[Operation Cancelled]", "User did not allow", "User denied", "Permission to use")
}

// aborted reports whether a call was cut short, or went to the background.
func aborted(t schema.Tool) bool {
	return begin(t, "Tool execution aborted", "Sibling tool call errored", "[Request interrupted", "Command running in background", "Command was manually backgrounded", "Command was automatically cancelled", "Command was cancelled")
}

func begin(t schema.Tool, phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.HasPrefix(t.Output, p) || strings.HasPrefix(t.Error, p) })
}

// refusal is what the user said when refusing a call.
func refusal(t schema.Tool) string {
	if t.Success == nil || *t.Success || !rejected(t) {
		return ""
	}
	output := ends(t.Output)
	for _, p := range []string{"the user said:", "with the following feedback:"} {
		if _, words, ok := strings.Cut(output, p); ok {
			words, _, _ = strings.Cut(words, "\n\nNote: The user's next message")
			return brief(words)
		}
	}
	return ""
}

// result notes a failure, or settles those before of the same key.
func (s *State) result(key, what string, t schema.Tool, result string, m *schema.Message) {
	key = limit(strings.ToValidUTF8(key, "\uFFFD"))
	if result != OK && result != Failed {
		return
	}
	core, command := strings.CutPrefix(key, commandKey)
	s.Errors = slices.DeleteFunc(s.Errors, func(e Note) bool {
		if before, ok := strings.CutPrefix(e.Key, commandKey); ok && command && result == OK {
			return settles(core, before)
		}
		return e.Key == key
	})
	if result == Failed {
		n := s.note(cut(what, maxWhat)+": "+complaint(t), m)
		n.Key = key
		s.Errors = bounded(append(s.Errors, n), maxErrors)
	}
}

// maxWhat is the most runes of what failed; the rest is for why.
const maxWhat = 120

// passOver forgets what could not be looked at: the next turn looks elsewhere.
func (s *State) passOver() {
	s.Errors = slices.DeleteFunc(s.Errors, func(e Note) bool { return strings.HasPrefix(e.Key, lookKey) })
	s.Commands = slices.DeleteFunc(s.Commands, func(c Command) bool { return c.Looks })
}

// complaint is the line of a failed call's output that says best what is wrong.
func complaint(t schema.Tool) string {
	first := ""
	for l := range strings.Lines(ends(t.Output)) {
		l = strings.TrimPrefix(strings.TrimSpace(l), "<tool_use_error>")
		l = oneLine(strings.TrimSuffix(strings.TrimPrefix(l, "Output: "), "</tool_use_error>"))
		if l == "" || l == "(empty)" || l == "Error: (none)" || strings.HasPrefix(l, "Exit code ") || strings.HasPrefix(l, "Command: ") || strings.HasPrefix(l, "Directory: ") || strings.HasPrefix(l, "<untrusted_context>") {
			continue
		}
		if complains(strings.ToLower(l)) {
			return l
		}
		if first == "" {
			first = l
		}
	}
	if first == "" {
		first = oneLine(t.Error)
	}
	if first == "" {
		return Failed
	}
	return first
}

// complains reports whether a line of output, in lower case, tells of a failure.
func complains(l string) bool {
	for _, none := range []string{"no error", "0 error", "0 fail", "error: (none)", "0 invalid"} {
		if strings.Contains(l, none) {
			return false
		}
	}
	for _, p := range []string{"error", "fail", "fatal", "panic", "cannot ", "can't ", "could not ", "not found", "no such ", "denied", "undefined", "invalid", "refused", "timed out", "exception", "abort", "does not exist"} {
		if strings.Contains(l, p) {
			return true
		}
	}
	return false
}

// text returns the first of the named members of an input that is a string, as a
// line; "" if there is none.
func text(input schema.Raw, names ...string) string {
	for _, name := range names {
		if s := strings.TrimSpace(leading(rawjson.Get(input, name))); s != "" {
			return path(s)
		}
	}
	return ""
}

// path is a path as it was written, but for what a terminal would obey.
func path(s string) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || invisible(r) || r == '\u2028' || r == '\u2029' }) {
		s = oneLine(s)
	}
	return limit(s)
}

// leading decodes the beginning of a JSON string, up to endBytes of it.
func leading(raw []byte) string {
	if len(raw) <= endBytes {
		return rawjson.String(raw)
	}
	if raw[0] != '"' {
		return ""
	}
	end := 1
	for end < endBytes {
		switch {
		case raw[end] != '\\':
			end++
		case raw[end+1] == 'u':
			end += len(`\u0000`)
		default:
			end += len(`\n`)
		}
	}
	for end > 1 && raw[end] >= 0x80 && raw[end] < 0xc0 {
		end--
	}
	return rawjson.String(append(slices.Clone(raw[:end]), '"'))
}
