package opencode

import (
	"fmt"
	"path/filepath"
	"time"

	"cortext/inject"
)

// openCode describes the program of OpenCode.
var openCode = inject.Program{Product: "OpenCode", Command: "opencode", Variable: "CORTEXT_OPENCODE", Package: "opencode-ai"}

// Launch plans the start of OpenCode on a payload. The payload is the only message of
// a session that the program imports. Then the program starts on that session, and
// nothing is sent to a model or expanded before the user types (FACTS.md, "The
// chosen method").
func (a agent) Launch(m inject.Machine, r inject.Request) (*inject.Launch, error) {
	program, err := a.Ready(m, r)
	if err != nil {
		return nil, err
	}
	c := readConfig(m, r.Dir)
	version, err := openCode.Version(program)
	if err != nil {
		return nil, err
	}
	l := &inject.Launch{Program: program, Unset: ownVariables}
	model := chosenModel(m, c, r.Args)
	switch {
	case imports(version) && (!r.Headless || model != ""):
		err = throughImport(l, r, version, model)
	case r.Headless:
		throughStdin(l, r)
	default:
		err = throughFile(l, r, version)
	}
	if err != nil {
		return nil, err
	}
	l.Args = append(l.Args, r.Args...)
	l.Warnings = append(l.Warnings, tooLarge(m, c, model, r.Payload)...)
	l.Warnings = append(l.Warnings, absent(c, r.Tools)...)
	return l, nil
}

// Ready returns the program if nothing prevents using it in r.Dir.
func (agent) Ready(m inject.Machine, r inject.Request) (string, error) {
	program, err := openCode.Find(m)
	if err == nil {
		err = preflight(m, readConfig(m, r.Dir))
	}
	return program, err
}

// throughImport makes the payload the first message of a session of its own.
func throughImport(l *inject.Launch, r inject.Request, v inject.Version, model string) error {
	at, err := time.Parse(time.RFC3339, r.Time)
	if err != nil {
		return fmt.Errorf("the time of the launch: %w", err)
	}
	l.NativeID = sessionID(r.NativeID, at)
	file := filepath.Join(r.Temp, r.NativeID+".json") // identifies it while the launch runs
	l.Method = "a session with the payload as one message, imported"
	l.Files = []inject.File{{Path: file, Data: payloadDocument(r, at, v.String(), model)}}
	l.Import = append(pure(v), "import", file)
	l.Args = []string{"-s", l.NativeID}
	if r.Headless {
		// Standard input arrives verbatim; an argument may be quoted (FACTS.md,
		// "Slash commands").
		l.Args, l.Stdin = []string{"run", "-s", l.NativeID}, r.Prompt
	}
	return nil
}

// throughStdin puts payload and prompt into one message of a new session. It is for a
// program that is too old, or whose choice of model is unknown: without a terminal, a
// session continues with the model of its last message and has no other to fall back
// on (1.18.33).
func throughStdin(l *inject.Launch, r inject.Request) {
	l.Method = "one message on standard input, the payload and the prompt"
	l.Args = []string{"run", "--title", titleOf(r.Payload)}
	l.Stdin = r.Payload + "\n\n" + r.Prompt
}

// throughFile is for versions that cannot import. The terminal program cannot read
// standard input (FACTS.md, "How much arrives by which method"), and a command line is
// not long enough.
func throughFile(l *inject.Launch, r inject.Request, v inject.Version) error {
	if !atLeast(v, promptFlag) {
		return openCode.Unready(fmt.Sprintf("version %s cannot be started on a conversation", v),
			"run opencode upgrade, then this again; cortext resume --print writes the payload for any agent")
	}
	l.Args = []string{"--prompt", l.AskToRead(r, openCode, v, importAgain)}
	return nil
}

// ownVariables are the variables that the program, or our plugin in it, sets for its
// tools (FACTS.md, "Environment variables"). A new program is not part of the
// session it was started from.
var ownVariables = []string{"OPENCODE", "OPENCODE_PID", "OPENCODE_CLIENT", sessionVariable}

// The versions on which we saw each change. --help shows some of the features, but
// takes as long as --version.
var (
	promptFlag  = inject.Version{1, 0, 185} // --prompt for the terminal program
	importFirst = inject.Version{1, 1, 11}  // import accepts our document; could not be tested on 1.0.185
	importGone  = inject.Version{1, 2, 0}   // sessions moved into a database: import fails (1.2.6, 1.2.15) unless given the project
	importAgain = inject.Version{1, 2, 20}  // import accepts our document again
	deletes     = inject.Version{1, 2, 6}   // session delete; not in 1.1.65
	pureFlag    = inject.Version{1, 14, 34} // --pure; not in 1.3.2
)

// atLeast reports whether v is w or later. A build from source calls itself 0.0.0 and
// counts as the newest.
func atLeast(v, w inject.Version) bool { return v == inject.Version{} || v.AtLeast(w) }

// imports reports whether opencode import accepts our document.
func imports(v inject.Version) bool {
	return atLeast(v, importAgain) || atLeast(v, importFirst) && !atLeast(v, importGone)
}

// pure returns the argument that disables plugins for a run that needs none. With a
// plugin, and without access to npm's registry, a run takes minutes (1.18.33).
func pure(v inject.Version) []string {
	if atLeast(v, pureFlag) {
		return []string{"--pure"}
	}
	return nil
}
