package removal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/store"
)

// Dir holds a small file for each removed conversation (FORMAT.md, "Files").
const Dir = ".workspace/removed"

// files are the removal files of a workspace, below [Dir].
type files struct{ store *store.Store }

// record records a removal for the user's other machines. It returns the name of the file if
// there was none before.
func (f files) record(e store.Entry) (added string, err error) {
	var list []string
	for _, src := range e.Session.Sources {
		list = append(list, hashOf(src.Agent, src.NativeID, src.From))
	}
	return f.write(schema.PathElement(e.Session.ID), list)
}

// write writes a removal file if there are any hashes. The file is named after its
// content, so two clones that remove the same conversation never conflict. It returns the
// name if there was no such file.
func (f files) write(name string, list []string) (added string, err error) {
	if len(list) == 0 {
		return "", nil // no session could bring the conversation back
	}
	slices.Sort(list)
	text := strings.Join(slices.Compact(list), "\n") + "\n"
	sum := sha256.Sum256([]byte(text))
	file := path.Join(Dir, name+"-"+hex.EncodeToString(sum[:4]))
	if there, err := f.store.Exists(file); err != nil || !there {
		added = file
	}
	return added, f.store.WriteFile(file, []byte(text))
}

// hashOf identifies a segment of a native session without revealing the session.
func hashOf(agent, nativeID, from string) string {
	sum := sha256.Sum256([]byte(agent + "\n" + nativeID + "\n" + from))
	return "sha256-" + hex.EncodeToString(sum[:])
}

// hashes holds the hashes in the files of [Dir].
type hashes map[string]bool

// all reads the removals. An unreadable file is an error, because its sessions would be
// captured again.
func (f files) all() (hashes, error) {
	records := hashes{}
	names, err := f.store.FilesIn(Dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		list, err := f.read(name)
		if err != nil {
			return nil, err
		}
		for _, hash := range list {
			records[hash] = true
		}
	}
	return records, nil
}

// read reads one removal file; a missing file has no hashes.
func (f files) read(name string) ([]string, error) {
	file := path.Join(Dir, name)
	b, err := f.store.ReadFile(file)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: make it readable, or restore it from git", file, err)
	}
	return strings.Fields(string(b)), nil
}

// has reports whether a segment was removed.
func (h hashes) has(agent, nativeID, from string) bool {
	return h[hashOf(agent, nativeID, from)]
}

// broughtBack prefixes the name of a removal file whose conversation the user restored.
// Only the sessions in the file stay removed.
const broughtBack = "back"

// withdraw removes hashes from a removal file. If the file has any of them, or if all is
// set because the conversation is back, its other hashes move to a file that names no
// conversation.
func (f files) withdraw(name string, list []string, all bool) error {
	have, err := f.read(name)
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(have), func(hash string) bool { return slices.Contains(list, hash) })
	if len(rest) == len(have) && !all {
		return nil
	}
	if _, err := f.write(broughtBack, rest); err != nil {
		return err
	}
	return f.store.RemoveFile(path.Join(Dir, name))
}

// isOf reports whether name is a removal file of the conversation with the given id.
func isOf(name, id string) bool {
	end := strings.LastIndexByte(name, '-')
	return end >= 0 && schema.SameConversation(name[:end], schema.PathElement(id))
}
