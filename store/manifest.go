package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/store/internal/lines"
)

// repairsDir holds a folder for each repair, with its manifest and the files as they were.
const repairsDir = keptDir + "/repairs"

const manifestFile = "manifest.json"

// The states of a repair. Only an unfinished one can be finished; only a finished or an
// unfinished one can be undone.
const (
	repairBegun  = "begun"
	repairDone   = "done"
	repairUndone = "undone"
)

// A manifest describes a repair. Its file is written before the first change.
type manifest struct {
	ID      string // of the conversation
	Path    string // of the conversation
	Run     string // the same for all repairs of one process
	At      schema.Time
	State   string
	Made    []string // folders that did not exist, from the top
	Changes []change
}

// A change is what a repair does to one file, or to whatever occupies the file's name.
type change struct {
	File   string // relative to the workspace
	Before fileState
	After  fileState
	Old    string // in the repair's folder: the file as it was
	New    string // there: what replaces it, or is appended to it
	Append bool   // New is appended

	content []byte // of New
}

// The kinds of a fileState other than those of [lines.Kind].
const (
	kindAbsent = ""
	kindFile   = "a file"
	kindFolder = "a folder"
)

// A fileState describes whatever occupies a name.
type fileState struct {
	Kind   string
	Mode   string // permissions in octal, of a file or folder
	Size   int64
	SHA256 string // of a file
}

// sameBytes compares all but the modes. A file that could not be read has no SHA256.
func (f fileState) sameBytes(o fileState) bool {
	return f.Kind == o.Kind && f.Size == o.Size && (f.SHA256 == o.SHA256 || f.SHA256 == "" || o.SHA256 == "")
}

// isFile reports whether the state is that of a regular file.
func (f fileState) isFile() bool { return f.Kind == kindFile }

// movesAway reports whether the change moves away whatever occupies the file's name,
// because that is neither a regular file nor of the kind that the change leaves there.
func (c *change) movesAway() bool {
	return c.Before.Kind != kindAbsent && !c.Before.isFile() && c.After.Kind != c.Before.Kind
}

// stateOf returns the state of a file with a content.
func stateOf(content []byte, mode fs.FileMode) fileState {
	sum := sha256.Sum256(content)
	return fileState{Kind: kindFile, Mode: octal(mode), Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
}

// octal spells permissions. Windows has none.
func octal(mode fs.FileMode) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	return fmt.Sprintf("%04o", mode.Perm())
}

// state describes whatever occupies a name now.
func (s *Files) state(name string) (fileState, error) {
	info, err := s.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fileState{}, nil
	case err != nil:
		return fileState{}, err
	case info.IsDir():
		return fileState{Kind: kindFolder, Mode: octal(info.Mode())}, nil
	case !info.Mode().IsRegular():
		return fileState{Kind: lines.Kind(info.Mode())}, nil
	}
	st := fileState{Kind: kindFile, Mode: octal(info.Mode()), Size: info.Size()}
	f, _, _, err := lines.Open(s.root, name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrPermission) {
		return st, nil
	}
	if err != nil {
		return st, err
	}
	defer f.Close()
	h := sha256.New()
	st.Size, err = io.Copy(h, f)
	st.SHA256 = hex.EncodeToString(h.Sum(nil))
	return st, err
}

// encode returns the manifest as JSON, one change per line.
func (m *manifest) encode() []byte {
	b := []byte("{\n")
	for _, v := range [][2]string{{"id", m.ID}, {"path", m.Path}, {"run", m.Run}, {"at", string(m.At)}, {"state", m.State}} {
		b = append(append(b, "  "...), rawjson.AppendQuote(nil, v[0])...)
		b = append(rawjson.AppendQuote(append(b, ": "...), v[1]), ",\n"...)
	}
	b = append(b, "  \"made\": ["...)
	for i, name := range m.Made {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendQuote(b, name)
	}
	b = append(b, "],\n  \"changes\": ["...)
	for i := range m.Changes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n    "...)
		b = m.Changes[i].encode(b)
	}
	return append(b, "\n  ]\n}\n"...)
}

func (c *change) encode(b []byte) []byte {
	b = rawjson.AppendQuote(append(b, `{"file":`...), c.File)
	b = c.Before.encode(append(b, `,"before":`...))
	b = c.After.encode(append(b, `,"after":`...))
	b = rawjson.AppendQuote(append(b, `,"old":`...), c.Old)
	b = rawjson.AppendQuote(append(b, `,"new":`...), c.New)
	return append(strconv.AppendBool(append(b, `,"append":`...), c.Append), '}')
}

func (f fileState) encode(b []byte) []byte {
	b = rawjson.AppendQuote(append(b, `{"kind":`...), f.Kind)
	b = rawjson.AppendQuote(append(b, `,"mode":`...), f.Mode)
	b = strconv.AppendInt(append(b, `,"size":`...), f.Size, 10)
	b = rawjson.AppendQuote(append(b, `,"sha256":`...), f.SHA256)
	return append(b, '}')
}

// parseManifest parses what encode wrote.
func parseManifest(b []byte) (m manifest, err error) {
	if err := rawjson.Strict(b); err != nil {
		return m, err
	}
	text := func(object []byte, name string) string { return rawjson.String(rawjson.Get(object, name)) }
	state := func(object []byte) fileState {
		size, _ := strconv.ParseInt(string(rawjson.Get(object, "size")), 10, 64)
		return fileState{text(object, "kind"), text(object, "mode"), size, text(object, "sha256")}
	}
	m = manifest{ID: text(b, "id"), Path: text(b, "path"), Run: text(b, "run"), At: schema.Time(text(b, "at")), State: text(b, "state")}
	for raw := range rawjson.Elements(rawjson.Get(b, "made")) {
		m.Made = append(m.Made, rawjson.String(raw))
	}
	for raw := range rawjson.Elements(rawjson.Get(b, "changes")) {
		m.Changes = append(m.Changes, change{
			File: text(raw, "file"), Before: state(rawjson.Get(raw, "before")), After: state(rawjson.Get(raw, "after")),
			Old: text(raw, "old"), New: text(raw, "new"), Append: string(rawjson.Get(raw, "append")) == "true",
		})
	}
	if len(m.Changes) == 0 || m.State == "" {
		return m, errors.New("it is not the manifest of a repair")
	}
	return m, nil
}

// readManifest reads the manifest of a repair, given its folder.
func readManifest(s *Files, dir string) (m manifest, err error) {
	b, err := s.readRegular(dir + "/" + manifestFile)
	if err == nil {
		m, err = parseManifest(b)
	}
	if err != nil {
		return m, fmt.Errorf("%q: %w", dir+"/"+manifestFile, err)
	}
	// The file may come from a repository: it must not lead out of the conversations.
	for _, c := range m.Changes {
		if checkPath(c.File) != nil || !within(conversationsDir, c.File) && !within(waitingDir, c.File) ||
			strings.ContainsAny(c.Old+c.New, "/\\") {
			return m, fmt.Errorf("%q names %q, which no repair changes", dir+"/"+manifestFile, c.File)
		}
	}
	for _, name := range m.Made {
		if checkPath(name) != nil || !within(conversationsDir, name) && !within(localDir, name) {
			return m, fmt.Errorf("%q names %q, which no repair makes", dir+"/"+manifestFile, name)
		}
	}
	return m, nil
}
