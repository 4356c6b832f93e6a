package gemini

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"cortext/inject"
)

// storedFiles returns the session files of all projects whose names match a pattern, the
// most recently written first.
func storedFiles(m inject.Machine, pattern string) []string {
	all, _ := inject.ProjectFiles(projectFolders(m)[0], chats, func(f fs.DirEntry) bool {
		matches, _ := filepath.Match(pattern, f.Name())
		return matches && f.Type().IsRegular()
	})
	written := map[string]time.Time{}
	for _, file := range all {
		if info, err := os.Lstat(file); err == nil {
			written[file] = info.ModTime()
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(written[b].Compare(written[a]), cmp.Compare(b, a)) })
	return all
}

// Limits on the search of Launched. A new session is among the newest files, and its
// mark is at the beginning of one of its first lines. The very first line also contains
// the payload.
const (
	mostChats = 200
	mostRead  = 32 << 20
	mostLine  = 4 << 10
	mostHead  = 256 << 10
)

var sessionMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"sessionId":\s*"([^"\\]+)"`) })

// Launched finds the session of a launch. The program records in it which file it
// imported, and that file is named after the request's id. A command file of ours names
// the id in its text. For a request without an id, Launched returns the newest session
// with the payload.
func (agent) Launched(m inject.Machine, r inject.Request) (nativeID string, ok bool) {
	needles := []string{`"id":"` + inject.PayloadID(turnText(r.Payload)) + `"`}
	if r.NativeID != "" {
		needles = []string{r.NativeID + `.jsonl"`, `[cortext ` + r.NativeID + `]\n`}
	}
	files := storedFiles(m, "session-*.json*")
	for _, f := range files[:min(len(files), mostChats)] {
		head := lineHeads(f)
		for _, needle := range needles {
			if !bytes.Contains(head, []byte(needle)) {
				continue
			}
			if id := sessionMember().FindSubmatch(head); id != nil {
				return string(id[1]), true
			}
		}
	}
	return "", false
}

// lineHeads returns the beginnings of a file's first lines.
func lineHeads(file string) []byte {
	f, err := inject.OpenRegular(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var head []byte
	begun := 0 // how much of the line is in head
	lines := bufio.NewReaderSize(io.LimitReader(f, mostRead), 1<<16)
	for len(head) < mostHead {
		part, err := lines.ReadSlice('\n')
		keep := part[:min(len(part), mostLine-begun)]
		head, begun = append(head, keep...), begun+len(keep)
		switch {
		case err == nil:
			begun = 0
		case err != bufio.ErrBufferFull:
			return head
		}
	}
	return head
}

// Cleanup removes a file that would harm a session. When the program resumes a session,
// it creates an empty file with the same id next to the real one. Because of the empty
// file, its next start in the project would delete both (FACTS.md, "What
// is silently lost"; 0.61.0 does so after --session-file too). The program no longer
// writes to the empty file once it has called the hook SessionStart.
//
// The program must have ended, or have called that hook.
func (agent) Cleanup(ctx context.Context, m inject.Machine, nativeID string) error {
	have, err := filesOf(ctx, m, nativeID)
	if err != nil || !have.spoken && len(have.unused) == 0 { // an empty file is then the session itself
		return err
	}
	return removeAll(have.empty)
}

// Discard removes what Cleanup removes, and the whole session if nothing was said in it.
// The program must have ended.
func (agent) Discard(ctx context.Context, m inject.Machine, nativeID string) error {
	have, err := filesOf(ctx, m, nativeID)
	if err != nil {
		return err
	}
	if !have.spoken {
		have.empty = append(have.empty, have.unused...)
	}
	return removeAll(have.empty)
}

// sessionFiles are the files that have the id of a session.
type sessionFiles struct {
	spoken bool     // something was said in one
	unused []string // hold only a payload
	empty  []string
}

func filesOf(ctx context.Context, m inject.Machine, nativeID string) (have sessionFiles, err error) {
	short := nativeID[:min(8, len(nativeID))]
	if short == "" || strings.ContainsAny(short, `/\*?[]`) {
		return have, nil
	}
	for _, f := range storedFiles(m, "session-*-"+short+".jsonl") {
		id, holds, err := holdsOf(ctx, f)
		if err != nil {
			return have, err
		}
		switch {
		case id != nativeID: // another session's, or unreadable
		case holds == holdsWords:
			have.spoken = true
		case holds == holdsPayload:
			have.unused = append(have.unused, f)
		default:
			have.empty = append(have.empty, f)
		}
	}
	return have, nil
}

func removeAll(files []string) error {
	var errs []error
	for _, f := range files {
		if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// A holding is what a session file contains.
type holding int

const (
	holdsNothing holding = iota
	holdsPayload         // only what cortext put there
	holdsWords           // what anybody said
)

// A storedLine is a line of a session file, with the members that matter here.
type storedLine struct {
	SessionID string         `json:"sessionId"`
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Content   inject.RawJSON `json:"content"`
	Set       struct {
		Messages []storedLine `json:"messages"`
	} `json:"$set"`
}

// holdsOf returns what a session file contains and the id of its session. It assumes
// that content it does not understand was said by somebody.
func holdsOf(ctx context.Context, file string) (id string, holds holding, err error) {
	f, err := inject.OpenRegular(file)
	if err != nil {
		return "", holdsWords, err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return "", holdsWords, err
		}
		if ctx.Err() != nil {
			return "", holdsWords, ctx.Err()
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var r storedLine
			if inject.DecodeJSON(line, &r) != nil {
				return id, holdsWords, nil
			}
			if id == "" {
				id = r.SessionID
			}
			for _, one := range append(r.Set.Messages, r) {
				holds = max(holds, one.holds())
			}
		}
		if holds == holdsWords || err == io.EOF {
			return id, holds, nil
		}
	}
}

// holds classifies a message. The program's own notes and its context count as
// nothing.
func (r storedLine) holds() holding {
	if r.Type != "user" && r.Type != "gemini" {
		return holdsNothing
	}
	text, ok := textOf(r.Content)
	if !ok || r.Type == "gemini" {
		return holdsWords
	}
	if r.ID == inject.PayloadID(text) {
		return holdsPayload
	}
	start := strings.TrimSpace(text)
	if start == "" || strings.HasPrefix(start, "<session_context>") || strings.HasPrefix(start, "<hook_context>") {
		return holdsNothing
	}
	return holdsWords
}

// textOf returns the text of content that is nothing but text; ok is false for other content.
func textOf(content inject.RawJSON) (text string, ok bool) {
	if inject.DecodeJSON(content, &text) == nil {
		return text, true
	}
	var parts []map[string]inject.RawJSON
	if inject.DecodeJSON(content, &parts) != nil {
		return "", false
	}
	for _, p := range parts {
		var t string
		if len(p) != 1 || inject.DecodeJSON(p["text"], &t) != nil {
			return "", false
		}
		text += t
	}
	return text, true
}
