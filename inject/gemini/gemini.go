// Package gemini is the adapter for the Gemini CLI: it reads sessions (the JSONL of
// version 0.61.0, the one-document files of older versions, and the checkpoints of
// /chat save) and hooks, and starts the program on a payload. Each rule cites a heading
// of FACTS.md or says what was observed.
package gemini

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cortext/inject"
	"cortext/schema/jsonl"
)

// Name is what session.json calls the agent.
const Name = "gemini"

// An agent is the adapter for the Gemini CLI.
type agent struct{}

var _ interface {
	inject.Hooks
	inject.Installer
	inject.Launcher
	inject.LaunchFinder
	inject.Cleaner
} = agent{}

// Agent returns the adapter for the Gemini CLI.
func Agent() inject.Agent { return agent{} }

func (agent) Name() string { return Name }

// Stat returns the length of the transcript at file.
func (agent) Stat(file string) (int64, error) { return inject.StatFile(file) }

// Limits on how much of a file Detect reads.
const (
	detectLines = 50
	detectBytes = 4 << 20
)

// Detect looks for what only the Gemini CLI writes: a header of sessionId and
// projectHash, a message of type gemini with content next to it, a change ("$set",
// "$rewindTo"), or a document with such messages. Qwen Code, Claude Code, Codex and
// Copilot have other envelopes.
func (agent) Detect(f io.Reader) bool {
	data, err := io.ReadAll(io.LimitReader(f, detectBytes))
	if err != nil {
		return false
	}
	if isDocument(data) {
		return detectDocument(data)
	}
	return inject.AnyRecord(bytes.NewReader(data), detectLines, func(raw []byte) bool {
		r, err := parseRecord(raw)
		return err == nil && isOwn(r)
	})
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

// Open reads the transcript at file: a session, or a checkpoint.
func (agent) Open(file string, o inject.Options) (*inject.Transcript, error) {
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
	return x, size, nil
}

// readDocument reads a file that the program rewrites. It keeps the content, so that
// later passes see the same text.
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
	x.file = source{bytes.NewReader(data[:n])}
	if err := x.document(data[:n:n]); err != nil && size >= whole { // a cut by our own limit is not damage
		x.losses.Damaged(fmt.Sprintf("%s: the document is cut off or broken (%v)", jsonl.Broken, err))
	}
	if x.o.Progress != nil {
		x.o.Progress(size)
	}
	return nil
}

// Subagents lists the transcripts of sub-agents: they are in a folder next to the
// session's file, named after its id (0.61.0: chats/<session>/<agent>.jsonl). The
// call that started one names it (toolCalls[].agentId), see Transcript.Calls.
func (agent) Subagents(path string) ([]inject.Subagent, error) {
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
	files, err := inject.FilesIn(dir)
	var list []inject.Subagent
	for _, file := range files {
		if ext := filepath.Ext(file); ext != ".jsonl" && ext != ".json" {
			continue
		}
		sub, err := peek(file)
		if err != nil || sub.kind != "subagent" {
			continue // still empty, or not a session of the program
		}
		list = append(list, inject.Subagent{NativeID: sub.id, Path: file})
	}
	return list, err
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
