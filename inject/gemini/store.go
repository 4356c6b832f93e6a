package gemini

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cortext/inject"
	"cortext/schema/rawjson"
)

// chats is the name of the folder with a project's sessions.
const chats = "chats"

// projectFolders returns the folders with the program's projects (0.61.0: getGlobalRuntimeDir;
// in the sandbox of macOS it writes below .cache).
func projectFolders(m inject.Machine) []string {
	dir := geminiDir(m)
	return []string{filepath.Join(dir, "tmp"), filepath.Join(filepath.Dir(dir), ".cache", ".gemini", "tmp")}
}

// Stores lists the folders above the sessions of all projects.
func (agent) Stores(m inject.Machine) (list []inject.Store) {
	for _, dir := range projectFolders(m) {
		list = append(list, inject.Store{Dir: dir, Depth: 2})
	}
	return list
}

// A session is a session file of the program, with the information at its beginning.
type session struct {
	head
	path string
	info fs.FileInfo
}

// A head is the information at the beginning of a session's file.
type head struct {
	id, kind, start string
	spoken          bool // it has a message
}

// Sessions lists the program's sessions on this machine, except those of sub-agents and
// those in which nothing was said. Each start of the program leaves such a stub under
// the session's id, even when it resumes a session.
//
// If several files with the same id have messages, the first is the one that the
// session began in (see Locate). Another is listed too if it has messages that those
// before it do not (--resume with -i: FACTS.md, "Resuming a session").
func (agent) Sessions(m inject.Machine) ([]inject.SessionRef, error) {
	byID := map[string][]session{}
	err := files(m, "", func(s session) { byID[s.id] = append(byID[s.id], s) })
	var list []inject.SessionRef
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		for _, s := range distinct(byID[id]) {
			list = append(list, inject.SessionRef{NativeID: id, Path: s.path, Dir: held(m, s.path), Updated: s.info.ModTime()})
		}
	}
	return list, err
}

// Locate returns the file of a session. If several files have its id, Locate returns
// the one that the session began in. If there are several of those, it prefers one that
// the program still writes to.
func (agent) Locate(m inject.Machine, nativeID string) (path string, ok bool, err error) {
	part := fileNamePart(nativeID)
	if part == "" {
		return "", false, nil
	}
	var list []session
	err = files(m, part[:min(8, len(part))], func(s session) {
		if s.id == nativeID {
			list = append(list, s)
		}
	})
	if len(list) == 0 {
		return "", false, err
	}
	slices.SortFunc(list, compareSessions)
	return list[0].path, true, nil
}

// compareSessions sorts the file that a session began in first. When the program
// resumes a session in a .json file, it creates a .jsonl file with all its content.
func compareSessions(a, b session) int {
	return cmp.Or(strings.Compare(a.start, b.start), strings.Compare(b.path, a.path))
}

// files calls f for each session file with messages; end is the end of its name,
// before the suffix.
func files(m inject.Machine, end string, f func(session)) error {
	var errs []error
	for _, root := range projectFolders(m) {
		list, err := inject.ProjectFiles(root, chats, func(e fs.DirEntry) bool {
			name, ok := strings.CutPrefix(e.Name(), "session-")
			ext := filepath.Ext(name)
			return ok && e.Type().IsRegular() && (ext == ".jsonl" || ext == ".json") && strings.HasSuffix(strings.TrimSuffix(name, ext), end)
		})
		errs = append(errs, err)
		for _, file := range list {
			s := session{path: file}
			if s.head, err = headOf(m, s.path); err == nil {
				s.info, err = os.Lstat(file)
			}
			switch {
			case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
			case err != nil:
				errs = append(errs, err)
			case s.id != "" && s.spoken && s.kind != "subagent":
				f(s)
			}
		}
	}
	return errors.Join(errs...)
}

// headOf returns the result of peek, possibly cached.
func headOf(m inject.Machine, file string) (h head, err error) {
	text, err := m.ReadHead(file, func() (string, error) {
		h, err := peek(file)
		return strings.Join([]string{h.id, h.kind, h.start, strconv.FormatBool(h.spoken)}, "\n"), err
	})
	parts := strings.Split(text, "\n")
	if err != nil || len(parts) != 4 { // an id may contain anything
		return peek(file)
	}
	return head{parts[0], parts[1], parts[2], parts[3] == "true"}, nil
}

// held returns the result of heldIn, possibly cached.
func held(m inject.Machine, file string) string {
	dir, _ := m.ReadHead(filepath.Join(filepath.Dir(filepath.Dir(file)), ".project_root"), func() (string, error) { return heldIn(file), nil })
	return dir
}

// distinct drops the files whose messages are all in those before them.
func distinct(list []session) (kept []session) {
	slices.SortFunc(list, compareSessions)
	if len(list) == 1 {
		return list
	}
	seen := map[string]bool{}
	for _, s := range list {
		x, _, err := load(s.path, inject.Options{})
		if err != nil {
			continue
		}
		more := false
		for _, u := range x.units {
			if u.kept() && u.kind != eventUnit && !seen[u.id] {
				seen[u.id], more = true, true
			}
		}
		if x.release() == nil && more {
			kept = append(kept, s)
		}
	}
	return kept
}

// peekBytes is how much of a document is read for its head.
const peekBytes = 256 << 10

// peek reads the head of a session's file, up to its first message.
func peek(file string) (h head, err error) {
	f, err := inject.OpenRegular(file)
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data := make([]byte, 16)
	n, err := f.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return h, err
	}
	if isDocument(data[:n]) {
		data, err = io.ReadAll(io.LimitReader(f, peekBytes))
		peekDocument(data, &h)
		return h, err
	}
	for rec, err := range inject.Records(f) {
		if err != nil {
			return h, err
		}
		r, err := parseRecord(rec.Raw)
		if err != nil {
			continue
		}
		switch {
		case r.ID != "":
			h.spoken = h.spoken || kindOf(r) == modelUnit || kindOf(r) == userUnit && len(userSays(r.Content).items) > 0
		case r.Session != "" && h.id == "":
			h.id, h.kind, h.start = r.Session, r.Kind, r.Start
			h.spoken = h.spoken || holdsMessages(r.Messages)
		}
		if h.id != "" && h.spoken {
			break
		}
	}
	return h, nil
}

func peekDocument(data []byte, h *head) {
	_ = inject.WalkObject(data, func(name string, rest []byte) bool { // it may be cut off by the limit
		value, _, _ := rawjson.Next(rest)
		switch name {
		case "sessionId":
			h.id = rawjson.String(value)
		case "kind":
			h.kind = rawjson.String(value)
		case "startTime":
			h.start = rawjson.String(value)
		case "messages":
			h.spoken = len(rest) > 1 && !strings.HasPrefix(strings.TrimLeft(string(rest[1:min(len(rest), 64)]), " \t\r\n"), "]")
		}
		return true
	})
}

// heldIn returns the folder of a session: the owner of the folder that its file is in
// (0.61.0: .project_root, and projects.json next to the folders). Older versions
// named that folder by a hash of the path, which may match a known path.
func heldIn(file string) string {
	dir := filepath.Dir(file)
	if filepath.Base(dir) != chats { // a sub-agent's file is one level deeper
		dir = filepath.Dir(dir)
	}
	if filepath.Base(dir) != chats {
		return ""
	}
	project := filepath.Dir(dir)
	if owner, ok := readSmall(filepath.Join(project, ".project_root")); ok {
		if owner = strings.TrimSpace(owner); filepath.IsAbs(owner) {
			return filepath.Clean(owner)
		}
		return ""
	}
	list, _ := readSmall(filepath.Join(filepath.Dir(filepath.Dir(project)), "projects.json"))
	members, _ := rawjson.Members(rawjson.Get([]byte(list), "projects"))
	for _, m := range members {
		if name := filepath.Base(project); filepath.IsAbs(m.Name) && (rawjson.String(m.Value) == name || inject.SHA256([]byte(m.Name)) == name) {
			return filepath.Clean(m.Name)
		}
	}
	return ""
}

// readSmall reads a file of the program that is always short.
func readSmall(file string) (string, bool) {
	b, err := inject.ReadRegular(file, 1<<20)
	return string(b), err == nil
}
