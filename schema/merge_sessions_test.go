package schema_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/schema"
)

// TestMergeSessions checks that two sessions of one conversation merge like their files.
func TestMergeSessions(t *testing.T) {
	base := schema.Session{Version: schema.Version, ID: strings.Repeat("1", 26), ConversationID: "x", Status: schema.Active, Title: "old",
		CreatedAt: "2025-11-22T10:00:00.000Z", LastActive: "2025-11-22T10:00:00.000Z", MessageCount: 1, CountedBytes: 10,
		Sources: []schema.Source{{Agent: "claude", NativeID: "a"}}}
	at := base.CreatedAt.Time()
	ours, theirs := base, base
	ours.Title, ours.Tags = "ours", []string{"one"}
	ours.Stamp(&base, at.Add(time.Minute))
	theirs.Title, theirs.Tags, theirs.MessageCount = "theirs", []string{"two"}, 2
	theirs.Sources = append(slices.Clone(base.Sources), schema.Source{Agent: "gemini", NativeID: "b"})
	theirs.Stamp(&base, at.Add(time.Hour))
	for _, pair := range [][2]*schema.Session{{&ours, &theirs}, {&theirs, &ours}} {
		m, err := schema.MergeSessions(pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		if m.Title != "theirs" || !slices.Equal(m.Tags, []string{"one", "two"}) || len(m.Sources) != 2 || m.MessageCount != 0 || m.CountedBytes != 0 || m.ID != base.ID {
			t.Errorf("%+v", m)
		}
	}
	if schema.IDKey(base.ID) != strings.Repeat("1", 16) || schema.IDKey("short") != "short" {
		t.Error("the key of an id")
	}
}
