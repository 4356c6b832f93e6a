package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
)

// A write after a merge that left conflict markers in the logs removes them, in the style
// of git, of diff3 and of jj, and keeps each record. A read changes nothing.
func TestDropMarkers(t *testing.T) {
	for name, conflict := range map[string]func(base, ours, theirs string) string{
		"git": func(_, ours, theirs string) string {
			return "<<<<<<< HEAD\n" + ours + "=======\n" + theirs + ">>>>>>> main\n"
		},
		"diff3": func(base, ours, theirs string) string {
			return "<<<<<<< HEAD\n" + ours + "||||||| 1f2e3d4\n" + base + "=======\n" + theirs + ">>>>>>> main\n"
		},
		"jj": func(_, ours, theirs string) string {
			return "<<<<<<< conflict 1 of 1\n%%%%%%% diff from: x\n\\\\\\\\\\\\\\        to: y\n+" + strings.ReplaceAll(strings.TrimSuffix(ours, "\n"), "\n", "\n+") + "\n+++++++ z\n" + theirs + ">>>>>>> conflict 1 of 1 ends\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestStore(t)
			c := create(t, s)
			appendBatch(t, c, thread(0, 3))
			logs := map[string][2]string{}
			for _, log := range []string{messagesFile, toolsFile} {
				logs[log] = [2]string{readFile(t, s, c.file(log))}
			}
			appendBatch(t, c, thread(3, 5))
			for log, text := range logs {
				logs[log] = [2]string{text[0], strings.TrimPrefix(readFile(t, s, c.file(log)), text[0])}
			}
			theirs := thread(13, 15)
			theirs.Messages[0].ParentID = "m2"
			var added [2]string
			for _, m := range theirs.Messages {
				added[0] += string(schema.AppendMessage(nil, &m))
			}
			for _, tool := range theirs.Tools {
				added[1] += string(schema.AppendTool(nil, &tool))
			}
			merged := map[string]string{}
			for i, log := range []string{messagesFile, toolsFile} {
				merged[log] = logs[log][0] + conflict("", logs[log][1], added[i])
				writeFile(t, s, c.file(log), merged[log])
			}
			before, _, _ := history(t, c, Limit{})
			for log, text := range merged {
				if readFile(t, s, c.file(log)) != text {
					t.Errorf("reading changed %s", log)
				}
			}
			if err := c.Edit(func(sess *schema.Session) error { sess.Title = "x"; return nil }); err != nil {
				t.Fatal(err)
			}
			wantSound(t, s)
			for i, log := range []string{messagesFile, toolsFile} {
				if got, want := readFile(t, s, c.file(log)), logs[log][0]+logs[log][1]+added[i]; got != want {
					t.Errorf("%s is\n%swant\n%s", log, got, want)
				}
			}
			if after, _, _ := history(t, c, Limit{}); !slices.Equal(before, after) {
				t.Errorf("read %v, before the write %v", after, before)
			}
			if sess, _ := session(t, c); sess.MessageCount != 7 || sess.Tokens == 0 {
				t.Errorf("%d messages, %d tokens", sess.MessageCount, sess.Tokens)
			}
			kept := fmt.Sprint(s.ListFiles(keptDir + "/damaged/" + c.dir))
			if !strings.Contains(kept, messagesFile) {
				t.Errorf("the markers are not set aside: %s", kept)
			}
		})
	}
}
