package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// A tagged is one clone's session, of which only tags and metadata change.
type tagged struct {
	t     *testing.T
	s     *Session
	clock time.Time
}

func (c *tagged) clone() *tagged {
	c.t.Helper()
	s, err := ParseSession(c.bytes())
	if err != nil {
		c.t.Fatal(err)
	}
	return &tagged{c.t, s, c.clock}
}

func (c *tagged) bytes() []byte {
	c.t.Helper()
	raw, err := c.s.Marshal()
	if err != nil {
		c.t.Fatal(err)
	}
	return raw
}

// edit changes the session as a write does.
func (c *tagged) edit(f func(s *Session)) {
	before := c.s.Clone()
	f(c.s)
	c.clock = c.clock.Add(time.Minute)
	c.s.Stamp(before, c.clock)
}

// toggle adds a tag and a value of the same name, or removes them.
func (c *tagged) toggle(tag string) {
	c.edit(func(s *Session) {
		values := map[string]string{}
		_ = json.Unmarshal(s.Metadata, &values)
		if slices.Contains(s.Tags, tag) {
			s.Tags = slices.DeleteFunc(slices.Clone(s.Tags), func(t string) bool { return t == tag })
			delete(values, tag)
		} else {
			s.Tags = asSet(append(slices.Clone(s.Tags), tag))
			values[tag] = "v"
		}
		s.Metadata, _ = json.Marshal(values)
	})
}

// redact redacts text in tags and names, as the store does.
func (c *tagged) redact(text string) {
	redact := func(s string) string { return strings.ReplaceAll(s, text, "[redacted: by-user]") }
	c.edit(func(s *Session) {
		tags := slices.Clone(s.Tags)
		for i := range tags {
			tags[i] = redact(tags[i])
		}
		s.Tags, s.Metadata = asSet(tags), Raw(redact(string(s.Metadata)))
	})
	c.s.ForgetRedacted(redact)
}

// TestForgotten: a tag, or a name in the metadata, that one clone redacted as a whole does not
// come back from one that still has it, whatever each did with it and with others meanwhile.
// Nothing else is lost. This does not depend on the order of the sides, nor on the ancestor,
// and holds for a third clone, too.
func TestForgotten(t *testing.T) {
	const secret = "secret"
	seeds := uint64(3000)
	if testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		words := []string{"a", "b", "c", secret}
		clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		base := &tagged{t, &Session{
			Version: Version, ID: "01ke6jq302v5c77nbvtdhg5gya", Status: Active, ConversationType: "plan",
			CreatedAt: NewTime(clock), LastActive: NewTime(clock),
		}, clock}
		if r.IntN(2) == 0 { // from the creation
			base.s.Tags, base.s.Metadata = []string{"a", secret}, Raw(`{"a":"v","secret":"v"}`)
		}
		for range r.IntN(4) {
			base.toggle(words[r.IntN(len(words))])
		}
		if !strings.Contains(string(base.bytes()), secret) {
			base.toggle(secret)
		}
		one, two, three := base.clone(), base.clone(), base.clone()
		for i, c := range []*tagged{one, two, three} {
			c.clock = c.clock.Add(time.Duration(i+1) * time.Second) // no two clones write at the same time
			for range r.IntN(4) {
				c.toggle(append(words, fmt.Sprint("of", i))[r.IntN(len(words)+1)])
			}
		}
		others := func(c *tagged) (list []string) {
			for _, tag := range c.s.Tags {
				if strings.HasPrefix(tag, "of") {
					list = append(list, tag)
				}
			}
			return list
		}
		one.redact(secret)
		said := func() string {
			return fmt.Sprintf("seed %d:\nbase %s\none %s\ntwo %s\nthree %s", seed, base.bytes(), one.bytes(), two.bytes(), three.bytes())
		}
		if bytes.Contains(one.bytes(), []byte(secret)) {
			t.Fatalf("%s\nstill has it", said())
		}
		merge := func(base, a, b []byte) []byte {
			t.Helper()
			got, err := MergeSessionFiles(base, a, b)
			if err != nil {
				t.Fatal(err)
			}
			if other, err := MergeSessionFiles(base, b, a); err != nil || !bytes.Equal(got, other) {
				t.Fatalf("%s\n%s\nin the other order %s, %v", said(), got, other, err)
			}
			return got
		}
		var results [][]byte
		for _, ancestor := range [][]byte{base.bytes(), nil} {
			results = append(results, merge(ancestor, one.bytes(), two.bytes()))
		}
		both, err := MergeSessions(one.s, two.s)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := both.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, raw, merge(nil, results[1], three.bytes()), merge(base.bytes(), results[0], three.bytes()), merge(nil, merge(nil, two.bytes(), three.bytes()), one.bytes()))
		for i, got := range results {
			s, err := ParseSession(got)
			if err != nil || bytes.Contains(got, []byte(secret)) {
				t.Fatalf("%s\nmerge %d: %s, %v", said(), i, got, err)
			}
			want := slices.Concat(others(one), others(two))
			if i > 2 {
				want = append(want, others(three)...)
			}
			for _, tag := range want {
				if !slices.Contains(s.Tags, tag) || !strings.Contains(string(s.Metadata), tag) {
					t.Fatalf("%s\nmerge %d lost %s: %s", said(), i, tag, got)
				}
			}
		}
	}
}

// TestForgetNotes: after a redaction the notes have no hash of what they said before, and
// still replace it in a merge.
func TestForgetNotes(t *testing.T) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	base := &tagged{t, &Session{
		Version: Version, ID: "01ke6jq302v5c77nbvtdhg5gya", Status: Active, ConversationType: "plan", CreatedAt: NewTime(clock), LastActive: NewTime(clock),
	}, clock}
	base.edit(func(s *Session) { s.Notes = "secret" })
	one, two := base.clone(), base.clone()
	one.edit(func(s *Session) { s.Notes = "[redacted: by-user]" })
	one.s.ForgetNotes()
	want := string(base.s.NotesSet[0].At)
	if got := one.s.NotesSet[0].Was; !slices.Equal(got, []string{want}) {
		t.Errorf("was %q, want %q", got, want)
	}
	two.edit(func(s *Session) { s.Title = "other" })
	both, err := MergeSessions(one.s, two.s)
	if err != nil || both.Notes != "[redacted: by-user]" {
		t.Errorf("merged: %q, %v", both.Notes, err)
	}
	for key, want := range map[string]string{
		"2026-01-01T00:00:00.000Z-f74ce619":  "2026-01-01T00:00:00.000Z",
		"2026-01-01T00:00:00.000Z":           "2026-01-01T00:00:00.000Z",
		"2026-01-01T00:00:00-05:00":          "2026-01-01T00:00:00-05:00",
		"2026-01-01T00:00:00-05:00-00000000": "2026-01-01T00:00:00-05:00",
		"":                                   "", "-f74ce619": "-f74ce619",
	} {
		if got := withoutHash(key); got != want {
			t.Errorf("%q without its hash: %q", key, got)
		}
	}
}
