package companion

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
)

// Compressor starts [Zstd] and returns a writer that compresses a bundle.
func Compressor(ctx context.Context) func(to io.Writer) (io.WriteCloser, error) {
	return func(to io.Writer) (io.WriteCloser, error) {
		f, err := newFilter(ctx, CompressWord)
		if err != nil {
			return nil, err
		}
		f.Stdout = to
		in, err := f.StdinPipe()
		if err == nil {
			err = f.Start()
		}
		return &compressing{in, f}, err
	}
}

// Decompressor starts [Zstd] and returns a reader that decompresses a bundle.
func Decompressor(ctx context.Context) func(from io.Reader) (io.ReadCloser, error) {
	return func(from io.Reader) (io.ReadCloser, error) {
		f, err := newFilter(ctx, DecompressWord)
		if err != nil {
			return nil, err
		}
		f.Stdin = from
		out, err := f.StdoutPipe()
		if err == nil {
			err = f.Start()
		}
		return &decompressing{out, f}, err
	}
}

// A filter is a running [Zstd] that turns one stream into another.
type filter struct {
	*exec.Cmd
	said bytes.Buffer // its standard error
}

func newFilter(ctx context.Context, word string) (*filter, error) {
	cmd, err := Zstd.Command(ctx, word)
	if err != nil {
		return nil, fmt.Errorf("cannot use bundles: %w", err)
	}
	f := &filter{Cmd: cmd}
	f.Stderr = &f.said
	return f, nil
}

// wait waits for the program to end. If the program fails, the error is what it printed.
func (f *filter) wait() error {
	err := f.Wait()
	if said := bytes.TrimSpace(f.said.Bytes()); err != nil && len(said) > 0 {
		err = fmt.Errorf("%.400s", said)
	}
	return err
}

// compressing is the writer of a bundle.
type compressing struct {
	io.WriteCloser
	filter *filter
}

func (c *compressing) Close() error {
	err := c.WriteCloser.Close()
	if failed := c.filter.wait(); failed != nil {
		return failed
	}
	return err
}

// decompressing is the reader of a bundle.
type decompressing struct {
	io.ReadCloser
	filter *filter // nil once it has ended
}

// Read returns the program's error instead of the end of its output.
func (d *decompressing) Read(b []byte) (int, error) {
	n, err := d.ReadCloser.Read(b)
	if err == nil || d.filter == nil {
		return n, err
	}
	if failed := d.end(); failed != nil {
		err = failed
	}
	return n, err
}

func (d *decompressing) end() error {
	f := d.filter
	d.filter = nil
	return f.wait()
}

// Close ends the program if it is still writing.
func (d *decompressing) Close() error {
	if d.filter == nil {
		return nil
	}
	d.ReadCloser.Close()
	_ = d.end() // nobody reads the rest
	return nil
}
