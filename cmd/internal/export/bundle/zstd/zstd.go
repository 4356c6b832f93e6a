// Package zstd compresses and decompresses bundles. Only cortext-zstd links it: the
// library's tables would make every start of cortext a twentieth longer.
package zstd

import (
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// windowBytes is how far back the compressor looks. A larger window slows down small
// bundles and gains little.
const windowBytes = 1 << 20

// Compress returns a writer that compresses to the given one. Close it to finish the data.
func Compress(to io.Writer) (io.WriteCloser, error) {
	return zstd.NewWriter(to, zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(windowBytes), zstd.WithLowerEncoderMem(true), zstd.WithEncoderLevel(zstd.SpeedFastest))
}

// Decompress returns a reader that decompresses the given one. It uses at most 256 MiB of
// memory, whatever the input asks for.
func Decompress(from io.Reader) (io.ReadCloser, error) {
	z, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// CompressAll compresses everything it reads.
func CompressAll(to io.Writer, from io.Reader) error {
	z, err := Compress(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(z, from)
	return errors.Join(err, z.Close())
}

// DecompressAll decompresses everything it reads.
func DecompressAll(to io.Writer, from io.Reader) error {
	z, err := Decompress(from)
	if err != nil {
		return err
	}
	defer z.Close()
	_, err = io.Copy(to, z)
	return err
}
