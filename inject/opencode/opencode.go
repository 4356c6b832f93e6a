// Package opencode reads the sessions of OpenCode from its database (1.18.33), from
// the folders of older versions, and from documents that `opencode export` wrote
// (1.2.5 to 1.18.33).
package opencode

import (
	"context"
	"io"
	"os"
	"strings"

	"cortext/inject"
	"cortext/inject/opencode/program"
	"cortext/inject/opencode/setup"
)

// Name is what session.json calls the agent.
const Name = "opencode"

// Agent returns the adapter for the sessions of OpenCode. The name of a session in a
// database is the database's path, "#" and its id.
func Agent() inject.Agent {
	return inject.Agent{
		Name: Name, Detect: detect, Transcripts: transcripts, Stat: stat, Open: open, Subagents: subagents,
		Sessions: sessions, Stores: stores, Locate: locate, Install: setup.Install,
		Session: session, Hook: program.Hook, Reply: program.Reply, ReplyLimit: program.ReplyLimit, Model: program.Model, Window: program.Window, Ready: program.Ready, Launch: program.Launch, Remove: remove,
	}
}

// session returns the id of the session that called our command: from the plugin,
// else from the running call in the database.
func session(m inject.Machine) string {
	if id := program.Session(m); id != "" || !program.Called(m) {
		return id
	}
	files, _ := databases(m) // a call in an unreadable one is not ours
	for _, file := range files {
		if id := calling(file); id != "" {
			return id
		}
	}
	return ""
}

// remove removes a session that a launch imported, unless something was said in it.
func remove(ctx context.Context, m inject.Machine, nativeID string) error {
	path, ok, err := locate(m, nativeID)
	if !ok || err != nil {
		return err
	}
	t, err := open(path, inject.Options{})
	if err != nil {
		return err
	}
	if err := t.Close(); t.Messages > 0 || err != nil {
		return err
	}
	return program.Delete(ctx, m, nativeID)
}

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

func transcripts(file string) ([]string, error) {
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

func stat(path string) (int64, error) {
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

func open(path string, o inject.Options) (*inject.Transcript, error) {
	file, id := split(path)
	if id == "" {
		src, err := openFile(file, o)
		if err != nil {
			return nil, err
		}
		return read(src, o)
	}
	for range maxWritten {
		t, err := openSession(file, id, o)
		if err != errWritten {
			return t, err
		}
	}
	return nil, &inject.FileError{File: file, Why: whyWritten}
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

func subagents(path string) ([]inject.Subagent, error) {
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

// detect looks at the content: a database with OpenCode's tables, the document of an
// export, or a session of the older storage.
func detect(f io.Reader) bool {
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
