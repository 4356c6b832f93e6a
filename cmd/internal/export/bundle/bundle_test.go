package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/export/bundle/zstd"
)

func inProcess() Zstd { return Zstd{zstd.Compress, zstd.Decompress} }

// pack makes a bundle of entries that a Writer would refuse.
func pack(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.Compress(&out)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(z)
	for _, h := range entries {
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		h.Mode = 0o600
		err = errors.Join(err, archive.WriteHeader(&h))
		_, writeErr := io.CopyN(archive, zeros{}, h.Size)
		err = errors.Join(err, writeErr)
	}
	if err = errors.Join(err, archive.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func budgetFor(b []byte, l Limits) *Budget {
	budget := NewBudget(l)
	budget.Add(int64(len(b)))
	return budget
}

// TestBudget: what one bundle takes, the next one lacks.
func TestBudget(t *testing.T) {
	b := pack(t, tar.Header{Name: "a.json", Size: 600 << 10})
	budget := NewBudget(small())
	if _, err := inProcess().Check(bytes.NewReader(b), budget); err != nil {
		t.Fatal(err)
	}
	if _, err := inProcess().Check(bytes.NewReader(b), budget); err == nil || !strings.Contains(err.Error(), "unpacks to more") {
		t.Errorf("a second bundle takes as much: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func small() Limits {
	return Limits{Files: 3, File: 1 << 20, Total: 2 << 20, Free: 1 << 20, Ratio: 100}
}

func TestRoundTrip(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, inProcess())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"session-a-2025-11-22.json": strings.Repeat("text ", 1000), "b/c.jsonl": "", "日本.json": "x"}
	for name, content := range want {
		if err := w.Add(name, time.Unix(1_763_800_000, 5), []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !Is(out.Bytes()) {
		t.Error("a bundle is not known as one")
	}
	got := map[string]string{}
	checked, err := inProcess().Check(bytes.NewReader(out.Bytes()), budgetFor(out.Bytes(), Default()))
	if err != nil {
		t.Fatal(err)
	}
	err = inProcess().Read(&out, checked, func(name string, content io.Reader) error {
		b, err := io.ReadAll(content)
		got[name] = string(b)
		return err
	})
	if err != nil || len(got) != len(want) {
		t.Fatal(got, err)
	}
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s: %q", name, got[name])
		}
	}
}

// TestRefused: what could harm is refused, and the error says what it is.
func TestRefused(t *testing.T) {
	whole := pack(t, tar.Header{Name: "a.json", Size: 100})
	for what, c := range map[string]struct {
		bundle []byte
		want   string
	}{
		"leads out":       {pack(t, tar.Header{Name: "../a.json"}), `"../a.json" in it has a name that leads elsewhere`},
		"leads out, deep": {pack(t, tar.Header{Name: "x/../../a.json"}), "leads elsewhere"},
		"absolute":        {pack(t, tar.Header{Name: "/etc/passwd"}), "leads elsewhere"},
		"on windows":      {pack(t, tar.Header{Name: `..\a.json`}), "leads elsewhere"},
		"drive":           {pack(t, tar.Header{Name: "C:a.json"}), "leads elsewhere"},
		"device":          {pack(t, tar.Header{Name: "aux.json"}), "leads elsewhere"},
		"control":         {pack(t, tar.Header{Name: "a\x1b.json"}), "leads elsewhere"},
		"link":            {pack(t, tar.Header{Name: "a.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "is not a regular file"},
		"hard link":       {pack(t, tar.Header{Name: "a.json", Typeflag: tar.TypeLink, Linkname: "b"}), "is not a regular file"},
		"twice":           {pack(t, tar.Header{Name: "a.json"}, tar.Header{Name: "a.json"}), "appears twice"},
		"large file":      {pack(t, tar.Header{Name: "a.json", Size: 1<<20 + 1}), "more than the limit of"},
		"bomb":            {pack(t, tar.Header{Name: "a.json", Size: 1 << 20}, tar.Header{Name: "b.json", Size: 1 << 20}), "unpacks to more than its size allows"},
		"many files":      {pack(t, tar.Header{Name: "a"}, tar.Header{Name: "b"}, tar.Header{Name: "c"}, tar.Header{Name: "d"}), "more than 3 files"},
		"nothing":         {pack(t), "holds no file"},
		"cut off":         {whole[:len(whole)-20], "is damaged or not a bundle"},
		"two":             {slices.Concat(whole, whole), "is followed by something else"},
		"foreign":         {[]byte(magic + "nothing of the kind"), "is damaged or not a bundle"},
	} {
		if _, err := inProcess().Check(bytes.NewReader(c.bundle), budgetFor(c.bundle, small())); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
	if _, err := inProcess().Check(bytes.NewReader(whole), budgetFor(whole, small())); err != nil {
		t.Error(err)
	}
}

// TestTail: bytes after the end of the archive count against the limits, too.
func TestTail(t *testing.T) {
	var tail bytes.Buffer
	z, err := zstd.Compress(&tail)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(z, zeros{}, 4<<20); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	b := append(pack(t, tar.Header{Name: "a.json", Size: 100}), tail.Bytes()...)
	if _, err := inProcess().Check(bytes.NewReader(b), budgetFor(b, small())); err == nil {
		t.Error("4 MiB after the archive are accepted")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(pack(f, tar.Header{Name: "a.json", Size: 100}))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		read := int64(0)
		_, _ = inProcess().unpack(bytes.NewReader(b), small(), func(name string, content io.Reader) error {
			if unsafe(name) != "" {
				t.Errorf("%q is passed on", name)
			}
			n, err := io.Copy(io.Discard, content)
			read += n
			return err
		})
		if read > small().Total {
			t.Errorf("%d bytes are unpacked from %d", read, len(b))
		}
	})
}
