package schema_test

import (
	"bytes"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/schema"
)

func TestNewID(t *testing.T) {
	for _, c := range []struct {
		ms      int64
		entropy [10]byte
		want    string
	}{
		{0, [10]byte{}, "00000000000000000000000000"},
		{-1, [10]byte{}, "00000000000000000000000000"},
		{1, [10]byte{9: 1}, "00000000010000000000000001"},
		{32, [10]byte{0: 0x08}, "00000000101000000000000000"},
		{1<<48 - 1, [10]byte(bytes.Repeat([]byte{0xff}, 10)), "7zzzzzzzzzzzzzzzzzzzzzzzzz"},
		{1763807400000, [10]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "01kanht420041061050r3gg28a"},
	} {
		got := schema.NewID(time.UnixMilli(c.ms), c.entropy)
		if got != c.want {
			t.Errorf("NewID(%d, %x) is %s, want %s", c.ms, c.entropy, got, c.want)
		}
		if err := schema.CheckID(got); err != nil {
			t.Error(err)
		}
	}
}

// Ids sort by time, whatever their entropy.
func TestNewIDOrder(t *testing.T) {
	at := time.Date(2025, 11, 22, 10, 30, 0, 0, time.UTC)
	var ids []string
	for i := range 4000 {
		var entropy [10]byte
		rand.Read(entropy[:])
		ids = append(ids, schema.NewID(at.Add(time.Duration(i*i)*time.Millisecond), entropy))
	}
	if !slices.IsSorted(ids) {
		t.Error("ids do not sort by time")
	}
	for i, id := range ids {
		if err := schema.CheckID(id); err != nil || i > 0 && id == ids[i-1] {
			t.Fatalf("%s: %v", id, err)
		}
	}
}

// Every clone must derive these ids.
func TestDerivedID(t *testing.T) {
	at := time.Date(2025, 11, 22, 10, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		agent, native string
		at            time.Time
		want          string
	}{
		{"claude", "5f0c1d2e-6a7b-4c8d-9e0f-112233445566", at, "01kanht420fe0kcfqm06m7hv37"},
		{"claude", "5f0c1d2e-6a7b-4c8d-9e0f-112233445566", at.In(time.FixedZone("", -3600)).Add(999 * time.Microsecond), "01kanht420fe0kcfqm06m7hv37"},
		{"gemini", "5f0c1d2e-6a7b-4c8d-9e0f-112233445566", at, "01kanht420rhfhy458j3bytya8"},
		{"opencode", "ses_4f1", at, "01kanht4208s4m88cah7p3wezg"},
		{"", "", time.Time{}, "000000000006x4e6e81dqyj4dg"},
	} {
		if got := schema.DerivedID(c.agent, c.native, c.at); got != c.want {
			t.Errorf("DerivedID(%q, %q, %v) is %s, want %s", c.agent, c.native, c.at, got, c.want)
		}
	}
	if schema.DerivedID("a", "bc", at) == schema.DerivedID("ab", "c", at) {
		t.Error("two sessions have one id")
	}
}

// A later part of a native session has its own id, the same in every clone.
func TestDerivedPartID(t *testing.T) {
	at := time.Date(2025, 11, 22, 10, 30, 0, 0, time.UTC)
	if got, want := schema.DerivedPartID("claude", "n", "", at), schema.DerivedID("claude", "n", at); got != want {
		t.Errorf("the first part has the id %s, its session %s", got, want)
	}
	if got, want := schema.DerivedPartID("claude", "n", "prompt-4", at), schema.DerivedID("claude", "n\nprompt-4", at); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if schema.SameConversation(schema.DerivedPartID("claude", "n", "prompt-4", at), schema.DerivedID("claude", "n", at)) {
		t.Error("two parts are one conversation")
	}
}

func TestSameConversation(t *testing.T) {
	at := time.Date(2025, 11, 22, 10, 30, 0, 0, time.UTC)
	id := schema.DerivedID("claude", "n", at)
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{id, id, true},
		{id, schema.DerivedID("claude", "n", at.Add(time.Hour)), true},
		{id, schema.DerivedID("claude", "m", at), false},
		{id, schema.DerivedID("gemini", "n", at), false},
		{id, id[10:], false},
		{id, "", false},
		{"", "", false},
		{"x", "x", true},
	} {
		if schema.SameConversation(c.a, c.b) != c.want || schema.SameConversation(c.b, c.a) != c.want {
			t.Errorf("SameConversation(%q, %q) is not %v", c.a, c.b, c.want)
		}
	}
}

func TestCheckID(t *testing.T) {
	const good = "01kaq5d1m09zvmrcwk4hpv5b8t"
	if err := schema.CheckID(good); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"", good[1:], good + "0", "../../../../../../etc/passw", strings.ToUpper(good),
		"i" + good[1:], "l" + good[1:], "o" + good[1:], "u" + good[1:], "/" + good[1:], "." + good[1:],
		"\x00" + good[1:], "é" + good[2:], strings.Repeat("0", 1<<20)} {
		if err := schema.CheckID(id); err == nil || len(err.Error()) > 300 {
			t.Errorf("%.30q: %v", id, err)
		}
	}
}
