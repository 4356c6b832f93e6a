//go:build !clocked

package process

import "time"

// clock returns the program's clock.
func clock() func() time.Time { return time.Now }
