package program

import (
	"fmt"
	"strings"
	"time"

	"cortext/inject"
)

// An id of OpenCode's is a prefix, 12 hex digits that tell the time, and 14 digits
// of base 62 (1.18.33). The time is counted in milliseconds, each with 4096 places
// for a counter from 1 on, and cut to 48 bits; those of sessions count downwards.
// Ours take the place 0, so that they sort before all that the program makes in that
// millisecond or later, and end in hex digits.

const (
	tailLen  = 14
	timeBits = 48
)

func clock(at time.Time) uint64 { return uint64(at.UnixMilli()) << 12 & (1<<timeBits - 1) }

// SessionID is the id of a session that begins at that time; uuid makes it
// different from others.
func SessionID(uuid string, at time.Time) string {
	return fmt.Sprintf("ses_%012x%s", ^clock(at)&(1<<timeBits-1), tail(uuid))
}

// PayloadMessageID is the id of a message of that time which holds a payload of
// ours: its end is made of the text, so that the message is known again in any copy
// of the session that keeps ids.
func PayloadMessageID(text string, at time.Time) string { return payloadID("msg", text, at) }

func payloadID(prefix, text string, at time.Time) string {
	return fmt.Sprintf("%s_%012x%s", prefix, clock(at), tail(inject.PayloadID(text)))
}

// IsPayloadMessage reports whether the message of that id and text is one that a
// launch of ours made, whenever that was.
func IsPayloadMessage(id, text string) bool {
	rest, ok := strings.CutPrefix(id, "msg_")
	return ok && len(rest) == timeBits/4+tailLen && rest[timeBits/4:] == tail(inject.PayloadID(text))
}

// tail makes the end of an id of a UUID: its first digits, which are of base 62, too.
func tail(uuid string) string {
	digits := strings.ReplaceAll(uuid, "-", "") + strings.Repeat("0", tailLen)
	return digits[:tailLen]
}
