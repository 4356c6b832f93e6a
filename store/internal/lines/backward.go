package lines

import (
	"bytes"
	"io"
	"iter"
)

// A Line is one line of a file.
type Line struct {
	Offset     int64
	Size       int64  // including the newline
	Text       []byte // without the newline; nil if longer than the limit; valid until the next line
	Terminated bool
}

const chunk = 64 << 10

// Backward yields the lines of the first size bytes of r from last to first. It holds at
// most the longest line in memory, and nothing of a line longer than limit. An error
// comes from r and ends the sequence.
func Backward(r io.ReaderAt, size, limit int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		var buf []byte // read but not yet yielded; it ends at end
		end := size
		start := size       // offset of buf in the file
		scanned := 0        // bytes at the end of buf that have no newline
		terminated := false // whether the line that ends at end had a newline
		long := int64(0)    // bytes dropped after buf, of a line longer than the limit
		for {
			if at := bytes.LastIndexByte(buf[:len(buf)-scanned], '\n'); at >= 0 {
				text := buf[at+1:]
				line := Line{Offset: start + int64(at) + 1, Terminated: terminated}
				line.Size = end - line.Offset
				if terminated {
					line.Size++
				}
				if long == 0 && int64(len(text)) <= limit {
					line.Text = text
				}
				if (line.Size > 0) && !yield(line, nil) {
					return
				}
				end = line.Offset - 1
				buf, scanned, terminated, long = buf[:at], 0, true, 0
				continue
			}
			scanned = len(buf)
			if start == 0 {
				if line := (Line{Size: end, Terminated: terminated}); end > 0 || terminated {
					if terminated {
						line.Size++
					}
					if long == 0 && int64(len(buf)) <= limit {
						line.Text = buf
					}
					yield(line, nil)
				}
				return
			}
			if int64(len(buf)) > limit {
				long += int64(len(buf))
				buf, scanned = buf[:0], 0
			}
			var err error
			if buf, err = readBefore(r, start, buf); err != nil {
				yield(Line{}, err)
				return
			}
			start -= int64(len(buf) - scanned)
		}
	}
}

// readBefore puts the bytes of r before start in front of buf. It reads as many as buf
// holds, so that a long line is moved only a bounded number of times.
func readBefore(r io.ReaderAt, start int64, buf []byte) ([]byte, error) {
	n := int(min(start, int64(max(chunk, len(buf)))))
	var grown []byte
	if cap(buf) >= n+len(buf) {
		grown = buf[:n+len(buf)]
	} else {
		grown = make([]byte, n+len(buf))
	}
	copy(grown[n:], buf)
	_, err := r.ReadAt(grown[:n], start-int64(n))
	return grown, err
}
