package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"cortext/cmd/internal/cli"
	"cortext/inject"
	"cortext/inject/claude"
)

// cortext runs the command line in this process and returns what it prints.
func cortext(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errw bytes.Buffer
	code = cli.Main(context.Background(), args, strings.NewReader(""), &out, &errw, []inject.Agent{claude.Agent()})
	return out.String(), errw.String(), code
}

// must is cortext for commands that have to succeed.
func must(t testing.TB, args ...string) string {
	t.Helper()
	out, errs, code := cortext(t, args...)
	if code != 0 {
		t.Fatalf("cortext %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

type importLine struct {
	ID, Path, Agent                    string
	Messages, Tools, Appended, Skipped int
	Warnings                           []string
}

// transcripts returns the transcripts to test with: the fixtures, and the real
// ones where there are any.
func transcripts(t *testing.T) []string {
	files, err := filepath.Glob("../../testdata/agents/claude/*/*/transcript.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("fixtures: %v %v", files, err)
	}
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		t.Log("NOT RUN on real transcripts: CORTEXT_TRANSCRIPTS is not set")
		return files
	}
	fixtures := len(files)
	err = filepath.WalkDir(filepath.Join(root, "claude"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(d.Name(), ".json") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == fixtures {
		t.Fatalf("no real transcripts below %s: %v", root, err)
	}
	return files
}

// TestTranscripts imports every transcript twice and into two clones: the second
// time adds nothing, the clones hold the same bytes, check is clean, every file
// is valid by the JSON Schemas, and a payload holds its budget and is the same
// twice.
func TestTranscripts(t *testing.T) {
	files := transcripts(t)
	one, two := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Mkdir(two, 0o700); err != nil {
		t.Fatal(err)
	}
	must(t, "-C", one, "init")
	must(t, "-C", two, "init")
	abs := make([]string, len(files))
	for i, f := range files {
		var err error
		if abs[i], err = filepath.Abs(f); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{"import", "--json"}, abs...)
	first := importLines(t, must(t, append([]string{"-C", one}, args...)...))
	again := importLines(t, must(t, append([]string{"-C", one}, args...)...))
	must(t, append([]string{"-C", two}, args...)...)
	if len(first) != len(files) || len(again) != len(files) {
		t.Fatalf("%d and %d lines for %d files", len(first), len(again), len(files))
	}
	for i, line := range again {
		if line.Appended != 0 || line.Messages < first[i].Messages || line.Path != first[i].Path {
			t.Errorf("%s: the second import says %+v, the first said %+v", files[i], line, first[i])
		}
		if first[i].Messages == 0 {
			t.Errorf("%s: no messages", files[i])
		}
	}
	sameTree(t, filepath.Join(one, "conversations"), filepath.Join(two, "conversations"))
	if out := must(t, "-C", one, "check"); out != "no damage\n" {
		t.Errorf("check: %s", out)
	}
	validateAll(t, filepath.Join(one, "conversations"))
	t.Setenv("TZ", "Pacific/Chatham")
	random := rand.New(rand.NewPCG(1, 2))
	for _, line := range first {
		if strings.Contains(line.Path, "/subagents/") {
			continue
		}
		id := filepath.Base(line.Path)
		query := strings.TrimPrefix(line.Path, "conversations/")
		budget := 200 + random.IntN(20_000)
		var p struct {
			Payload        string
			Tokens, Budget int
		}
		decode(t, must(t, "-C", one, "resume", query, "--print", "--json", "--budget", fmt.Sprint(budget)), &p)
		if p.Tokens > budget || p.Budget != budget {
			t.Errorf("%s: %d tokens, budget %d", id, p.Tokens, budget)
		}
		there := must(t, "-C", two, "resume", query, "--print", "--budget", fmt.Sprint(budget))
		if ago := strings.Index(p.Payload, "Last active:"); ago < 0 || len(there) != len(p.Payload) && !strings.Contains(p.Payload, "minute") {
			t.Errorf("%s: the payload differs between clones", id)
		}
	}
}

func importLines(t *testing.T, out string) []importLine {
	t.Helper()
	var lines []importLine
	for line := range strings.Lines(out) {
		var l importLine
		decode(t, line, &l)
		lines = append(lines, l)
	}
	return lines
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
}

func sameTree(t *testing.T, one, two string) {
	t.Helper()
	count := func(root string) (n int) {
		filepath.WalkDir(root, func(string, fs.DirEntry, error) error { n++; return nil })
		return n
	}
	if a, b := count(one), count(two); a != b {
		t.Errorf("the clones have %d and %d files", a, b)
	}
	err := filepath.WalkDir(one, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(one, path)
		a, errA := os.ReadFile(path)
		b, errB := os.ReadFile(filepath.Join(two, rel))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs between clones (%v, %v)", rel, errA, errB)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// validateAll checks every file of conversations against the JSON Schemas.
func validateAll(t *testing.T, root string) {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	schemas := map[string]*jsonschema.Schema{}
	for name, file := range map[string]string{"session.json": "session", "messages.jsonl": "message", "tools.jsonl": "tool"} {
		s, err := compiler.Compile("../../schema/" + file + ".schema.json")
		if err != nil {
			t.Fatal(err)
		}
		schemas[name] = s
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		s := schemas[d.Name()]
		if err != nil || s == nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		records := [][]byte{b}
		if strings.HasSuffix(path, ".jsonl") {
			records = bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
		}
		for i, r := range records {
			if len(r) == 0 {
				continue
			}
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(r))
			if err == nil {
				err = s.Validate(v)
			}
			if err != nil {
				t.Errorf("%s, record %d: %v", path, i+1, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
