//go:build !windows

package inject

import "syscall"

// nonBlocking lets us open a pipe that has no writer.
const nonBlocking = syscall.O_NONBLOCK
