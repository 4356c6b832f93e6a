package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestExports: every conversation of the transcripts, and that of testdata/workspace, leaves
// a workspace and enters another one byte for byte, in each form, and is a page and a text.
func TestExports(t *testing.T) {
	bin, err := built() // in the user's own build cache
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH")) // cortext-web
	from := t.TempDir()
	must(t, "-C", from, "init", "--yes")
	for _, file := range transcripts(t) {
		file, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		_, _, _ = cortext(t, "-C", from, "import", file) // some hold nothing
	}
	shipped := t.TempDir()
	if err := os.CopyFS(shipped, os.DirFS("../../testdata/workspace")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{from, shipped} {
		ids := idsIn(t, dir)
		if len(ids) == 0 {
			t.Fatalf("%s holds no conversation", dir)
		}
		for _, format := range []string{"json", "jsonl"} {
			to, first, second := t.TempDir(), t.TempDir(), t.TempDir()
			must(t, "-C", to, "init", "--yes")
			export := func(dir, out string) {
				must(t, append([]string{"-C", dir, "export", "--subagents", "--attachments", "--format", format, "-o", out + "/"}, ids...)...)
			}
			export(dir, first)
			must(t, "-C", to, "import", "--keep-ids", first)
			export(to, second)
			wantSameFiles(t, len(ids), first, second)
			if out, _, code := cortext(t, "-C", to, "check"); code != 0 {
				t.Errorf("check after an import of %s: %s", format, out)
			}
			for _, id := range ids {
				wantSameLogs(t, logsOf(t, dir, id), logsOf(t, to, id))
			}
		}
		bundle := filepath.Join(t.TempDir(), "all.tar.zst")
		must(t, append([]string{"-C", dir, "export", "--bundle", "-o", bundle}, ids...)...)
		to := t.TempDir()
		must(t, "-C", to, "init", "--yes")
		must(t, "-C", to, "import", "--keep-ids", bundle)
		if got := idsIn(t, to); len(got) != len(ids) {
			t.Errorf("a bundle of %d conversations holds %d", len(ids), len(got))
		}
		for _, format := range []string{"md", "html"} {
			exported := func(dir string, ids []string) string {
				to := t.TempDir()
				must(t, append([]string{"-C", dir, "export", "--format", format, "-o", to + "/"}, ids...)...)
				return to
			}
			imported := func(files string) (dir string, ids []string) {
				dir = t.TempDir()
				must(t, "-C", dir, "init", "--yes")
				must(t, "-C", dir, "import", files)
				if out, _, code := cortext(t, "-C", dir, "check"); code != 0 {
					t.Errorf("check after an import of %s: %s", format, out)
				}
				return dir, idsIn(t, dir)
			}
			first := exported(dir, ids)
			second := exported(imported(first))
			if format == "md" && dir == from {
				// Long outputs are cut in Markdown, which cannot be undone: what is left stays.
				wantSameOutlines(t, first, second)
				first, second = second, exported(imported(second))
			}
			wantSameTexts(t, textsIn(t, first), textsIn(t, second))
		}
	}
}

// wantSameOutlines compares the headings of messages in the files of two folders.
func wantSameOutlines(t *testing.T, a, b string) {
	t.Helper()
	heading := regexp.MustCompile(`(?m)^(?:# .*|####?  \w.*)$`) // textsIn removes the numbers
	outline := func(dir string) (list []string) {
		for _, text := range textsIn(t, dir) {
			list = append(list, strings.Join(heading.FindAllString(text, -1), "\n"))
		}
		return list
	}
	x, y := outline(a), outline(b)
	if len(x) == 0 || strings.Count(strings.Join(x, "\n"), "\n") < 5*len(x) || !slices.Equal(x, y) {
		t.Errorf("the messages differ: %.2000q is then %.2000q", x, y)
	}
}

func idsIn(t *testing.T, dir string) (ids []string) {
	t.Helper()
	var list []struct{ ID string }
	dec := json.NewDecoder(strings.NewReader(must(t, "-C", dir, "list", "--status", "all", "--archived", "--json")))
	if err := dec.Decode(&list); err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids
}

func wantSameFiles(t *testing.T, want int, a, b string) {
	t.Helper()
	entries, err := os.ReadDir(a)
	if err != nil || len(entries) != want {
		t.Fatalf("%d files, want %d, %v", len(entries), want, err)
	}
	for _, e := range entries {
		one, err := os.ReadFile(filepath.Join(a, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		two, err := os.ReadFile(filepath.Join(b, e.Name()))
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s differs after an import: %v", e.Name(), err)
		}
	}
}

// logsOf returns the logs of a conversation.
func logsOf(t *testing.T, dir, id string) string {
	t.Helper()
	var e struct {
		Session struct {
			ConversationID string `json:"conversation_id"`
		}
	}
	if err := json.Unmarshal([]byte(must(t, "-C", dir, "show", id, "--json")), &e); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "conversations", "*", e.Session.ConversationID, ".session", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(e, files, err)
	}
	var all strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 0 {
			all.WriteString(filepath.Base(file) + "\n" + string(b))
		}
	}
	return all.String()
}

func wantSameLogs(t *testing.T, a, b string) {
	t.Helper()
	if a != b {
		t.Errorf("the logs differ: %d and %d bytes", len(a), len(b))
	}
}

// changing matches the parts of Markdown and of a page that an import changes: ids, times, the
// numbers of messages, what they say about other branches, git's branch, and the data.
var changing = regexp.MustCompile(`#[0-9mp]*\d+\b|id="[mp]\d+"|Message \d+|Prompt \d+|\b\d{1,2} [A-Z][a-z]+ \d{4}(, )?|<time [^>]*>[^<]*</time>|(?m)^<div><dt>(Branch|Tokens written)</dt>.*\n|` +
	`\n\*Messages on other branches: .*\n| \d+ messages? on other branches \w+ not shown\.|<script type=.*</script>\n`)

// textsIn returns the files in a folder without what an import changes.
func textsIn(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, changing.ReplaceAllString(string(b), ""))
	}
	slices.Sort(list)
	return list
}

func wantSameTexts(t *testing.T, a, b []string) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%d files, then %d", len(a), len(b))
	}
	for i := range a {
		x, y := strings.Split(a[i], "\n"), strings.Split(b[i], "\n")
		for k := range min(len(x), len(y)) {
			if x[k] != y[k] {
				t.Errorf("%.60s: %.300q is then %.300q", x[0], x[k], y[k])
				break
			}
		}
		if len(x) != len(y) {
			t.Errorf("%.60s: %d lines, then %d", x[0], len(x), len(y))
		}
	}
}
