package launch

import (
	"slices"
	"testing"

	"cortext/inject"
)

// TestEnvironment: a program starts in the same folder according to the system and to PWD,
// and does not get what it must not inherit.
func TestEnvironment(t *testing.T) {
	p := Program{Environ: []string{"PWD=/project/sub", "A=b", "SECRET=x", "CORTEXT_LAUNCHED_FOR=y"}}
	got := p.environment(&Plan{Dir: "/project", Launch: &inject.Launch{Unset: []string{"SECRET"}}})
	if want := []string{"A=b", "PWD=/project"}; !slices.Equal(got, want) {
		t.Errorf("the environment is %q, want %q", got, want)
	}
}

// TestCodeOfKey: an agent that the user left with Ctrl-C did not fail.
func TestCodeOfKey(t *testing.T) {
	const windows = 0xC000013A
	for code, want := range map[int64]bool{0: false, 1: false, 2: false, 130: true, 143: false, -1: false, windows: true} {
		if got := codeOfKey(int(code)); got != want {
			t.Errorf("%#x: %t", code, got)
		}
	}
}
