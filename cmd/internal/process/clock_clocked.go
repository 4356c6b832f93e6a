//go:build clocked

package process

import (
	"os"
	"time"
)

// clock returns a clock that a test sets: it starts at CORTEXT_CLOCK, a time in RFC 3339.
func clock() func() time.Time {
	begun := time.Now()
	at, err := time.Parse(time.RFC3339Nano, os.Getenv("CORTEXT_CLOCK"))
	if err != nil {
		return time.Now
	}
	return func() time.Time { return at.Add(time.Since(begun)) }
}
