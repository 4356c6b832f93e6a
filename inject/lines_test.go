package inject_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"cortext/inject"
	"cortext/schema/jsonl"
)

// lines reads records as an adapter does.
func lines(t *testing.T, text string, o inject.Options) (spans []inject.Span, tr inject.Transcript) {
	t.Helper()
	var l inject.Losses
	err := inject.ReadLines(strings.NewReader(text), int64(len(text)), o, &l, func(rec jsonl.Record) {
		spans = append(spans, inject.Span{Offset: rec.Offset, Size: len(rec.Raw)})
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Report(&tr)
	return spans, tr
}

// TestReadLines checks that records can be read again, that damage is reported, and
// that a line cut off at the end is reported separately, since the agent may still be
// writing it.
func TestReadLines(t *testing.T) {
	const text = "{\"a\":1}\nbroken\n{\"b\":2}\n{\"c\":"
	spans, tr := lines(t, text, inject.Options{})
	for i, want := range []string{`{"a":1}`, `{"b":2}`} {
		if raw, err := spans[i].Read(strings.NewReader(text)); err != nil || string(raw) != want {
			t.Errorf("record %d is %s, %v", i, raw, err)
		}
	}
	if len(spans) != 2 || len(tr.Unread) != 1 || !strings.Contains(tr.Torn, "torn tail") || !reflect.DeepEqual(tr.Warnings, append(tr.Unread, tr.Torn)) {
		t.Errorf("%d records, unread %q, torn %q, warnings %q", len(spans), tr.Unread, tr.Torn, tr.Warnings)
	}
	// A line cut off by our own limit is not damage.
	if _, tr := lines(t, text, inject.Options{Head: int64(len(text))}); tr.Warnings != nil {
		t.Errorf("warnings %q", tr.Warnings)
	}
	if spans, tr := lines(t, `{"a":1}`, inject.Options{}); len(spans) != 1 || tr.Warnings != nil {
		t.Errorf("without a newline at the end: %v, %q", spans, tr.Warnings)
	}
	if spans, _ := lines(t, text, inject.Options{From: inject.Cursor{Offset: 8}}); len(spans) != 1 {
		t.Errorf("read on, there are %v", spans)
	}
	var done []int64
	lines(t, strings.Repeat("{}\n", 300), inject.Options{Progress: func(n int64) { done = append(done, n) }})
	if !reflect.DeepEqual(done, []int64{255 * 3, 900}) {
		t.Errorf("progress %v", done)
	}
}

func TestLosses(t *testing.T) {
	var l inject.Losses
	l.Unknown("b")
	l.Unknown(inject.KindName(""))
	l.Unknown("b")
	l.Damaged("damage")
	var tr inject.Transcript
	l.Report(&tr)
	want := []string{"damage", `1 records of the unknown kind "(no type)" left out`, `2 records of the unknown kind "b" left out`}
	if !reflect.DeepEqual(tr.Warnings, want) || len(tr.Unread) != 1 {
		t.Errorf("warnings %q, unread %q", tr.Warnings, tr.Unread)
	}
}

func TestAnyRecord(t *testing.T) {
	sought := func(raw []byte) bool { return bytes.Contains(raw, []byte("x")) }
	for text, want := range map[string]bool{"": false, "{}\n{\"x\":1}\n": true, "{}\n{}\n{\"x\":1}\n": false, "broken\n{\"x\":1}\n": true} {
		if got := inject.AnyRecord(strings.NewReader(text), 2, sought); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	if inject.AnyRecord(iotest.ErrReader(errors.New("unreadable")), 2, sought) {
		t.Error("found in an unreadable file")
	}
}

// TestCursorCheck checks that a cursor only fits a file with the same beginning and the
// same bytes before the cursor.
func TestCursorCheck(t *testing.T) {
	text := strings.Repeat("0123456789", 2000)
	c := inject.Cursor{Offset: 15_000}
	var err error
	if c.Head, c.Tail, err = inject.Fingerprint(strings.NewReader(text), c.Offset); err != nil || c.Head == c.Tail {
		t.Fatal(c, err)
	}
	for name, f := range map[string]struct {
		text string
		want error
	}{
		"same": {text, nil}, "longer": {text + "x", nil}, "other end": {text[:15_000] + "x", nil}, "shorter": {text[:14_999], inject.ErrCursor},
		"other beginning": {"x" + text[1:], inject.ErrCursor}, "other tail": {text[:14_999] + "x" + text[15_000:], inject.ErrCursor},
	} {
		if err := c.Check(strings.NewReader(f.text), int64(len(f.text))); err != f.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTranscript checks what a transcript collects from its lines.
func TestTranscript(t *testing.T) {
	var tr inject.Transcript
	at := time.Unix(1000, 0)
	for _, add := range []time.Duration{2, 1, 3} {
		tr.AddTime(at.Add(add))
		tr.AddTime(time.Time{})
	}
	if tr.First != at.Add(1) || tr.Last != at.Add(3) {
		t.Errorf("from %v to %v", tr.First, tr.Last)
	}
	for _, name := range []string{"b", "", "a", "b"} {
		tr.AddTool(name)
	}
	if !reflect.DeepEqual(tr.Tools, []string{"b", "a"}) {
		t.Errorf("tools %q", tr.Tools)
	}
	for range 1000 {
		tr.AddRoot("x")
	}
	if len(tr.Roots) != 100 {
		t.Errorf("%d roots", len(tr.Roots))
	}
}

// TestStripped checks that a text stays unchanged if there is no Strip or the text is
// not ours.
func TestStripped(t *testing.T) {
	ours := inject.Options{Strip: func(s string) (string, bool) { return strings.CutPrefix(s, "OURS") }}
	for _, c := range []struct {
		o    inject.Options
		text string
		rest string
		ok   bool
		all  bool
	}{
		{inject.Options{}, "OURS", "OURS", false, false}, {ours, "text", "text", false, false}, {ours, "OURS \n", " \n", true, true}, {ours, "OURS and", " and", true, false},
	} {
		if rest, ok := c.o.Stripped(c.text); rest != c.rest || ok != c.ok || c.o.IsPayload(c.text) != c.all {
			t.Errorf("%q: %q, %t, %t", c.text, rest, ok, c.o.IsPayload(c.text))
		}
	}
}
