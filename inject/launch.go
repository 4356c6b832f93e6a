package inject

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

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

// A Launch describes how to start an agent: files to write and a command. After the
// agent has ended, the files are removed and, if the new session was not used,
// so is the session.
type Launch struct {
	Method   string   // how the payload reaches the agent, for display
	Program  string   // absolute
	Import   []string // arguments for a run of the program before the launch; empty for no such run
	Args     []string
	Unset    []string // variables that the program must not inherit
	Stdin    string   // standard input if Headless was asked for
	Files    []File
	NativeID string   // of the new session; empty if not known in advance
	Warnings []string // what will not work as it did before
}

// A File is written before a launch and removed after it.
type File struct {
	Path    string // absolute
	Data    string
	Session bool // it becomes the transcript of the new session, and stays if the session was used
}

// AskToRead puts the payload into a file and returns a prompt that asks the agent to
// read it, for a version that cannot start from a session. since is the first
// version that can.
func (l *Launch) AskToRead(r Request, p Program, version, since Version) (prompt string) {
	file := filepath.Join(r.Temp, r.NativeID+".md")
	l.Method = "a file with the payload, which the agent is asked to read"
	l.Files = []File{{Path: file, Data: r.Payload}}
	l.Warnings = append(l.Warnings, fmt.Sprintf("%s %s cannot start from a session: the model is asked to read a file, and may not do so; %s or later can start from one", p.Product, version, since))
	return "Read the file " + file + " in full, part by part. It is the record of a conversation of ours: continue it where it was left."
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

// ServerName returns a server's name as it appears in the names of its tools: an agent
// replaces every character except ASCII letters, digits and those in kept.
func ServerName(server, kept string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(kept, r) {
			return r
		}
		return '_'
	}, server)
}

// MCPServer returns the MCP server that a tool belongs to. Only unambiguous names count:
// mcp__<server>__<tool> of Claude Code and mcp_<server>_<tool> of Gemini CLI. Known
// servers may have "_" in their names.
func MCPServer(tool string, known map[string]bool) (server string, ok bool) {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, _, ok = strings.Cut(rest, "__")
		return server, ok && server != ""
	}
	rest, ok := strings.CutPrefix(tool, "mcp_")
	if !ok {
		return "", false
	}
	for name := range known {
		if strings.HasPrefix(rest, name+"_") {
			return name, true
		}
	}
	server, name, ok := strings.Cut(rest, "_") // the server's name may contain "_", but people recognize it by its first part
	return server, ok && server != "" && name != ""
}

// WarnOfMissing returns a warning for each MCP server that the tools belong to and that
// is not known on this machine. serverOf is [MCPServer], or a function that knows the
// agent's tools better.
func WarnOfMissing(tools []string, known map[string]bool, serverOf func(tool string, known map[string]bool) (string, bool)) (warnings []string) {
	warned := map[string]bool{}
	for _, tool := range tools {
		server, ok := serverOf(tool, known)
		if ok && !known[server] && !warned[server] {
			warned[server] = true
			warnings = append(warnings, "the conversation used tools of the MCP server "+server+", which is not set up here")
		}
	}
	return warnings
}

// RealPath returns a folder's path without symbolic links, as programs record it.
func RealPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// PayloadID returns the id for a transcript line that holds a payload of ours. It is
// derived from the text, so that we recognize the line in any copy of the session and
// no other line has the same id. It is a UUID of version 8 (RFC 9562).
func PayloadID(text string) string {
	sum := sha256.Sum256([]byte("cortext payload\n" + text))
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	h := hex.EncodeToString(sum[:16])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// MayBePayload reports whether an id has the form that [PayloadID] generates.
func MayBePayload(id string) bool { return len(id) == 36 && id[14] == '8' }

// IsPayload reports whether id is the [PayloadID] of text.
func IsPayload(id, text string) bool { return MayBePayload(id) && id == PayloadID(text) }

// Flag returns the value of a flag in args under any of its names, such as "--model"
// and "-m". The last one wins. Arguments after "--" are not flags.
func Flag(args []string, names ...string) string {
	value := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, after, joined := strings.Cut(arg, "=")
		switch {
		case !slices.Contains(names, name):
		case joined:
			value = after
		case i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			value = args[i+1]
		}
	}
	return value
}
