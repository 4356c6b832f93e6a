package lines

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func openRoot(t *testing.T) *os.Root {
	t.Helper()
	r, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestOpenRegularOnly(t *testing.T) {
	r := openRoot(t)
	in := func(name string) string { return filepath.Join(r.Name(), name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(r.WriteFile("file", nil, 0o600))
	must(os.Symlink("file", in("link")))
	must(os.Symlink("/etc/passwd", in("away")))
	must(os.Mkdir(in("folder"), 0o700))
	refused := []string{"link", "away", "folder"}
	if err := makePipe(in("pipe")); err == nil {
		refused = append(refused, "pipe")
	}
	for _, name := range refused {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_APPEND | os.O_CREATE} {
			if _, _, _, err := Open(r, name, flag, 0o600); !errors.Is(err, ErrNotRegular) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, _, _, err := Open(r, "missing", os.O_RDONLY, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	f, _, created, err := Open(r, "new", os.O_RDWR|os.O_CREATE, 0o600)
	must(err)
	f.Close()
	f, _, again, err := Open(r, "new", os.O_RDWR|os.O_CREATE, 0o600)
	must(err)
	f.Close()
	if !created || again {
		t.Errorf("created: %v, then %v", created, again)
	}
}

// forward returns the lines that Backward must return.
// replacing is a folder in which somebody replaces the file after each Lstat, times times.
type replacing struct {
	*os.Root
	times int
}

func (r *replacing) Lstat(name string) (fs.FileInfo, error) {
	info, err := r.Root.Lstat(name)
	if r.times > 0 {
		r.times--
		if err := r.WriteFile("new", []byte("new"), 0o600); err != nil {
			return nil, err
		}
		if err := r.Rename("new", name); err != nil {
			return nil, err
		}
	}
	return info, err
}

// TestOpenReplaced: a file that git replaces while it is opened is opened again, but not
// for ever.
func TestOpenReplaced(t *testing.T) {
	r := openRoot(t)
	if err := r.WriteFile("log", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, info, created, err := Open(&replacing{r, 3}, "log", os.O_RDONLY, 0)
	if err != nil || created {
		t.Fatal(created, err)
	}
	defer f.Close()
	if now, err := r.Stat("log"); err != nil || !os.SameFile(info, now) {
		t.Errorf("opened another file: %v", err)
	}
	if _, _, _, err := Open(&replacing{r, 1 << 20}, "log", os.O_RDONLY, 0); err == nil || !strings.Contains(err.Error(), "replaced each time") {
		t.Error(err)
	}
}

func forward(b []byte) (list []Line) {
	at := int64(0)
	for line := range bytes.Lines(b) {
		text, ok := bytes.CutSuffix(line, []byte("\n"))
		list = append(list, Line{Offset: at, Size: int64(len(line)), Text: text, Terminated: ok})
		at += int64(len(line))
	}
	return list
}

func TestBackward(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	files := []string{"", "\n", "a", "a\n", "\n\n", "a\n\nb", strings.Repeat("x", 3*chunk) + "\n" + strings.Repeat("y", chunk) + "\nz"}
	for range 200 {
		var b strings.Builder
		for range r.IntN(12) {
			n := r.IntN(40)
			if r.IntN(4) == 0 {
				n = chunk/2 + r.IntN(2*chunk)
			}
			b.WriteString(strings.Repeat("x", n))
			if r.IntN(8) > 0 {
				b.WriteByte('\n')
			}
		}
		files = append(files, b.String())
	}
	for _, file := range files {
		for _, limit := range []int64{1 << 30, 1000, 0} {
			want := forward([]byte(file))
			slices.Reverse(want)
			var got []Line
			for line, err := range Backward(strings.NewReader(file), int64(len(file)), limit) {
				if err != nil {
					t.Fatal(err)
				}
				line.Text = bytes.Clone(line.Text)
				got = append(got, line)
			}
			if len(got) != len(want) {
				t.Fatalf("%d lines, want %d, in %.60q", len(got), len(want), file)
			}
			for i, w := range want {
				g := got[i]
				if int64(len(w.Text)) > limit {
					w.Text = nil
				}
				if g.Offset != w.Offset || g.Size != w.Size || g.Terminated != w.Terminated || !bytes.Equal(g.Text, w.Text) || (g.Text == nil) != (w.Text == nil) && len(w.Text) > 0 {
					t.Fatalf("line %d from the end is at %d with %d bytes, want at %d with %d, limit %d", i, g.Offset, g.Size, w.Offset, w.Size, limit)
				}
			}
		}
	}
}

func TestBackwardError(t *testing.T) {
	broken := struct{ *strings.Reader }{strings.NewReader("abc\n")}
	for _, err := range Backward(broken, 100, 100) { // the file shrank
		if err == nil {
			t.Error("no error")
		}
	}
}

func content(t *testing.T, r *os.Root) string {
	t.Helper()
	b, err := r.ReadFile("log")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTail(t *testing.T) {
	r := openRoot(t)
	for _, tt := range []struct {
		file   string
		offset int64
		text   string
	}{
		{"", 0, ""}, {"a\n", 2, ""}, {"a\nbc", 2, "bc"}, {"abc", 0, "abc"}, {"a\n" + strings.Repeat("b", 50), 2, ""},
	} {
		if err := r.WriteFile("log", []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		f, _, err := OpenAppend(r, "log", 0o600, Calls{})
		if err != nil {
			t.Fatal(err)
		}
		offset, text, err := f.Tail(20)
		if offset != tt.offset || string(text) != tt.text || err != nil {
			t.Errorf("%.20q: %d %q %v", tt.file, offset, text, err)
		}
		f.Close()
	}
}

// TestAppendFaults checks that a failed write leaves nothing of its line, or, if that
// fails too, an unterminated tail. Earlier content stays.
func TestAppendFaults(t *testing.T) {
	full := errors.New("disk full")
	for _, tt := range []struct {
		name     string
		calls    Calls
		want     string
		tail     string
		syncFail bool
	}{
		{"nothing written", Calls{Write: func(*os.File, []byte) (int, error) { return 0, full }}, "a\n", "", false},
		{"half a line", Calls{Write: func(f *os.File, b []byte) (int, error) { f.Write(b[:2]); return 2, full }}, "a\n", "", false},
		{"half a line without an error", Calls{Write: func(f *os.File, b []byte) (int, error) { f.Write(b[:2]); return 2, nil }}, "a\n", "", false},
		{"and no way back", Calls{
			Write:    func(f *os.File, b []byte) (int, error) { f.Write(b[:2]); return 2, full },
			Truncate: func(*os.File, int64) error { return full },
		}, "a\nbc", "bc", false},
		{"sync", Calls{Sync: func(*os.File) error { return full }}, "a\nbcd\n", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := openRoot(t)
			if err := r.WriteFile("log", []byte("a\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			f, _, err := OpenAppend(r, "log", 0o600, tt.calls)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			err = f.Append([]byte("bcd\n"))
			if tt.syncFail == (err != nil) {
				t.Errorf("append: %v", err)
			}
			if err := f.Sync(); tt.syncFail != (err != nil) && tt.calls.Sync != nil {
				t.Errorf("sync: %v", err)
			}
			if got := content(t, r); got != tt.want {
				t.Errorf("the file holds %q, want %q", got, tt.want)
			}
			if _, err := f.Refresh(); err != nil {
				t.Fatal(err)
			}
			if _, text, err := f.Tail(100); string(text) != tt.tail || err != nil {
				t.Errorf("tail %q, %v, want %q", text, err, tt.tail)
			}
		})
	}
}

func TestAppendAndCut(t *testing.T) {
	r := openRoot(t)
	syncs := 0
	f, created, err := OpenAppend(r, "log", 0o600, Calls{Sync: func(f *os.File) error { syncs++; return Datasync(f) }})
	if err != nil || !created {
		t.Fatal(created, err)
	}
	defer f.Close()
	for _, line := range []string{"a\n", "bb\n", "ccc\n"} {
		if err := f.Append([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Cut(5); err != nil {
		t.Fatal(err)
	}
	if err := f.Append([]byte("d\n")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if got := content(t, r); got != "a\nbb\nd\n" || f.Size() != int64(len(got)) || syncs != 1 {
		t.Errorf("%q, %d bytes, %d syncs", got, f.Size(), syncs)
	}
	info, err := r.Stat("log")
	if err != nil || !f.Is(info) {
		t.Error(err)
	}
	if err := r.Rename("log", "log2"); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteFile("log", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if info, _ = r.Stat("log"); f.Is(info) {
		t.Error("another file at the name is taken for the open one")
	}
}
