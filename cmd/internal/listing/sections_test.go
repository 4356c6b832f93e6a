package listing

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// large makes an index whose sections are read in several parts.
func large(t *testing.T) (x *index, file []byte) {
	t.Helper()
	var records []*record
	for i := range 20_000 {
		r := &record{}
		r.Path = fmt.Sprintf("conversations/2026-03-01/%05d-plan-%s-abcd", i, someWords[i%len(someWords)])
		if r.Type = "plan"; i%5_000 == 9 {
			r.Status = "active"
		}
		r.Archived = i%300 == 7
		r.Title, r.ID = fmt.Sprintf("%s %d", someWords[i/7%len(someWords)], i), fmt.Sprintf("01%024d", i)
		records = append(records, r)
	}
	x, file, err := inMemory(records)
	if err != nil {
		t.Fatal(err)
	}
	if x.sections.size[nameSection] < 2*copied {
		t.Fatalf("the names have only %d bytes", x.sections.size[nameSection])
	}
	return x, file
}

// TestPlaces: a text is found wherever in a section it is, also across the parts in which
// the section is read.
func TestPlaces(t *testing.T) {
	x, file := large(t)
	whole, err := openIndexAgain(t, file).sections.load(nameSection)
	if err != nil {
		t.Fatal(err)
	}
	border := int((x.sections.from[nameSection]/blockBytes*blockBytes + copied) - x.sections.from[nameSection])
	for _, texts := range [][][]byte{
		{[]byte("login")}, {[]byte("00")}, {[]byte("nosuchthing")}, {[]byte("5")}, {[]byte("upload"), []byte("straße"), []byte("日本")},
		{whole[border-7 : border+9]}, {whole[border-1 : border+1]}, {whole[border : border+30]}, {whole[len(whole)-20:]}, {whole[:40]},
	} {
		got, err := x.names.places(texts)
		want := placesIn(whole, texts, 0, len(whole))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %d places, %v, want %d", texts, len(got), err, len(want))
		}
	}
}

// TestPlacesReadsLittle: a search for a rare text reads few of the names, and one whose
// letters are nowhere reads none.
func TestPlacesReadsLittle(t *testing.T) {
	_, file := large(t)
	for text, most := range map[string]int64{"-19999 ": 0, "/19999-plan": 8 * blockBytes, "nosuchthing": 0} {
		in := &countingReader{in: bytes.NewReader(file)}
		x, err := openIndex(in, int64(len(file)), func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		in.from, in.end = x.sections.data+x.sections.from[nameSection], x.sections.data+x.sections.from[nameSection]+x.sections.size[nameSection]
		if _, err := x.names.places([][]byte{[]byte(text)}); err != nil {
			t.Fatal(err)
		}
		if in.read.Load() > most {
			t.Errorf("%q: %d bytes of names were read, want at most %d", text, in.read.Load(), most)
		}
	}
}

// TestReadsNothingInVain: what cannot change the answer is not read.
func TestReadsNothingInVain(t *testing.T) {
	_, file := large(t)
	for _, c := range []struct {
		query   string
		section int
	}{
		{"qqqq login", hitSection}, // no row has the first word
		{"pn", nameSection},        // too short for the first letters of words
	} {
		in := &countingReader{in: bytes.NewReader(file)}
		x, err := openIndex(in, int64(len(file)), func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		in.from, in.end = x.sections.data+x.sections.from[c.section], x.sections.data+x.sections.from[c.section]+x.sections.size[c.section]
		l := &Listing{}
		v, err := newView(x, nil)
		if err != nil {
			t.Fatal(err)
		}
		l.view.Store(v)
		if at, _ := l.Match(c.query, everything); len(at) > 0 {
			t.Errorf("%q finds %v", c.query, at)
		}
		if c.section == nameSection {
			in.read.Store(0) // of the match
			l.Nearest(c.query, everything, 3)
		}
		if n := in.read.Load(); n >= blockBytes { // a block may belong to two sections
			t.Errorf("%q: %d bytes were read in vain", c.query, n)
		}
	}
}

// TestActiveReadsLittle: the few active conversations are found without a look at the others.
func TestActiveReadsLittle(t *testing.T) {
	_, file := large(t)
	v, in := countedView(t, file)
	p, err := v.page(Selection{Filter: Filter{Statuses: []string{"Active"}, Archived: true}, Limit: Looked})
	if err != nil || p.Len() != 4 || p.Total != 4 {
		t.Fatalf("%+v, error %v", p, err)
	}
	if n := in.read.Load(); n > 8*blockBytes { // one for each row, and for the list of them and the words
		t.Errorf("%d of %d bytes were read", n, len(file))
	}
}

// TestAllReadsLittle: where only archived conversations are hidden, the rows are not read.
func TestAllReadsLittle(t *testing.T) {
	_, file := large(t)
	v, in := countedView(t, file)
	at, err := v.selectAll(&Filter{All: true})
	if err != nil || len(at) != 20_000-67 || at[7] != 8 {
		t.Fatalf("%d rows, error %v", len(at), err)
	}
	if n := in.read.Load(); n > blockBytes { // the list of the archived rows
		t.Errorf("%d of %d bytes were read", n, len(file))
	}
}

// countedView opens an index, and counts what is read of its sections.
func countedView(t *testing.T, file []byte) (*view, *countingReader) {
	t.Helper()
	in := &countingReader{in: bytes.NewReader(file)}
	x, err := openIndex(in, int64(len(file)), func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	in.from, in.end = x.sections.data, int64(len(file))
	v, err := newView(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v, in
}

// A countingReader counts the bytes that are read of a part.
type countingReader struct {
	in        io.ReaderAt
	from, end int64
	read      atomic.Int64
}

func (r *countingReader) ReadAt(b []byte, at int64) (int, error) {
	r.read.Add(max(0, min(at+int64(len(b)), r.end)-max(at, r.from)))
	return r.in.ReadAt(b, at)
}

// TestEachRow: what a filter decides about all rows is what it selects one by one, also where
// a row is in two parts of the section.
func TestEachRow(t *testing.T) {
	_, file := large(t)
	all := 0
	for _, f := range []Filter{{}, everything, {All: true}, {All: true, Statuses: []string{"active"}}, {Types: []string{"plan"}}, {Statuses: []string{"active"}}, {Types: []string{"debug"}, Statuses: []string{"active"}}, {Since: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}} {
		v, err := newView(openIndexAgain(t, file), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.selectAll(&f)
		if err != nil {
			t.Fatal(err)
		}
		var want []int
		if err := v.each(&f, func(at int) bool { want = append(want, at); return true }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v selects %d rows, want %d", f, len(got), len(want))
		}
		all = max(all, len(got))
	}
	if all != 20_000 {
		t.Errorf("at most %d rows are selected", all)
	}
}

func openIndexAgain(t *testing.T, file []byte) *index {
	t.Helper()
	x, err := openIndex(bytes.NewReader(file), int64(len(file)), func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestDamagedParts: a changed byte anywhere in a section is an error of whatever reads the
// section as a whole.
func TestDamagedParts(t *testing.T) {
	x, file := large(t)
	for section := range sectionCount {
		for _, at := range []int64{0, x.sections.size[section] / 2, x.sections.size[section] - 1} {
			bad := bytes.Clone(file)
			bad[x.sections.data+x.sections.from[section]+at] ^= 1
			y := openIndexAgain(t, bad)
			if err := y.sections.check(section); err == nil {
				t.Errorf("section %d, byte %d: check finds nothing", section, at)
			}
			if _, err := y.sections.places(section, [][]byte{[]byte("x")}, nil); err == nil {
				t.Errorf("section %d, byte %d: places finds nothing", section, at)
			}
			if _, err := y.sections.load(section); err == nil {
				t.Errorf("section %d, byte %d: load finds nothing", section, at)
			}
		}
	}
	var b bytes.Buffer
	if err := x.sections.copyTo(&b, nameSection, 5, x.sections.size[nameSection]-5); err != nil || int64(b.Len()) != x.sections.size[nameSection]-5 {
		t.Errorf("copied %d bytes, %v", b.Len(), err)
	}
	if err := x.sections.copyTo(io.Discard, nameSection, 5, x.sections.size[nameSection]); err == nil {
		t.Error("copied beyond the section")
	}
}
