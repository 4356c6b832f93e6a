//go:build !windows

package inject

import "syscall"

// nonBlocking lets a pipe be opened that has no writer.
const nonBlocking = syscall.O_NONBLOCK
