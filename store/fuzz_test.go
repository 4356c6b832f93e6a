package store

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
)

// FuzzHistory checks, for any content of the logs and session.json, that nothing panics,
// that two reads agree, that a limit returns no more than no limit, and that the next
// message is readable.
func FuzzHistory(f *testing.F) {
	s := newTestStore(f)
	c := create(f, s)
	appendBatch(f, c, thread(0, 6))
	var files []string
	for _, name := range []string{messagesFile, toolsFile, sessionFile} {
		files = append(files, readFile(f, s, c.file(name)))
	}
	f.Add(files[0], files[1], files[2])
	f.Add(files[0]+files[0], files[1][:50], "{}")
	for _, corrupt := range corruptions {
		if content := corrupt.spoil(strings.SplitAfter(files[0], "\n")); len(content) < 10_000 {
			f.Add(content, content, content)
		}
	}
	f.Fuzz(func(t *testing.T, messages, tools, session string) {
		for i, content := range []string{messages, tools, session} {
			name := []string{messagesFile, toolsFile, sessionFile}[i]
			if err := os.WriteFile(filepath.Join(s.dir, c.file(name)), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		first, damage, err := c.History(Limit{})
		if version := (*schema.VersionError)(nil); errors.As(err, &version) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		second, damageAgain, err := c.History(Limit{})
		if err != nil || !reflect.DeepEqual(first, second) || !reflect.DeepEqual(damage, damageAgain) {
			t.Fatalf("read twice: %v\n%+v\n%+v", err, first, second)
		}
		last, _, err := c.History(Limit{Messages: 2})
		if err != nil {
			t.Fatal(err)
		}
		if len(last.Messages) > min(2, len(first.Messages)+first.Aside) {
			t.Fatalf("the last 2 are %d of %d", len(last.Messages), len(first.Messages))
		}
		n := 0
		for d := range s.Check() {
			if d.Error() == "" {
				t.Fatal("damage without a word")
			}
			n++
		}
		if len(damage) > n {
			t.Fatalf("check names %d places, history %d", n, len(damage))
		}
		if _, err := s.List(); err != nil {
			t.Fatal(err)
		}
		checkLines(t, c)
		again, err := s.Conversation(c.Path())
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		m := schema.Message{ID: "the next one", Role: schema.User, Content: "next"}
		if _, err := again.Append(schema.Batch{Messages: []schema.Message{m}, Tools: []schema.Tool{{ID: "the next call"}}}); err != nil {
			t.Fatal(err)
		}
		found := false
		for m := range again.Messages() {
			found = found || m.ID == "the next one"
		}
		if !found {
			t.Fatal("the next message cannot be read")
		}
	})
}

// checkLines fails unless the lines of the logs are the records, and come with the same damage,
// and the calls to some tools are among them.
func checkLines(t *testing.T, c *Conversation) {
	t.Helper()
	compare := func(name string, want []string, lines iter.Seq2[LogLine, error]) {
		var got []string
		for line, err := range lines {
			got = append(got, fmt.Sprintf("%s %t %v", line.Text, line.Redacted, err))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the lines of %s are\n%q\nwant\n%q", name, got, want)
		}
	}
	compare(messagesFile, wantLines(c.Messages(), messageLog()), c.MessageLines())
	compare(toolsFile, wantLines(c.Tools(), toolLog()), c.ToolLines())
	wanted := func(tool string) bool { return len(tool)%2 == 0 }
	var want, got []string
	for call, err := range Undamaged(c.Settled().Tools()) {
		if err == nil && wanted(call.Name) && call.Name != "" {
			want = append(want, string(schema.AppendTool(nil, &call)))
		}
	}
	for call, err := range Undamaged(c.Settled().CallsTo(wanted)) {
		if err == nil && call.Name != "" {
			got = append(got, string(schema.AppendTool(nil, &call)))
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the calls to some tools are\n%q\nwant\n%q", got, want)
	}
}

func wantLines[R any](records iter.Seq2[R, error], k logKind[R]) (want []string) {
	for r, err := range records {
		text, redacted := "", false
		if err == nil {
			text = strings.TrimSuffix(string(k.encode(&r)), "\n")
			redacted = len(*k.record(&r).redactions()) > 0
		}
		want = append(want, fmt.Sprintf("%s %t %v", text, redacted, err))
	}
	return want
}
