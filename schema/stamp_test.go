package schema_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/schema"
)

func TestStamp(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 3, 10, 999_999, time.UTC)
	s := &schema.Session{Version: schema.Version, Status: schema.Active, Title: "a", Tags: []string{"x"}, Notes: "n"}
	before := s.Clone()
	if s.Stamp(before, now); !reflect.DeepEqual(s, before) {
		t.Errorf("no edit is stamped: %+v", s)
	}

	s.Title, s.Status, s.Archived, s.ContextSummary, s.ConversationType = "", schema.Paused, true, "s", "debug"
	s.Plan = &schema.Plan{Steps: []schema.Step{{Content: "c"}}}
	s.Tags, s.Notes = []string{"y"}, "m"
	s.Stamp(before, now)
	const want = `{
  "version": "1.2",
  "title": "",
  "title_set": {"at":"2026-01-01T00:03:10.000Z","to":""},
  "status": "paused",
  "status_set": {"at":"2026-01-01T00:03:10.000Z","to":"paused"},
  "context_summary": "s",
  "context_summary_set": {"at":"2026-01-01T00:03:10.000Z","to":"s"},
  "plan": {"steps":[{"content":"c"}]},
  "plan_set": {"at":"2026-01-01T00:03:10.000Z","to":{"steps":[{"content":"c"}]}},
  "tags": ["y"],
  "tags_set": [{"at":"2026-01-01T00:03:10.000Z","tag":"x","on":false,"was":["created"]},{"at":"2026-01-01T00:03:10.000Z","tag":"y","on":true}],
  "conversation_type": "debug",
  "conversation_type_set": {"at":"2026-01-01T00:03:10.000Z","to":"debug"},
  "archived": true,
  "archived_set": {"at":"2026-01-01T00:03:10.000Z","to":true},
  "notes": "m",
  "notes_set": [{"at":"2026-01-01T00:03:10.000Z","to":"m"}],
  "message_count": 0,
  "id": ""
}
`
	b, err := s.Marshal()
	if err != nil || string(b) != want {
		t.Fatalf("%v, got\n%swant\n%s", err, b, want)
	}
	if line := string(s.AppendLine(nil)); strings.Contains(line, "_set") || s.TitleSet == nil {
		t.Errorf("a listing has stamps: %s", line)
	}
	again, err := schema.ParseSession(b)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Marshal(); err != nil || string(got) != want {
		t.Errorf("%v, written back as\n%s", err, got)
	}

	// The next writer's clock is behind.
	shallow := *again
	before = &shallow
	again.Plan, again.Archived, again.Tags, again.Notes = nil, false, nil, ""
	again.Stamp(before, now.Add(-time.Hour))
	const at = "2026-01-01T00:03:10.001Z"
	if again.PlanSet.At != at || again.PlanSet.To != nil || again.ArchivedSet.At != at || again.ArchivedSet.To || again.TitleSet.At != "2026-01-01T00:03:10.000Z" {
		t.Errorf("got %+v, %+v, %+v", again.PlanSet, again.ArchivedSet, again.TitleSet)
	}
	if want := []schema.TagStamp{{At: "2026-01-01T00:03:10.000Z", Tag: "x", Was: []string{"created"}}, {At: at, Tag: "y", Was: []string{"2026-01-01T00:03:10.000Z"}}}; !reflect.DeepEqual(again.TagsSet, want) {
		t.Errorf("got %+v", again.TagsSet)
	}
	if want := []schema.NoteStamp{{At: at, Was: []string{"2026-01-01T00:03:10.000Z-62c66a7a"}}}; !reflect.DeepEqual(again.NotesSet, want) {
		t.Errorf("got %+v", again.NotesSet)
	}
	if before.TagsSet[1].At == at || len(before.NotesSet[0].Was) > 0 {
		t.Error("the session before was changed")
	}
	if b, err = again.Marshal(); err != nil || !strings.Contains(string(b), "\n  \"plan\": null,\n  \"plan_set\": {\"at\":\""+at+"\",\"to\":null},\n") {
		t.Errorf("%v\n%s", err, b)
	}
}

// A change by an older release or a person, made without a stamp, counts, and the next
// write stamps it, whatever that write is for.
func TestStampOfAnother(t *testing.T) {
	const text = `{
  "version": "1.2",
  "title": "by hand",
  "title_set": {"at":"2026-01-01T00:00:00.000Z","to":"stamped"},
  "status": "paused",
  "tags": ["b"],
  "tags_set": [{"at":"2026-01-01T00:00:00.000Z","tag":"a","on":true},{"at":"2026-01-01T00:00:00.000Z","tag":"b","on":false},{"at":"2026-01-01T00:00:00.000Z","tag":"c","on":false}],
  "notes": "by hand",
  "notes_set": [{"at":"2026-01-01T00:00:00.000Z","to":"stamped"}],
  "message_count": 0,
  "id": ""
}
`
	s, err := schema.ParseSession([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := s.Marshal(); err != nil || string(b) != text {
		t.Fatalf("%v, written back as\n%s", err, b)
	}
	if s.Title != "by hand" || !slices.Equal(s.Tags, []string{"b"}) || s.Notes != "by hand" || s.Repair != nil {
		t.Errorf("got %+v", s)
	}
	s.Stamp(s.Clone(), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	const at = "2026-01-02T00:00:00.000Z"
	if s.TitleSet.At != at || s.TitleSet.To != "by hand" || s.NotesSet[0].At != at || s.NotesSet[0].To != "by hand" || s.StatusSet != nil {
		t.Errorf("got %+v, %+v, %+v", s.TitleSet, s.NotesSet, s.StatusSet)
	}
	was := []string{"2026-01-01T00:00:00.000Z"}
	if want := []schema.TagStamp{{At: at, Tag: "a", Was: was}, {At: at, Tag: "b", On: true, Was: was}, {At: "2026-01-01T00:00:00.000Z", Tag: "c"}}; !reflect.DeepEqual(s.TagsSet, want) {
		t.Errorf("got %+v", s.TagsSet)
	}
}

// Even a stamp from a clock that is far ahead can be followed by a readable one, until
// years run out.
func TestStampFarAhead(t *testing.T) {
	for _, at := range []schema.Time{"9999-12-31T23:59:59.999Z", "2500-01-01T00:00:00.123456Z"} {
		s := &schema.Session{Version: schema.Version, Status: schema.Active, TitleSet: &schema.Stamp[string]{At: at}}
		before := s.Clone()
		s.Status = schema.Paused
		s.Stamp(before, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		if _, err := s.Marshal(); err != nil {
			t.Error(err)
		}
		if got := s.StatusSet.At; at[:4] == "2500" && !got.Time().After(at.Time()) {
			t.Errorf("%s is not after %s", got, at)
		}
	}
}

// TestMetadataMerge: of each free-form value the one set last counts, whichever side has it
// and whatever old value a union merge brings back; a removed one stays removed.
func TestMetadataMerge(t *testing.T) {
	edit := func(s *schema.Session, metadata string, at time.Time) *schema.Session {
		t.Helper()
		after := s.Clone()
		after.Metadata = schema.Raw(metadata)
		after.Stamp(s, at)
		return after
	}
	at := time.Date(2025, 11, 22, 10, 0, 0, 0, time.UTC)
	base := edit(&schema.Session{Version: schema.Version, Status: schema.Active, ID: "01kanht420fe0kcfqm06m7hv37", ConversationID: "x"}, `{"owner":"ann","ticket":"API-12","rank":3}`, at)
	one := edit(base, `{"owner":"ann","ticket":"API-99","rank":3}`, at.Add(time.Minute))
	two := edit(base, `{"rank":3,"room":"north","ticket":"API-12"}`, at.Add(2*time.Minute)) // without the owner
	const want = `{"rank":3,"room":"north","ticket":"API-99"}`
	for _, order := range [][]*schema.Session{{one, two}, {two, one}, {base, one, two}, {two, base, one}, {one, two, one}} {
		merged := order[0]
		for _, next := range order[1:] {
			var err error
			if merged, err = schema.MergeSessions(merged, next); err != nil {
				t.Fatal(err)
			}
		}
		if string(merged.Metadata) != want {
			t.Errorf("merged %s, want %s", merged.Metadata, want)
		}
	}
	empty := edit(one, "", at.Add(3*time.Minute))
	merged, err := schema.MergeSessions(one, empty)
	if err != nil || string(merged.Metadata) != "{}" {
		t.Errorf("removed all, merged: %s, %v", merged.Metadata, err)
	}
	raw, err := merged.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, err := schema.ParseSession(raw)
	if err != nil || len(again.MetadataSet) != 3 {
		t.Errorf("read back: %v, %v", again, err)
	}
}
