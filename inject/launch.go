package inject

import "strings"

// A Request asks for a launch of an agent.
type Request struct {
	Payload  string
	Shown    string // what to show the user instead of the payload; not sent to a model
	Dir      string // absolute: where to start the agent
	Root     string // absolute: the workspace, with the agent's settings for it
	Temp     string // absolute: a private folder for the launch's files
	NativeID string // the id for the new session
	Time     string // RFC 3339
	Headless bool   // one turn with Prompt, no terminal
	Prompt   string
	Args     []string // more arguments for the program, from the user
	Tools    []string // names of the tools that the conversation used
}

// A Launch describes how to start an agent: files to write and a command. Afterwards
// the files are removed and, if nothing was said in it, so is the imported session.
type Launch struct {
	Method   string   // how the payload gets in, for display
	Program  string   // absolute
	Import   []string // arguments for running the program once beforehand; none: no such run
	Args     []string
	Unset    []string // variables that the program must not inherit
	Stdin    string   // standard input if Headless was asked for
	Files    []File
	NativeID string   // of the new session; empty if not known in advance
	Warnings []string // what will differ from before
}

// A File is written before a launch and removed after it.
type File struct {
	Path    string // absolute
	Data    string
	Session bool // it becomes the transcript of the new session, and stays if that was used
}

// A PreflightError says what prevents a launch, and how to fix it. cortext never trusts,
// accepts or signs in to anything on the user's behalf.
type PreflightError struct {
	Agent   string
	What    string
	Fix     string
	Missing bool // the program is not on this machine
}

func (e *PreflightError) Error() string { return e.Agent + ": " + e.What }

// ServerName returns the form of a server's name within the names of its tools: an
// agent replaces every character except ASCII letters, digits and those in kept.
func ServerName(server, kept string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(kept, r) {
			return r
		}
		return '_'
	}, server)
}
