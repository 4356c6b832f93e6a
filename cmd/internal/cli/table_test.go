package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cortext/cmd/internal/listing"
	"cortext/schema"
)

var testNow = time.Date(2025, 11, 26, 12, 0, 0, 0, time.UTC)

// hostileRows have titles that could break columns or a terminal.
func hostileRows() (rows []row) {
	for i, title := range []string{
		"API design", "数据库迁移计划讨论会议记录与后续行动的完整标题", "family 👩‍👩‍👧‍👦 done", strings.Repeat("👩‍👩‍👧‍👦 ", 40), strings.Repeat("संयुक्ताक्षर ", 40), "\x1b[31mred\x1b[0m \x07", "two\nlines\tand a tab",
		"\u202eright to left", "e\u0301 combining", "مرحبا", strings.Repeat("long ", 60), "broken \xff byte", "",
	} {
		at := testNow.Add(-time.Duration(i*i*i) * 7 * time.Hour)
		rows = append(rows, row{Listed: listing.Listed{
			ID: "01kan", Path: fmt.Sprintf("conversations/2025-11-22/1030-plan-x-a%03d", i), Title: title, Type: "plan", Status: "paused", Agent: "claude",
			MessageCount: i * 100, Tags: []string{}, LastActive: schema.NewTime(at), CreatedAt: schema.NewTime(at), LastAgent: "claude",
		}, active: at})
	}
	return rows
}

// apart separates joined emoji and joined letters.
var apart = strings.NewReplacer("\u200d", "", "\u094d", "")

func tableAt(width int, places bool) (*table, *bytes.Buffer) {
	var out bytes.Buffer
	s := screen{out: &out, errw: io.Discard, now: func() time.Time { return testNow }}
	t := s.tableOf(&out, width)
	if places {
		s.nameWorkspaces(t)
	}
	return t, &out
}

// TestTableFits: at any width each line fits the terminal, titles begin in one column, and
// the id, the time and the agent are there.
func TestTableFits(t *testing.T) {
	for width := 40; width <= 210; width += 5 {
		for _, places := range []bool{false, true} {
			tab, out := tableAt(width, places)
			if err := tab.print(slices.Values(hostileRows())); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if len(lines) != len(hostileRows())+1 {
				t.Fatalf("width %d: %d lines\n%s", width, len(lines), out)
			}
			title := strings.Index(lines[0], "TITLE")
			for i, line := range lines {
				for _, line := range []string{line, apart.Replace(line)} { // terminals differ in what is joined
					if got := ansi.StringWidth(line); got > width {
						t.Errorf("width %d: a line is %d wide: %q", width, got, line)
					}
				}
				if strings.ContainsAny(line, "\x1b\x07\t") {
					t.Errorf("width %d: %q could change the terminal", width, line)
				}
				if i > 0 && hostileRows()[i-1].Title != "" && !strings.HasPrefix(ansi.Cut(line, title-2, title), "  ") {
					t.Errorf("width %d: the title does not begin at %d: %q", width, title, line)
				}
			}
			for _, text := range []string{"a000", "just now", "claude", "API design"} {
				if !strings.Contains(lines[1], text[:min(len(text), 6)]) && width >= 60 {
					t.Errorf("width %d: no %q in %q", width, text, lines[1])
				}
			}
		}
	}
}

// TestTablePiped: in a pipe nothing is cut and there is no heading.
func TestTablePiped(t *testing.T) {
	tab, out := tableAt(0, false)
	if err := tab.print(slices.Values(hostileRows())); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "TITLE") || strings.Contains(text, "…") || !strings.Contains(text, strings.TrimSpace(strings.Repeat("long ", 60))) {
		t.Errorf("%s", text)
	}
}

// TestRowJSON: rows are the JSON that encoding/json makes of their fields.
func TestRowJSON(t *testing.T) {
	rows := hostileRows()
	rows[0].Tags, rows[1].Workspace, rows[2].Archived, rows[3].Tokens = []string{"a", "<b>"}, "/w", true, -1
	type plain row // without MarshalJSON
	for _, r := range rows {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(plain(r)); err != nil {
			t.Fatal(err)
		}
		var got, expected map[string]any
		if err := json.Unmarshal(r.Append(nil), &got); err != nil {
			t.Fatalf("%v in %s", err, r.Append(nil))
		}
		if err := json.Unmarshal(want.Bytes(), &expected); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(expected) {
			t.Errorf("%s\nwant %s", r.Append(nil), &want)
		}
	}
}

func TestShortName(t *testing.T) {
	for folder, want := range map[string]string{
		"conversations/2025-11-22/1030-brainstorm-api-design-hv37": "hv37",
		"conversations/2025-11-22/1030-chat-hv37":                  "hv37",
		"conversations/2025-11-22/001-brainstorm-api-design":       "2025-11-22/001",
		"conversations/2025-11-22/notes":                           "2025-11-22/notes",
		"conversations/2025-11-22/1030":                            "2025-11-22/1030",
		"conversations/2025-11-22/1030-api":                        "2025-11-22/1030",
	} {
		if got := shortName(folder); got != want {
			t.Errorf("%s: %q, want %q", folder, got, want)
		}
	}
}

func BenchmarkRowJSON(b *testing.B) {
	r := hostileRows()[0]
	r.Summary = "API design. Last: api/openapi.yaml has the two operations of orders; the linter asks for responses."
	var buf []byte
	for b.Loop() {
		buf = r.Append(buf[:0])
	}
}

func BenchmarkTable(b *testing.B) {
	rows := hostileRows()
	for b.Loop() {
		tab, _ := tableAt(80, false)
		if err := tab.print(slices.Values(rows)); err != nil {
			b.Fatal(err)
		}
	}
}
