// Package claude is the adapter for Claude Code: it reads transcripts and hooks, and
// starts the program on a payload. Each rule cites a heading of FACTS.md or says what
// was observed, mostly on versions 2.0 to 2.1.329.
package claude

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"cortext/inject"
	"cortext/schema/rawjson"
)

// Name is what session.json calls the agent.
const Name = "claude"

// An agent is the adapter for Claude Code.
type agent struct{}

var _ interface {
	inject.Hooks
	inject.Installer
	inject.Launcher
	inject.RunningLister
} = agent{}

// Agent returns the adapter for Claude Code.
func Agent() inject.Agent { return agent{} }

func (agent) Name() string { return Name }

// Stat returns the length of the transcript at file.
func (agent) Stat(file string) (int64, error) { return inject.StatFile(file) }

// Open reads the transcript at file.
func (agent) Open(file string, o inject.Options) (*inject.Transcript, error) {
	f, size, err := inject.OpenFile(file)
	if err != nil {
		return nil, err
	}
	if o.Head > 0 {
		size = min(size, o.Head)
	}
	t, err := read(f, size, filepath.Base(file), o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t.Release = f.Close
	return t, nil
}

// detectLines is how many records Detect reads: dozens of snapshots and progress
// records may precede the first message of a session.
const detectLines = 400

// Detect looks for a message in Claude Code's shape: an envelope of type user or
// assistant with message.content. (Qwen Code has the same envelope with
// message.parts; Codex, Copilot and Gemini have other types.)
func (agent) Detect(f io.Reader) bool {
	return inject.AnyRecord(f, detectLines, func(raw []byte) bool {
		r := parseRecord(raw, nil)
		return (r.Type == "user" || r.Type == "assistant") && rawjson.Get(r.Message, "content") != nil
	})
}

// Subagents lists the files in <transcript without .jsonl>/subagents/ (FACTS.md,
// "Sub-agents"), ignoring those with another prefix.
func (agent) Subagents(path string) ([]inject.Subagent, error) {
	dir := filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "subagents")
	files, err := inject.FilesIn(dir)
	var list []inject.Subagent
	for _, file := range files {
		id, ok := strings.CutPrefix(filepath.Base(file), "agent-")
		id, isLog := strings.CutSuffix(id, ".jsonl")
		if !ok || !isLog {
			continue
		}
		list = append(list, inject.Subagent{NativeID: id, Path: file, ToolCallID: startedBy(file)})
	}
	return list, err
}

// startedBy reads the call that started a sub-agent from the file beside its transcript
// (agent-<id>.meta.json, 2.1.329). It returns "" if there is no such file.
func startedBy(file string) string {
	b, err := inject.ReadRegular(strings.TrimSuffix(file, ".jsonl")+".meta.json", 1<<20)
	if err != nil {
		return ""
	}
	return rawjson.String(rawjson.Get(b, "toolUseId"))
}
