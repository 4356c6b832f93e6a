package schema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// described formats the branches of a log: "start-end(own)<after".
func described(list []Message) string {
	var words []string
	leaves, _ := Leaves(list)
	for _, l := range leaves {
		word := fmt.Sprintf("%s-%s(%d)", list[l.Start].ID, list[l.End].ID, l.Own)
		if l.After >= 0 {
			word += "<" + list[l.After].ID
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestLeaves(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"empty", "", ""},
		{"linear", "a b<a c<b", "a-c(3)"},
		{"1.0: no ids", "- - -", "-(3)"},
		{"rewind", "a b<a@01 c<b@02 d<a@03 e<d@04", "a-c(3) d-e(2)<a"},
		{"the older branch is appended last", "a b<a@03 c<b@04 d<a@01 e<d@02", "a-e(3) b-c(2)<a"},
		{"a rewind on a rewind", "a b<a@01 c<b@02 d<b@03 e<a@04 f<d@05", "a-c(3) d-f(2)<b e-e(1)<a"},
		{"a line without id belongs to the one before it", "a b<a@01 - c<a@02 -", "a-b(3) c-c(2)<a"},
	} {
		if got := described(msgs(t, tt.file)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestLeavesProperties checks, on random conversations, that each message is owned once, on
// the branch that leads to it; and that neither later messages nor the order in which
// clones merged the lines changes the branches that were there.
func TestLeavesProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 4))
	for range 300 {
		list := randomTree(r, 1+r.IntN(40))
		leaves, owner := Leaves(list)
		if want := 1 + len(Others(list)); len(leaves) != want {
			t.Fatalf("%d leaves, want %d", len(leaves), want)
		}
		total := 0
		for k, l := range leaves {
			total += l.Own
			path := PathTo(list, list[l.End].ID)
			own := path[len(path)-l.Own:]
			if own[0].ID != list[l.Start].ID {
				t.Fatalf("branch %d owns %s, but begins with %s", k, names(own), list[l.Start].ID)
			}
			for _, m := range own {
				i := slices.IndexFunc(list, func(o Message) bool { return o.ID == m.ID })
				if int(owner[i]) != k {
					t.Fatalf("%s is owned by %d, want %d", m.ID, owner[i], k)
				}
			}
		}
		if total != len(list) {
			t.Fatalf("%d messages are owned, of %d", total, len(list))
		}

		starts := startsOf(list)
		shuffled := slices.Clone(list)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got := startsOf(shuffled); !slices.Equal(got, starts) {
			t.Fatalf("in another order the branches begin with %v, want %v", got, starts)
		}
		more := append(slices.Clone(list), Message{ID: "new", Role: User, ParentID: list[r.IntN(len(list))].ID, Timestamp: NewTime(time.Unix(1_000_000, 0))})
		if got := startsOf(more); !slices.Equal(got[:len(starts)], starts) {
			t.Fatalf("after one more message the branches begin with %v, want %v first", got, starts)
		}
	}
}

func startsOf(list []Message) (ids []string) {
	leaves, _ := Leaves(list)
	for _, l := range leaves {
		ids = append(ids, list[l.Start].ID)
	}
	return ids
}

// TestNumberAll checks that every message has a number of its own, that the numbers rise
// along each branch, and that they match those of Number on the newest one.
func TestNumberAll(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 5))
	for range 300 {
		list := randomTree(r, 1+r.IntN(40))
		path, _ := Branch(slices.Clone(list))
		Number(path, list, len(list))
		NumberAll(list)
		seen := make([]bool, len(list)+1)
		for _, m := range list {
			if m.Number < 1 || m.Number > len(list) || seen[m.Number] {
				t.Fatalf("%s has the number %d, of %d messages", m.ID, m.Number, len(list))
			}
			seen[m.Number] = true
		}
		for _, m := range path {
			if i := slices.IndexFunc(list, func(o Message) bool { return o.ID == m.ID }); list[i].Number != m.Number {
				t.Fatalf("%s has the number %d, and %d on its branch", m.ID, list[i].Number, m.Number)
			}
		}
		for _, m := range list {
			p := PathTo(list, m.ID)
			if !slices.IsSortedFunc(p, func(a, b Message) int { return a.Number - b.Number }) {
				t.Fatalf("the numbers on the way to %s do not rise", m.ID)
			}
		}
	}
}

func TestPathTo(t *testing.T) {
	list := msgs(t, "a b<a@01 - c<b@02 d<a@03 e<d@04")
	for id, want := range map[string]string{"a": "a", "b": "a b -", "c": "a b - c", "e": "a d e", "": "", "x": ""} {
		if got := names(PathTo(list, id)); got != want {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
	}
}

// TestNumberAllMerged: in any order of the lines, each message has a number of its own, and
// those of the newest branch are as in Number.
func TestNumberAllMerged(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 6))
	for range 300 {
		list := randomTree(r, 1+r.IntN(30))
		for i := range list { // lines that name a missing parent or none
			if r.IntN(9) == 0 {
				list[i].ParentID = []string{"", "missing"}[r.IntN(2)]
			}
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		path, _ := Branch(slices.Clone(list))
		Number(path, list, len(list))
		NumberAll(list)
		seen := map[int]bool{}
		for _, m := range list {
			if m.Number < 1 || m.Number > len(list) || seen[m.Number] {
				t.Fatalf("%s has the number %d, of %d messages", m.ID, m.Number, len(list))
			}
			seen[m.Number] = true
		}
		for _, m := range path {
			if i := slices.IndexFunc(list, func(o Message) bool { return o.ID == m.ID }); list[i].Number != m.Number {
				t.Fatalf("%s has the number %d, and %d on its branch", m.ID, list[i].Number, m.Number)
			}
		}
	}
}
