package notes

import (
	"slices"
	"strings"

	"cortext/schema"
)

// Outcome says how a call ended: [OK], [Failed], [Refused] or [NoResult]. For a
// command, the exit code and the output count together: the code may come from a
// program that only trimmed another's output, and a program may report success with
// code 1.
func Outcome(t schema.Tool) string {
	if schema.KindOf(t.Name) == schema.ShellTool {
		return commandOutcome(t, commandOf(t))
	}
	return reported(t)
}

// commandOutcome is [Outcome] for a call of the shell that ran script.
func commandOutcome(t schema.Tool, script script) string {
	switch result := reported(t); {
	case result == Failed && t.ExitCode != nil && *t.ExitCode == 1 && outputSucceeded(t):
		return OK
	case result == NoResult && t.Success != nil && outputFailed(t):
		return Failed
	case result != OK:
		return result
	}
	// The output of a read-only command may be another command's log.
	if (script.piped || !script.sequential) && !script.readOnly() && outputFailed(t) {
		return Failed
	}
	return OK
}

// outputFailed reports whether a command's output says that a program failed: in a
// line that sums up a run, or in any other line with no summary of a passing run
// after it.
func outputFailed(t schema.Tool) (failed bool) {
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

// outputSucceeded reports whether a command's output ends with a report of success
// and has no line that reports a failure.
func outputSucceeded(t schema.Tool) bool {
	last := ""
	for l := range outputLines(t) {
		if reportsFailure(l) {
			return false
		}
		last = l
	}
	return matches("successes", last) && !matches("no successes", last)
}

// reportsFailure reports whether a line of output reports a failure.
func reportsFailure(l string) bool {
	return containsEntry("failures", strings.ToLower(l)) && !matches("no failures", l) || matches("failure summaries", l) || matches("failed lines", l) || locatesProblem(l)
}

// locatesProblem reports whether a line of output gives the location of a problem.
func locatesProblem(l string) bool { return matches("locations", l) && !matches("no locations", l) }

// reported returns a call's outcome according to its agent. Output may be foreign,
// such as a web page or what a command printed. So only whole sentences of the agents
// count, and not even those for a call with an exit code, since that call ran.
func reported(t schema.Tool) string {
	switch {
	case t.ExitCode != nil && *t.ExitCode != 0:
		return Failed
	case t.Success != nil && !*t.Success && outputBegins(t, "rejections"):
		return Refused
	case t.Success == nil, aborted(t): // whatever status the agent gives it
		return NoResult
	case !*t.Success:
		return Failed
	}
	return OK
}

// aborted reports whether a call was cut short, moved to the background, or never
// started.
func aborted(t schema.Tool) bool {
	return outputBegins(t, "aborted calls") || schema.KindOf(t.Name) == schema.ShellTool && outputBegins(t, "aborted commands")
}

func outputBegins(t schema.Tool, list string) bool {
	return t.ExitCode == nil && matches(list, strings.TrimPrefix(t.Output[:min(len(t.Output), maxText)], "Error: "))
}

// refusedByUser is the beginning of Claude Code's output for a call that the user
// refused.
const refusedByUser = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "

// refusalReason returns why the user refused a call, as Claude Code passes it on.
// Only tools that never output foreign text on failure are trusted: a page or a
// command could say the same.
func refusalReason(t schema.Tool) string {
	words, ok := strings.CutPrefix(headAndTail(t.Output), refusedByUser+"To tell you how to proceed, the user said:\n")
	if !ok || reported(t) != Refused || !slices.Contains([]string{"Write", "Edit", "MultiEdit", "NotebookEdit", "ExitPlanMode", "AskUserQuestion"}, t.Name) {
		return ""
	}
	words, _, _ = strings.Cut(words, "\n\nNote: The user's next message")
	return words
}
