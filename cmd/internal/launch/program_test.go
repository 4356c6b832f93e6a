package launch

import "testing"

// TestCodeOfKey: an agent that the user left with Ctrl-C did not fail.
func TestCodeOfKey(t *testing.T) {
	const windows = 0xC000013A
	for code, want := range map[int64]bool{0: false, 1: false, 2: false, 130: true, 143: false, -1: false, windows: true} {
		if got := codeOfKey(int(code)); got != want {
			t.Errorf("%#x: %t", code, got)
		}
	}
}
