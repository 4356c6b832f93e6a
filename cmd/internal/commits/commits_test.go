package commits

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/git"
	"cortext/schema"
)

func at(text string) time.Time { return schema.Time("2025-11-22T" + text + "Z").Time() }

// TestPromptBefore: the prompt of a commit is the user's last words before it. A commit
// knows its time to the second only, and messages may be out of order.
func TestPromptBefore(t *testing.T) {
	said := func(id, when string, role schema.Role, content string) schema.Message {
		return schema.Message{ID: id, Timestamp: schema.Time("2025-11-22T" + when + "Z"), Role: role, Content: content}
	}
	messages := []schema.Message{
		said("a", "10:00:00.000", schema.User, "first"),
		said("b", "10:00:05.000", schema.Assistant, "an answer"),
		said("d", "10:02:00.900", schema.User, "third"),
		said("c", "10:01:00.000", schema.User, "second"),
		said("e", "10:02:30.000", schema.User, ""), // only an attachment
		said("f", "10:03:00.000", schema.System, "an event"),
		{ID: "g", Role: schema.User, Content: "at an unknown time"},
	}
	for _, c := range []struct{ when, want string }{
		{"09:59:58", "g"}, // nothing else is that early
		{"10:00:00", "a"},
		{"10:00:59", "a"},
		{"10:01:00", "c"},
		{"10:01:59", "c"},
		{"10:02:00", "d"}, // 900 ms later, in the same second
		{"10:02:40", "d"},
		{"23:00:00", "d"},
	} {
		if got := PromptBefore(messages, at(c.when+".000")); got.ID != c.want {
			t.Errorf("before %s: %q, want %q", c.when, got.ID, c.want)
		}
	}
	if got := PromptBefore(nil, at("10:00:00.000")); got.ID != "" {
		t.Errorf("of no messages: %+v", got)
	}
}

// TestScores: a printed id decides, then the files, then whether the conversation went on,
// then the branch, then how short ago the prompt was.
func TestScores(t *testing.T) {
	inOrder := []score{
		{},
		{active: 1, since: time.Hour},
		{active: 1, since: time.Minute},
		{active: 1, branch: 1, since: time.Hour},
		{files: 1, since: time.Hour},
		{files: 1, active: 1, since: time.Hour},
		{files: 2, since: 20 * time.Hour},
		{made: 1, since: 23 * time.Hour},
	}
	for i := range inOrder {
		for k := range inOrder {
			if i == 0 || k == 0 {
				continue // no sign: since says nothing
			}
			if got := inOrder[i].compare(inOrder[k]); got != cmp.Compare(i, k) {
				t.Errorf("%+v compared with %+v: %d", inOrder[i], inOrder[k], got)
			}
		}
	}
}

func TestCutLast(t *testing.T) {
	for _, c := range []struct {
		text, before, after string
		found               bool
	}{
		{"a.go:12", "a.go", "12", true},
		{"a:b.go:1", "a:b.go", "1", true},
		{"a.go", "a.go", "", false},
		{"a.go:", "a.go", "", true},
		{":3", "", "3", true},
	} {
		if before, after, found := cutLast(c.text, ":"); before != c.before || after != c.after || found != c.found {
			t.Errorf("%q: %q, %q, %v", c.text, before, after, found)
		}
	}
}

func TestUnknownError(t *testing.T) {
	c := git.Logged{ID: strings.Repeat("0123456789", 4)}
	if got := (&UnknownError{Commit: c}).Error(); got != "no conversation seems to have led to commit 012345678901" {
		t.Error(got)
	}
	if got := (&UnknownError{c, "01kanht420fe0kcfqm06m7hv37"}).Error(); got != "commit 012345678901 names conversation 01kanht420fe0kcfqm06m7hv37, which is not in this work tree" {
		t.Error(got)
	}
}

// TestParts: what is added to git's hooks ends well whatever happens, and has both ends of a
// commit.
func TestParts(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	list := parts(t.TempDir())
	if len(list) != 2 || list[0].Hook != "prepare-commit-msg" || list[1].Hook != "commit-msg" {
		t.Fatalf("%+v", list)
	}
	for i, end := range []string{`link-commit begin "$@"; fi) || :`, `link-commit end "$@"; fi) || :`} {
		if p := list[i]; !strings.HasSuffix(p.Command, end) || !strings.Contains(p.Command, "command -v cortext") || p.Mark != mark {
			t.Errorf("%+v", p)
		}
	}
}
