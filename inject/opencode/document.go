package opencode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"cortext/inject"
	"cortext/schema/rawjson"
)

// maxDocument is the largest document to read, in bytes: the program that writes them
// cannot make one of more than 512 MB.
const maxDocument = 1 << 30

type docKind int

const (
	noDocument docKind = iota
	export             // written by `opencode export`
	oldSession         // storage/session/<project>/<session>.json
)

// begin skips to the beginning of the document. A byte order mark, space and the line
// that the program writes to standard error may precede it.
func begin(b []byte) []byte {
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF")), " \t\r\n")
	if line, rest, ok := bytes.Cut(b, []byte("\n")); ok && bytes.HasPrefix(line, []byte("Exporting session: ")) {
		b = bytes.TrimLeft(rest, " \t\r\n")
	}
	return b
}

// looksLikeDocument reports whether the first bytes are those of an object that may
// be a session.
func looksLikeDocument(b []byte) bool {
	rest, ok := bytes.CutPrefix(b, []byte("{"))
	if !ok {
		return false
	}
	name, rest, err := rawjson.Next(rest)
	return err == nil && len(name) > 0 && name[0] == '"' && len(rest) > 0 && rest[0] == ':'
}

// kindOf identifies a document: an export has messages, each with an info and parts.
func kindOf(b []byte) docKind {
	top, _ := loose(begin(b))
	if list := top.value("messages"); len(list) > 0 && list[0] == '[' {
		first, _, _ := looseArray(list)
		id := rawjson.String(rawjson.Get(top.value("info"), "id"))
		if len(first) == 0 {
			if id != "" && len(top.value("info")) > 0 {
				return export
			}
			return noDocument
		}
		if info := rawjson.Get(first[0], "info"); rawjson.String(rawjson.Get(info, "role")) != "" && rawjson.Get(first[0], "parts") != nil {
			return export
		}
		return noDocument
	}
	if rawjson.String(top.value("id")) != "" && rawjson.String(top.value("projectID")) != "" && inject.Number(rawjson.Get(top.value("time"), "created")) > 0 {
		return oldSession
	}
	return noDocument
}

// openFile reads a session that is a file.
func openFile(file string, o inject.Options) (*source, error) {
	if isDatabase(file) {
		return nil, &inject.FileError{File: file, Why: "holds many sessions: name one as " + filepath.Base(file) + "#<session id>"}
	}
	size, err := stateOfFile(file)
	if err != nil {
		return nil, err
	}
	f, length, err := inject.OpenFile(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if length > maxDocument {
		return nil, &inject.FileError{File: file, Why: "is too large for an export of OpenCode"}
	}
	limit := int64(maxDocument)
	if o.Head > 0 {
		limit = o.Head
	}
	b, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, err
	}
	var src *source
	switch kindOf(b) {
	case export:
		src = readExport(b, o.Head > 0)
	case oldSession:
		if src, size, err = readFolder(file, b); err != nil {
			return nil, err
		}
	default:
		return nil, &inject.FileError{File: file, Why: "is not a session of OpenCode: neither an export nor part of its storage"}
	}
	src.size = size
	return src, nil
}

func stateOfFile(file string) (int64, error) {
	if _, err := inject.StatFile(file); err != nil {
		return 0, err
	}
	if files, ok := folderFiles(file); ok {
		return stateOf(files), nil
	}
	return stateOf([]string{file}), nil
}

// stateOf returns a value that changes with the names, lengths and times of some
// files.
func stateOf(files []string) int64 {
	h := newState()
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			fmt.Fprintln(h, filepath.Base(f), info.Size(), info.ModTime().UnixNano())
		}
	}
	return h.value()
}

// readExport parses an export. If it was truncated, for example by a pipe (FACTS.md,
// "What is silently lost"), readExport takes the complete messages and the
// complete parts of the last one. head says that b is only the head of a file, from which
// the caller needs the id.
func readExport(b []byte, head bool) *source {
	top, cut := loose(begin(b))
	src := &source{meta: parseMeta(top.value("info"))}
	elements, rest, torn := looseArray(top.value("messages"))
	if torn {
		cut = true
		m, _ := loose(rest)
		if parts, _, _ := looseArray(m.value("parts")); len(parts) > 0 || head && m.value("info") != nil {
			elements = append(elements, rest)
		}
	}
	var rows []row
	for _, e := range elements {
		m, _ := loose(e)
		r := row{info: m.value("info")}
		r.id = rawjson.String(rawjson.Get(r.info, "id"))
		parts, _, _ := looseArray(m.value("parts"))
		for _, p := range parts {
			r.parts = append(r.parts, piece{raw: p})
		}
		if src.meta.ID == "" {
			src.meta.ID = rawjson.String(rawjson.Get(r.info, "sessionID"))
		}
		rows = append(rows, r)
	}
	if cut {
		src.warnings = append(src.warnings, fmt.Sprintf("the export is cut off after %d bytes, %d messages: let `opencode export` write into a file, not through a pipe", len(b), len(rows)))
	}
	src.inMemory(rows)
	return src
}

func parseMeta(raw []byte) meta {
	var m meta
	for _, v := range members(raw) {
		switch v.Name {
		case "id":
			m.ID = rawjson.String(v.Value)
		case "parentID":
			m.Parent = rawjson.String(v.Value)
		case "version":
			m.Version = rawjson.String(v.Value)
		case "title":
			m.Title = rawjson.String(v.Value)
		case "directory":
			m.Dir = rawjson.String(v.Value)
		case "revert":
			m.setRevert(v.Value)
		case "metadata":
			m.setPayload(v.Value)
		}
	}
	return m
}

func (m *meta) setRevert(raw []byte) {
	m.Revert, m.RevertPart = rawjson.String(rawjson.Get(raw, "messageID")), rawjson.String(rawjson.Get(raw, "partID"))
}

// setPayload records the payload id that a launch noted in a session (see
// payloadDocument).
func (m *meta) setPayload(raw []byte) {
	m.Payload = rawjson.String(rawjson.Get(rawjson.Get(raw, "cortext"), "payload"))
}

// inMemory makes the source yield rows that are all in memory.
func (s *source) inMemory(rows []row) {
	for i := range rows {
		rows[i].at = int64(i + 1)
	}
	s.rows = func(from place) iter.Seq2[row, error] {
		return func(yield func(row, error) bool) {
			for _, r := range rows[min(max(from.at-1, 0), int64(len(rows))):] {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
	s.before = func(p place) (string, string, error) {
		if p.at-1 > int64(len(rows)) {
			return "", "", inject.ErrCursor
		}
		info, parts := sha256.New(), sha256.New()
		for _, r := range rows[:p.at-1] {
			fmt.Fprintf(info, "%d %s\n", len(r.info), r.info)
			for _, v := range r.parts {
				fmt.Fprintf(parts, "%d %s\n", len(v.raw), v.raw)
			}
		}
		return hex.EncodeToString(info.Sum(nil)[:8]), hex.EncodeToString(parts.Sum(nil)[:8]), nil
	}
	s.calls = func(p place) (map[string]bool, error) {
		ids := map[string]bool{}
		for _, r := range rows[:p.at-1] {
			for _, v := range r.parts {
				ids[rawjson.String(rawjson.Get(v.raw, "callID"))] = true
			}
		}
		return ids, nil
	}
}

// An object is a JSON object that may be cut off.
type object []rawjson.Member

func (o object) value(name string) []byte {
	for _, m := range o {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// loose parses an object that may be cut off. Its last value is then whatever
// remains.
func loose(b []byte) (o object, cut bool) {
	if m, err := rawjson.Members(b); err == nil {
		return m, false
	}
	err := inject.WalkObject(b, func(name string, rest []byte) bool {
		value, _, err := rawjson.Next(rest)
		if err != nil {
			value = rest
		}
		o = append(o, rawjson.Member{Name: name, Value: value})
		return true
	})
	return o, err != nil
}

// looseArray parses an array that may be cut off. rest is what remains of the cut
// element.
func looseArray(b []byte) (list [][]byte, rest []byte, cut bool) {
	if list, err := rawjson.Array(b); err == nil {
		return list, nil, false
	}
	if len(b) == 0 || b[0] != '[' {
		return nil, nil, true
	}
	rest, err := inject.WalkArray(b, func(value []byte) bool {
		list = append(list, value)
		return true
	})
	return list, rest, err != nil
}
