package git

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
)

// An each is [objects.each] for some objects.
type each func(ids []string, use func(i int, size int64, content io.Reader) error) error

func eachOf(ctx context.Context, root string) each {
	return func(ids []string, use func(int, int64, io.Reader) error) error {
		return objectsOf(root).each(ctx, ids, use)
	}
}

// A Batch reads contents with one process of git, for a caller that learns one after the other
// which files it needs.
type Batch struct {
	root string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// NewBatch starts git. The caller must close the batch.
func NewBatch(root string) (*Batch, error) {
	b := &Batch{root: root, cmd: reader(context.Background(), root, []string{"cat-file", "--batch"})}
	out, err := b.cmd.StdoutPipe()
	if err == nil {
		b.in, err = b.cmd.StdinPipe()
	}
	if err == nil {
		err = b.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewReaderSize(out, 1<<16)
	return b, nil
}

// Files is the function [Files] for files whose contents are on this machine. After an error
// the batch can only be closed.
func (b *Batch) Files(list []File, limit int64, yield func(File) error) error {
	return contents(b.each, list, notFetched(b.root, "HEAD", folderOf(pathsOf(list)), nil), bounded(limit, yield))
}

func (b *Batch) each(ids []string, use func(i int, size int64, content io.Reader) error) error {
	for i, id := range ids {
		if _, err := io.WriteString(b.in, id+"\n"); err != nil {
			return err
		}
		if err := one(b.out, func(size int64, content io.Reader) error { return use(i, size, content) }); err != nil {
			return err
		}
	}
	return nil
}

// Close ends git.
func (b *Batch) Close() error {
	return errors.Join(b.in.Close(), b.cmd.Wait())
}
