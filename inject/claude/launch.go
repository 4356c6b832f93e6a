package claude

import (
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf16"

	"cortext/inject"
)

// claudeCode describes the program of Claude Code.
var claudeCode = inject.Program{Product: "Claude Code", Command: "claude", Variable: "CORTEXT_CLAUDE", Package: "@anthropic-ai/claude-code"}

// Launch plans the start of Claude Code on a payload. The payload is the only turn of a
// native transcript in a temporary file, and the program forks from it. So the program
// only reads the file, and sends or expands nothing before the user types (FACTS.md,
// "The chosen method").
func (a agent) Launch(m inject.Machine, r inject.Request) (*inject.Launch, error) {
	program, err := a.Ready(m, r)
	if err != nil {
		return nil, err
	}
	l := &inject.Launch{Program: program, NativeID: r.NativeID, Unset: ownVariables}
	version, err := claudeCode.Version(program)
	if err != nil {
		return nil, err
	}
	if !version.AtLeast(forkFile) {
		r.Shown = "" // 2.0.76 hides the meta line but does not show the notice
	}
	switch {
	case version.AtLeast(forkFile), r.Headless && version.AtLeast(forkFileHeadless):
		file := filepath.Join(r.Temp, r.NativeID+".jsonl")
		l.Method = "a session file with the payload as one turn, forked"
		l.Files = []inject.File{{Path: file, Data: transcriptOf(r)}}
		l.Args = []string{"--resume", file, "--fork-session", "--session-id", r.NativeID}
	case version.AtLeast(resumeID):
		file := filepath.Join(configDir(m), "projects", slug(r.Dir), r.NativeID+".jsonl")
		l.Method = "a session with the payload as one turn, put among the program's own"
		l.Files = []inject.File{{Path: file, Data: transcriptOf(r), Session: true}}
		l.Args = []string{"--resume", r.NativeID}
	default:
		l.NativeID = ""
		l.Args = []string{l.AskToRead(r, claudeCode, version, resumeID)}
	}
	if settings := filepath.Join(r.Root, ".claude", "settings.json"); r.Dir != r.Root && r.Root != "" {
		if _, err := os.Stat(settings); err == nil { // the program reads only the settings in the folder it starts in
			l.Args = append(l.Args, "--settings", settings)
		}
	}
	if r.Headless {
		l.Args = append(l.Args, "-p")
		l.Stdin = r.Prompt
	}
	l.Args = append(l.Args, r.Args...)
	l.Warnings = append(l.Warnings, absent(m, r)...)
	return l, nil
}

// Ready returns the program if nothing prevents using it in r.Dir.
func (agent) Ready(m inject.Machine, r inject.Request) (string, error) {
	program, err := claudeCode.Find(m)
	if err == nil {
		err = preflight(m, r)
	}
	return program, err
}

// The first versions on which we saw each method work. --help mentions none of the
// methods, so the version decides.
var (
	forkFile         = inject.Version{2, 1, 139} // --resume FILE --fork-session --session-id ID
	forkFileHeadless = inject.Version{2, 0, 73}  // the same with -p
	resumeID         = inject.Version{2, 0, 0}   // --resume ID continues in the file of that name
)

// slug returns the name of a project's folder (FACTS.md, "Where sessions are kept"):
// the real path with a hyphen for every UTF-16 unit that is not an ASCII letter or
// digit. A long name is cut and gets a hash.
func slug(dir string) string {
	dir = inject.RealPath(dir)
	const most = 200
	units := utf16.Encode([]rune(dir))
	name := make([]byte, len(units))
	hash := int32(0)
	for i, u := range units {
		hash = hash*31 + int32(u)
		name[i] = '-'
		if u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z' {
			name[i] = byte(u)
		}
	}
	if len(name) <= most {
		return string(name)
	}
	return string(name[:most]) + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

// ownVariables are the variables that the program sets for its tools (FACTS.md,
// "Environment variables"). With these set, a new program would consider
// itself part of the session it was started from.
var ownVariables = []string{
	"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT",
	"CLAUDE_CODE_EXECPATH", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN",
}

// A writtenLine is one line of a transcript, with the members that the program requires
// (FACTS.md, "Resuming a session").
type writtenLine struct {
	Parent    *string         `json:"parentUuid"`
	Sidechain bool            `json:"isSidechain"`
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype,omitempty"`
	Meta      bool            `json:"isMeta,omitempty"`
	UUID      string          `json:"uuid"`
	Timestamp string          `json:"timestamp"`
	Session   string          `json:"sessionId"`
	Cwd       string          `json:"cwd"`
	Message   *writtenMessage `json:"message,omitempty"`
	Content   string          `json:"content,omitempty"`
	Level     string          `json:"level,omitempty"`
}

type writtenMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// transcriptOf renders the payload as a session of one user turn. The program sends a
// turn marked as meta but does not show it, and shows a notice but does not send it
// (2.1.139, 2.1.329).
func transcriptOf(r inject.Request) string {
	turn := writtenLine{Type: "user", UUID: inject.PayloadID(r.Payload), Timestamp: r.Time, Session: r.NativeID, Cwd: r.Dir, Message: &writtenMessage{"user", r.Payload}}
	lines := []any{&turn}
	if r.Shown != "" {
		turn.Meta = true
		notice := writtenLine{Parent: &turn.UUID, Type: "system", Subtype: "informational", UUID: inject.PayloadID(turn.UUID + r.Shown), Timestamp: r.Time, Session: r.NativeID, Cwd: r.Dir, Content: r.Shown, Level: "notice"}
		lines = append(lines, notice)
	}
	return inject.JSONLines(lines...)
}
