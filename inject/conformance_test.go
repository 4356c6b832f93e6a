package inject_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver for OpenCode's databases

	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
	"cortext/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// agents returns all adapters. Each must pass the tests here. Add a new adapter here
// and in main.
func agents() []inject.Agent {
	return []inject.Agent{claude.Agent(), opencode.Agent(), gemini.Agent()}
}

// fixtures returns testdata/agents/<agent>/<version>/<case>/transcript.*. To add a
// version, add a folder.
func fixtures(t testing.TB, agent string) []string {
	t.Helper()
	files, err := filepath.Glob("../testdata/agents/" + agent + "/*/*/transcript.*")
	if err != nil || len(files) < 5 {
		t.Fatalf("fixtures of %s: %v, %v", agent, files, err)
	}
	return files
}

// transcripts lists the transcripts in a fixture.
func transcripts(t testing.TB, agent inject.Agent, file string) []string {
	t.Helper()
	bundler, ok := agent.(inject.Bundler)
	if !ok {
		return []string{file}
	}
	list, err := bundler.Transcripts(file)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// read collects everything in a transcript.
func read(t testing.TB, agent inject.Agent, path string, o inject.Options) (*inject.Transcript, map[string]*schema.Batch, map[string][]byte) {
	t.Helper()
	tr, err := agent.Open(path, o)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer tr.Close()
	all, blobs := map[string]*schema.Batch{"": {}}, map[string][]byte{}
	err = tr.Each(func(sub string, b inject.Batch) error {
		if all[sub] == nil {
			all[sub] = &schema.Batch{}
		}
		all[sub].Messages = append(all[sub].Messages, b.Messages...)
		all[sub].Tools = append(all[sub].Tools, b.Tools...)
		for _, blob := range b.Blobs {
			blobs[blob.SHA256] = blob.Data
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return tr, all, blobs
}

// TestFixtures compares the content of each fixture with the want.txt next to it.
func TestFixtures(t *testing.T) {
	for _, agent := range agents() {
		for _, file := range fixtures(t, agent.Name()) {
			dir := filepath.Dir(file)
			t.Run(agent.Name()+"/"+filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) {
				var out bytes.Buffer
				for _, path := range transcripts(t, agent, file) {
					describe(t, &out, agent, dir, path)
				}
				golden(t, filepath.Join(dir, "want.txt"), out.Bytes())
			})
		}
	}
}

// describe writes down everything in a transcript.
func describe(t *testing.T, out *bytes.Buffer, agent inject.Agent, dir, path string) {
	tr, all, blobs := read(t, agent, path, inject.Options{})
	fmt.Fprintf(out, "session %s of %s %s, model %s, branch %q, permission %q, dir %q\n", tr.NativeID, tr.Agent, tr.Version, tr.Model, tr.Branch, tr.Permission, tr.WorkingDir)
	fmt.Fprintf(out, "title %q, command %q, arguments %q, tools %q, %d messages from %s to %s\n", tr.Title, tr.Command, tr.Arguments, tr.Tools, tr.Messages, schema.NewTime(tr.First), schema.NewTime(tr.Last))
	for _, w := range tr.Warnings {
		fmt.Fprintf(out, "warning: %s\n", w)
	}
	subs, err := agent.Subagents(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subs {
		rel, _ := filepath.Rel(dir, s.Path)
		if abs, err := filepath.Abs(dir); err == nil && filepath.IsAbs(s.Path) {
			rel, _ = filepath.Rel(abs, s.Path)
		}
		fmt.Fprintf(out, "file of sub-agent %s, started by %s: %s\n", s.NativeID, s.ToolCallID, filepath.ToSlash(rel))
	}
	for _, sub := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(out, "-- conversation %q, started by %q\n", sub, tr.Calls[sub])
		var lines []byte
		for _, m := range all[sub].Messages {
			lines = schema.AppendMessage(lines, &m)
		}
		for _, x := range all[sub].Tools {
			lines = schema.AppendTool(lines, &x)
		}
		out.Write(lines)
	}
	for _, sha := range slices.Sorted(maps.Keys(blobs)) {
		fmt.Fprintf(out, "blob %s %q\n", sha, blobs[sha])
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test ./inject -update rewrites it):\n%s", file, got)
	}
}

// TestWhole checks that every transcript has what the rest of cortext relies on: unique
// ids, existing parents and callers, no base64, the same result when it is read twice,
// and nothing new after its cursor.
func TestWhole(t *testing.T) {
	for _, agent := range agents() {
		for _, file := range fixtures(t, agent.Name()) {
			for _, path := range transcripts(t, agent, file) {
				tr, all, _ := read(t, agent, path, inject.Options{})
				total := 0
				for sub, b := range all {
					ids := map[string]bool{}
					for _, m := range b.Messages {
						if m.ID == "" || ids[m.ID] {
							t.Errorf("%s: message %q appears twice", path, m.ID)
						}
						if m.ParentID != "" && !ids[m.ParentID] && sub == "" {
							t.Errorf("%s: message %s hangs on %s, which is not before it", path, m.ID, m.ParentID)
						}
						if strings.Contains(m.Content, ";base64,") {
							t.Errorf("%s: message %s holds base64", path, m.ID)
						}
						ids[m.ID] = true
					}
					calls := map[string]bool{}
					for _, x := range b.Tools {
						if calls[x.ID] {
							t.Errorf("%s: call %s appears twice", path, x.ID)
						}
						if calls[x.ID] = true; x.MessageID != "" && !ids[x.MessageID] {
							t.Errorf("%s: call %s belongs to %s, which is not there", path, x.ID, x.MessageID)
						}
					}
					if sub == "" {
						total = len(b.Messages)
					}
				}
				if total != tr.Messages {
					t.Errorf("%s: %d messages, said to have %d", path, total, tr.Messages)
				}
				size, err := agent.Stat(path)
				if err != nil || size != tr.Next.Size {
					t.Errorf("%s: Stat gives %d, %v; the cursor has %d", path, size, err, tr.Next.Size)
				}
				next, rest, _ := read(t, agent, path, inject.Options{From: tr.Next})
				for _, m := range rest[""].Messages {
					if i := slices.IndexFunc(all[""].Messages, func(have schema.Message) bool { return have.ID == m.ID }); i < 0 {
						t.Errorf("%s: read on, message %s is new", path, m.ID)
					}
				}
				if next.Next.Offset != tr.Next.Offset || next.Next.Size != tr.Next.Size {
					t.Errorf("%s: read on, the cursor is %+v instead of %+v", path, next.Next, tr.Next)
				}
			}
		}
	}
}

// TestProvider checks that only OpenCode records where a model runs, and that the
// provider of the last answer counts.
func TestProvider(t *testing.T) {
	for _, agent := range agents() {
		named := 0
		for _, file := range fixtures(t, agent.Name()) {
			for _, path := range transcripts(t, agent, file) {
				tr, _, _ := read(t, agent, path, inject.Options{})
				p := tr.Provider
				switch {
				case p == nil:
				case p.Type == "" || p.Model != tr.Model || p.ContextWindow != 0 || p.BaseURL != "":
					t.Errorf("%s: model %q, provider %+v", path, tr.Model, *p)
				default:
					named++
				}
				if agent.Name() == "opencode" && tr.Model == "gpt-5.3-codex" && (p == nil || p.Type != "openai") {
					t.Errorf("%s: provider %+v", path, p)
				}
			}
		}
		if want := agent.Name() == "opencode"; want != (named > 0) {
			t.Errorf("%s: %d transcripts name a provider", agent.Name(), named)
		}
	}
}

// TestDetect checks that each agent recognizes its own transcripts and no others.
func TestDetect(t *testing.T) {
	for _, owner := range agents() {
		for _, file := range fixtures(t, owner.Name()) {
			for _, agent := range agents() {
				f, err := os.Open(file)
				if err != nil {
					t.Fatal(err)
				}
				if got := agent.Detect(f); got != (agent.Name() == owner.Name()) {
					t.Errorf("%s: %s says %t", file, agent.Name(), got)
				}
				f.Close()
			}
		}
	}
}

// TestBadFiles checks that the error for an unreadable file names it.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	for _, agent := range agents() {
		if _, err := agent.Stat(filepath.Join(dir, "nosuch")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: Stat of no file: %v", agent.Name(), err)
		}
		if _, err := agent.Open(filepath.Join(dir, "nosuch"), inject.Options{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: no file: %v", agent.Name(), err)
		}
		for _, c := range []string{"", "not JSON\n"} {
			file := filepath.Join(dir, "bad")
			if err := os.WriteFile(file, []byte(c), 0o600); err != nil {
				t.Fatal(err)
			}
			tr, err := agent.Open(file, inject.Options{})
			if err == nil {
				if tr.Messages != 0 {
					t.Errorf("%s: %q has messages", agent.Name(), c)
				}
				tr.Close()
			} else if !strings.Contains(err.Error(), file) {
				t.Errorf("%s: %q: the error does not name the file: %v", agent.Name(), c, err)
			}
		}
		m := inject.Machine{Home: filepath.Join(dir, "nohome"), Getenv: func(string) string { return "" }}
		if list, err := agent.Sessions(m); len(list) != 0 || err != nil {
			t.Errorf("%s: sessions without a store: %v, %v", agent.Name(), list, err)
		}
		if at, ok, err := agent.Locate(m, "x"); ok || err != nil {
			t.Errorf("%s: located %s, %v", agent.Name(), at, err)
		}
		if stores := agent.Stores(m); len(stores) == 0 || !strings.HasPrefix(stores[0].Dir, m.Home) {
			t.Errorf("%s: stores %v", agent.Name(), stores)
		}
	}
}

// write writes a file and creates the folders above it.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
