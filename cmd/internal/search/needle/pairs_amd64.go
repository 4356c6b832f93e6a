package needle

import "golang.org/x/sys/cpu"

// stride is how many places are examined at once.
const stride = 32

// fast reports whether the processor supports indexBlocks.
var fast = cpu.X86.HasAVX2 && cpu.X86.HasBMI1

// indexBlocks returns the first of the places in n blocks of stride bytes where one of
// the pairs is, or -1. It also reads the byte after the last block.
//
//go:noescape
func indexBlocks(b *byte, n int, p *pairs) int
