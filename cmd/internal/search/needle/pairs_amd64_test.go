package needle

import (
	"testing"

	"golang.org/x/sys/cpu"
)

func TestFast(t *testing.T) {
	if got, want := fast(), cpu.X86.HasAVX2 && cpu.X86.HasBMI1; got != want {
		t.Errorf("fast() = %v, want %v", got, want)
	}
}
