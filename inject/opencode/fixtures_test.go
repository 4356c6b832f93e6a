package opencode

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/inject"
	"cortext/schema"
)

// adapter is the adapter under test.
var adapter agent

var update = flag.Bool("update", false, "rewrite the golden files")

const fixtures = "../../testdata/agents/opencode/"

// TestFixtures reads each testdata/agents/opencode/<version>/<case>/transcript.*, and
// the storage folder of an old version, and compares with the want.txt next to it.
func TestFixtures(t *testing.T) {
	files, _ := filepath.Glob(fixtures + "*/*/transcript.*")
	old, _ := filepath.Glob(fixtures + "*/*/storage/session/*/*01.json")
	if len(files) < 8 || len(old) != 1 {
		t.Fatalf("fixtures: %v, %v", files, old)
	}
	for _, file := range append(files, old...) {
		dir := filepath.Dir(file)
		for strings.Contains(dir, "storage") {
			dir = filepath.Dir(dir)
		}
		t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			if !adapter.Detect(f) {
				t.Error("not detected")
			}
			f.Close()
			var out bytes.Buffer
			list, err := adapter.Transcripts(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range list {
				describe(t, &out, dir, path)
			}
			golden(t, filepath.Join(dir, "want.txt"), out.Bytes())
		})
	}
}

func describe(t *testing.T, out *bytes.Buffer, dir, path string) {
	tr, got := readAll(t, path, inject.Options{})
	fmt.Fprintf(out, "session %s of %s %s, model %s, branch %q, permission %q, dir %q\n", tr.NativeID, tr.Agent, tr.Version, tr.Model, tr.Branch, tr.Permission, tr.WorkingDir)
	fmt.Fprintf(out, "title %q, command %q, arguments %q, tools %q, %d messages from %s to %s\n", tr.Title, tr.Command, tr.Arguments, tr.Tools, tr.Messages, schema.NewTime(tr.First), schema.NewTime(tr.Last))
	for _, w := range tr.Warnings {
		fmt.Fprintf(out, "warning: %s\n", w)
	}
	subs, err := adapter.Subagents(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subs {
		rel, _ := filepath.Rel(dir, s.Path)
		fmt.Fprintf(out, "file of sub-agent %s, started by %s: %s\n", s.NativeID, s.ToolCallID, filepath.ToSlash(rel))
	}
	fmt.Fprintf(out, "-- conversation %q, started by %q\n", "", tr.Calls[""])
	var lines []byte
	for i := range got.Messages {
		lines = schema.AppendMessage(lines, &got.Messages[i])
	}
	for i := range got.Tools {
		lines = schema.AppendTool(lines, &got.Tools[i])
	}
	out.Write(lines)
	blobs := map[string][]byte{}
	for _, b := range got.Blobs {
		blobs[b.SHA256] = b.Data
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
		t.Errorf("%s differs (go test ./inject/opencode -update rewrites it):\n%s", file, got)
	}
}
