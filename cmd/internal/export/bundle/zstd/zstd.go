// Package zstd compresses and decompresses bundles. Only the program that cortext starts
// for them links it: the library's tables would add a twentieth to every start of cortext.
package zstd

import (
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// windowBytes is how far back the compression looks. A larger window costs time for a small
// bundle and gains little.
const windowBytes = 1 << 20

// Compress returns a writer that compresses to another one until it is closed.
func Compress(to io.Writer) (io.WriteCloser, error) {
	return zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(windowBytes), zstd.WithLowerEncoderMem(true), zstd.WithEncoderLevel(zstd.SpeedFastest))
}

// Decompress returns a reader of what another one has compressed. It uses at most 256 MiB of
// memory, whatever the input asks for.
func Decompress(from io.Reader) (io.ReadCloser, error) {
	z, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// CompressAll compresses all of a reader.
func CompressAll(to io.Writer, from io.Reader) error {
	z, err := Compress(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(z, from)
	return errors.Join(err, z.Close())
}

// DecompressAll decompresses all of a reader.
func DecompressAll(to io.Writer, from io.Reader) error {
	z, err := Decompress(from)
	if err != nil {
		return err
	}
	defer z.Close()
	_, err = io.Copy(to, z)
	return err
}
