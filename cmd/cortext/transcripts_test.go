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
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"cortext/cmd/internal/cli"
	"cortext/cmd/internal/interrupt"
	"cortext/cmd/internal/process"
)

// cortext runs the command line in this process and returns its output.
func cortext(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errw bytes.Buffer
	code = cli.Main(context.Background(), cli.Process{Args: args, In: strings.NewReader(""), Out: &out, Err: &errw, Agents: process.Agents(), Machine: process.Machine(), Interrupts: new(interrupt.Interrupts), Now: time.Now})
	return out.String(), errw.String(), code
}

// must is cortext for commands that must succeed.
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

// transcripts returns the transcripts to test with: the fixtures, and the real ones if
// available.
func transcripts(t *testing.T) []string {
	files, err := filepath.Glob("../../testdata/agents/*/*/*/transcript.*")
	if err != nil || len(files) == 0 {
		t.Fatalf("fixtures: %v %v", files, err)
	}
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		t.Log("NOT RUN on real transcripts: CORTEXT_TRANSCRIPTS is not set")
		return files
	}
	for _, agent := range []string{"claude", "opencode", "gemini"} {
		before := len(files)
		err = filepath.WalkDir(filepath.Join(root, agent), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.Contains(d.Name(), ".json") {
				files = append(files, path)
			}
			return err
		})
		if err != nil || len(files) == before {
			t.Fatalf("no real transcripts of %s below %s: %v", agent, root, err)
		}
	}
	// The fixtures hold small transcripts of many agents: ours are read, the others
	// refused.
	err = filepath.WalkDir(filepath.Join(root, "fixtures"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && isOurs(t, path) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// nothingSaid is a real Gemini CLI session with notices only.
const nothingSaid = "session-2025-12-06T04-38-b3585b0e.json"

// isOurs reports whether an agent recognizes a file as its transcript.
func isOurs(t *testing.T, path string) bool {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, agent := range process.Agents() {
		if _, err := f.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		if agent.Detect(f) {
			return true
		}
	}
	return false
}

// TestTranscripts imports every transcript twice and into two clones. The second import
// adds nothing, the clones have the same bytes, check is clean, every file is valid by
// the JSON Schemas, and a payload stays within its budget and is the same twice.
func TestTranscripts(t *testing.T) {
	files := transcripts(t)
	one, two := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Mkdir(two, 0o700); err != nil {
		t.Fatal(err)
	}
	must(t, "-C", one, "init")
	must(t, "-C", two, "init")
	var first []importLine
	for pass := range 2 {
		at := 0
		for _, f := range files {
			file, err := filepath.Abs(f)
			if err != nil {
				t.Fatal(err)
			}
			lines := importLines(t, must(t, "-C", one, "import", "--json", file))
			if len(lines) == 0 && !strings.HasSuffix(f, nothingSaid) {
				t.Errorf("%s: no conversation", f)
			}
			if pass == 0 {
				first = append(first, lines...)
				must(t, "-C", two, "import", "--json", file)
			}
			for i, line := range lines {
				was := first[at+i]
				if pass == 1 && line.Appended != 0 || line.Messages < was.Messages || line.Path != was.Path {
					t.Errorf("%s: the second import says %+v, the first said %+v", f, line, was)
				}
				if line.Messages == 0 {
					t.Errorf("%s: no messages", f)
				}
			}
			if pass == 1 {
				at += len(lines)
			} else {
				at = len(first)
			}
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
