package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cortext/schema/jsonl"
	"cortext/schema/rawjson"
)

// whole is a file without damage, whose content confuses readers.
const whole = `{"id":"m1","role":"user","content":"a{\"id\":\"x\"} é日😀 \ud83d \\\"{","x":{}}
{"id":"m2","blocks":[{"type":"text","bytes":3},{"type":"tool_call","id":"c"}],"tool_calls":[{"id":"c","name":"{"}],"usage":{"prompt_tokens":-1.5e3},"t":[true,null,[{"a":{"b":[{"c":{}}]}}]]}
{"id":"c","input":{"id":"d","input":{"id":"e"}},"success":false}
`

// Wherever a file is cut, the records before the cut are read, and nothing else.
func TestReadCut(t *testing.T) {
	for cut := range len(whole) + 1 {
		checkCut(t, []byte(whole), cut)
	}
}

// checkCut cuts a file of whole records at a byte.
func checkCut(t *testing.T, file []byte, cut int) {
	t.Helper()
	var want []string
	start := 0
	for line := range bytes.SplitAfterSeq(file[:cut], []byte("\n")) {
		if rawjson.Valid(line) == nil {
			want = append(want, fmt.Sprint(start, string(bytes.TrimSpace(line))))
			start += len(line)
		} else if line, ok := bytes.CutSuffix(line, []byte("\n")); ok {
			t.Fatalf("%q is no record", line)
		} else {
			break
		}
	}
	kind := jsonl.Kind("")
	if cut > 0 && file[cut-1] != '\n' {
		kind = jsonl.TornTail
		if start == cut {
			kind = jsonl.Unterminated
		}
	}
	var got []string
	for r, err := range jsonl.Read(bytes.NewReader(file[:cut]), 0, 1) {
		if err == nil {
			got = append(got, fmt.Sprint(r.Offset, string(r.Raw)))
			continue
		}
		d := new(jsonl.Damage)
		if !errors.As(err, &d) || d.Kind != kind || d.Offset != int64(start) || d.Line != 1+bytes.Count(file[:cut], []byte("\n")) {
			t.Fatalf("cut at %d: %v, want %q at byte %d of\n%q", cut, err, kind, start, file[:cut])
		}
		kind = ""
	}
	if !slices.Equal(got, want) || kind != "" {
		t.Fatalf("cut at %d: records %q, want %q; and %q", cut, got, want, kind)
	}
}

// After a writer died in the middle of a record and the next one appended to it, the
// appended records are read, and never a part of the torn one. If the torn record ends
// before a value, the next could be that value: then nothing is read.
func TestReadSplice(t *testing.T) {
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	for _, torn := range lines {
		torn = strings.TrimSuffix(torn, "\n")
		for cut := 1; cut < len(torn); cut++ {
			file := torn[:cut] + lines[0]
			var got []string
			for r, err := range jsonl.Read(strings.NewReader(file), 0, 1) {
				if err == nil {
					got = append(got, string(r.Raw))
				}
			}
			want := []string{strings.TrimSuffix(lines[0], "\n")}
			if len(got) == 0 && rawjson.Valid([]byte(file)) != nil && valueMayFollow(torn[:cut]) {
				continue
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q and a record: read %q", torn[:cut], got)
			}
		}
	}
}

func valueMayFollow(torn string) bool {
	_, _, err := rawjson.Next([]byte(torn + "{}"))
	e := new(rawjson.SyntaxError)
	return errors.As(err, &e) && e.Offset == len(torn)+2
}

func FuzzJSONL(f *testing.F) {
	for _, s := range []string{
		whole, whole[:len(whole)-1], whole[20:], "{}{}\n{\"a\":{\"b\":1}{\"c\":2}\n", "\xef\xbb\xbf{}\r\n\r\n\x00{}\x00\n<<<<<<< a\n[]\n1\n",
		"{\"a\":\"\xff\"}\n{\"a\":\"\xe6\x97", "{\"a{\"a{\"a\":1}{\"b\":[{}]}x\n", " {} {} \n\t\n",
	} {
		f.Add([]byte(s), uint16(7))
	}
	f.Fuzz(func(t *testing.T, file []byte, at uint16) {
		items := collect(t, bytes.NewReader(file), 0, 1)
		checkItems(t, file, items)
		if again := collect(t, &pieces{file, 0}, 0, 1); !slices.Equal(items, again) {
			t.Fatalf("%q in pieces: %+v, else %+v", file, again, items)
		}
		// Reading from the start of a later line gives the same result.
		from := 1 + bytes.LastIndexByte(file[:min(int(at), len(file))], '\n')
		line := 1 + bytes.Count(file[:from], []byte("\n"))
		rest := slices.DeleteFunc(slices.Clone(items), func(it item) bool { return it.line < line })
		if got := collect(t, bytes.NewReader(file[from:]), int64(from), line); !slices.Equal(got, rest) {
			t.Fatalf("%q from byte %d: %+v, else %+v", file, from, got, rest)
		}
		// A file made of these records yields each of them, even after a cut.
		var mended []byte
		var records []string
		for _, it := range items {
			if it.kind == "" {
				records = append(records, it.raw)
				mended = append(append(mended, it.raw...), '\n')
			}
		}
		found := collect(t, bytes.NewReader(mended), 0, 1)
		found = slices.DeleteFunc(found, func(it item) bool { return it.kind == jsonl.BadUTF8 })
		for i, it := range found {
			if len(found) != len(records) || it.raw != records[i] || it.line != i+1 {
				t.Fatalf("%q has %q, mended %+v", file, records, found)
			}
		}
		if utf8.Valid(mended) {
			checkCut(t, mended, int(at)%(len(mended)+1))
		}
	})
}

// An item is a record (kind is "") or a damage.
type item struct {
	line   int
	offset int64
	raw    string
	kind   jsonl.Kind
}

func collect(t *testing.T, r io.Reader, offset int64, line int) (items []item) {
	t.Helper()
	for r, err := range jsonl.Read(r, offset, line) {
		d := new(jsonl.Damage)
		switch {
		case err == nil:
			items = append(items, item{r.Line, r.Offset, string(r.Raw), ""})
		case errors.As(err, &d):
			items = append(items, item{d.Line, d.Offset, d.Detail, d.Kind})
		default:
			t.Fatal(err)
		}
	}
	return items
}

// checkItems checks that each record is found at its place, and that no byte is skipped
// silently: a line without damage is a record and space.
func checkItems(t *testing.T, file []byte, items []item) {
	t.Helper()
	var end int64
	byLine := map[int][]item{}
	for _, it := range items {
		byLine[it.line] = append(byLine[it.line], it)
		if line := 1 + bytes.Count(file[:it.offset], []byte("\n")); it.line != line {
			t.Fatalf("%q: %v is on line %d", file, it, line)
		}
		if it.kind != "" {
			continue
		}
		if it.offset < end {
			t.Fatalf("%q: the record at %d begins before the end of the one before", file, it.offset)
		}
		end = it.offset + int64(len(it.raw))
		if end > int64(len(file)) || string(file[it.offset:end]) != it.raw || it.raw[0] != '{' || rawjson.Valid([]byte(it.raw)) != nil {
			t.Fatalf("%q: %q is not the record at %d", file, it.raw, it.offset)
		}
	}
	n := 0
	for line := range bytes.SplitAfterSeq(file, []byte("\n")) {
		n++
		found := byLine[n]
		text, terminated := bytes.CutSuffix(line, []byte("\n"))
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		blank := len(bytes.Trim(text, " \t\r")) == 0
		if len(found) == 0 && !blank || !terminated && len(found) > 0 && found[len(found)-1].kind == "" &&
			!slices.ContainsFunc(found, func(it item) bool { return it.kind == jsonl.Unterminated }) {
			t.Fatalf("%q: nothing is said of line %d", file, n)
		}
		if len(found) == 1 && found[0].kind == "" && string(bytes.Trim(text, " \t\r")) != found[0].raw {
			t.Fatalf("%q: of line %d only %q is read", file, n, found[0].raw)
		}
		if len(found) > 1 && !slices.ContainsFunc(found, func(it item) bool { return it.kind != "" }) {
			t.Fatalf("%q: line %d has records and no damage", file, n)
		}
	}
}
