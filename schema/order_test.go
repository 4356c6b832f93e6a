package schema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// msgs parses messages from a short notation: "id<parent@minute", where parent and minute
// may be missing; "-" is a line without id.
func msgs(t *testing.T, notation string) []Message {
	t.Helper()
	var list []Message
	for n, word := range strings.Fields(notation) {
		word, minute, timed := strings.Cut(word, "@")
		id, parent, _ := strings.Cut(word, "<")
		m := Message{ID: id, ParentID: parent, Role: User, Content: fmt.Sprint(n)}
		if id == "-" {
			m.ID = ""
		}
		if timed {
			m.Timestamp = Time("2025-11-22T10:" + minute + ":00.000Z")
		}
		list = append(list, m)
	}
	return list
}

func names(list []Message) string {
	var b strings.Builder
	for i, m := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		if m.ID == "" {
			b.WriteByte('-')
		}
		b.WriteString(m.ID)
	}
	return b.String()
}

func TestOrder(t *testing.T) {
	for _, tt := range []struct{ name, file, arranged, branch string }{
		{"empty", "", "", ""},
		{"linear", "a b<a c<b", "a b c", "a b c"},
		{"no parents at all", "a@03 b@02 c@01", "a b c", "a b c"},
		{"1.0: no ids", "- - -", "- - -", "- - -"},
		{"1.0, then ids", "- - a b<a", "- - a b", "- - a b"},
		{"a parent that is not there", "a b<x c<b", "a b c", "a b c"},
		{"linear whatever the times", "a@09 b<a@08 c<b@07", "a b c", "a b c"},
		{"rewind", "a b<a@01 c<b@02 d<a@03 e<d@04", "a b c d e", "a d e"},
		{"the older branch is appended last", "a b<a@03 c<b@04 d<a@01 e<d@02", "a d e b c", "a b c"},
		{"same time, by id", "a c<a@01 b<a@01", "a b c", "a c"},
		{"a child before its parent", "b<a@02 a@01 c<b@03", "a b c", "a b c"},
		{"two native sessions, then a merge", "a b<a@01 s@02 t<s@03 u<t@05 v<t@04", "a b s t v u", "a b s t u"},
		{"a line without id stays with the one before it", "a b<a@01 - c<a@02 - d<c@03", "a b - c - d", "a c - d"},
		{"an event between two messages is no branch", "a - b<a", "a - b", "a - b"},
		{"a cycle", "a<b@01 b<a@02 c<b@03", "a b c", "a b c"},
		{"itself as parent", "a<a b<a", "a b", "a b"},
		{"a cycle beside a thread", "r@01 x<y@02 y<x@03 s<r@04", "r x y s", "r s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := msgs(t, tt.file)
			if got := names(Arrange(in)); got != tt.arranged {
				t.Errorf("Arrange: %s, want %s", got, tt.arranged)
			}
			path, aside := Branch(in)
			if got := names(path); got != tt.branch {
				t.Errorf("Branch: %s, want %s", got, tt.branch)
			}
			if len(path)+aside != len(in) {
				t.Errorf("Branch: %d on the path and %d aside, of %d", len(path), aside, len(in))
			}
		})
	}
}

// randomTree returns n messages, each but the first with a parent, in an order in which
// they could have been appended.
func randomTree(r *rand.Rand, n int) []Message {
	list := make([]Message, n)
	for i := range list {
		list[i] = Message{ID: fmt.Sprintf("%08x", r.Uint32()), Role: User}
		list[i].Timestamp = NewTime(time.Unix(int64(r.IntN(2*n)), 0)) // some have equal times
		if i > 0 {
			parent := i - 1
			if r.IntN(4) == 0 {
				parent = r.IntN(i)
			}
			list[i].ParentID = list[parent].ID
		}
	}
	return list
}

// TestNumber checks that a message has the same place whatever part of the log is read,
// and in whatever order clones merged it.
func TestNumber(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"", ""},
		{"a b<a c<b", "a1 b2 c3"},
		{"- a - b<a", "1 a2 3 b4"},
		{"a b<a@01 c<b@02 d<a@03 e<d@04", "a1 d4 e5"},
		{"a d<a@03 e<d@04 b<a@01 c<b@02", "a1 d4 e5"},
		{"a d<a@03 b<a@01 e<d@04 c<b@02", "a1 d4 e5"},
		{"a b<a@01 c<b@02 x<b@03 y<x@04 d<a@05 e<d@06 f<d@07", "a1 d6 f8"},
		{"a b<a@01 s@02 t<s@03 c<a@09 d<c@10", "a1 c5 d6"}, // s, of another session, follows b
		{"b<x@01 c<b@05 d<y@02 e<c@06", "b2 c3 e4"},        // d, whose parent is missing, counts as if it came before all others
	} {
		list := msgs(t, tt.file)
		path, _ := Branch(slices.Clone(list))
		Number(path, list, len(list))
		var got []string
		for _, m := range path {
			got = append(got, fmt.Sprint(m.ID, m.Number))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.file, s, tt.want)
		}
	}
	cycle := []Message{{ID: "a"}, {ID: "b", ParentID: "c"}, {ID: "c", ParentID: "b"}}
	if Number(cycle[:1], cycle, 3); cycle[0].Number != 3 {
		t.Errorf("before a cycle: %d", cycle[0].Number)
	}
}

// TestArrangeIgnoresFileOrder checks that the order does not depend on how a merge left
// the lines of a tree.
func TestArrangeIgnoresFileOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		tree := randomTree(r, 1+r.IntN(30))
		r.Shuffle(len(tree), func(i, j int) { tree[i], tree[j] = tree[j], tree[i] })
		want := names(Arrange(tree))
		path, _ := Branch(tree)
		wantPath := names(path)
		r.Shuffle(len(tree), func(i, j int) { tree[i], tree[j] = tree[j], tree[i] })
		if got := names(Arrange(tree)); got != want {
			t.Fatalf("%s\nbecomes %s\nand was %s", names(tree), got, want)
		}
		if path, _ := Branch(tree); names(path) != wantPath {
			t.Fatalf("%s\nresumes %s\nand was %s", names(tree), names(path), wantPath)
		}
	}
}

// TestArrangeAny checks, for any file, that each message comes out once, a parent before
// its children, and that arranging again changes nothing.
func TestArrangeAny(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		list := make([]Message, r.IntN(20))
		for i := range list {
			m := Message{Role: User, Content: fmt.Sprint(i)}
			if r.IntN(6) > 0 {
				m.ID = fmt.Sprintf("m%d", i)
			}
			switch r.IntN(8) {
			case 0:
			case 1:
				m.ParentID = "gone"
			default:
				m.ParentID = fmt.Sprintf("m%d", r.IntN(len(list)))
			}
			if r.IntN(3) > 0 {
				m.Timestamp = NewTime(time.Unix(int64(r.IntN(10)), 0))
			}
			list[i] = m
		}
		got := Arrange(list)
		contents := func(list []Message) []string {
			var all []string
			for _, m := range list {
				all = append(all, m.Content)
			}
			return all
		}
		in, out := contents(list), contents(got)
		if again := contents(Arrange(got)); !slices.Equal(again, out) {
			t.Fatalf("%s\nbecomes %s\nthen    %s", names(list), names(got), names(Arrange(got)))
		}
		slices.Sort(in)
		slices.Sort(out)
		if !slices.Equal(in, out) {
			t.Fatalf("%v became %v", in, out)
		}
		path, aside := Branch(list)
		if len(path)+aside != len(list) {
			t.Fatalf("%d on the path and %d aside, of %d", len(path), aside, len(list))
		}
	}
}

// TestArrangeHostile checks that a file crafted to slow down Arrange does not. All
// descendants of each root come before it.
func TestArrangeHostile(t *testing.T) {
	const n = 30_000
	var list []Message
	for i := range n {
		list = append(list, Message{ID: fmt.Sprint("z", n-1-i), ParentID: fmt.Sprint("r", n-i)})
	}
	for i := range n {
		list = append(list, Message{ID: fmt.Sprint("c", i), ParentID: "r0"})
	}
	for i := range n {
		list = append(list, Message{ID: fmt.Sprint("r", i)})
	}
	if got := Arrange(list); len(got) != len(list) {
		t.Fatalf("%d of %d messages", len(got), len(list))
	}
}

// TestOthers checks that abandoned branches come newest first, each with only its own
// messages.
func TestOthers(t *testing.T) {
	list := msgs(t, "a@01 b<a@02 c<b@03 d<b@04 e<d@05 f<a@09 g<d@07")
	var got []string
	for _, branch := range Others(list) {
		got = append(got, names(branch))
	}
	if want := []string{"b d g", "e", "c"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Others(list[:3]); got != nil {
		t.Errorf("without a branch: %v", got)
	}
}
