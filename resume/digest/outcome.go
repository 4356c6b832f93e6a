package digest

import (
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// Outcome says how a call ended: [OK], [Failed], [Refused] or [NoResult]. Of a command
// the exit code and the output count together: the code may be that of a program which
// only cut what another put out, and a program may report success with code 1.
func Outcome(t schema.Tool) string {
	result := reported(t)
	if schema.KindOf(t.Name) != schema.ShellTool {
		return result
	}
	switch {
	case result == Failed && t.ExitCode != nil && *t.ExitCode == 1 && succeeded(t):
		return OK
	case result == NoResult && t.Success != nil && tellsOfFailure(t):
		return Failed
	case result != OK:
		return result
	}
	// What a command that only looks shows may be the log of another.
	if script := parse(leading(rawjson.Get(t.Input, "command"))); !script.looks() && (script.piped || !script.chain) && tellsOfFailure(t) {
		return Failed
	}
	return OK
}

// tellsOfFailure reports whether the output of a command says that a program failed: a
// line that sums up a run does, and any other behind which no run is summed up that
// passed.
func tellsOfFailure(t schema.Tool) (failed bool) {
	for l := range outputLines(t) {
		switch {
		case matches("failure summaries", l):
			return true
		case matches("failed lines", l):
			failed = true
		case failed && matches("passed summaries", l):
			failed = false
		}
	}
	return failed
}

// succeeded reports whether the output of a command ends in the report of a success, and
// no line of it tells of a failure.
func succeeded(t schema.Tool) bool {
	last := ""
	for l := range outputLines(t) {
		if complains(l) {
			return false
		}
		last = l
	}
	return matches("successes", last) && !matches("no successes", last)
}

// complains reports whether a line of output tells of a failure.
func complains(l string) bool {
	return !matches("no failures", l) && has("failures", strings.ToLower(l)) || matches("failure summaries", l) || matches("failed lines", l) || places(l)
}

// places reports whether a line of output names the place of what is wrong.
func places(l string) bool { return matches("places", l) && !matches("no places", l) }

// reported is how a call ended by what its agent says. What a call put out may be
// foreign, a page of the web or what a command printed, so that only whole sentences
// of the agents count, and none of a call that has an exit code: it ran.
func reported(t schema.Tool) string {
	switch {
	case t.ExitCode != nil && *t.ExitCode != 0:
		return Failed
	case t.Success != nil && !*t.Success && begins(t, "rejections"):
		return Refused
	case t.Success == nil, aborted(t): // whatever the agent calls that
		return NoResult
	case !*t.Success:
		return Failed
	}
	return OK
}

// aborted reports whether a call was cut short, went to the background, or never
// began.
func aborted(t schema.Tool) bool {
	return begins(t, "aborted calls") || schema.KindOf(t.Name) == schema.ShellTool && begins(t, "aborted commands")
}

func begins(t schema.Tool, list string) bool {
	return t.ExitCode == nil && matches(list, strings.TrimPrefix(t.Output[:min(len(t.Output), maxText)], "Error: "))
}

// refusedByUser begins what Claude Code puts out for a call that the user did not let
// happen.
const refusedByUser = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "

// refusal is what the user said when refusing a call, as Claude Code hands it on.
// It is believed only of its own tools that hand on no foreign text when they
// fail: a page or a command could say the same.
func refusal(t schema.Tool) string {
	words, ok := strings.CutPrefix(ends(t.Output), refusedByUser+"To tell you how to proceed, the user said:\n")
	if !ok || reported(t) != Refused || !slices.Contains([]string{"Write", "Edit", "MultiEdit", "NotebookEdit", "ExitPlanMode", "AskUserQuestion"}, t.Name) {
		return ""
	}
	words, _, _ = strings.Cut(words, "\n\nNote: The user's next message")
	return words
}
