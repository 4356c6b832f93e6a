package inject

import "strings"

// A Request asks for a launch of an agent.
type Request struct {
	Payload  string
	Shown    string // what a person is to see first, in the place of the payload; no model gets it
	Dir      string // absolute: where the agent is to start
	Root     string // absolute: the workspace, with the agent's settings for it
	Temp     string // absolute: a private folder for files that the launch needs
	NativeID string // the id that the new session is to have
	Time     string // RFC 3339
	Headless bool   // one turn with Prompt, no terminal
	Prompt   string
	Args     []string // more arguments for the program, from the user
	Tools    []string // names of the tools that the conversation used
}

// A Launch is how an agent is started: files to write, a command, and what to
// remove afterwards, which is the files again and, if nothing was said in it, the
// session that the import made.
type Launch struct {
	Road     string   // the way the payload takes, for people
	Program  string   // absolute
	Import   []string // arguments for a run of the program that must come before; none: no run
	Args     []string
	Unset    []string // variables that the program must not inherit
	Stdin    string   // given on standard input if Headless was asked for
	Files    []File
	NativeID string   // of the session that it begins; empty if that is not known before
	Warnings []string // what will not be as it was
}

// A File is written before a launch and removed after it.
type File struct {
	Path    string // absolute
	Data    string
	Session bool // it becomes the transcript of the new session: it stays if that was used
}

// A HurdleError says what stands in the way of a launch, and the way past it.
// Nothing is trusted, accepted or signed in to on the user's behalf.
type HurdleError struct {
	Agent   string
	What    string
	Way     string
	Missing bool // the program is not on this machine
}

func (e *HurdleError) Error() string { return e.Agent + ": " + e.What }

// ServerName spells the name of a server as it stands in the names of its tools: an
// agent replaces what is no ASCII letter, no digit and none of kept.
func ServerName(server, kept string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(kept, r) {
			return r
		}
		return '_'
	}, server)
}
