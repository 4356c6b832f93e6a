package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"cortext/schema/jsonl"
)

// read returns the content of a file, a line of text for each record ("line:offset text")
// and each damage ("line:offset! kind").
func read(t *testing.T, r io.Reader) (found []string) {
	t.Helper()
	for r, err := range jsonl.Read(r, 0, 1) {
		if d := new(jsonl.Damage); errors.As(err, &d) {
			found = append(found, fmt.Sprintf("%d:%d! %s", d.Line, d.Offset, d.Kind))
			if r.Raw != nil {
				t.Errorf("a record came with %v", err)
			}
		} else if err != nil {
			found = append(found, err.Error())
		} else {
			found = append(found, fmt.Sprintf("%d:%d %s", r.Line, r.Offset, r.Raw))
		}
	}
	return found
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       []string
	}{
		{"empty", "", nil},
		{"one", "{}\n", []string{"1:0 {}"}},
		{"two", "{\"a\":1}\n{\"b\":2}\n", []string{`1:0 {"a":1}`, `2:8 {"b":2}`}},
		{"spaces", " {\"a\": 1}\t\n", []string{`1:1 {"a": 1}`}},
		{"blank lines", "\n{}\n \t\n\r\n{}\n\n", []string{"2:1 {}", "5:9 {}"}},
		{"CRLF", "{\"a\":1}\r\n{\"b\":2}\r\n", []string{`1:0 {"a":1}`, `2:9 {"b":2}`}},
		{"byte order mark", "\xef\xbb\xbf{}\n{}\n", []string{"1:3 {}", "2:6 {}"}},
		{"byte order mark alone", "\xef\xbb\xbf", nil},

		{"torn tail", "{\"a\":1}\n{\"b\":", []string{`1:0 {"a":1}`, "2:8! torn tail"}},
		{"torn in a string", "{}\n{\"b\":\"x", []string{"1:0 {}", "2:3! torn tail"}},
		{"torn in an escape", "{}\n{\"b\":\"x\\u00", []string{"1:0 {}", "2:3! torn tail"}},
		{"torn in a character", "{}\n{\"b\":\"\xf0\x9f\x98", []string{"1:0 {}", "2:3! torn tail"}},
		{"torn in a number", "{}\n{\"b\":-", []string{"1:0 {}", "2:3! torn tail"}},
		{"torn in a word", "{}\n{\"b\":tr", []string{"1:0 {}", "2:3! torn tail"}},
		{"torn after an object inside", "{}\n{\"id\":1,\"input\":{\"id\":2}", []string{"1:0 {}", "2:3! torn tail"}},
		{"torn after two objects inside", "{\"b\":[{\"c\":{\"d\":1}},{\"e\":2}", []string{"1:0! torn tail"}},
		{"torn after invalid UTF-8", "{\"a\":\"\xff\xe9", []string{"1:6! invalid UTF-8", "1:0! torn tail"}},
		{"no JSON at the end", "{}\nxyz", []string{"1:0 {}", "2:3! torn tail"}},
		{"no newline at the end", "{}\n{\"a\":1}", []string{"1:0 {}", "2:10! no newline at the end", `2:3 {"a":1}`}},
		{"space at the end", "{} ", []string{"1:3! no newline at the end", "1:0 {}"}},

		{"NUL before a record", "{}\n\x00\x00{\"a\":1}\n{}\n",
			[]string{"1:0 {}", "2:3! NUL bytes", `2:5 {"a":1}`, "3:13 {}"}},
		{"NUL after a record", "{\"a\":1}\x00\n{}\n", []string{`1:0 {"a":1}`, "1:7! NUL bytes", "2:9 {}"}},
		{"NUL between records", "{}\x00\x00{}\n", []string{"1:0 {}", "1:2! NUL bytes", "1:4 {}"}},
		{"NUL in a record", "{\"a\":\x00\x001}\n{}\n", []string{"1:0! broken line", "1:5! NUL bytes", "1:7! broken line", "2:10 {}"}},
		{"NUL at the end", "{}\n" + strings.Repeat("\x00", 100_000), []string{"1:0 {}", "2:3! NUL bytes"}},
		{"NUL for the newline", "{}\x00\x00", []string{"1:0 {}", "1:2! NUL bytes"}},
		{"NUL for a tail", "{}\n{\"a\x00\x00", []string{"1:0 {}", "2:3! broken line", "2:6! NUL bytes"}},
		{"only NUL", "\x00\x00\x00", []string{"1:0! NUL bytes"}},

		{"two welded", "{\"a\":1}{\"b\":2}\n{}\n", []string{`1:0 {"a":1}`, "1:7! welded records", `1:7 {"b":2}`, "2:15 {}"}},
		{"three welded", "{} {}\t{}\n", []string{"1:0 {}", "1:3! welded records", "1:3 {}", "1:6! welded records", "1:6 {}"}},
		{"welded at the end", "{}{}", []string{"1:0 {}", "1:2! welded records", "1:4! no newline at the end", "1:2 {}"}},
		{"welded and torn", "{}{\"a", []string{"1:0 {}", "1:2! welded records", "1:2! torn tail"}},
		{"record and text", "{} xyz\n", []string{"1:0 {}", "1:3! welded records", "1:3! broken line"}},

		{"torn and whole", "{\"id\":\"a\",\"t\":\"x{\"id\":\"b\"}\n{}\n",
			[]string{"1:0! broken line", "1:16! welded records", `1:16 {"id":"b"}`, "2:27 {}"}},
		{"torn and two whole", "{\"id{\"id\":1}{\"id\":2}\n",
			[]string{"1:0! broken line", "1:4! welded records", `1:4 {"id":1}`, "1:12! welded records", `1:12 {"id":2}`}},
		{"torn twice and whole", "{\"id\":\"a{\"id\":\"b{\"id\":\"c\"}\n",
			[]string{"1:0! broken line", "1:16! welded records", `1:16 {"id":"c"}`}},
		{"whole, torn and whole", "{}{\"id{\"id\":1}\n",
			[]string{"1:0 {}", "1:2! welded records", "1:2! broken line", "1:6! welded records", `1:6 {"id":1}`}},
		{"torn after an object inside and whole", "{\"id\":1,\"input\":{\"id\":2}{\"id\":3}\n",
			[]string{"1:0! broken line", "1:24! welded records", `1:24 {"id":3}`}},
		{"torn where a value was due and whole", `{"id":1,"role":"u","x":{"id":2,"role":"v"}` + "\n",
			[]string{"1:0! broken line", "1:23! welded records", `1:23 {"id":2,"role":"v"}`}},
		{"torn after another object inside", `{"id":1,"role":"u","x":{"id":2,"name":"v"}` + "\n", []string{"1:0! broken line"}},
		{"torn in an escape and whole", "{\"a\":\"\\{\"id\":1}\n", []string{"1:0! broken line", "1:7! welded records", `1:7 {"id":1}`}},
		{"torn in a \\u escape and whole", "{\"a\":\"\\u00e{\"id\":1}\n", []string{"1:0! broken line", "1:11! welded records", `1:11 {"id":1}`}},
		{"torn in a word and whole", "{\"a\":fals{\"id\":1}\n", []string{"1:0! broken line", "1:9! welded records", `1:9 {"id":1}`}},
		{"torn in a number and whole", "{\"a\":1.{\"id\":1}\n", []string{"1:0! broken line", "1:7! welded records", `1:7 {"id":1}`}},
		{"torn after a comma and whole", "{\"a\":1,{\"id\":1}\n", []string{"1:0! broken line", "1:7! welded records", `1:7 {"id":1}`}},
		{"torn and whole at the end", "{\"a\":1,{\"id\":1}",
			[]string{"1:0! broken line", "1:7! welded records", "1:15! no newline at the end", `1:7 {"id":1}`}},
		{"end of a record and whole", "lo\"}{\"id\":1}\n", []string{"1:0! broken line", "1:4! welded records", `1:4 {"id":1}`}},
		{"cut short", "{\"id\":1,\"input\":{\"id\":2}\n{}\n", []string{"1:0! broken line", "2:25 {}"}},
		{"a hole before an object inside", "{\"id\":1,put\":{\"id\":2}}\n", []string{"1:0! broken line"}},

		{"conflict", "{}\n<<<<<<< HEAD\n{\"a\":1}\n||||||| base\n=======\r\n{\"b\":2}\n>>>>>>> x\n{}\n",
			[]string{"1:0 {}", "2:3! conflict marker", `3:16 {"a":1}`, "4:24! conflict marker", "5:37! conflict marker",
				`6:46 {"b":2}`, "7:54! conflict marker", "8:64 {}"}},
		{"nested conflict", "<<<<<<< a\n||||||||| b\n{\"a\":1}\n>>>>>>>>>\n", []string{"1:0! conflict marker", "2:10! conflict marker", `3:22 {"a":1}`, "4:30! conflict marker"}},
		{"no conflict", "<<<<<<<x\n======\n=======x\n", []string{"1:0! broken line", "2:9! broken line", "3:16! broken line"}},
		{"conflict at the end", "<<<<<<<", []string{"1:0! conflict marker"}},

		{"invalid UTF-8", "{}\n{\"a\":\"é\xff\"}\n", []string{"1:0 {}", "2:11! invalid UTF-8", "2:3 {\"a\":\"é\xff\"}"}},
		{"a character cut short", "{\"a\":\"\xe6\x97\"}\n", []string{"1:6! invalid UTF-8", "1:0 {\"a\":\"\xe6\x97\"}"}},
		{"UTF-16", "\xff\xfe{\x00}\x00\n\x00", []string{"1:0! invalid UTF-8", "1:0! broken line", "1:3! NUL bytes",
			"1:4! broken line", "1:5! NUL bytes", "2:7! NUL bytes"}},
		{"array", "[{\"a\":1}]\n{}\n", []string{"1:0! broken line", "2:10 {}"}},
		{"number", "12\n{}\n", []string{"1:0! broken line", "2:3 {}"}},
		{"string", "\"{\\\"a\\\":1}\"\n{}\n", []string{"1:0! broken line", "2:12 {}"}},
		{"null", "null\n", []string{"1:0! broken line"}},
		{"array and record", "[1]{\"id\":1}\n", []string{"1:0! broken line", "1:3! welded records", `1:3 {"id":1}`}},
		{"too deep", strings.Repeat(`{"a":`, 1_000_000) + "\n{}\n", []string{"1:0! broken line", "2:5000001 {}"}},
	} {
		if got := read(t, strings.NewReader(c.file)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q\n got %q\nwant %q", c.name, c.file[:min(len(c.file), 80)], got, c.want)
		}
	}
}

// The details help a person find the place.
func TestDamage(t *testing.T) {
	file := "{}\nxx{\"a\":1}\n\x00\x00\n<<<<<<< HEAD\n\"\xfe\"\nversion https://git-lfs.github.com/spec/v1\n"
	want := []string{
		"line 2, byte 3: broken line (2 bytes, 'x' where a value was expected at byte 0)",
		"line 2, byte 5: welded records",
		"line 3, byte 13: NUL bytes (2)",
		`line 4, byte 16: conflict marker ("<<<<<<< HEAD")`,
		"line 5, byte 30: invalid UTF-8 (0xfe)",
		"line 5, byte 29: broken line (3 bytes, not an object)",
		"line 6, byte 33: broken line (42 bytes, a pointer of git-lfs to what belongs here: git lfs pull)",
	}
	var got []string
	for _, err := range jsonl.Read(strings.NewReader(file), 0, 1) {
		if err != nil {
			got = append(got, err.Error())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if d := (&jsonl.Damage{Offset: 7, Kind: jsonl.TornTail}); d.Error() != "byte 7: torn tail" {
		t.Errorf("without a line: %v", d)
	}
}

// Lines of all sizes around that of the read buffer.
func TestReadLong(t *testing.T) {
	var file bytes.Buffer
	var want []string
	for i, n := range []int{1, 65_527, 65_528, 65_529, 65_530, 131_064, 131_065, 3, 2 << 20} {
		record := `{"a":"` + strings.Repeat("x", n) + `"}`
		want = append(want, fmt.Sprintf("%d:%d %s", i+1, file.Len(), record))
		file.WriteString(record + "\n")
	}
	for name, r := range map[string]io.Reader{
		"at once":       bytes.NewReader(file.Bytes()),
		"in halves":     iotest.HalfReader(bytes.NewReader(file.Bytes())),
		"with its end":  iotest.DataErrReader(bytes.NewReader(file.Bytes())),
		"in odd pieces": &pieces{file.Bytes(), 0},
	} {
		if got := read(t, r); !slices.Equal(got, want) {
			t.Errorf("%s: %d records, want %d", name, len(got), len(want))
		}
	}
}

// pieces reads n, n+1, n+2 ... bytes.
type pieces struct {
	b []byte
	n int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	p.n++
	n := copy(b, p.b[:min(p.n, len(p.b))])
	p.b = p.b[n:]
	return n, nil
}

// A read error ends the records and is not reported as damage.
func TestReadError(t *testing.T) {
	broken := errors.New("broken disk")
	r := io.MultiReader(strings.NewReader("{}\n{\"a\":1}\n{\"b"), iotest.ErrReader(broken))
	if got, want := read(t, r), []string{"1:0 {}", `2:3 {"a":1}`, "broken disk"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A reader may stop at any record and any damage.
func TestReadStops(t *testing.T) {
	const file = "{}{}\n\x00{\n<<<<<<<\n\"\xff\"\n{\"a{\"b\":1}\n{}"
	all := read(t, strings.NewReader(file))
	for n := 1; n < len(all); n++ {
		seen := 0
		for range jsonl.Read(strings.NewReader(file), 0, 1) {
			if seen++; seen == n {
				break
			}
		}
		if seen != n {
			t.Errorf("stopped at %d, not at %d", seen, n)
		}
	}
}

// A line too long to hold in memory is skipped; the rest is read.
func TestReadTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN with -short (scripts/coverage.sh runs it): reads 257 MB")
	}
	const n = 257 << 20
	r := io.MultiReader(strings.NewReader("{}\n"), io.LimitReader(letters{}, n), strings.NewReader("\n{\"a\":1}\n"))
	want := []string{"1:0 {}", "2:3! line too long", fmt.Sprintf("3:%d {\"a\":1}", 3+n+1)}
	if got := read(t, r); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// letters is an endless file of a single letter.
type letters struct{}

func (letters) Read(b []byte) (int, error) { return copy(b, page), nil }

var page = strings.Repeat("x", 64<<10)
