// Package gemini reads the sessions of the Gemini CLI: the JSONL of version 0.61.0,
// the one-document files of older versions, and the checkpoints of /chat save.
// Comments at each rule and the headings of FACTS.md say what a record means.
package gemini

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"cortext/inject"
	"cortext/inject/gemini/program"
	"cortext/inject/gemini/setup"
	"cortext/schema/jsonl"
)

// Name is what session.json calls the agent.
const Name = "gemini"

// Agent returns the adapter for the sessions of the Gemini CLI.
func Agent() inject.Agent {
	return inject.Agent{
		Name: Name, Detect: detect, Stat: inject.StatFile, Open: open, Subagents: subagents,
		Sessions: Sessions, Stores: Stores, Locate: Locate, Install: setup.Install,
		Session: program.Session, Hook: program.Hook, Reply: program.Reply, ReplyNote: program.ReplyNote, ReplyLimit: program.ReplyLimit,
		Model: program.Model, Ready: program.Ready, Launch: program.Launch, Launched: program.Launched, Cleanup: program.Cleanup,
	}
}

// How much of a file detect reads.
const (
	detectLines = 50
	detectBytes = 4 << 20
)

// detect looks for what only the Gemini CLI writes: a header of sessionId and
// projectHash, a message of type gemini with content next to it, a change ("$set",
// "$rewindTo"), or a document with such messages. Qwen Code, Claude Code, Codex and
// Copilot have other envelopes.
func detect(f io.Reader) bool {
	data, err := io.ReadAll(io.LimitReader(f, detectBytes))
	if err != nil {
		return false
	}
	if isDocument(data) {
		return detectDocument(data)
	}
	n := 0
	for rec, err := range jsonl.Read(bytes.NewReader(data), 0, 1) {
		if err != nil {
			if _, damaged := err.(*jsonl.Damage); !damaged {
				return false
			}
			continue
		}
		if r, err := parseRecord(rec.Raw); err == nil && isOwn(r) {
			return true
		}
		if n++; n == detectLines {
			break
		}
	}
	return false
}

// isOwn reports whether only the Gemini CLI writes such a record.
func isOwn(r record) bool {
	switch {
	case r.Foreign:
		return false
	case r.Session != "" && r.Hash != "", r.Set != nil && r.ID == "", r.Rewind != "" && r.ID == "":
		return true
	case r.Type == "gemini" && r.Content != nil:
		return true
	}
	return r.Session != "" && holdsMessages(r.Messages)
}

// open reads the transcript at file: a session, or a checkpoint.
func open(file string, o inject.Options) (*inject.Transcript, error) {
	x, size, err := load(file, o)
	if err != nil {
		return nil, err
	}
	if err := x.close(size); err != nil {
		return nil, errors.Join(err, x.release())
	}
	x.t.Release = x.release
	return x.t, nil
}

// load reads all records of a file into an index. The caller must call its release.
func load(file string, o inject.Options) (x *index, size int64, err error) {
	f, size, err := inject.OpenFile(file)
	if err != nil {
		return nil, 0, err
	}
	whole := size
	if o.Head > 0 {
		size = min(size, o.Head)
	}
	x = newIndex(f, file, o)
	x.release = f.Close
	begin := make([]byte, min(size, 16))
	if _, err = f.ReadAt(begin, 0); err == io.EOF {
		err = nil
	}
	switch {
	case err != nil:
	case isDocument(begin):
		err = x.readDocument(f, size, whole)
	default:
		err = x.lines(size)
	}
	if err != nil {
		return nil, 0, errors.Join(err, x.release())
	}
	if o.Progress != nil {
		o.Progress(size)
	}
	return x, size, nil
}

// readDocument reads a file that the program rewrites. It keeps the content, so that
// later passes see the same.
func (x *index) readDocument(f *os.File, size, whole int64) error {
	if x.o.From.Offset > 0 {
		return inject.ErrCursor
	}
	if size > jsonl.MaxLine {
		return &inject.FileError{File: x.path, Why: "is too long for a session of the Gemini CLI"}
	}
	data := make([]byte, size)
	n, err := f.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return err
	}
	x.rewritten = true
	x.file = bytes.NewReader(data[:n])
	x.document(data[:n:n], size < whole)
	return nil
}

// subagents lists the transcripts of sub-agents: they are in a folder next to the
// session's file, named after its id (0.61.0: chats/<session>/<agent>.jsonl). The
// call that started one names it (toolCalls[].agentId), see Transcript.Calls.
func subagents(path string) ([]inject.Subagent, error) {
	h, err := peek(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	name := fileNamePart(h.id)
	if name == "" || h.kind == "subagent" {
		return nil, nil
	}
	dir := filepath.Join(filepath.Dir(path), name)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []inject.Subagent
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if !e.Type().IsRegular() || ext != ".jsonl" && ext != ".json" {
			continue
		}
		file := filepath.Join(dir, e.Name())
		sub, err := peek(file)
		if err != nil || sub.kind != "subagent" {
			continue // still empty, or not a session of the program
		}
		list = append(list, inject.Subagent{NativeID: sub.id, Path: file})
	}
	return list, nil
}

// fileNamePart formats an id as the program does in file names (sanitizeFilenamePart,
// 0.61.0).
func fileNamePart(id string) string {
	b := []byte(id)
	for i, c := range b {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '-') {
			b[i] = '_'
		}
	}
	return string(b)
}
