package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

// summaryOf returns a summary of the messages from first to last.
func summaryOf(first, last, content string) *schema.Summary {
	return &schema.Summary{Version: schema.Version, First: first, Last: last, MessageCount: 2, CreatedAt: schema.NewTime(start),
		Content: content, Tokens: 500, Method: schema.FromOpenAI, SourceTokens: 1000}
}

func writeSummary(tb testing.TB, c *Conversation, sum *schema.Summary) {
	tb.Helper()
	if err := c.WriteSummary(sum); err != nil {
		tb.Fatal(err)
	}
}

// A summary is handled like all text: none of its secrets reaches the disk, and its
// tokens are those of the written text.
func TestSummarySecrets(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 4))
	sum := summaryOf("m0", "m3", "The key "+secret+" was used.")
	sum.Model = secret
	sum.Unknown = []rawjson.Member{{Name: "later", Value: []byte(`["` + secret + `"]`)}}
	writeSummary(t, c, sum)
	if sum.Model != secret || !strings.Contains(sum.Content, secret) {
		t.Errorf("the caller's summary is changed: %+v", sum)
	}
	for name, content := range snapshot(t, s.dir) {
		if strings.Contains(content, secret) {
			t.Errorf("%s holds the secret: %s", name, content)
		}
	}
	list, damage := c.Summaries()
	if len(list) != 1 || len(damage) > 0 || list[0].Content != "The key [redacted: aws-access-key] was used." {
		t.Fatalf("%+v, %v", list, damage)
	}
	if want := tokens.Count(list[0].Content); !strings.Contains(readFile(t, s, c.file("summaries/m0-m3.json")), `"ratio": 0.0`) || list[0].Tokens != want {
		t.Errorf("%d tokens, want %d", list[0].Tokens, want)
	}
	info, err := os.Stat(filepath.Join(s.dir, c.file("summaries/m0-m3.json")))
	if err != nil || info.Mode() != privateFileMode && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if text, err := s.Redact(secret + "."); err != nil || text != "[redacted: aws-access-key]." {
		t.Errorf("%q, %v", text, err)
	}
}

// A summary of a range that has grown keeps, for git, the one of the shorter range. The
// tokens of one that a person edited are counted.
func TestSummaryGrown(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 8))
	writeSummary(t, c, summaryOf("m0", "m1", "It was done."))
	writeSummary(t, c, summaryOf("m4", "m5", "It was done, too."))
	writeSummary(t, c, summaryOf("m0", "m3", "All of it was done."))
	writeSummary(t, c, summaryOf("m0", "m3", "All of it was done."))
	if got := s.ListFiles(c.file(summariesDir)); !slices.Equal(got, []string{"m0-m1.json", "m0-m3.json", "m4-m5.json"}) {
		t.Errorf("files %v", got)
	}
	long := strings.Repeat("many words ", 1000)
	name := c.file("summaries/m4-m5.json")
	writeFile(t, s, name, strings.Replace(readFile(t, s, name), "It was done, too.", long, 1))
	list, _ := c.Summaries()
	if len(list) != 3 || list[2].Tokens != tokens.Count(long) {
		t.Errorf("%d summaries, the edited one with %d tokens", len(list), list[2].Tokens)
	}
	wantSound(t, s)
}

// Check reports each skipped summary, and none hides another.
func TestSummaryDamage(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 8))
	writeSummary(t, c, summaryOf("m0", "m1", "It was done."))
	good := readFile(t, s, c.file("summaries/m0-m1.json"))
	for name, content := range map[string]string{
		"conflict.json": "{\n<<<<<<< HEAD\n" + good[2:] + "=======\n" + good[2:] + ">>>>>>> other\n",
		"empty.json":    "",
		"half.json":     good[:len(good)/2],
		"newer.json":    strings.Replace(good, `"version": "`+schema.Version+`"`, `"version": "99.0"`, 1),
		"notes.txt":     "not one of ours",
		"minor.json":    strings.Replace(good, `"version": "`+schema.Version+`"`, `"version": "1.99"`, 1),
	} {
		writeFile(t, s, c.file("summaries/"+name), content)
	}
	want := []string{"conflict.json:2:2: conflict marker", "half.json:0:0: unreadable", "newer.json:0:0: newer format"}
	if runtime.GOOS != "windows" {
		if err := os.Symlink("m0-m1.json", filepath.Join(s.dir, c.file("summaries/link.json"))); err != nil {
			t.Fatal(err)
		}
		want = slices.Insert(want, 2, "link.json:0:0: not a regular file")
	}
	for i := range want {
		want[i] = c.file("summaries/" + want[i])
	}
	if got := damages(s); !slices.Equal(got, want) {
		t.Errorf("Check says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for d := range s.Check() {
		if (d.Kind == Newer) == strings.Contains(d.Detail, "nothing is lost") {
			t.Errorf("%v", d.Error())
		}
	}
	n := 0
	for range s.Check() {
		if n++; n == 2 {
			break
		}
	}
	if list, _ := c.Summaries(); len(list) != 2 {
		t.Errorf("%d can be read, want 2", len(list))
	}

	// A damaged summary is written again. One that a later cortext wrote, or that leads
	// elsewhere, stays.
	for name, again := range map[string]bool{"half.json": true, "empty.json": true, "conflict.json": true, "newer.json": false, "link.json": false} {
		to := filepath.Join(s.dir, c.file("summaries/m4-m5.json"))
		if err := os.Rename(filepath.Join(s.dir, c.file("summaries/"+name)), to); err != nil {
			if name == "link.json" {
				continue
			}
			t.Fatal(err)
		}
		before := readFile(t, s, c.file("summaries/m4-m5.json"))
		err := c.WriteSummary(summaryOf("m4", "m5", "It was done."))
		if after := readFile(t, s, c.file("summaries/m4-m5.json")); (err == nil) != again || (after != before) != again {
			t.Errorf("%s: %v, and the file is\n%s", name, err, after)
		}
		if newer := (*schema.VersionError)(nil); name == "newer.json" && (!errors.As(err, &newer) || !strings.Contains(err.Error(), "m4-m5.json")) {
			t.Errorf("a newer one: %v", err)
		}
		if err := os.Remove(to); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.WriteSummary(summaryOf("m4", "m5", "")); err == nil {
		t.Error("a summary of nothing was written")
	}

	// summaries/ is not a folder.
	if err := errors.Join(os.RemoveAll(filepath.Join(s.dir, c.file(summariesDir))), os.WriteFile(filepath.Join(s.dir, c.file(summariesDir)), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := damages(s); !slices.Equal(got, []string{c.file(summariesDir) + ":0:0: not a regular file"}) {
		t.Errorf("a file for a folder: %v", got)
	}
	if err := c.WriteSummary(summaryOf("m4", "m5", "It was done.")); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("written into a file: %v", err)
	}
}
