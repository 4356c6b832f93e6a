package history

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cortext/schema"
)

// TestBranchList: the branches have numbers in the order in which they began, and those
// that only ask have none.
func TestBranchList(t *testing.T) {
	w := open(t)
	// a b c d: the first branch; e f: after b; g: an unanswered prompt; h i: after d
	e := begin(t, w, "x", []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}, map[string]string{"e": "b", "g": "b", "h": "d"})
	all, err := headsOf(w.Conversations, e)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range BranchesOf(all) {
		got = append(got, fmt.Sprintf("%d after %d: %d to %s %q %q %v", b.Number, b.After, b.Messages, b.End, b.Words, b.LastWords, b.Newest))
	}
	want := []string{`1 after 0: 6 to i "a" "i" true`, `2 after 2: 2 to f "e" "" false`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("branches:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	if b, err := EndOf(w.Conversations, e, 2); b.End != "f" || err != nil {
		t.Errorf("branch 2: %+v, %v", b, err)
	}
	if b, err := EndOf(w.Conversations, e, 1); b != (Branch{}) || err != nil {
		t.Errorf("the newest branch: %+v, %v", b, err)
	}
	var branch *BranchError
	if _, err := EndOf(w.Conversations, e, 9); !errors.As(err, &branch) || branch.Number != 9 || len(branch.Have) != len(got) {
		t.Errorf("branch 9: %v", err)
	}
}

// TestPointOf: a fork at a prompt begins before it, and a fork at any other message after it.
func TestPointOf(t *testing.T) {
	w := open(t)
	e := begin(t, w, "x", []string{"a", "b", "c", "d", "e", "f"}, map[string]string{"e": "b"})
	for _, c := range []struct {
		at     Choice
		path   string
		prompt string
	}{
		{Choice{}, "[a b e f]", ""},
		{Choice{Branch: 1}, "[a b c d]", ""},
		{Choice{Branch: 2}, "[a b e f]", ""},
		{Choice{At: "b"}, "[a b]", ""},
		{Choice{At: "2"}, "[a b]", ""},
		{Choice{At: "c"}, "[a b]", "c"},
		{Choice{At: "d"}, "[a b c d]", ""},
		{Choice{At: "4"}, "[a b c d]", ""}, // on a branch that was left
		{Choice{At: "5"}, "[a b]", "e"},
		{Choice{At: "6"}, "[a b e f]", ""},
		{Choice{At: "a"}, "[]", "a"},
	} {
		p, err := PointOf(w.Conversations, e, c.at)
		if err != nil || fmt.Sprint(idsOf(p.Path)) != c.path || p.Prompt.ID != c.prompt {
			t.Errorf("%+v: %v before %q, %v; want %s before %q", c.at, idsOf(p.Path), p.Prompt.ID, err, c.path, c.prompt)
		}
	}
	for _, at := range []string{"0", "7", "-1", "z", " ", "1e1"} {
		var missing *AtError
		if p, err := PointOf(w.Conversations, e, Choice{At: at}); !errors.As(err, &missing) || missing.Messages != 6 {
			t.Errorf("%q: %v, %v", at, idsOf(p.Path), err)
		}
	}
}

// TestPathTo: lines without an id belong to the one before them.
func TestPathTo(t *testing.T) {
	lines := func(ids ...string) (all []schema.Message) {
		for i, id := range ids {
			m := schema.Message{ID: id, Content: fmt.Sprint(i), Number: i + 1}
			if id != "" && i > 0 {
				m.ParentID = "a"
			}
			all = append(all, m)
		}
		return all
	}
	for _, c := range []struct {
		all  []schema.Message
		i    int
		want string
	}{
		{lines("", "", ""), 1, "0 1"},
		{lines("a", "", "b", "", ""), 1, "0 1"},
		{lines("a", "", "b", "", ""), 2, "0 1 2"},
		{lines("a", "", "b", "", ""), 3, "0 1 2 3"},
		{lines("a", "", "b", "", ""), 0, "0"},
	} {
		var got []string
		for _, m := range pathTo(c.all, c.i) {
			got = append(got, m.Content)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("to %d of %v: %v, want %s", c.i, idsOf(c.all), got, c.want)
		}
	}
}
