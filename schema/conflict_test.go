package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
)

// merged lists files left by a merge, with the result of reading them.
var merged = []struct {
	name, text, want string
	repair           schema.Repair
}{
	{"union of two stops", `{
  "version": "1.2",
  "conversation_id": "1030-brainstorm-api-design-hv37",
  "status": "paused",
  "status_set": {"at":"2026-01-01T00:03:10.000Z","to":"paused"},
  "status_set": {"at":"2026-01-01T00:05:44.000Z","to":"paused"},
  "last_active": "2026-01-01T00:03:00.000Z",
  "message_count": 6,
  "last_active": "2026-01-01T00:05:00.000Z",
  "message_count": 9,
  "id": "01kanht420fe0kcfqm06m7hv37"
}
`, `{
  "version": "1.2",
  "conversation_id": "1030-brainstorm-api-design-hv37",
  "status": "paused",
  "status_set": {"at":"2026-01-01T00:05:44.000Z","to":"paused"},
  "last_active": "2026-01-01T00:05:00.000Z",
  "message_count": 0,
  "id": "01kanht420fe0kcfqm06m7hv37"
}
`, schema.Repair{Doubled: true, Conflict: -1}},
	{"each rule", `{
  "version": "1.1",
  "version": "1.2",
  "title": "b",
  "title": "a",
  "title_set": {"at":"2026-01-01T00:00:02.000Z","to":"a"},
  "title_set": {"at":"2026-01-01T00:00:01.000Z","to":"b"},
  "conversation_id": "002-x",
  "conversation_id": "001-x",
  "status": "completed",
  "status_set": {"at":"2026-01-01T00:00:02.000Z","to":"paused"},
  "status_set": {"at":"2026-01-01T00:00:01.000Z","to":"active"},
  "created_at": "2026-01-02T00:00:00.000Z",
  "created_at": "2026-01-01T00:00:00.000Z",
  "context_summary": "unstamped",
  "context_summary": "stamped",
  "context_summary_set": {"at":"2026-01-01T00:00:02.000Z","to":"stamped"},
  "tags": ["c", "b"],
  "tags": ["a", "b"],
  "tags_set": [{"at":"2026-01-01T00:00:01.000Z","tag":"c","on":false},{"at":"2026-01-01T00:00:01.000Z","tag":"d","on":true}],
  "tags_set": [{"at":"2026-01-01T00:00:02.000Z","tag":"d","on":false,"was":["2026-01-01T00:00:01.000Z"]}],
  "notes": "one",
  "notes": "two",
  "notes_set": [{"at":"2026-01-01T00:00:02.000Z","to":"two"}],
  "notes_set": [{"at":"2026-01-01T00:00:01.000Z","was":["x"],"to":"one"}],
  "metadata": {"a": 1},
  "metadata": {"b":2},
  "links": {"parent":"01kanht420fe0kcfqm06m7hv37","related":["01kaq5d1m09zvmrcwk4hpv5b8t"]},
  "links": {"related":["01kanhtnmgdh93d67n7rbmy910"]},
  "x": 2,
  "x": 1,
  "message_count": 3,
  "tokens": 5,
  "counted_bytes": 7,
  "counted_bytes": 8,
  "sources": [{"agent":"claude","native_id":"b"}],
  "sources": [{"agent":"claude","native_id":"a"}],
  "id": ""
}
`, `{
  "version": "1.2",
  "title": "a",
  "title_set": {"at":"2026-01-01T00:00:02.000Z","to":"a"},
  "conversation_id": "001-x",
  "status": "completed",
  "status_set": {"at":"2026-01-01T00:00:02.000Z","to":"paused"},
  "created_at": "2026-01-01T00:00:00.000Z",
  "context_summary": "stamped",
  "context_summary_set": {"at":"2026-01-01T00:00:02.000Z","to":"stamped"},
  "tags": ["a","b"],
  "tags_set": [{"at":"2026-01-01T00:00:01.000Z","tag":"c","on":false},{"at":"2026-01-01T00:00:02.000Z","tag":"d","on":false,"was":["2026-01-01T00:00:01.000Z"]}],
  "notes": "one\n\ntwo",
  "notes_set": [{"at":"2026-01-01T00:00:01.000Z","was":["x"],"to":"one"},{"at":"2026-01-01T00:00:02.000Z","to":"two"}],
  "metadata": {"a":1,"b":2},
  "links": {"parent":"01kanht420fe0kcfqm06m7hv37","related":["01kanhtnmgdh93d67n7rbmy910","01kaq5d1m09zvmrcwk4hpv5b8t"]},
  "x": 1,
  "message_count": 0,
  "sources": [{"agent":"claude","native_id":"a"},{"agent":"claude","native_id":"b"}],
  "id": ""
}
`, schema.Repair{Doubled: true, Conflict: -1}},
	{"a later release keeps its copies", `{"version":"1.3","status":"paused","y":2,"y":1,"status":"paused"}`, `{
  "version": "1.3",
  "status": "paused",
  "y": 1,
  "y": 2,
  "message_count": 0,
  "id": ""
}
`, schema.Repair{Doubled: true, Conflict: -1}},
	{"jj", `{
  "version": "1.2",
<<<<<<< conflict 1 of 2
%%%%%%% diff from: base
\\\\\\\        to: side 1
-  "title": "first",
+  "title": "ours",
+  "title_set": {"at":"2026-01-01T00:00:02.000Z","to":"ours"},
   "conversation_id": "001-x",
-  "status": "active",
+  "status": "paused",
+  "status_set": {"at":"2026-01-01T00:00:02.000Z","to":"paused"},
+++++++ side 2
  "title": "changed",
  "title_set": {"at":"2026-01-01T00:00:01.000Z","to":"theirs"},
  "conversation_id": "001-x",
  "status": "completed",
  "status_set": {"at":"2026-01-01T00:00:03.000Z","to":"completed"},
>>>>>>> conflict 1 of 2 ends
  "message_count": 2,
<<<<<<< conflict 2 of 2
+++++++ side 1
  "sources": [{"agent":"claude","native_id":"a"}],
------- base
+++++++ side 2
  "sources": [{"agent":"claude","native_id":"b"}],
>>>>>>> conflict 2 of 2 ends
  "id": "01kanht420fe0kcfqm06m7hv37"
}
`, `{
  "version": "1.2",
  "title": "ours",
  "title_set": {"at":"2026-01-01T00:00:02.000Z","to":"ours"},
  "conversation_id": "001-x",
  "status": "completed",
  "status_set": {"at":"2026-01-01T00:00:03.000Z","to":"completed"},
  "message_count": 2,
  "sources": [{"agent":"claude","native_id":"a"},{"agent":"claude","native_id":"b"}],
  "id": "01kanht420fe0kcfqm06m7hv37"
}
`, schema.Repair{Conflict: 22}},
	{"what both sides replaced", `{
  "version": "1.2",
<<<<<<< ours
  "title": "ours",
||||||| base
<<<<<<<<< of the base
  "title": "zero",
=========
  "title": "first",
>>>>>>>>> of the base
  "tags": ["base"],
=======
  "title": "",
>>>>>>> theirs
  "status": "paused",
  "message_count": 2,
  "id": ""
}
`, `{
  "version": "1.2",
  "title": "ours",
  "status": "paused",
  "message_count": 2,
  "id": ""
}
`, schema.Repair{Conflict: 22}},
	{"one spelling joined with another", `{
  "version": "1.1",
  "version": "1.2",
  "title": "a",
  "status": "paused",
  "agent_config": {
    "agent": "claude",
    "tools": ["Read", "Bash"]
  },
  "status": "completed",
  "status_set": {"at":"2026-01-01T00:00:03.000Z","to":"completed"},
  "agent_config": {"agent":"claude","tools":["Read","Bash"]},
  "plan": {
    "steps": [
      {"content":"a","status":"completed"}
      {"content":"b","status":"completed"}
    ]
  },
  "git": {
    "branch": "main"
  }
  "message_count": 3,
  "id": ""
}
`, `{
  "version": "1.2",
  "title": "a",
  "status": "completed",
  "status_set": {"at":"2026-01-01T00:00:03.000Z","to":"completed"},
  "agent_config": {"agent":"claude","tools":["Read","Bash"]},
  "git": {"branch":"main"},
  "message_count": 3,
  "id": ""
}
`, schema.Repair{Doubled: true, Conflict: -1, Partial: true}},
	{"a side that is not valid", `{
  "version": "1.2",
<<<<<<< ours
  "title": "ours",
  "status": "gone",
=======
  "title": "changed",
  "status": "active",
>>>>>>> theirs
  "message_count": 2,
  "id": ""
}
`, `{
  "version": "1.2",
  "title": "changed",
  "status": "active",
  "message_count": 2,
  "id": ""
}
`, schema.Repair{Conflict: 22, Partial: true}},
	{"CRLF and a marker left over", "{\r\n  \"version\": \"1.2\",\r\n=======\r\n  \"status\": \"paused\",\r\n>>>>>>> theirs\r\n  \"message_count\": 1,\r\n  \"id\": \"\"\r\n}\r\n", `{
  "version": "1.2",
  "status": "paused",
  "message_count": 1,
  "id": ""
}
`, schema.Repair{Conflict: 24}},
}

func TestMerged(t *testing.T) {
	for _, c := range merged {
		s, err := schema.ParseSession([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, err := s.Marshal(); err != nil || string(got) != c.want {
			t.Errorf("%s: %v, got\n%swant\n%s", c.name, err, got, c.want)
		}
		if s.Repair == nil || *s.Repair != c.repair {
			t.Errorf("%s: repair is %+v, want %+v", c.name, s.Repair, c.repair)
		}
	}
	if s, err := schema.ParseSession([]byte(firstLines)); err != nil || s.Repair != nil {
		t.Errorf("a whole file needs repair: %v", err)
	}
}

// TestMergedIndented: an editor indents session.json its own way on one side, the other side
// changes the title, and git joins the lines of both.
func TestMergedIndented(t *testing.T) {
	dir := t.TempDir()
	base := merged[0].want
	ours := strings.Replace(base, "  \"id\"", `  "title": "changed",
  "title_set": {"at":"2026-01-01T00:09:00.000Z","to":"changed"},
  "id"`, 1)
	for _, by := range []string{"", " ", "  ", "    ", "\t", "        ", "compact"} {
		var text bytes.Buffer
		var err error
		if by == "compact" {
			err = json.Compact(&text, []byte(base))
		} else {
			err = json.Indent(&text, []byte(base), "", by)
		}
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"base": base, "ours": ours, "theirs": text.String() + "\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var first []byte
		for i, sides := range [][2]string{{"ours", "theirs"}, {"theirs", "ours"}} {
			git := exec.Command("git", "merge-file", "-p", "--union", sides[0], "base", sides[1])
			git.Dir = dir
			joined, err := git.Output()
			if err != nil {
				t.Fatal(err)
			}
			s, err := schema.ParseSession(joined)
			if err != nil {
				t.Errorf("indented by %q: %v in\n%s", by, err, joined)
				continue
			}
			got, err := s.Marshal()
			if err != nil || s.Title != "changed" || s.Repair != nil && s.Repair.Partial {
				t.Errorf("indented by %q: %v, title %q, %+v", by, err, s.Title, s.Repair)
			}
			if i == 0 {
				first = got
			} else if !bytes.Equal(got, first) {
				t.Errorf("indented by %q: the result depends on the order:\n%s\n%s", by, first, got)
			}
		}
	}
}

// Defects that no merge caused are not repaired.
func TestMergedRefuses(t *testing.T) {
	ours, theirs := "<<<<<<< ours\n", "=======\n  \"title\": \"x\",\n>>>>>>> theirs\n"
	lines := strings.SplitAfter(merged[0].text, "\n")
	for name, c := range map[string]struct{ text, want string }{
		"a cut file":         {merged[0].text[:len(merged[0].text)-3], "cut off"},
		"a cut file, lines":  {strings.Join(lines[:5], ""), "cut off"},
		"no name twice":      {"{\n  \"version\": \"1.2\",\n  \"status\": \"paused\",,\n}\n", "name was expected"},
		"twice below":        {`{"version":"1.2","status":"paused","status":"paused","agent_config":{"model":"a","model":"b"}}`, `"model" appears twice`},
		"newer":              {"{\n" + ours + "  \"version\": \"1.2\",\n=======\n  \"version\": \"2.0\",\n>>>>>>> theirs\n  \"status\": 1\n}\n", "newer"},
		"newer, twice":       {`{"version":"2.0","version":"1.2","status":"paused"}`, "newer"},
		"newer, not strict":  {`{"version":"2.0","a":{"b":1,"b":1}}`, "newer"},
		"another case":       {"{\n  \"Version\": \"1.2\",\n" + ours + theirs + "  \"version\": \"1.2\",\n  \"status\": \"paused\"\n}\n", "must be spelled"},
		"no status":          {"{\n" + ours + theirs + "  \"version\": \"1.2\"\n}\n", "conflict marker at byte 2: status"},
		"nothing but marker": {ours, "conflict marker at byte 0"},
		"many sides": {"{\n" + ours + strings.Repeat("+++++++\n", 20) + ">>>>>>>\n  \"version\": \"1.2\",\n  \"status\": \"paused\"\n}\n",
			"more than 8 sides"},
		"many members": {"{\n" + ours + strings.Repeat("\"x\":1,\n", 10_001) + theirs + "\"version\": \"1.2\",\n\"status\": \"paused\"\n}\n",
			"more than 10000"},
	} {
		s, err := schema.ParseSession([]byte(c.text))
		if s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if newer := (*schema.VersionError)(nil); errors.As(err, &newer) != (c.want == "newer") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two clones of release 1.1 stopped one conversation; git left markers.
func TestMergeOfRelease11(t *testing.T) {
	base := `{
  "version": "1.1",
  "id": "01kanht420fe0kcfqm06m7hv37",
  "conversation_id": "001-brainstorm-api-design",
  "title": "first",
  "status": "active",
  "created_at": "2025-11-22T10:30:00.000Z",
  "last_active": "2025-11-22T10:31:00.000Z",
  "message_count": 2,
  "tokens": 10,
  "counted_bytes": 100,
  "agent_config": {
    "agent": "claude",
    "tools": ["Read", "Bash"]
  },
  "sources": [
    {"agent":"claude","native_id":"a"}
  ],
  "git": {
    "branch": "main"
  }
}
`
	edit := func(pairs ...string) []byte { return []byte(strings.NewReplacer(pairs...).Replace(base)) }
	a := edit(`"first"`, `"later"`, `"active"`, `"completed"`, `10:31:00`, `10:50:00`, `"message_count": 2`, `"message_count": 5`, `"counted_bytes": 100`, `"counted_bytes": 500`,
		`"native_id":"a"}`, `"native_id":"a"},`+"\n"+`    {"agent":"gemini","native_id":"c"}`,
		"  \"git\"", "  \"tags\": [\"x\"],\n  \"notes\": \"one\",\n  \"git\"",
		"\"main\"\n  }", "\"main\"\n  },\n  \"links\": {\n    \"related\": [\"01kaq5d1m09zvmrcwk4hpv5b8t\"]\n  }")
	b := edit(`"first"`, `"earlier"`, `"active"`, `"paused"`, `10:31:00`, `10:40:00`, `"message_count": 2`, `"message_count": 4`, `"counted_bytes": 100`, `"counted_bytes": 400`,
		`"native_id":"a"}`, `"native_id":"a"},`+"\n"+`    {"agent":"claude","native_id":"b"}`,
		"  \"git\"", "  \"plan\": {\n    \"steps\": [\n      {\"content\":\"s\",\"status\":\"pending\"}\n    ],\n    \"current\": 0\n  },\n  \"tags\": [\"y\"],\n  \"notes\": \"two\",\n  \"git\"",
		"\"main\"\n  }", "\"main\"\n  },\n  \"links\": {\n    \"related\": [\"01kanhtnmgdh93d67n7rbmy910\"]\n  }")
	const want = `{
  "version": "1.1",
  "title": "later",
  "conversation_id": "001-brainstorm-api-design",
  "status": "completed",
  "created_at": "2025-11-22T10:30:00.000Z",
  "plan": {"steps":[{"content":"s","status":"pending"}]},
  "agent_config": {"agent":"claude","tools":["Read","Bash"]},
  "tags": ["x","y"],
  "git": {"branch":"main"},
  "notes": "two\n\none",
  "links": {"related":["01kanhtnmgdh93d67n7rbmy910","01kaq5d1m09zvmrcwk4hpv5b8t"]},
  "last_active": "2025-11-22T10:50:00.000Z",
  "message_count": 0,
  "sources": [{"agent":"claude","native_id":"a"},{"agent":"claude","native_id":"b"},{"agent":"gemini","native_id":"c"}],
  "id": "01kanht420fe0kcfqm06m7hv37"
}
`
	for _, style := range []string{"--diff3", "--zdiff3", "--no-diff3"} {
		for _, order := range [][2][]byte{{a, b}, {b, a}} {
			dir := t.TempDir()
			for i, text := range [][]byte{order[0], []byte(base), order[1]} {
				if err := os.WriteFile(filepath.Join(dir, []string{"a", "base", "b"}[i]), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("git", "merge-file", "-q", "-p", style, "a", "base", "b")
			cmd.Dir = dir
			text, _ := cmd.Output()
			if !bytes.Contains(text, []byte("<<<<<<< ")) {
				t.Fatalf("no conflict\n%s", text)
			}
			s, err := schema.ParseSession(text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if got, err := s.Marshal(); err != nil || string(got) != want {
				t.Fatalf("%v, got\n%swant\n%sof\n%s", err, got, want, text)
			}
			if s.Repair == nil || s.Repair.Conflict != int64(bytes.Index(text, []byte("<<<<<<< "))) {
				t.Errorf("repair is %+v", s.Repair)
			}
		}
	}
}

// A release 1.1 and this one changed a file that 1.1 wrote; git joined the lines.
func TestMergeWithRelease11(t *testing.T) {
	old, err := os.ReadFile("testdata/session-1.1.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.ParseSession(old)
	if err != nil {
		t.Fatal(err)
	}
	before := s.Clone()
	s.Version, s.Status, s.Title = schema.Version, schema.Completed, "REST"
	s.Stamp(before, s.LastActive.Time())
	next, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	older := bytes.Replace(old, []byte(`"API design"`), []byte(`"Internal APIs"`), 1)
	older = bytes.Replace(older, []byte(`"version":"2.1.329"}`), []byte(`"version":"2.1.329"},`+"\n    "+`{"agent":"gemini","native_id":"g"}`), 1)
	for _, style := range []string{"--union", "--diff3"} {
		var spelled [][]byte
		for _, order := range [][2][]byte{{next, older}, {older, next}} {
			dir := t.TempDir()
			for i, text := range [][]byte{order[0], old, order[1]} {
				if err := os.WriteFile(filepath.Join(dir, []string{"a", "base", "b"}[i]), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("git", "merge-file", "-q", "-p", style, "a", "base", "b")
			cmd.Dir = dir
			text, _ := cmd.Output()
			s, err := schema.ParseSession(text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if s.Title != "REST" || s.Status != schema.Completed || len(s.Sources) != 2 || s.Plan == nil || len(s.AgentConfig.Tools) != 5 || s.Repair == nil {
				t.Errorf("got %+v of\n%s", s, text)
			}
			b, err := s.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			spelled = append(spelled, b)
		}
		if !slices.EqualFunc(spelled[:1], spelled[1:], bytes.Equal) {
			t.Errorf("%s: written as\n%s\nand as\n%s", style, spelled[0], spelled[1])
		}
	}
}
