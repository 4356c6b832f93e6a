package gemini

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/inject"
)

// home makes a home folder with the program's files.
func home(t *testing.T, files map[string]string) (inject.Machine, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, ".gemini", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return inject.Machine{Home: dir, Getenv: func(string) string { return "" }}, filepath.Join(dir, ".gemini", "tmp")
}

const (
	headA    = `{"sessionId":"aaaaaaaa-1111","projectHash":"h","startTime":"2026-11-22T09:00:00.000Z","kind":"main"}` + "\n"
	headLate = `{"sessionId":"aaaaaaaa-1111","projectHash":"h","startTime":"2026-11-22T10:00:00.000Z","kind":"main"}` + "\n"
	own      = `{"$set":{"messages":[{"id":"d04923d38bb0f6017037e74183378ef4","type":"user","content":[{"text":"<session_context>x</session_context>"}]}]}}` + "\n"
	said     = `{"id":"m1","type":"user","content":"hi"}` + "\n"
	answered = `{"id":"m2","type":"gemini","content":"ho"}` + "\n"
)

func TestSessions(t *testing.T) {
	dev := "/home/dev"
	if runtime.GOOS == "windows" {
		dev = "C:" + dev // otherwise it is relative
	}
	old := sha256.Sum256([]byte(dev + "/old"))
	hash := hex.EncodeToString(old[:])
	m, tmp := home(t, map[string]string{
		"projects.json": `{"projects":{"` + dev + `/shop":"shop","` + dev + `/old":"other"}}`,
		"tmp/shop/chats/session-2026-11-22T09-00-aaaaaaaa.jsonl":        headA + own + said + answered,
		"tmp/shop/chats/session-2026-11-22T10-00-aaaaaaaa.jsonl":        headLate + own, // a stub
		"tmp/shop/chats/session-2026-11-22T11-00-bbbbbbbb.jsonl":        strings.ReplaceAll(headA, "aaaaaaaa-1111", "bbbbbbbb-1111") + own,
		"tmp/shop/chats/aaaaaaaa-1111/sub.jsonl":                        strings.ReplaceAll(strings.ReplaceAll(headA, "aaaaaaaa-1111", "sub"), "main", "subagent") + said,
		"tmp/shop/chats/session-2026-01-01T00-00-cccccccc.json":         "{\n \"sessionId\": \"cccccccc-1111\",\n \"kind\": \"subagent\",\n \"messages\": [" + said + "]}",
		"tmp/shop/chats/notes.txt":                                      "no session",
		"tmp/shop/logs.json":                                            "[]",
		"tmp/mine/.project_root":                                        dev + "/mine\n",
		"tmp/mine/chats/session-2026-11-22T09-00-dddddddd.jsonl":        strings.ReplaceAll(headA, "aaaaaaaa", "dddddddd") + said,
		"tmp/mine/chats/session-2026-11-22T09-00-dddddddd.json":         "{\n \"sessionId\": \"dddddddd-1111\",\n \"startTime\": \"2026-11-22T09:00:00.000Z\",\n \"messages\": [\n" + strings.TrimSpace(said) + "\n]}", // it became the .jsonl
		"tmp/mine/chats/session-2026-11-22T12-00-dddddddd.jsonl":        strings.ReplaceAll(headLate, "aaaaaaaa", "dddddddd") + answered,                                                                               // a turn that went to the wrong file
		"tmp/" + hash + "/chats/session-2025-11-19T20-11-809f.json":     "{\n \"sessionId\": \"809f\",\n \"projectHash\": \"" + hash + "\",\n \"messages\": [\n" + strings.TrimSpace(said) + "\n]}",
		"tmp/" + strings.Repeat("0", 64) + "/chats/session-x-eeee.json": "{\n \"sessionId\": \"eeee\",\n \"messages\": [ ]}",
	})
	list, err := adapter.Sessions(m)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range list {
		rel, _ := filepath.Rel(tmp, n.Path)
		got = append(got, n.NativeID+" "+filepath.ToSlash(n.Dir)+" "+strings.Replace(filepath.ToSlash(rel), hash, "HASH", 1))
		if n.Updated.Before(time.Now().Add(-time.Hour)) {
			t.Errorf("%s was written at %v", n.Path, n.Updated)
		}
	}
	want := []string{
		"809f " + dev + "/old HASH/chats/session-2025-11-19T20-11-809f.json",
		"aaaaaaaa-1111 " + dev + "/shop shop/chats/session-2026-11-22T09-00-aaaaaaaa.jsonl",
		"dddddddd-1111 " + dev + "/mine mine/chats/session-2026-11-22T09-00-dddddddd.jsonl",
		"dddddddd-1111 " + dev + "/mine mine/chats/session-2026-11-22T12-00-dddddddd.jsonl",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for id, name := range map[string]string{
		"aaaaaaaa-1111": "session-2026-11-22T09-00-aaaaaaaa.jsonl", "dddddddd-1111": "session-2026-11-22T09-00-dddddddd.jsonl",
		"809f": "session-2025-11-19T20-11-809f.json", "aaaaaaaa-2222": "", "bbbbbbbb-1111": "", "cccccccc-1111": "", "sub": "", "": "", "../../x": "",
	} {
		at, ok, err := adapter.Locate(m, id)
		if err != nil || ok != (name != "") || ok && filepath.Base(at) != name {
			t.Errorf("Locate(%q) = %s, %v, %v", id, at, ok, err)
		}
	}
	elsewhere := inject.Machine{Home: "/nosuch", Getenv: func(name string) string { return map[string]string{"GEMINI_CLI_HOME": m.Home}[name] }}
	if list, err := adapter.Sessions(elsewhere); len(list) != len(want) || err != nil {
		t.Errorf("GEMINI_CLI_HOME: %v, %v", list, err)
	}
	if s := adapter.Stores(elsewhere); s[0] != (inject.Store{Dir: tmp, Depth: 2}) {
		t.Errorf("stores %v", s)
	}
}

// TestUnreadable checks that the error names an unreadable file and that the other
// sessions are listed.
func TestUnreadable(t *testing.T) {
	m, tmp := home(t, map[string]string{"tmp/a/chats/session-x-aaaaaaaa.jsonl": headA + said, "tmp/b/chats": "a file"})
	list, err := adapter.Sessions(m)
	if len(list) != 1 || err != nil && !strings.Contains(err.Error(), tmp) {
		t.Errorf("%v, %v", list, err)
	}
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		return // root can read everything, and Windows has no file modes
	}
	if err := os.Chmod(list[0].Path, 0); err != nil {
		t.Fatal(err)
	}
	if list, err := adapter.Sessions(m); len(list) != 0 || err == nil || !strings.Contains(err.Error(), "aaaaaaaa") {
		t.Errorf("%v, %v", list, err)
	}
}

// TestSubagents checks that sub-agents are found in the folder named after the
// session's id, and have the session as their parent.
func TestSubagents(t *testing.T) {
	file := "../../testdata/agents/gemini/0.61.0/subagent/transcript.jsonl"
	list, err := adapter.Subagents(file)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	tr, _, _ := gather(t, file, inject.Options{})
	if call := tr.Calls[list[0].NativeID]; !slices.Contains(tr.Tools, "invoke_agent") || !strings.HasPrefix(call, "invoke_agent") {
		t.Errorf("started by %q, tools %q", call, tr.Tools)
	}
	sub, b, _ := gather(t, list[0].Path, inject.Options{})
	if sub.Parent != tr.NativeID || sub.NativeID != list[0].NativeID || len(b.Messages) != 5 || len(b.Tools) != 1 {
		t.Errorf("parent %q, %d messages, %d calls", sub.Parent, len(b.Messages), len(b.Tools))
	}
	if more, err := adapter.Subagents(list[0].Path); len(more) > 0 || err != nil {
		t.Errorf("%v, %v", more, err)
	}
	for _, name := range []string{"nosuch.jsonl", "../odd/transcript.jsonl"} {
		if list, err := adapter.Subagents(filepath.Join(filepath.Dir(file), name)); len(list) > 0 || err != nil {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}
