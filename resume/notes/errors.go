package notes

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// The prefixes of error keys: a failed command, or a failed change of a file.
const (
	commandKey = "command "
	fileKey    = "file "
)

// addResult records a failure, or resolves earlier ones with the same key. A repeated
// failure, in the same way or another, counts as one error.
func (a *adder) addResult(key, what string, t schema.Tool, result string) {
	key = shortKey(strings.ToValidUTF8(key, "\uFFFD"))
	if result != OK && result != Failed {
		return
	}
	a.Errors = slices.DeleteFunc(a.Errors, func(e Note) bool { return e.Key == key || resolves(e.Key, key) })
	if result != Failed {
		return
	}
	heading, line := errorLine(t)
	why := strings.TrimSpace(heading + " " + line)
	// A command that does not say what is wrong may not have failed.
	if !strings.HasPrefix(key, commandKey) || reportsFailure(why) {
		n := a.note(cut(what, maxWhat) + ": " + cmp.Or(why, Failed))
		n.Key = key
		a.Errors = lastOf(append(a.Errors, n), maxErrors)
	}
}

// maxWhat is the most runes for what failed; the rest is for the reason.
const maxWhat = 120

// shortKey cuts a key to a size that fits in notes. The end of a chain of commands
// shows its purpose.
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

// resolves reports whether success under one key resolves a failure under another.
func resolves(failure, success string) bool {
	for prefix, does := range map[string]func(success, failure string) bool{commandKey: resolvesCommand, fileKey: sameFile} {
		before, failed := strings.CutPrefix(failure, prefix)
		now, succeeded := strings.CutPrefix(success, prefix)
		if failed && succeeded {
			return does(now, before)
		}
	}
	return false
}

// addSuccess records the success of a command that does more than look. Once several
// commands have succeeded, the work evidently continued without an older failure, so
// that error is closed, unless it was a check such as a test.
func (a *adder) addSuccess() {
	const without = 5
	a.Errors = slices.DeleteFunc(a.Errors, func(e Note) bool {
		command, ok := strings.CutPrefix(e.Key, commandKey)
		return ok && e.Since >= without-1 && !isCheck(command)
	})
	for i := range a.Errors {
		a.Errors[i].Since++
	}
}

// ErrorLine returns the line of a failed call's output that best says what is wrong,
// or "" if the call did not fail or its output does not say.
func ErrorLine(t schema.Tool) string {
	if Outcome(t) != Failed {
		return ""
	}
	_, line := errorLine(t)
	return line
}

// errorLine returns the line of a failed call's output that best says what is wrong:
// a line with a location, else a line that reports a failure, with the heading above
// it, else the first.
func errorLine(t schema.Tool) (heading, line string) {
	lines, echoed := slices.Collect(outputLines(t)), echoes(t)
	for _, fits := range []func(string) bool{
		locatesProblem,
		func(l string) bool { return !echoed[l] && reportsFailure(l) },
		func(l string) bool { return echoed[l] && reportsFailure(l) },
		func(l string) bool { return !echoed[l] },
	} {
		i := slices.IndexFunc(lines, fits)
		if i < 0 {
			continue
		}
		if strings.HasSuffix(lines[i], ":") && reportsFailure(lines[i]) && i+1 < len(lines) {
			return lines[i], lines[i+1]
		}
		return "", lines[i]
	}
	if l := oneLine(t.Error); !matches("frames and warnings", l) {
		return "", l
	}
	return "", ""
}

// echoes returns the lines that a command prints as headings for the output that
// follows.
func echoes(t schema.Tool) map[string]bool {
	echoed := map[string]bool{}
	for _, c := range commandOf(t).commands {
		if c.words[0] == "echo" {
			echoed[oneLine(strings.Join(c.words[1:], " "))] = true
		}
	}
	return echoed
}

// outputLines iterates over a call's output, skipping the agent's additions, the
// shell's repetition of the command, and mere warnings.
func outputLines(t schema.Tool) iter.Seq[string] {
	own := map[string]bool{}
	for l := range strings.Lines(leadingString(rawjson.Get(t.Input, "command"))) {
		own[oneLine(l)] = true
	}
	return func(yield func(string) bool) {
		for l := range strings.Lines(headAndTail(t.Output)) {
			l = strings.TrimPrefix(strings.TrimSpace(l), "<tool_use_error>")
			l = oneLine(strings.TrimSuffix(strings.TrimPrefix(l, "Output: "), "</tool_use_error>"))
			if l == "" || own[l] || matches("frames and warnings", l) {
				continue
			}
			if !yield(l) {
				return
			}
		}
	}
}
