package store

import (
	"errors"
	"fmt"
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

func TestAppendTwiceChangesNothing(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	r := appendBatch(t, c, thread(0, 6))
	if r.Appended != 6 || r.Tools != 3 || r.Skipped != 0 {
		t.Errorf("%+v", r)
	}
	before := snapshot(t, s.dir)
	if r := appendBatch(t, c, thread(0, 6)); r.Appended != 0 || r.Tools != 0 || r.Skipped != 9 {
		t.Errorf("again: %+v", r)
	}
	other, err := s.Conversation(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if r := appendBatch(t, other, thread(0, 6)); r.Skipped != 9 {
		t.Errorf("by another value: %+v", r)
	}
	wantSame(t, s.dir, before)
	if r := appendBatch(t, other, thread(4, 8)); r.Appended != 2 || r.Tools != 1 || r.Skipped != 3 {
		t.Errorf("with more: %+v", r)
	}
	if r := appendBatch(t, c, thread(4, 8)); r.Skipped != 6 {
		t.Errorf("what another wrote meanwhile: %+v", r)
	}
	if r, err := c.Append(schema.Batch{}); err != nil || r.Appended != 0 {
		t.Errorf("nothing: %+v, %v", r, err)
	}
	// Lines without id (1.0) cannot be told apart.
	plain := schema.Message{Role: schema.User, Content: "x"}
	for range 2 {
		if r := appendBatch(t, c, schema.Batch{Messages: []schema.Message{plain}}); r.Appended != 1 {
			t.Errorf("without id: %+v", r)
		}
	}
	wantSound(t, s)
}

// TestRevisions checks that a longer version of a record gets a greater rev, and that a
// shorter version, or one already stored at any time, is skipped.
func TestRevisions(t *testing.T) {
	no, yes := false, true
	exit := 1
	pending := tool(1)
	pending.Success, pending.Output = nil, ""
	running := pending
	running.Output = "ok"
	halfway := pending
	halfway.Output = "50 %"
	failed := tool(1)
	failed.Success, failed.Output, failed.ExitCode = &no, "boom", &exit
	done := tool(1)
	done.Success, done.DurationMS = &yes, 12

	m := message(1)
	short := m
	short.Content, short.ToolCalls, short.Usage = m.Content[:5], nil, &schema.Usage{PromptTokens: 900}
	calls := m
	calls.ToolCalls = append(slices.Clone(m.ToolCalls), schema.ToolCall{ID: "t9", Name: "Read"})
	used := m
	used.Usage = &schema.Usage{PromptTokens: 100, CompletionTokens: 10}
	usedMore := used
	usedMore.Usage = &schema.Usage{PromptTokens: 100, CompletionTokens: 50}
	edited := m
	edited.Content = "something else"
	event := message(1)
	event.Role, event.Content = schema.System, "done and more"
	colored := event
	colored.Content = "\x1b[2mdone\x1b[22m and more"
	otherEvent := event
	otherEvent.Content = "failed"

	type step struct {
		m   *schema.Message
		t   *schema.Tool
		rev int // -1: skipped
	}
	for name, steps := range map[string][]step{
		"a call gets its outcome":           {{t: &pending, rev: 0}, {t: &running, rev: 1}, {t: &done, rev: 2}},
		"an older copy of a call":           {{t: &done, rev: 0}, {t: &pending, rev: -1}, {t: &running, rev: -1}, {t: &halfway, rev: -1}},
		"a call with two outcomes":          {{t: &done, rev: 0}, {t: &failed, rev: 1}, {t: &done, rev: -1}, {t: &failed, rev: -1}},
		"a message grows":                   {{m: &short, rev: 0}, {m: &m, rev: 1}, {m: &calls, rev: 2}},
		"an older copy of a message":        {{m: &calls, rev: 0}, {m: &m, rev: -1}, {m: &short, rev: -1}},
		"usage comes later":                 {{m: &m, rev: 0}, {m: &used, rev: 1}, {m: &usedMore, rev: 2}, {m: &used, rev: -1}, {m: &m, rev: -1}},
		"local output as once captured":     {{m: &colored, rev: 0}, {m: &event, rev: -1}, {m: &colored, rev: -1}, {m: &otherEvent, rev: 1}},
		"two clones disagree, again, again": {{m: &m, rev: 0}, {m: &edited, rev: 1}, {m: &m, rev: -1}, {m: &edited, rev: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestStore(t)
			c := create(t, s)
			for i, st := range steps {
				b := schema.Batch{}
				if st.m != nil {
					b.Messages = []schema.Message{*st.m}
				} else {
					b.Tools = []schema.Tool{*st.t}
				}
				r := appendBatch(t, c, b)
				if wrote := r.Appended+r.Tools == 1; wrote != (st.rev >= 0) {
					t.Fatalf("step %d: %+v", i, r)
				}
				if st.rev < 0 {
					continue
				}
				got := -1
				for m := range c.Messages() {
					got = m.Rev
				}
				for tl := range c.Tools() {
					got = tl.Rev
				}
				if got != st.rev {
					t.Fatalf("step %d: rev %d, want %d", i, got, st.rev)
				}
			}
			wantSound(t, s)
		})
	}
}

// TestRevisionInOneBatch checks that one batch may hold an id several times.
func TestRevisionInOneBatch(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	pending := tool(1)
	pending.Success, pending.Output = nil, ""
	b := thread(0, 2)
	b.Tools = []schema.Tool{pending, tool(1), tool(1)}
	if r := appendBatch(t, c, b); r.Tools != 2 || r.Skipped != 1 {
		t.Errorf("%+v", r)
	}
	_, h, _ := history(t, c, Limit{})
	if got := h.Tools["t1"]; got.Success == nil || got.Rev != 1 {
		t.Errorf("%+v", got)
	}
}

// secret is an access key in the form that the vendor documents. TestBlocks checks that
// the lengths of blocks match the content as stored.
func TestBlocks(t *testing.T) {
	text := func(n int) schema.Block { return schema.Block{Type: schema.TextBlock, Bytes: n} }
	call := schema.Block{Type: schema.ToolCallBlock, ID: "t1"}
	marker := "[redacted: aws-access-key]"
	for _, tt := range []struct {
		name    string
		content string
		blocks  []schema.Block
		want    string
		lengths []int
	}{
		{"two texts", "one\n\ntwo", []schema.Block{text(3), call, text(3)}, "one\n\ntwo", []int{3, 3}},
		{"a secret in the second", "one\n\n" + secret, []schema.Block{text(3), call, text(20)}, "one\n\n" + marker, []int{3, len(marker)}},
		{"a secret in the only", secret, []schema.Block{call, text(20)}, marker, []int{len(marker)}},
		{"a blank line within", "a\n\nb\n\nc", []schema.Block{text(4), text(1)}, "a\n\nb\n\nc", []int{4, 1}},
		{"bytes that are not UTF-8", "a\xff\n\nb\xed\xa0\x80", []schema.Block{text(2), text(4)}, "a\uFFFD\n\nb\xed\xa0\x80", []int{4, 4}},
		{"lengths beyond the content", "abc", []schema.Block{text(9), call}, "abc", nil},
		{"lengths below the content", "abc", []schema.Block{text(1), call}, "abc", nil},
		{"no blank line between", "ab", []schema.Block{text(1), text(1)}, "ab", nil},
		{"a negative length", "ab", []schema.Block{text(-1), text(1)}, "ab", nil},
	} {
		s := newTestStore(t)
		c := create(t, s)
		m := message(0)
		m.Content, m.Blocks = tt.content, slices.Clone(tt.blocks)
		appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}})
		for got, err := range c.Messages() {
			if err != nil {
				t.Fatal(err)
			}
			var lengths []int
			for _, b := range got.Blocks {
				if b.Type == schema.TextBlock {
					lengths = append(lengths, b.Bytes)
				}
			}
			if got.Content != tt.want || !slices.Equal(lengths, tt.lengths) {
				t.Errorf("%s: %q with %v, want %q with %v", tt.name, got.Content, lengths, tt.want, tt.lengths)
			}
		}
		if !slices.Equal(blockBytes(m.Blocks), blockBytes(tt.blocks)) {
			t.Errorf("%s: the caller's blocks were changed", tt.name)
		}
	}
}

func blockBytes(blocks []schema.Block) (n []int) {
	for _, b := range blocks {
		n = append(n, b.Bytes)
	}
	return n
}

// TestAppendAfterReplacement checks that an append relies on what the files hold now,
// after git replaced, shortened or extended them between two appends of one process.
func TestAppendAfterReplacement(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, file, content string) (ids string){
		"replaced by a merge": func(t *testing.T, file, content string) string {
			extra := message(9)
			extra.ParentID = "m2"
			replaceFile(t, file, content+string(schema.AppendMessage(nil, &extra)))
			return "m0 m1 m2 m9 m3"
		},
		"replaced by an older commit": func(t *testing.T, file, content string) string {
			lines := strings.SplitAfter(content, "\n")
			replaceFile(t, file, strings.Join(lines[:1], ""))
			return "m0 m1 m2 m3"
		},
		"rewritten in place, as long as before": func(t *testing.T, file, content string) string {
			if err := os.WriteFile(file, []byte(strings.Replace(content, `"id":"m2"`, `"id":"m8"`, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			return "m0 m1 m8 m2 m3"
		},
		"rewritten in place, longer": func(t *testing.T, file, content string) string {
			extra := message(9)
			extra.Tokens = tokens.Count(extra.Content)
			if err := os.WriteFile(file, append(schema.AppendMessage(nil, &extra), content...), 0o600); err != nil {
				t.Fatal(err)
			}
			return "m9 m0 m1 m2 m3"
		},
		"lines welded": func(t *testing.T, file, content string) string {
			replaceFile(t, file, strings.Replace(content, "}\n{", "}{", 1))
			return "m0 m1 m2 m3"
		},
		"emptied in place": func(t *testing.T, file, _ string) string {
			if err := os.Truncate(file, 0); err != nil {
				t.Fatal(err)
			}
			return "m0 m1 m2 m3"
		},
		"deleted": func(t *testing.T, file, _ string) string {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			return "m0 m1 m2 m3"
		},
		"deleted with its folder": func(t *testing.T, file, _ string) string {
			if err := os.RemoveAll(filepath.Dir(file)); err != nil {
				t.Fatal(err)
			}
			return "m0 m1 m2 m3"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestStore(t)
			c := create(t, s)
			b := thread(0, 3)
			b.Tools = nil
			appendBatch(t, c, b)
			file := filepath.Join(s.dir, c.file(messagesFile))
			want := change(t, file, readFile(t, s, c.file(messagesFile)))
			b = thread(0, 4)
			for m := range c.Messages() { // what is there now counts as known, too
				if m.ID == "m8" || m.ID == "m9" {
					b.Messages = append(b.Messages, m)
				}
			}
			appendBatch(t, c, b)
			appendBatch(t, c, b)
			var ids []string
			for m, err := range c.Messages() {
				if err == nil {
					ids = append(ids, m.ID)
				}
			}
			if got := strings.Join(ids, " "); got != want {
				t.Errorf("the log holds %s, want %s", got, want)
			}
			n := 0
			for range c.Tools() {
				n++
			}
			if n != 2 {
				t.Errorf("%d tool lines, want 2", n)
			}
			if name != "lines welded" {
				wantSound(t, s)
			}
			if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 && runtime.GOOS != "windows" {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

// TestAppendToWhatIsGone checks that a deleted conversation stays deleted.
func TestAppendToWhatIsGone(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	sub, err := c.Subagent("x")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	appendBatch(t, c, thread(0, 2))
	if err := os.RemoveAll(filepath.Join(s.dir, c.Path())); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, s.dir)
	for _, c := range []*Conversation{c, sub} {
		if _, err := c.Append(thread(0, 2)); !errors.Is(err, ErrNotFound) {
			t.Errorf("append: %v", err)
		}
		if err := settle(c); !errors.Is(err, ErrNotFound) {
			t.Errorf("settle: %v", err)
		}
	}
	wantSame(t, s.dir, before)
}

// TestInvalidRecords checks that a record that could not be read back is never written.
func TestInvalidRecords(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	before := snapshot(t, s.dir)
	broken := []rawjson.Member{{Name: "x", Value: []byte("{\n")}}
	for name, b := range map[string]schema.Batch{
		"no role":            {Messages: []schema.Message{{ID: "a"}}},
		"unknown role":       {Messages: []schema.Message{{ID: "a", Role: "king"}}},
		"no id of a call":    {Tools: []schema.Tool{{MessageID: "a"}}},
		"broken input":       {Tools: []schema.Tool{{ID: "a", Input: schema.Raw("{")}}},
		"a broken member":    {Messages: []schema.Message{{ID: "a", Role: schema.User, Unknown: broken}}},
		"one in a block":     {Messages: []schema.Message{{ID: "a", Role: schema.User, Blocks: []schema.Block{{Type: "x", Unknown: broken}}}}},
		"one in a call":      {Messages: []schema.Message{{ID: "a", Role: schema.User, ToolCalls: []schema.ToolCall{{Unknown: broken}}}}},
		"one in usage":       {Messages: []schema.Message{{ID: "a", Role: schema.User, Usage: &schema.Usage{Unknown: broken}}}},
		"one in attachments": {Messages: []schema.Message{{ID: "a", Role: schema.User, Attachments: []schema.Attachment{{Unknown: broken}}}}},
	} {
		if _, err := c.Append(b); err == nil {
			t.Errorf("%s: appended", name)
		}
	}
	wantSame(t, s.dir, before)
}

func replaceFile(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file+".new", []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// TestModesAreSetByWriting checks that reading keeps the file modes that git gave a
// clone, and that writing sets ours.
func TestModesAreSetByWriting(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: no file modes on Windows")
	}
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 4))
	c.Close()
	modes := func() (got []string) {
		for _, name := range []string{"", messagesFile, toolsFile, sessionFile} {
			info, err := os.Stat(filepath.Join(s.dir, c.dir, name))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%o", info.Mode().Perm()))
		}
		return got
	}
	for i, name := range []string{"", messagesFile, toolsFile, sessionFile} {
		if err := os.Chmod(filepath.Join(s.dir, c.dir, name), []os.FileMode{0o755, 0o644, 0o644, 0o644}[i]); err != nil {
			t.Fatal(err)
		}
	}
	history(t, c, Limit{Messages: 1})
	if _, _, err := c.Session(); err != nil {
		t.Fatal(err)
	}
	wantSound(t, s)
	if got := modes(); !slices.Equal(got, []string{"755", "644", "644", "644"}) {
		t.Errorf("after reading: %v", got)
	}
	appendBatch(t, c, thread(4, 6))
	if err := settle(c); err != nil {
		t.Fatal(err)
	}
	if got := modes(); !slices.Equal(got, []string{"700", "600", "600", "600"}) {
		t.Errorf("after writing: %v", got)
	}
}

// TestFolderWithoutSession checks that a folder without .session/ is an empty
// conversation, that reading and failed edits leave it unchanged, and that an append
// completes it.
func TestFolderWithoutSession(t *testing.T) {
	s := newTestStore(t)
	writeFile(t, s, "conversations/2025-11-22/003-plan-big-move/plan.md", "# Big move\n")
	before := snapshot(t, s.dir)
	c, err := s.Conversation("conversations/2025-11-22/003-plan-big-move")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sess, damage, err := c.Session()
	if err != nil || damage != nil || sess.DisplayTitle() != "big move" || sess.ConversationType != "plan" || sess.CreatedAt != "2025-11-22T00:00:00.000Z" {
		t.Errorf("%+v, %v, %v", sess, damage, err)
	}
	if ids, _, damage := history(t, c, Limit{}); ids != nil || damage != nil {
		t.Error(ids, damage)
	}
	if err := c.Edit(func(*schema.Session) error { return nil }); err != nil {
		t.Error(err)
	}
	if err := c.Edit(func(*schema.Session) error { return errors.New("no") }); err == nil {
		t.Error("the error of the edit was lost")
	}
	wantSound(t, s)
	wantSame(t, s.dir, before)
	appendBatch(t, c, thread(0, 3))
	wantSound(t, s)
	sess, damage, err = c.Session()
	if err != nil || damage != nil || sess.MessageCount != 3 || sess.Description != message(0).Content {
		t.Errorf("%+v, %v, %v", sess, damage, err)
	}
	if ok, _ := s.Exists(c.file(sessionFile)); !ok {
		t.Error("the capture made no session.json")
	}
}

func TestSubagents(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	if names, err := c.Subagents(); names != nil || err != nil {
		t.Error(names, err)
	}
	for _, id := range []string{"b", "a", "../../../../evil"} {
		sub, err := c.Subagent(id)
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		if _, _, err := sub.Session(); err != nil {
			t.Error(err)
		}
		appendBatch(t, sub, thread(0, 2))
		if ids, _, _ := history(t, sub, Limit{}); len(ids) != 2 {
			t.Errorf("%s: %v", id, ids)
		}
		if !strings.HasPrefix(sub.Path(), c.dir+"/subagents/") || strings.Count(sub.Path(), "/") != 5 {
			t.Errorf("path %q", sub.Path())
		}
	}
	names, err := c.Subagents()
	if err != nil || len(names) != 3 || names[0] != "a" || names[1] != "b" {
		t.Errorf("%q, %v", names, err)
	}
	for _, name := range names {
		sub, err := c.Subagent(name)
		if err != nil {
			t.Fatal(err)
		}
		if ids, _, _ := history(t, sub, Limit{}); len(ids) != 2 {
			t.Errorf("%s by its name: %v", name, ids)
		}
	}
	list, err := s.List()
	if err != nil || len(list) != 1 {
		t.Errorf("sub-agents are listed: %v, %v", list, err)
	}
	writeFile(t, s, c.file("subagents/a/messages.jsonl"), "{broken\n")
	writeFile(t, s, c.file("subagents/stray"), "")
	want := []string{
		c.file("subagents/a/messages.jsonl") + ":0:0: missing", // the broken line may hold one of two messages
		c.file("subagents/a/messages.jsonl") + ":1:0: broken line",
		c.file("subagents/a/tools.jsonl") + ":1:0: missing",
		c.file("subagents/stray") + ":0:0: not a regular file",
	}
	if got := damages(s); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
