//go:build unix

package repair

import "syscall"

func makePipe(name string) error { return syscall.Mkfifo(name, 0o600) }
