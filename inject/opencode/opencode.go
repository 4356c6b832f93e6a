// Package opencode is the adapter for OpenCode: it reads sessions (from the database of
// 1.18.33, from the folders of older versions, and from documents that `opencode export`
// of 1.2.5 to 1.18.33 wrote) and what our plugin reports, and starts the program on a
// payload.
package opencode

import (
	"io"
	"os"
	"strings"

	"cortext/inject"
)

// Name is what session.json calls the agent.
const Name = "opencode"

// An agent is the adapter for OpenCode. The path of a session in a database is the
// database's path, "#" and its id.
type agent struct{}

var _ interface {
	inject.Bundler
	inject.Hooks
	inject.Installer
	inject.Launcher
	inject.WindowConfigurer
	inject.Remover
} = agent{}

// Agent returns the adapter for OpenCode.
func Agent() inject.Agent { return agent{} }

func (agent) Name() string { return Name }

// split splits the path of a transcript into file and session. id is empty if the
// file is the session.
func split(path string) (file, id string) {
	i := strings.LastIndexByte(path, '#')
	if i < 0 || i == len(path)-1 {
		return path, ""
	}
	if _, err := os.Lstat(path); err == nil {
		return path, "" // a file with that name
	}
	return path[:i], path[i+1:]
}

// Transcripts lists the sessions of a database.
func (agent) Transcripts(file string) ([]string, error) {
	if !isDatabase(file) {
		return []string{file}, nil
	}
	d, err := openDatabase(file)
	if err != nil {
		return nil, err
	}
	defer d.close()
	roots, err := d.roots()
	var list []string
	for _, s := range roots {
		list = append(list, s.Path)
	}
	return list, err
}

// Stat returns a hash of the state of a session.
func (agent) Stat(path string) (int64, error) {
	file, id := split(path)
	if id == "" {
		return stateOfFile(file)
	}
	d, err := openDatabase(file)
	if err != nil {
		return 0, err
	}
	defer d.close()
	return d.state(id)
}

// Open reads the session at path.
func (agent) Open(path string, o inject.Options) (*inject.Transcript, error) {
	file, id := split(path)
	if id == "" {
		return openDocument(file, o)
	}
	for range maxWritten {
		t, err := openSession(file, id, o)
		if err != errWritten {
			return t, err
		}
	}
	return nil, &inject.FileError{File: file, Why: whyWritten}
}

func openDocument(file string, o inject.Options) (*inject.Transcript, error) {
	src, err := openFile(file, o)
	if err != nil {
		return nil, err
	}
	return read(src, o)
}

func openSession(file, id string, o inject.Options) (*inject.Transcript, error) {
	d, err := openDatabase(file)
	if err != nil {
		return nil, err
	}
	t, err := d.session(id, o)
	if err == nil && d.isWritten() {
		err = errWritten
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return t, nil
}

// Subagents lists the sessions that the session at path started.
func (agent) Subagents(path string) ([]inject.Subagent, error) {
	file, id := split(path)
	if id == "" {
		return subagentsOfFile(file)
	}
	d, err := openDatabase(file)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.subagents(id)
}

// Detect looks at the content: a database with OpenCode's tables, the document of an
// export, or a session of the older storage.
func (agent) Detect(f io.Reader) bool {
	head := make([]byte, headSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF {
		return false
	}
	if head = head[:n]; strings.HasPrefix(string(head), magic) {
		return looksLikeStore(head)
	}
	start := begin(head)
	if !looksLikeDocument(start) {
		return false
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxDocument))
	if err != nil {
		return false
	}
	return kindOf(append(start, rest...)) != noDocument
}
