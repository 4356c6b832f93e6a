// Package claude reads the transcripts of Claude Code. Each rule cites FACTS.md by
// heading, or says what was observed; the versions are 2.0 to 2.1.329.
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
	"cortext/schema/rawjson"
)

// Name is what session.json calls the agent.
const Name = "claude"

// Agent returns the adapter for Claude Code.
func Agent() inject.Agent {
	return inject.Agent{
		Name: Name, Detect: detect, Stat: inject.StatFile, Open: open, Subagents: subagents, Install: install,
		Sessions: sessions, Stores: program.Stores, Locate: program.Locate, Session: program.Session, Running: program.Running, Hook: program.Hook, Reply: program.Reply,
		ReplyLimit: program.ReplyLimit, Model: program.Model, Ready: program.Ready, Launch: program.Launch,
	}
}

// open reads the transcript at file.
func open(file string, o inject.Options) (*inject.Transcript, error) {
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

// sessions lists the transcripts of all projects. A session's folder comes from its
// lines, since the name of a project's folder does not determine it.
func sessions(m inject.Machine) ([]inject.SessionRef, error) {
	var list []inject.SessionRef
	files, err := program.Transcripts(m)
	errs := []error{err}
	for _, file := range files {
		n := inject.SessionRef{NativeID: strings.TrimSuffix(filepath.Base(file), ".jsonl"), Path: file}
		info, err := os.Stat(file)
		if err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err == nil {
			n.Updated = info.ModTime()
			n.Dir, err = m.ReadHead(file, func() (string, error) { return heldIn(file) })
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, n)
	}
	return list, errors.Join(errs...)
}

// headBytes is how much of a transcript is read to find its folder: snapshots and a
// prompt of any length may come first.
const headBytes = 256 << 10

// heldIn returns the folder of a session, or empty if the beginning of its transcript
// does not name one.
func heldIn(file string) (string, error) {
	f, err := inject.OpenRegular(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for rec, err := range jsonl.Read(io.LimitReader(f, headBytes), 0, 1) {
		var damage *jsonl.Damage
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return "", err
		}
		if dir := parseRecord(rec.Raw).Cwd; dir != "" {
			return dir, nil
		}
	}
	return "", nil
}

// detectLines is how many records detect reads: dozens of snapshots and progress
// records may precede the first message of a session.
const detectLines = 400

// detect looks for a message in Claude Code's shape: an envelope of type user or
// assistant with message.content. (Qwen Code has the same envelope with
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
		r := parseRecord(rec.Raw)
		if (r.Type == "user" || r.Type == "assistant") && rawjson.Get(r.Message, "content") != nil {
			return true
		}
		if n++; n == detectLines {
			return false
		}
	}
	return false
}

// subagents lists the files in <transcript without .jsonl>/subagents/ (FACTS.md,
// "Sub-agents"), ignoring those with another prefix.
func subagents(path string) ([]inject.Subagent, error) {
	dir := filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "subagents")
	_, err := os.Lstat(dir) // most sessions have none: Lstat is cheaper than an open
	var entries []fs.DirEntry
	if err == nil {
		entries, err = os.ReadDir(dir)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // a transcript without an extension is not a folder
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

// startedBy reads the call that started a sub-agent from the file beside its
// transcript (agent-<id>.meta.json, 2.1.329). It returns empty without one.
func startedBy(file string) string {
	b, err := inject.ReadRegular(strings.TrimSuffix(file, ".jsonl")+".meta.json", 1<<20)
	if err != nil {
		return ""
	}
	return rawjson.String(rawjson.Get(b, "toolUseId"))
}
