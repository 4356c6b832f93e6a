package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strings"

	"cortext/store/internal/lines"
)

const (
	changesFile   = cacheDir + "/changes"
	changesHeader = "cortext changes "
	changesMark   = 16 // hex digits that tell lists of changes apart
)

// A ChangeList is a cache file that names each conversation that this or another process
// changed, one per line with a checksum, so that an index of the conversations can say
// which of its rows to read again. The index starts the list; while there is none, nothing
// is noted. Writers append without a lock and without syncing: a list that lost lines to a
// power cut has lost the index, too, or the index examines all files anyway.
type ChangeList struct {
	files *Files
	rand  io.Reader // for the marks
}

// ChangeList returns the list of changes of the workspace.
func (s *Store) ChangeList() ChangeList { return ChangeList{s.Files, s.opts.Rand} }

// Changes are the conversations that were changed after a moment.
type Changes struct {
	Mark    string   // of the list; a new list has another
	End     int64    // of the list, in bytes: pass it to the next call
	Folders []string // each once
}

// Start replaces the list with an empty one. What it held is lost: the caller examines all
// conversations afterwards.
func (l ChangeList) Start() (mark string, end int64, err error) {
	var b [changesMark / 2]byte
	if _, err := io.ReadFull(l.rand, b[:]); err != nil {
		return "", 0, err
	}
	mark = hex.EncodeToString(b[:])
	line := changesHeader + mark + "\n"
	return mark, int64(len(line)), l.files.replaceUnsynced(changesFile, []byte(line))
}

// Since returns the conversations changed since a list with that mark had that
// length. An empty mark stands for the present end of any list. ok is false if the list
// cannot tell.
func (l ChangeList) Since(mark string, from int64) (c Changes, ok bool) {
	f, info, _, err := lines.Open(l.files.root, changesFile, os.O_RDONLY, 0)
	if err != nil {
		return c, false
	}
	defer f.Close()
	head := make([]byte, len(changesHeader)+changesMark+1)
	if _, err := f.ReadAt(head, 0); err != nil || string(head[:len(changesHeader)]) != changesHeader || head[len(head)-1] != '\n' {
		return c, false
	}
	c.Mark, c.End = string(head[len(changesHeader):len(head)-1]), info.Size()
	if mark == "" {
		return c, true
	}
	if mark != c.Mark || from < int64(len(head)) || from > c.End || c.End-from > maxFile {
		return c, false
	}
	rest := make([]byte, c.End-from)
	if _, err := f.ReadAt(rest, from); err != nil {
		return c, false
	}
	end := bytes.LastIndexByte(rest, '\n') + 1 // another process may be appending
	c.End = from + int64(end)
	seen := map[string]bool{}
	for line := range strings.Lines(string(rest[:end])) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if sum != checksum(name) || checkConversationPath(name) != nil {
			return c, false
		}
		if !seen[name] {
			seen[name] = true
			c.Folders = append(c.Folders, name)
		}
	}
	return c, true
}

func checksum(name string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(name), crc32.IEEETable))
}

// note adds conversations to the list, if there is one. Call it after the change. If the
// change cannot be noted, the list is removed, and with it whatever relies on it.
func (l ChangeList) note(folders ...string) {
	text := ""
	for _, folder := range folders {
		text += checksum(folder) + " " + folder + "\n" // with a line break in it, no reader accepts it
	}
	for range 3 {
		f, info, _, err := lines.Open(l.files.root, changesFile, os.O_WRONLY|os.O_APPEND, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err == nil {
			_, err = f.WriteString(text)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			_ = l.files.root.Remove(changesFile)
			return
		}
		// A new list may have taken the place of this one meanwhile.
		if now, err := l.files.root.Lstat(changesFile); err != nil || os.SameFile(now, info) {
			return
		}
	}
}
