package digest

import (
	"cmp"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// The beginnings of the keys of errors: what failed, a command or a change of a
// file.
const (
	commandKey = "command "
	fileKey    = "file "
)

// result notes a failure, or settles those before of the same key.
func (s *State) result(key, what string, t schema.Tool, result string, m *schema.Message) {
	key = shortKey(strings.ToValidUTF8(key, "\uFFFD"))
	if result != OK && result != Failed {
		return
	}
	s.Errors = slices.DeleteFunc(s.Errors, func(e Note) bool { return e.Key == key || result == OK && settled(e.Key, key) })
	if result == Failed {
		heading, line := complaint(t)
		n := s.note(cut(what, maxWhat)+": "+strings.TrimSpace(heading+" "+cmp.Or(line, Failed)), m)
		n.Key = key
		s.Errors = bounded(append(s.Errors, n), maxErrors)
	}
}

// maxWhat is the most runes of what failed; the rest is for why.
const maxWhat = 120

// shortKey cuts a key to what a state may hold: of a chain of commands the end
// says what it was for.
func shortKey(key string) string {
	for len(key) > maxText {
		_, rest, chain := strings.Cut(key, chained)
		if !chain || !strings.HasPrefix(key, commandKey) {
			return limit(key)
		}
		key = commandKey + rest
	}
	return key
}

// settled reports whether success under one key settles a failure under another.
func settled(failure, success string) bool {
	if before, ok := strings.CutPrefix(failure, commandKey); ok {
		core, ok := strings.CutPrefix(success, commandKey)
		return ok && settles(core, before)
	}
	if before, ok := strings.CutPrefix(failure, fileKey); ok {
		at, ok := strings.CutPrefix(success, fileKey)
		return ok && sameFile(before, at)
	}
	return false
}

// worked notes that programs have succeeded: what they failed at before, in some
// other way, is no open error once the user has asked for something else.
func (s *State) worked(commands string) {
	done := purposes(commands)
	s.Errors = slices.DeleteFunc(s.Errors, func(e Note) bool {
		before, ok := strings.CutPrefix(e.Key, commandKey)
		return ok && e.N < s.Fold.Asked && sameProgram(done, before)
	})
	for i, e := range s.Errors {
		if before, ok := strings.CutPrefix(e.Key, commandKey); ok && sameProgram(done, before) {
			s.Errors[i].Later = true
		}
	}
}

// movedOn forgets, where the user asks for something else, the failures of programs
// that have succeeded since.
func (s *State) movedOn() {
	s.Fold.Asked = s.Messages
	s.Errors = slices.DeleteFunc(s.Errors, func(e Note) bool { return e.Later })
}

// Complaint is the line of a failed call's output that says best what is wrong, "" if
// the call did not fail or its output does not say.
func Complaint(t schema.Tool) string {
	if Outcome(t) != Failed {
		return ""
	}
	_, line := complaint(t)
	return line
}

// complaint is the line of a failed call's output that says best what is wrong, with
// the line that it stands under, if that is needed to understand it.
func complaint(t schema.Tool) (heading, line string) {
	own := map[string]bool{} // what the shell repeats of the command
	for l := range strings.Lines(leading(rawjson.Get(t.Input, "command"))) {
		own[strings.TrimSpace(l)] = true
	}
	first := ""
	for l := range strings.Lines(ends(t.Output)) {
		l = strings.TrimPrefix(strings.TrimSpace(l), "<tool_use_error>")
		l = oneLine(strings.TrimSuffix(strings.TrimPrefix(l, "Output: "), "</tool_use_error>"))
		if l == "" || l == "(empty)" || l == "Error: (none)" || strings.HasPrefix(l, "Exit code ") || strings.HasPrefix(l, "Command: ") || strings.HasPrefix(l, "Directory: ") || strings.HasPrefix(l, "<untrusted_context>") {
			continue
		}
		if own[l] || warns(l) {
			continue
		}
		if heading != "" {
			return heading, l
		}
		if complains(strings.ToLower(l)) {
			if !strings.HasSuffix(l, ":") {
				return "", l
			}
			heading = l
		}
		if first == "" {
			first = l
		}
	}
	for _, l := range []string{heading, first, oneLine(t.Error)} {
		if l != "" && !strings.HasPrefix(l, "Exit code ") && !warns(l) {
			return "", l
		}
	}
	return "", ""
}

// warns reports whether a line of output only warns, as ssh does of old servers.
func warns(l string) bool {
	return strings.HasPrefix(l, "** ") || strings.HasPrefix(strings.ToLower(l), "warning")
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
