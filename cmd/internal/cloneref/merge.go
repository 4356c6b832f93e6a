package cloneref

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"cortext/cmd/internal/git"
	"cortext/store/mergefile"
)

// A merger merges versions of files. It knows contents by their ids.
type merger struct {
	ctx      context.Context
	root     string
	like     string // an id of the repository, or empty
	contents map[string][]byte
}

// load fetches the contents of some files, if they are not known.
func (m merger) load(versions ...map[string]string) error {
	var ids []string
	for _, files := range versions {
		for _, id := range files {
			if _, ok := m.contents[id]; !ok {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	got, err := git.Blobs(m.ctx, m.root, slices.Compact(ids))
	maps.Copy(m.contents, got)
	return err
}

// folder merges two versions of a conversation's folder. A version without
// files was removed: it yields to the other side, unless that side has not changed since base.
func (m merger) folder(base, a, b map[string]string) (map[string]string, error) {
	switch {
	case len(a) == 0 && maps.Equal(b, base), len(b) == 0 && maps.Equal(a, base):
		return nil, nil
	case len(a) == 0:
		return b, nil
	case len(b) == 0:
		return a, nil
	}
	return m.files(base, a, b)
}

// files merges two versions of some files, any of which may have been removed.
func (m merger) files(base, a, b map[string]string) (map[string]string, error) {
	if maps.Equal(a, b) {
		return a, nil
	}
	differ := func(name string) bool { return a[name] != b[name] }
	if err := m.load(only(base, differ), only(a, differ), only(b, differ)); err != nil {
		return nil, err
	}
	merged := map[string]string{}
	for name := range joined(a, b) {
		if a[name] == b[name] {
			merged[name] = a[name]
			continue
		}
		text, err := m.file(name, m.contents[base[name]], m.contents[a[name]], m.contents[b[name]])
		if err != nil {
			return nil, err
		}
		if text != nil {
			id := git.BlobID(text, m.like)
			merged[name], m.contents[id] = id, text
		}
	}
	return merged, nil
}

// joined returns the names of both versions.
func joined(a, b map[string]string) map[string]bool {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}

// file merges two versions of a file. nil stands for a missing version. Swapping them does not
// change the result.
func (m merger) file(name string, base, a, b []byte) ([]byte, error) {
	record := strings.Contains(name, "/.session/") && (strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, "/session.json"))
	if bytes.Compare(a, b) > 0 || b == nil {
		a, b = b, a
	}
	switch {
	case a != nil && bytes.Equal(a, b):
		return b, nil
	case len(a) == 0 && record:
		return b, nil
	case a == nil && base != nil && bytes.Equal(base, b):
		return nil, nil
	case a == nil:
		return b, nil
	case strings.HasSuffix(name, ".jsonl") && bytes.HasPrefix(b, a) && bytes.HasSuffix(a, []byte("\n")):
		return b, nil
	case !record && bytes.Equal(a, base):
		return b, nil
	case !record && bytes.Equal(b, base):
		return a, nil
	}
	text, err := mergefile.Merge(name, base, a, b)
	if err == nil {
		return text, nil
	}
	if bytes.IndexByte(a, 0) >= 0 || bytes.IndexByte(b, 0) >= 0 {
		return b, nil
	}
	base, a, b = mergefile.Redact(base, a, b)
	return git.UnionText(m.ctx, m.root, base, a, b)
}

// fill sets the files of a commit that turn one version into another. It reports whether
// they differ.
func (m merger) fill(w *git.Writing, from, to map[string]string) bool {
	w.Files, w.Known, w.Gone = map[string][]byte{}, map[string]string{}, nil
	for name, id := range to {
		if from[name] == id {
			continue
		}
		if content, ok := m.contents[id]; ok {
			w.Files[name] = content
		} else {
			w.Known[name] = id
		}
	}
	for name := range from {
		if _, ok := to[name]; !ok {
			w.Gone = append(w.Gone, name)
		}
	}
	slices.Sort(w.Gone)
	return len(w.Files)+len(w.Known)+len(w.Gone) > 0
}
