// Package claude reads the transcripts of Claude Code: what a session's file
// means is told in FACTS form beside each rule, as seen on versions 2.0 to
// 2.1.329.
package claude

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"cortext/inject"
	"cortext/inject/claude/program"
	"cortext/schema/jsonl"
)

// Name is what session.json calls the agent.
const Name = "claude"

// Agent returns what cortext knows of Claude Code.
func Agent() inject.Agent {
	return inject.Agent{
		Name: Name, Detect: detect, Open: open, Subagents: subagents, Install: install,
		Locate: program.Locate, Session: program.Session, Hook: program.Hook, Reply: program.Reply,
		ReplyLimit: program.ReplyLimit, Launch: program.Launch,
	}
}

// detectLines is how many records are looked at: the first message of a session
// may stand behind dozens of snapshots and progress records.
const detectLines = 400

// detect looks for a message in the shape of Claude Code's: an envelope of type
// user or assistant with message.content. (Qwen Code has the same envelope with
// message.parts; Codex, Copilot and Gemini have other types.)
func detect(f io.Reader) bool {
	n := 0
	for rec, err := range jsonl.Read(f, 0, 1) {
		if err != nil {
			if _, damaged := err.(*jsonl.Damage); !damaged {
				return false
			}
			continue
		}
		r, err := parseRecord(rec.Raw)
		if err == nil && (r.Type == "user" || r.Type == "assistant") && member(r.Message, "content") != nil {
			return true
		}
		if n++; n == detectLines {
			return false
		}
	}
	return false
}

// subagents lists the files that lie in <transcript without .jsonl>/subagents/
// (FACTS section 3). What starts with another name is none of ours.
func subagents(path string) ([]inject.Subagent, error) {
	dir := filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "subagents")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // a transcript without an ending is no folder
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []inject.Subagent
	for _, e := range entries {
		id, ok := strings.CutPrefix(e.Name(), "agent-")
		id, isLog := strings.CutSuffix(id, ".jsonl")
		if !ok || !isLog || !e.Type().IsRegular() {
			continue
		}
		file := filepath.Join(dir, e.Name())
		list = append(list, inject.Subagent{NativeID: id, Path: file, ToolCallID: startedBy(file)})
	}
	return list, nil
}

// startedBy reads the call that started a sub-agent from the note beside its
// transcript (agent-<id>.meta.json, 2.1.329); empty where there is none.
func startedBy(file string) string {
	b, err := os.ReadFile(strings.TrimSuffix(file, ".jsonl") + ".meta.json")
	if err != nil || len(b) > 1<<20 {
		return ""
	}
	return text(member(b, "toolUseId"))
}
