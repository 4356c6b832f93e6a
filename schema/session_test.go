package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// firstLines is the session of first in today's spelling.
const firstLines = `{
  "version": "1.0",
  "conversation_id": "001-brainstorm-api-design",
  "status": "active",
  "created_at": "2025-11-22T10:30:00Z",
  "context_summary": "Discussing REST vs GraphQL for internal APIs, leaning toward REST for simplicity",
  "agent_config": {"command":"/workspace.brainstorm","system_prompt_hash":"sha256:abc123...","model":"claude-sonnet-4-5-20250929","tools":["mcp__cortext__search_workspace","mcp__cortext__get_context"]},
  "conversation_type": "brainstorm",
  "last_active": "2025-11-22T11:45:00Z",
  "message_count": 24,
  "id": ""
}
`

// first is a session.json in the first version of the format.
const first = `{
  "version": "1.0",
  "conversation_id": "001-brainstorm-api-design",
  "conversation_type": "brainstorm",
  "status": "active",
  "created_at": "2025-11-22T10:30:00Z",
  "last_active": "2025-11-22T11:45:00Z",
  "message_count": 24,
  "agent_config": {
    "command": "/workspace.brainstorm",
    "system_prompt_hash": "sha256:abc123...",
    "model": "claude-sonnet-4-5-20250929",
    "tools": ["mcp__cortext__search_workspace", "mcp__cortext__get_context"]
  },
  "context_summary": "Discussing REST vs GraphQL for internal APIs, leaning toward REST for simplicity"
}
`

func TestSessionFirstVersion(t *testing.T) {
	s, err := schema.ParseSession([]byte(first))
	if err != nil {
		t.Fatal(err)
	}
	want := &schema.Session{
		Version:          "1.0",
		ConversationID:   "001-brainstorm-api-design",
		ConversationType: "brainstorm",
		Status:           schema.Active,
		CreatedAt:        "2025-11-22T10:30:00Z",
		LastActive:       "2025-11-22T11:45:00Z",
		MessageCount:     24,
		AgentConfig: schema.AgentConfig{
			Command:          "/workspace.brainstorm",
			SystemPromptHash: "sha256:abc123...",
			Model:            "claude-sonnet-4-5-20250929",
			Tools:            []string{"mcp__cortext__search_workspace", "mcp__cortext__get_context"},
		},
		ContextSummary: "Discussing REST vs GraphQL for internal APIs, leaning toward REST for simplicity",
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	if got := s.DisplayTitle(); got != "api design" {
		t.Errorf("title is %q", got)
	}
	if got := s.LastActive.Time(); !got.Equal(time.Date(2025, 11, 22, 11, 45, 0, 0, time.UTC)) {
		t.Errorf("last active at %v", got)
	}
	if b, err := s.Marshal(); err != nil || string(b) != firstLines {
		t.Errorf("written back as %v\n%s", err, b)
	}
}

func TestDisplayTitle(t *testing.T) {
	for _, c := range []struct{ title, id, typ, want string }{
		{"API Design Discussion", "001-brainstorm-api-design", "brainstorm", "API Design Discussion"},
		{"", "001-brainstorm-api-design", "brainstorm", "api design"},
		{"", "001-brainstorm-api-design", "debug", "brainstorm api design"},
		{"", "001-brainstorm-api-design", "", "brainstorm api design"},
		{"", "012-plan", "plan", "plan"},
		{"", "notes", "plan", "notes"},
		{"", "api-design", "plan", "api design"},
		{"", "", "", "conversation 2025-11-22 10:30"},
		{" \t ", "001-brainstorm-api-design", "brainstorm", "api design"},
		{"untitled", "", "plan", "plan 2025-11-22 10:30"},
		{"untitled", "1030-plan-untitled-hv37", "plan", "plan 2025-11-22 10:30"},
	} {
		s := schema.Session{Title: c.title, ConversationID: c.id, ConversationType: c.typ, ID: "01kanht420fe0kcfqm06m7hv37", CreatedAt: "2025-11-22T10:30:59.000Z"}
		if got := s.DisplayTitle(); got != c.want {
			t.Errorf("DisplayTitle of %+v is %q", c, got)
		}
	}
}

func TestDisplayTitleOfID(t *testing.T) {
	s := schema.Session{ConversationID: "1030-brainstorm-api-design-hv37", ConversationType: "brainstorm", ID: "01kanht420fe0kcfqm06m7hv37"}
	if got := s.DisplayTitle(); got != "api design" {
		t.Errorf("title is %q", got)
	}
	if s.ID = "01kanhtnmgdh93d67n7rbmy910"; s.DisplayTitle() != "api design hv37" {
		t.Errorf("title of another id is %q", s.DisplayTitle())
	}
}

// Unknown members keep their bytes, except for line breaks between tokens, whatever their
// spelling and depth, and the second rewrite changes nothing.
func TestSessionKeepsUnknown(t *testing.T) {
	const in = `{"x_first" :  {"a" : [1,  2.50, 1e9],
      "a\u0062":"\u00e9\/"},
 "version":"1.9", "status":"paused", "message_count":0, "x_big":12345678901234567890,
 "agent_config": {"model":"m","x_in" : [ ] },
 "sources":[{"agent":"claude","x_in_list":{ "b":null }}],
 "plan":{"steps":[{"content":"c","x_step":  true}],"x_plan":"\ud83d\ude00"},
 "metadata": { "free" : 1.0 },
 "x_null":null, "x_last":-0.0}`
	const want = `{
  "version": "1.9",
  "status": "paused",
  "plan": {"steps":[{"content":"c","x_step":true}],"x_plan":"\ud83d\ude00"},
  "agent_config": {"model":"m","x_in":[ ]},
  "metadata": { "free" : 1.0 },
  "x_first": {"a" : [1,  2.50, 1e9],      "a\u0062":"\u00e9\/"},
  "x_big": 12345678901234567890,
  "x_null": null,
  "x_last": -0.0,
  "message_count": 0,
  "sources": [{"agent":"claude","x_in_list":{ "b":null }}],
  "id": ""
}
`
	for _, text := range []string{in, want} {
		s, err := schema.ParseSession([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if string(b) != want {
			t.Errorf("got\n%s\nwant\n%s", b, want)
		}
		line := s.AppendLine([]byte("> "))
		if bytes.ContainsAny(line, "\r\n") || !strings.HasPrefix(string(line), `> {"version":"1.9",`) || !json.Valid(line[2:]) {
			t.Errorf("as a line: %q", line)
		}
	}
}

// deep returns an object nested n deep as the value of a member.
func deep(n int) string {
	return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)
}

// many returns n members with distinct names.
func many(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"x%d":%d`, i, i)
	}
	return list
}

func TestSessionStrict(t *testing.T) {
	with := func(member string) string { return `{"version":"1.1","status":"active",` + member + `}` }
	for _, c := range []struct{ name, text, want string }{
		{"empty", ``, "cut off"},
		{"not an object", `["version"]`, "an object was expected"},
		{"cut off", first[:len(first)-3], "cut off"},
		{"text behind", with(`"tokens":1`) + `{}`, "more text after the value"},
		{"NUL behind", with(`"tokens":1`) + "\x00", "more text after the value"},
		{"NUL in a string", with("\"title\":\"a\x00b\""), "control byte"},
		{"byte order mark", "\xef\xbb\xbf" + first, "value was expected"},
		{"comment", with(`"tokens":1`) + `// x`, "more text after the value"},
		{"comma at the end", `{"version":"1.1","status":"active",}`, "name was expected"},
		{"name twice in an object", with(`"agent_config":{"model":"a","model":"b"}`), `name "model" appears twice`},
		{"name twice in a list", with(`"sources":[{},{"agent":"a","agent":"a"}]`), `name "agent" appears twice`},
		{"name twice in an unknown list", with(`"x":[1,[{"y":[{"z":1,"z":2}]}]]`), `name "z" appears twice`},
		{"name twice in metadata", with(`"metadata":{"a":{"b":1,"b":1}}`), `name "b" appears twice`},
		{"name in another case", with(`"ID":"01kaq5d1m09zvmrcwk4hpv5b8t"`), `name "ID" must be spelled "id"`},
		{"version in another case", `{"Version":"1.1","version":"1.1","status":"active"}`, `"Version" must be spelled "version"`},
		{"name in another alphabet", with(`"to` + "\u212a" + `ens":1`), `must be spelled "tokens"`},
		{"name in an old spelling", with("\"note\u017f\":1"), `must be spelled "notes"`},
		{"name in another case below", with(`"agent_config":{"Command":"rm"}`), `"Command" must be spelled "command"`},
		{"name in another case two below", with(`"agent_config":{"provider":{"Base_URL":"x"}}`), `must be spelled "base_url"`},
		{"name in another case in a list", with(`"sources":[{"agent":"a"},{"Native_ID":"b"}]`), `must be spelled "native_id"`},
		{"name in another case in a list below", with(`"plan":{"steps":[{"Status":"pending"}]}`), `must be spelled "status"`},
		{"invalid UTF-8", with("\"title\":\"\xff\""), "not valid UTF-8"},
		{"invalid UTF-8 in a name", with("\"\xff\":1"), "not valid UTF-8"},
		{"invalid UTF-8 far below", with("\"x\":[{\"y\":\"\xc3\"}]"), "not valid UTF-8"},
		{"lone surrogate", with(`"title":"\ud83d"`), "not valid UTF-8"},
		{"lone surrogate far below", with(`"x":{"y":["\udc00"]}`), "not valid UTF-8"},
		{"lone surrogate in a name", with(`"\ud800":1`), "not valid UTF-8"},
		{"number for a string", with(`"title":1`), `field "title"`},
		{"string for a number", with(`"tokens":"1"`), "not a whole number"},
		{"fraction", with(`"message_count":1.5`), "not a whole number"},
		{"exponent", with(`"tokens":1e3`), "not a whole number"},
		{"big number", with(`"tokens":9223372036854775808`), "not a whole number"},
		{"leading zero", with(`"tokens":01`), "comma"},
		{"negative count", with(`"message_count":-1`), "negative"},
		{"negative tokens", with(`"tokens":-1`), "negative"},
		{"negative bytes", with(`"counted_bytes":-1`), "negative"},
		{"string for a boolean", with(`"archived":"true"`), "neither true nor false"},
		{"object for a list", with(`"tags":{}`), "an array was expected"},
		{"null in a list", with(`"tags":[null]`), "not a JSON string"},
		{"list for an object", with(`"git":[]`), "an object was expected"},
		{"list for metadata", with(`"metadata":[]`), "metadata: an object was expected"},
		{"number in a list of objects", with(`"sources":[1]`), "an object was expected"},
		{"number for a list of objects", with(`"sources":1`), "an array was expected"},
		{"not a time", with(`"created_at":"2025-11-22"`), "not a time"},
		{"not a time either", with(`"last_active":"now"`), "not a time"},
		{"no status", `{"version":"1.1"}`, "is not active, paused or completed"},
		{"unknown status", `{"version":"1.1","status":"archived"}`, "is not active, paused or completed"},
		{"version missing", `{"status":"active"}`, "not of the form 1.1"},
		{"version null", `{"version":null,"status":"active"}`, "not of the form 1.1"},
		{"version number", `{"version":1.1,"status":"active"}`, `field "version"`},
		{"version without minor", `{"version":"1","status":"active"}`, "not of the form 1.1"},
		{"version x", `{"version":"x","status":"active"}`, "not of the form 1.1"},
		{"version 1.x", `{"version":"1.x","status":"active"}`, "not of the form 1.1"},
		{"version 0.9", `{"version":"0.9","status":"active"}`, "not of the form 1.1"},
		{"version with a sign", `{"version":"+1.0","status":"active"}`, "not of the form 1.1"},
		{"minor with a sign", `{"version":"1.-1","status":"active"}`, "not of the form 1.1"},
		{"version of three parts", `{"version":"1.1.0","status":"active"}`, "not of the form 1.1"},
		{"stamp of another type", with(`"title_set":{"at":"2026-01-01T00:00:00.000Z","to":1}`), `field "title_set"`},
		{"stamp without a time", with(`"title_set":{"to":"x"}`), "not a time"},
		{"tag without a time", with(`"tags_set":[{"tag":"x","on":true}]`), "not a time"},
		{"note that replaced a number", with(`"notes_set":[{"at":"2026-01-01T00:00:00.000Z","was":[1],"to":""}]`), `field "notes_set"`},
		{"name in another case in a stamp", with(`"title_set":{"At":"2026-01-01T00:00:00.000Z"}`), `must be spelled "at"`},
		{"too long", with(`"x":"` + strings.Repeat("x", 4<<20) + `"`), "limit of 4194304"},
		{"too many members", with(strings.Join(many(10_000), ",")), "more than 10000"},
		{"too many members below", with(`"x":[{"y":{` + strings.Join(many(10_001), ",") + `}}]`), "more than 10000"},
		{"too many in a list", with(`"x":[1` + strings.Repeat(",1", 10_000) + `]`), "more than 10000"},
		{"half a million deep", with(`"x":` + deep(500_000)), "nested deeper"},
		{"a million deep, open", strings.Repeat("[", 1_000_000), "nested deeper"},
	} {
		s, err := schema.ParseSession([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q", c.name, err, c.want)
		}
		if s != nil {
			t.Errorf("%s: a half session came with the error", c.name)
		}
		if v := new(schema.VersionError); errors.As(err, &v) {
			t.Errorf("%s: called a newer version", c.name)
		}
	}
	for _, text := range []string{
		first,
		strings.ReplaceAll(first, "\n", "\r\n"),
		`{"version":"1.9","status":"completed"}`,
		with(`"title":null,"plan":null,"agent_config":null,"sources":null,"metadata":null`),
		with(`"tokens":9223372036854775807`),
		with(`"Änderung":"\ud83d\ude00"`),
		with(`"x":` + deep(9_000)),
		with(strings.Join(many(9_998), ",")),
	} {
		if _, err := schema.ParseSession([]byte(text)); err != nil {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// A newer version is reported as such, even if everything else has changed.
func TestSessionNewer(t *testing.T) {
	for _, text := range []string{
		`{"version":"2.0","status":"sleeping","tokens":"many","Status":1}`,
		`{"records":[],"version":"17.3"}`,
	} {
		s, err := schema.ParseSession([]byte(text))
		v := new(schema.VersionError)
		if s != nil || !errors.As(err, &v) || !strings.Contains(text, `"`+v.Have+`"`) || !strings.Contains(err.Error(), "newer") {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
}

// A session that could not be read back is not written.
func TestSessionMarshalRefuses(t *testing.T) {
	valid := func() *schema.Session {
		s := &schema.Session{Version: schema.Version, Status: schema.Paused, Tags: []string{}, Sources: []schema.Source{}}
		s.AgentConfig.Tools = []string{} // empty counts as absent here as well
		return s
	}
	if b, err := valid().Marshal(); err != nil || string(b) != "{\n  \"version\": \"1.2\",\n  \"status\": \"paused\",\n  \"message_count\": 0,\n  \"id\": \"\"\n}\n" {
		t.Fatalf("%v\n%s", err, b)
	}
	for name, change := range map[string]func(*schema.Session){
		"no version":     func(s *schema.Session) { s.Version = "" },
		"newer version":  func(s *schema.Session) { s.Version = "2.0" },
		"status":         func(s *schema.Session) { s.Status = "open" },
		"time":           func(s *schema.Session) { s.CreatedAt = "now" },
		"count":          func(s *schema.Session) { s.CountedBytes = -1 },
		"lone surrogate": func(s *schema.Session) { s.Description = "cut in \xed\xa0\xbd" },
		"metadata":       func(s *schema.Session) { s.Metadata = schema.Raw(`{"a":`) },
		"name twice":     func(s *schema.Session) { s.Metadata = schema.Raw(`{"a":1,"a":1}`) },
		"unknown twice": func(s *schema.Session) {
			s.Unknown = []rawjson.Member{{Name: "x", Value: []byte("1")}, {Name: "x", Value: []byte("2")}}
		},
		"stamp without time": func(s *schema.Session) { s.TitleSet = &schema.Stamp[string]{To: "x"} },
		"too long":           func(s *schema.Session) { s.Notes = strings.Repeat("x", schema.MaxSessionBytes) },
		"too many":           func(s *schema.Session) { s.Sources = make([]schema.Source, schema.MaxSessionMembers+1) },
	} {
		s := valid()
		change(s)
		if b, err := s.Marshal(); err == nil || b != nil {
			t.Errorf("%s: %v\n%s", name, err, b)
		}
	}
}
