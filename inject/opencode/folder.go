package opencode

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema/rawjson"
)

// Before the database (1.2 and older), a session was a folder tree: its own file in
// storage/session/<project>/, its messages in storage/message/<session>/, their
// parts in storage/part/<message>/, or all parts in storage/part/.

// A stateHash is the hash of a state. Different states almost always have different
// values.
type stateHash struct{ hash.Hash64 }

func newState() stateHash { return stateHash{fnv.New64a()} }

// value returns the hash as a positive number.
func (h stateHash) value() int64 { return int64(binary.BigEndian.Uint64(h.Sum(nil))>>1 | 1) }

// maxSmall is the largest file of a session, message or part, in bytes.
const maxSmall = 64 << 20

func readSmall(file string) ([]byte, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &inject.FileError{File: file, Why: "is not a regular file"}
	}
	return inject.ReadRegular(file, maxSmall)
}

// A tree is the storage folder that contains a session's file.
type tree struct{ root string }

func treeOf(file string) tree { return tree{filepath.Dir(filepath.Dir(filepath.Dir(file)))} }

// jsonIn lists the JSON files of a folder below the tree, sorted by name, which
// begins with the time. The id comes from a file, so it must be a plain name.
func (t tree) jsonIn(kind, id string) []string {
	if id == "." || id == ".." || strings.ContainsAny(id, `/\`) {
		return nil
	}
	files, _ := inject.FilesIn(filepath.Join(t.root, kind, id))
	return slices.DeleteFunc(files, func(f string) bool { return !strings.HasSuffix(f, ".json") })
}

// readFolder reads the session with the given file of its own.
func readFolder(file string, own []byte) (src *source, state int64, err error) {
	src = &source{meta: parseMeta(begin(own))}
	t := treeOf(file)
	files := []string{file}
	var rows []row
	broken := 0
	take := func(f string) []byte {
		files = append(files, f)
		b, e := readSmall(f)
		if e != nil && err == nil {
			err = e
		}
		if b = begin(b); len(members(b)) == 0 {
			broken++
			return nil
		}
		return b
	}
	loose := map[string][]piece{} // parts in the common folder, by message
	for _, f := range t.jsonIn("part", "") {
		if b := take(f); b != nil {
			message := rawjson.String(rawjson.Get(b, "messageID"))
			loose[message] = append(loose[message], piece{raw: b})
		}
	}
	for _, f := range t.jsonIn("message", src.meta.ID) {
		b := take(f)
		if b == nil {
			continue
		}
		r := row{info: b}
		if r.id = rawjson.String(rawjson.Get(b, "id")); r.id == "" {
			r.id = strings.TrimSuffix(filepath.Base(f), ".json")
		}
		for _, f := range t.jsonIn("part", r.id) {
			if b := take(f); b != nil {
				r.parts = append(r.parts, piece{raw: b})
			}
		}
		r.parts = append(r.parts, loose[r.id]...)
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(parseInfo(a.info).Created, parseInfo(b.info).Created), cmp.Compare(a.id, b.id))
	})
	if broken > 0 {
		src.warnings = append(src.warnings, fmt.Sprintf("%d files of the session are not JSON objects and were left out", broken))
	}
	src.inMemory(rows)
	return src, stateOf(files), err
}

// folderFiles lists the files of a session in the older storage; ok is false if file
// is not one.
func folderFiles(file string) (files []string, ok bool) {
	if filepath.Base(treeOf(file).root) != "storage" && filepath.Base(filepath.Dir(filepath.Dir(file))) != "session" {
		return nil, false
	}
	b, err := readSmall(file)
	if err != nil || kindOf(b) != oldSession {
		return nil, false
	}
	t := treeOf(file)
	files = append([]string{file}, t.jsonIn("part", "")...)
	for _, f := range t.jsonIn("message", parseMeta(begin(b)).ID) {
		files = append(files, f)
		id := strings.TrimSuffix(filepath.Base(f), ".json")
		if b, err := readSmall(f); err == nil && rawjson.String(rawjson.Get(begin(b), "id")) != "" {
			id = rawjson.String(rawjson.Get(begin(b), "id"))
		}
		files = append(files, t.jsonIn("part", id)...)
	}
	return files, true
}

// subagentsOfFile lists the sessions in the older storage that a session started,
// directly or indirectly. An export has none.
func subagentsOfFile(file string) ([]inject.Subagent, error) {
	b, err := readSmall(file)
	if err != nil || kindOf(b) != oldSession {
		return nil, nil
	}
	children := map[string][]string{} // by parent
	ids := map[string]string{file: parseMeta(begin(b)).ID}
	for _, f := range (tree{filepath.Dir(filepath.Dir(file))}).jsonIn(filepath.Base(filepath.Dir(file)), "") {
		if b, err := readSmall(f); err == nil && kindOf(b) == oldSession {
			m := parseMeta(begin(b))
			ids[f] = m.ID
			children[m.Parent] = append(children[m.Parent], f)
		}
	}
	var list []inject.Subagent
	seen := map[string]bool{file: true}
	for todo := []string{file}; len(todo) > 0; todo = todo[1:] {
		parent := ids[todo[0]]
		if parent == "" || len(children[parent]) == 0 {
			continue
		}
		calls := map[string]string{}
		if t, err := openDocument(todo[0], inject.Options{}); err == nil {
			calls = t.Calls
		}
		for _, f := range children[parent] {
			if !seen[f] {
				seen[f] = true
				list = append(list, inject.Subagent{NativeID: ids[f], Path: f, ToolCallID: calls[ids[f]]})
				todo = append(todo, f)
			}
		}
	}
	return list, nil
}
