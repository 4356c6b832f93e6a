package needle

import "sync"

// stride is how many places are examined at once.
const stride = 32

// fast reports whether the processor supports indexBlocks. It asks the
// processor at the first search. golang.org/x/sys/cpu would ask at every start of the
// program, which is slow under a hypervisor.
var fast = sync.OnceValue(func() bool {
	const (
		osxsave, avx = 1 << 27, 1 << 28 // leaf 1, ECX
		bmi1, avx2   = 1 << 3, 1 << 5   // leaf 7, EBX
		saved        = 1<<1 | 1<<2      // XCR0: the system keeps the registers
	)
	if most, _, _ := cpuid(0); most < 7 {
		return false
	}
	if _, _, has := cpuid(1); has&(osxsave|avx) != osxsave|avx || xcr0()&saved != saved {
		return false
	}
	_, has, _ := cpuid(7)
	return has&(bmi1|avx2) == bmi1|avx2
})

// cpuid returns what the CPUID instruction reports for a leaf.
func cpuid(leaf uint32) (eax, ebx, ecx uint32)

// xcr0 returns the lower half of a register that not every processor has.
func xcr0() uint32

// indexBlocks returns the first of the places in n blocks of stride bytes where one of
// the pairs is, or -1. It also reads the byte after the last block.
//
//go:noescape
func indexBlocks(b *byte, n int, p *pairs) int
