package companion

import (
	"bytes"
	"cmp"
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
		return &compressing{in, f, nil}, err
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
	switch said := bytes.TrimSpace(f.said.Bytes()); {
	case err != nil && len(said) > 0:
		err = fmt.Errorf("%.400s", said)
	case err != nil:
		err = fmt.Errorf("%s: %w", Zstd, err)
	}
	return err
}

// compressing is the writer of a bundle.
type compressing struct {
	io.WriteCloser
	filter *filter // nil once it has ended
	err    error   // why it ended too early
}

// Write returns the program's error if the program has ended.
func (c *compressing) Write(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.WriteCloser.Write(b)
	if err != nil {
		c.err = cmp.Or(c.end(), fmt.Errorf("%s: %w", Zstd, err))
	}
	return n, c.err
}

func (c *compressing) Close() error {
	if c.filter == nil {
		return c.err
	}
	return c.end()
}

func (c *compressing) end() error {
	err := c.WriteCloser.Close()
	f := c.filter
	c.filter = nil
	return cmp.Or(f.wait(), err)
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
