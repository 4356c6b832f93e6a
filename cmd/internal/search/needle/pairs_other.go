//go:build !amd64

package needle

const stride = 32

func fast() bool { return false }

func indexBlocks(*byte, int, *pairs) int { return -1 }
