package rawjson

import (
	"bytes"
	"testing"
)

// TestPlain checks that eight bytes at a time give the same result as one at a time, at
// every offset.
func TestPlain(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			b := bytes.Repeat([]byte{'x'}, 20)
			b[at] = byte(c)
			for _, fill := range []byte{'x', 0x7f, 0x80, 0xff, 0x20, '!', '#', ']', '['} {
				for i := range b {
					if i != at {
						b[i] = fill
					}
				}
				want := len(b)
				if c < 0x20 || c == '"' || c == '\\' {
					want = at
				}
				if got := plain(b); got != want {
					t.Fatalf("%#02x at %d among %#02x: %d plain, want %d", c, at, fill, got, want)
				}
			}
		}
	}
}
