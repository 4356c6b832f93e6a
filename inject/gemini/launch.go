package gemini

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cortext/inject"
)

// geminiCLI describes the program of Gemini CLI.
var geminiCLI = inject.Program{Product: "Gemini CLI", Command: "gemini", Variable: "CORTEXT_GEMINI", Package: "@google/gemini-cli"}

// Launch plans the start of Gemini CLI on a payload. The payload is the only turn of
// a session in a temporary file, which the program imports under an id of its own.
// Nothing is sent to a model or expanded before the user types (FACTS.md, "The
// chosen method"). Launched finds the id.
func (agent) Launch(m inject.Machine, r inject.Request) (*inject.Launch, error) {
	program, v, warnings, err := ready(m, r)
	if err != nil {
		return nil, err
	}
	if err := fits(r); err != nil {
		return nil, err
	}
	l := &inject.Launch{Program: program, Unset: unset(m), Warnings: warnings}
	switch {
	case v.AtLeast(sessionFile):
		file := filepath.Join(r.Temp, r.NativeID+".jsonl")
		l.Method = "a session file with the payload as one turn, imported"
		l.Files = []inject.File{{Path: file, Data: transcriptOf(r)}}
		l.Args = []string{"--session-file", file}
		if r.Headless {
			l.Args = append(l.Args, "--prompt="+r.Prompt)
		}
	case v.AtLeast(commandFile):
		name := "cortext-" + r.NativeID
		l.Method = "a command file with the payload as its text, which is removed afterwards"
		l.Files = []inject.File{{Path: filepath.Join(geminiDir(m), "commands", name+".toml"), Data: payloadCommand(r)}}
		l.Args = []string{"--prompt-interactive", "/" + name}
		if r.Headless {
			l.Args = []string{strings.TrimSpace("--prompt=/" + name + " " + r.Prompt)}
		}
		l.Warnings = append(l.Warnings, fmt.Sprintf("Gemini CLI %s cannot start from a session: the payload goes to the model at once, with a backslash within !{, @{ and {{args}}; %s or later needs neither", v, sessionFile))
	default:
		return nil, geminiCLI.Unready(fmt.Sprintf("%s is version %s, which cannot resume a conversation", program, v), "install "+sessionFile.String()+" or later")
	}
	l.Args = append(l.Args, r.Args...)
	l.Warnings = append(l.Warnings, elsewhere(m, r)...)
	l.Warnings = append(l.Warnings, absent(m, r)...)
	return l, nil
}

// Ready returns the program if nothing prevents using it in r.Dir.
func (agent) Ready(m inject.Machine, r inject.Request) (string, error) {
	program, _, warnings, err := ready(m, r)
	if err == nil && len(warnings) > 0 { // it would start, but without our hooks
		err = geminiCLI.Unready("it was told not to trust "+r.Dir+", and takes no commands and hooks from there", "type /permissions trust in gemini to change that")
	}
	return program, err
}

func ready(m inject.Machine, r inject.Request) (program string, v inject.Version, warnings []string, err error) {
	if program, err = find(m); err == nil {
		v, err = versionOf(program)
	}
	if err == nil {
		warnings, err = preflight(m, r, v)
	}
	return program, v, warnings, err
}

// The first versions on which we saw each method work. Version 0.42.0 has no
// --session-file.
var (
	sessionFile = inject.Version{0, 43, 0} // --session-file FILE
	commandFile = inject.Version{0, 10, 0} // ~/.gemini/commands/*.toml
)

// mostPrompt limits the prompt of a headless launch, in bytes. The prompt is an
// argument, and Linux refuses an argument above 128 KiB. On standard input, the program
// would lose what does not arrive at once (FACTS.md, "What is silently lost").
const mostPrompt = 120_000

// window is the program's limit, in tokens by its own estimate: a quarter of the UTF-16
// units of a long text. Above it, the program sends nothing, prints nothing and exits
// with success (0.61.0). It does not shorten a single turn first. spare leaves room for
// what the program puts before the payload and for what the user types.
const (
	window = 1_048_576
	spare  = 48_576
)

// fits rejects a payload that the program would not deliver.
func fits(r inject.Request) error {
	if r.Headless && len(r.Prompt) > mostPrompt {
		return fmt.Errorf("gemini: the prompt has %d bytes, and its command line takes %d: put it into a file and name that", len(r.Prompt), mostPrompt)
	}
	if n := utf16Units(r.Payload) / 4; n > window-spare {
		return geminiCLI.Unready(fmt.Sprintf("it counts the payload of %d bytes as %d tokens, and sends nothing above %d", len(r.Payload), n, window-spare),
			"--budget 500000, or less")
	}
	return nil
}

// utf16Units counts the UTF-16 units of a text.
func utf16Units(text string) int {
	n := 0
	for _, r := range text {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// elsewhere warns of a start below the workspace, where the program does not look for
// the workspace's commands and hooks.
func elsewhere(m inject.Machine, r inject.Request) []string {
	if r.Root == "" || r.Dir == r.Root || !exists(filepath.Join(r.Root, ".gemini", "settings.json")) {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(geminiDir(m), "settings.json"))
	if err == nil && bytes.Contains(b, []byte("cortext hook gemini")) {
		return nil // the user has the hooks in every folder
	}
	return []string{"Gemini CLI starts in a subfolder, where it does not see the commands and hooks in .gemini/ of the workspace: what is said is saved when it ends"}
}

// find returns the path of the program. If the program needs Node.js, that must be on
// the PATH too.
func find(m inject.Machine) (string, error) {
	program, err := geminiCLI.Find(m)
	if err == nil && needsNode(program) && !inject.IsOnPath("node") {
		err = geminiCLI.Unready(program+" runs on Node.js, and there is no node on this machine's PATH", "install it, or add its folder to PATH")
	}
	return program, err
}

// needsNode reports whether a program is a script that node runs.
func needsNode(program string) bool {
	f, err := os.Open(program)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 100)
	n, _ := f.Read(head)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return bytes.HasPrefix(line, []byte("#!")) && bytes.Contains(line, []byte("node"))
}

// unset returns the variables that the program sets for its tools and hooks (FACTS.md,
// "Environment variables"). With these set, a new program would not see the
// user's git settings either.
func unset(m inject.Machine) []string {
	names := []string{"GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_CWD", "GEMINI_PLANS_DIR", "CLAUDE_PROJECT_DIR", "CORTEXT_PROCESS"}
	if m.Getenv("GEMINI_CLI") != "" {
		names = append(names, "GEMINI_CLI_NO_RELAUNCH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT", "GIT_TERMINAL_PROMPT", "GIT_ASKPASS", "SSH_ASKPASS", "GH_PROMPT_DISABLED", "PAGER", "GIT_PAGER")
	}
	return names
}

// versionOf returns the program's version: that of the package it is in, else the one
// it reports, which takes two seconds.
func versionOf(program string) (inject.Version, error) {
	var pkg struct{ Name, Version string }
	if real, err := filepath.EvalSymlinks(program); err == nil {
		if inject.ReadJSON(filepath.Join(filepath.Dir(real), "..", "package.json"), &pkg) == nil && pkg.Name == geminiCLI.Package {
			if v, ok := inject.ParseVersion(pkg.Version); ok {
				return v, nil
			}
		}
	}
	return geminiCLI.Version(program)
}
