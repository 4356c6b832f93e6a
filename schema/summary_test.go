package schema_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"cortext/schema"
	"cortext/schema/rawjson"
)

func summaryOf(content string, tokens int, source int64) *schema.Summary {
	return &schema.Summary{Version: schema.Version, First: "a", Last: "b", MessageCount: 2, CreatedAt: "2025-11-22T10:31:10.000Z",
		Content: content, Tokens: tokens, Method: schema.Extracted, SourceTokens: source}
}

func TestSummaryRatio(t *testing.T) {
	for _, c := range []struct {
		tokens int
		source int64
		want   string
	}{
		{9, 61, "0.1475"}, {1, 4, "0.25"}, {500, 500, "1"}, {30, 3, "10"}, {1, 100_000, "0"}, {2, 3, "0.6667"}, {0, 5, "0"}, {7, 0, ""},
	} {
		s := summaryOf("x", c.tokens, c.source)
		s.Ratio = schema.Raw("77")
		b, err := s.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		want := "\n  \"ratio\": " + c.want + "\n"
		if c.want == "" && bytes.Contains(b, []byte("ratio")) || c.want != "" && !bytes.Contains(b, []byte(want)) {
			t.Errorf("%d of %d: want ratio %q in\n%s", c.tokens, c.source, c.want, b)
		}
		if string(s.Ratio) != "77" {
			t.Errorf("Marshal changed its summary: %s", s.Ratio)
		}
		if again, err := schema.ParseSummary(b); err != nil || string(again.Ratio) != c.want {
			t.Errorf("%d of %d: read back as %+v, %v", c.tokens, c.source, again, err)
		}
	}
}

// An invalid summary is neither read nor written, and a newer version is reported as such
// whatever else is in the file.
func TestSummaryRefused(t *testing.T) {
	const good = `{"version":"1.1","first":"a","last":"b","message_count":2,"created_at":"2025-11-22T10:31:10Z","content":"x","tokens":1,"method":"m"}`
	if _, err := schema.ParseSummary([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new string }{
		{`"first":"a",`, ``},
		{`"last":"b"`, `"last":""`},
		{`"message_count":2`, `"message_count":0`},
		{`"message_count":2`, `"message_count":2.5`},
		{`"2025-11-22T10:31:10Z"`, `"yesterday"`},
		{`"content":"x"`, `"content":""`},
		{`"content":"x"`, `"content":"\ud800"`},
		{`"content":"x"`, `"content":"x","content":"y"`},
		{`"content":"x"`, `"Content":"x"`},
		{`"tokens":1`, `"tokens":-1`},
		{`"tokens":1`, `"tokens":1,"source_tokens":-1`},
		{`"tokens":1`, `"tokens":1,"ratio":"0.5"`},
		{`"tokens":1`, `"tokens":1,"ratio":{}`},
		{`"method":"m"`, `"method":""`},
		{`"method":"m"`, `"method":"m","members":"sha256:12"`},
		{`"method":"m"`, `"method":"m","members":"` + strings.Repeat("0", 71) + `"`},
		{`"method":"m"`, `"method":"m","members":"sha256:` + strings.Repeat("G", 64) + `"`},
		{`"version":"1.1"`, `"version":"one"`},
		{`"version":"1.1",`, ``},
		{`{`, `[{`},
	} {
		in := strings.Replace(good, c.old, c.new, 1)
		if in == good {
			t.Fatalf("%q is not in the sample", c.old)
		}
		var newer *schema.VersionError
		if s, err := schema.ParseSummary([]byte(in)); err == nil || s != nil || errors.As(err, &newer) {
			t.Errorf("%s\nis read as %+v, %v", in, s, err)
		}
	}
	var newer *schema.VersionError
	if _, err := schema.ParseSummary([]byte(`{"version":"2.0","first":1}`)); !errors.As(err, &newer) {
		t.Errorf("a newer version: %v", err)
	}
	for _, s := range []*schema.Summary{{}, summaryOf("", 1, 0), summaryOf("\xed\xa0\x80", 1, 0)} {
		if b, err := s.Marshal(); err == nil || b != nil {
			t.Errorf("%+v is written as\n%s", s, b)
		}
	}
}

func TestSummaryMembers(t *testing.T) {
	msgs := []schema.Message{{ID: "m1"}, {ID: "m2", Rev: 3, Content: "x"}, {}, {ID: "m4"}}
	want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("m1\nm2@3\n\nm4\n")))
	if got := schema.MembersHash(msgs); got != want {
		t.Errorf("hash is %s, want %s", got, want)
	}
	seen := map[string]bool{want: true}
	for i, change := range []func(){
		func() { msgs[3].Rev = 1 },
		func() { msgs[1].ID = "m3" },
		func() { msgs[0], msgs[1] = msgs[1], msgs[0] },
		func() { msgs = msgs[:3] },
		func() { msgs = msgs[:2] },
	} {
		change()
		if got := schema.MembersHash(msgs); seen[got] {
			t.Errorf("change %d is not in the hash", i)
		} else {
			seen[got] = true
		}
	}
}

// Two summaries of one range by models, merged by git's union with any earlier content of
// the file, are read as one of them, the same in each clone.
func TestSummaryUnion(t *testing.T) {
	dir := t.TempDir()
	made := func(name string, s *schema.Summary) {
		b, err := s.Marshal()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	merge := func(a, base, b string) []byte {
		cmd := exec.Command("git", "merge-file", "--union", "-p", a, base, b)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if err := os.WriteFile(filepath.Join(dir, "none"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	one, other, old := summaryOf("One of them.", 9, 61), summaryOf("The other.", 7, 61), summaryOf("It was before.", 5, 61)
	one.Model, other.Model, other.CreatedAt, old.Method = "small", "large", "2025-11-22T11:00:00.000Z", schema.FromAgent
	made("one", one)
	made("other", other)
	made("old", old)
	for _, base := range []string{"none", "old"} {
		ab, ba := merge("one", base, "other"), merge("other", base, "one")
		got, err := schema.ParseSummary(ab)
		if err != nil {
			t.Fatalf("%v in\n%s", err, ab)
		}
		if again, err := schema.ParseSummary(ba); err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("read %+v and %+v, %v", got, again, err)
		}
		if got.Content != one.Content && got.Content != other.Content || got.First != "a" || got.Last != "b" || got.MessageCount != 2 {
			t.Errorf("read %+v", got)
		}
	}
	for _, bad := range []string{"{\n  \"first\": \"a\",\n  \"first\": \"b\"\n", "{\n<<<<<<< a\n  \"first\": \"a\"\n=======\n  \"first\": \"b\"\n>>>>>>> b\n}\n"} {
		if s, err := schema.ParseSummary([]byte(bad)); err == nil {
			t.Errorf("read %q as %+v", bad, s)
		}
	}
}

// The file's name is safe for any ids.
func TestSummaryFileName(t *testing.T) {
	for _, id := range []string{"m1", "5f3d7f2e-8d1c-4c1e-9a53-0123456789ab", "", ".", "..", "a/b", `a\b`, "../../x", "-x", "trailing.", "nul", "Com1.txt", "com", "lpt10",
		"a b", "ä", "a\x00\n", strings.Repeat("x", 100), strings.Repeat("x", 101)} {
		s := schema.Summary{First: "z", Last: id}
		if got := s.FileName(); len(got) > 255 || strings.ContainsAny(got, "/\\\x00\n ") {
			t.Errorf("%q: the file is %q", id, got)
		}
	}
}

func FuzzSummary(f *testing.F) {
	all, err := summaryOf("Two; a \"diagram\".", 9, 61).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(all)
	f.Add([]byte(`{"version":"1.9","first":"a","last":"b","message_count":2,"created_at":"2025-11-22T10:31:10Z","content":"x","tokens":1,"method":"m","source_tokens":3,"ratio":9e9,"x":{"y": [1, null]}}`))
	f.Add([]byte(`{"version":"1.1","first":"\u0000","last":"/","message_count":1,"created_at":"2025-11-22T10:31:10Z","content":"\ud83d\ude00","method":"m","ratio":-1,"members":null,"model":"m"}`))
	f.Add(bytes.Replace(all, []byte("  \"first\""), []byte("  \"first\": \"z\"\n  \"first\""), 1))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := schema.ParseSummary(in)
		if err != nil {
			if s != nil {
				t.Fatalf("a half summary came with %v", err)
			}
			return
		}
		out, err := s.Marshal()
		if err != nil {
			t.Fatalf("read and not written: %v", err)
		}
		again, err := schema.ParseSummary(out)
		if err != nil {
			t.Fatalf("written and not read: %v\n%s", err, out)
		}
		if !reflect.DeepEqual(s, again) {
			t.Fatalf("read\n%+v\nand after writing\n%+v", s, again)
		}
		if err := rawjson.Strict(out); err != nil {
			t.Fatal(err)
		}
		if name := s.FileName(); len(name) > 255 || strings.ContainsAny(name, "/\\\x00:*?\"<>|") {
			t.Fatalf("file name %q", name)
		}
	})
}
