// Package bundle packs files into one, compressed with zstd, and unpacks such files without
// trusting them. A bundle is a tar archive, which tar --zstd can also read. The caller
// passes in the compression.
package bundle

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode"

	"cortext/schema"
)

// Suffix is the file name suffix of bundles.
const Suffix = ".tar.zst"

// Limits limit what is unpacked.
type Limits struct {
	Files int   // files in a bundle
	File  int64 // bytes of one file
	Total int64 // bytes of all files
	Free  int64 // bytes that files of any size may unpack to, plus Ratio times their own size
	Ratio int64
}

// A Budget limits the total size of what one import unpacks: its bundles, and the compressed
// parts of their files.
type Budget struct {
	Left   int64 // how many bytes may still be unpacked
	limits Limits
}

// NewBudget returns the budget of an import.
func NewBudget(l Limits) *Budget { return &Budget{l.Free, l} }

// Add adds what a file of the given size may unpack to. Do not add the files of a bundle:
// the bundle was added.
func (b *Budget) Add(size int64) { b.Left += b.limits.Ratio * size }

// Default returns the limits for bundles of conversations. Text rarely compresses to less
// than a thirtieth.
func Default() Limits {
	return Limits{Files: 100_000, File: 1 << 30, Total: 16 << 30, Free: 64 << 20, Ratio: 200}
}

// magic starts every file compressed with zstd.
const magic = "\x28\xb5\x2f\xfd"

// Is reports whether a file that starts with head may be a bundle.
func Is(head []byte) bool { return strings.HasPrefix(string(head), magic) }

// An Error says why a bundle is refused. No part of a refused bundle may be used.
type Error struct {
	File string // in the bundle; empty: the whole bundle
	Why  string
}

func (e *Error) Error() string {
	if e.File == "" {
		return e.Why
	}
	return fmt.Sprintf("%.200q in it %s", e.File, e.Why)
}

// Zstd compresses and decompresses. Closing the writer ends the compressed data. The reader
// may be closed before it reaches the end.
type Zstd struct {
	Compress   func(to io.Writer) (io.WriteCloser, error)
	Decompress func(from io.Reader) (io.ReadCloser, error)
}

// A Writer packs files.
type Writer struct {
	zstd io.WriteCloser
	tar  *tar.Writer
	in   int64 // bytes of the files so far
	out  *counted
}

type counted struct {
	to io.Writer
	n  int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	return n, err
}

// NewWriter returns a Writer.
func NewWriter(to io.Writer, z Zstd) (*Writer, error) {
	out := &counted{to: to}
	compressed, err := z.Compress(out)
	if err != nil {
		return nil, err
	}
	return &Writer{zstd: compressed, tar: tar.NewWriter(compressed), out: out}, nil
}

// Add packs a file. The name must not lead out of a folder.
func (w *Writer) Add(name string, at time.Time, content []byte) error {
	if why := unsafe(name); why != "" {
		return &Error{name, why}
	}
	w.in += int64(len(content))
	err := w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(content)), ModTime: at.UTC().Truncate(time.Second), Format: tar.FormatPAX})
	if err == nil {
		_, err = w.tar.Write(content)
	}
	return err
}

// Close ends the bundle. The error is an [*Error] if the files compressed so well that Read
// would refuse the bundle.
func (w *Writer) Close() error {
	err := w.tar.Close()
	if zErr := w.zstd.Close(); err == nil {
		err = zErr
	}
	if l := Default(); err == nil && w.in > l.Free+l.Ratio*w.out.n {
		err = &Error{Why: fmt.Sprintf("the conversations shrink to less than a %dth, so import would refuse the bundle: export them without --bundle", l.Ratio)}
	}
	return err
}

// A Checked is a bundle that Check has read and not refused.
type Checked struct{ limits Limits }

// Read calls each with every file of a bundle that was checked, in order. An [*Error] means
// that it has changed since.
func (z Zstd) Read(from io.Reader, c Checked, each func(name string, content io.Reader) error) error {
	_, err := z.unpack(from, c.limits, each)
	return err
}

// unpack calls each with every file of a bundle, and returns the number of bytes unpacked.
func (z Zstd) unpack(from io.Reader, l Limits, each func(name string, content io.Reader) error) (int64, error) {
	source := &input{from: from}
	content, err := z.Decompress(source)
	if err != nil {
		return 0, err
	}
	out := &output{from: content, left: l.Total}
	err = unpack(out, l, each)
	content.Close() // before source.explain, because another goroutine may still be reading
	return l.Total - out.left, source.explain(err)
}

// unpack calls each with every file of an archive.
func unpack(out *output, l Limits, each func(name string, content io.Reader) error) error {
	archive := tar.NewReader(out)
	seen := map[string]bool{}
	for {
		h, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if why := refused(h, l, seen); why != "" {
			return &Error{h.Name, why}
		}
		if seen[h.Name] = true; len(seen) > l.Files {
			return &Error{Why: fmt.Sprintf("has more than %d files", l.Files)}
		}
		if err := each(h.Name, archive); err != nil {
			return err
		}
	}
	if _, err := io.Copy(padding{}, out); err != nil { // bytes after the archive also count
		return err
	}
	if len(seen) == 0 {
		return &Error{Why: "holds no file"}
	}
	return nil
}

// A padding takes the zero bytes that fill the last block of an archive, and nothing else, such
// as a second bundle that was appended to the first.
type padding struct{}

func (padding) Write(b []byte) (int, error) {
	for _, c := range b {
		if c != 0 {
			return 0, &Error{Why: "is followed by something else: import one bundle at a time"}
		}
	}
	return len(b), nil
}

// Check reads a whole bundle without using it. It takes what the bundle unpacks to from the
// budget. An [*Error] means that the bundle is refused.
func (z Zstd) Check(from io.Reader, b *Budget) (c Checked, err error) {
	c.limits = b.limits
	c.limits.Total = min(c.limits.Total, max(b.Left, 0))
	n, err := z.unpack(from, c.limits, func(_ string, content io.Reader) error {
		_, err := io.Copy(io.Discard, content)
		return err
	})
	b.Left -= n
	return c, err
}

// refused returns why a file must not be unpacked, or "".
func refused(h *tar.Header, l Limits, seen map[string]bool) string {
	why := unsafe(h.Name)
	switch {
	case why != "":
		return why
	case h.Typeflag != tar.TypeReg:
		return "is not a regular file"
	case h.Size > l.File:
		return fmt.Sprintf("has %d bytes, more than the limit of %d", h.Size, l.File)
	case seen[h.Name]:
		return "appears twice"
	}
	return ""
}

// unsafe returns why a name could lead out of a folder on some system, or "".
func unsafe(name string) string {
	switch {
	case name == "" || len(name) > 1000:
		return "has no name or a very long one"
	case strings.ContainsFunc(name, unicode.IsControl), strings.ContainsAny(name, `\:`), path.IsAbs(name), path.Clean(name) != name, name == "..", strings.HasPrefix(name, "../"):
		return "has a name that leads elsewhere"
	}
	for part := range strings.SplitSeq(name, "/") {
		if schema.ReservedName(part) {
			return "has a name that leads elsewhere"
		}
	}
	return ""
}

// input remembers read errors of the file itself.
type input struct {
	from io.Reader
	err  error
}

func (r *input) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// explain turns an error of unpack into one about the bundle or its file.
func (r *input) explain(err error) error {
	var refused *Error
	switch {
	case err == nil:
		return nil
	case r.err != nil:
		return r.err
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, tar.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), strings.HasPrefix(err.Error(), "archive/tar: "):
		return &Error{Why: "is damaged or not a bundle: " + err.Error()}
	}
	return err
}

// output fails once more is unpacked than the limits allow.
type output struct {
	from io.Reader
	left int64
}

func (r *output) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	if r.left -= int64(n); r.left < 0 {
		return 0, &Error{Why: "unpacks to more than its size allows"}
	}
	if err != nil && err != io.EOF { // a read error, which explain prefers, or bad compression
		err = &Error{Why: "is damaged or not a bundle: " + err.Error()}
	}
	return n, err
}
