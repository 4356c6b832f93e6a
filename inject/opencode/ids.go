package opencode

import (
	"fmt"
	"strings"
	"time"

	"cortext/inject"
)

// An OpenCode id is a prefix, 12 hex digits for the time, and 14 digits of base 62
// (1.18.33). The time is in milliseconds, each with 4096 places for a counter from 1
// on, cut to 48 bits; session ids count downwards. Our ids use place 0, so that they
// sort before everything that the program makes in that millisecond or later, and end
// in hex digits.

const (
	idTailLen = 14
	timeBits  = 48
)

func clock(at time.Time) uint64 { return uint64(at.UnixMilli()) << 12 & (1<<timeBits - 1) }

// sessionID returns the id for a session that begins at that time; uuid makes it
// unique.
func sessionID(uuid string, at time.Time) string {
	return fmt.Sprintf("ses_%012x%s", ^clock(at)&(1<<timeBits-1), idTail(uuid))
}

// payloadMessageID returns the id for a message with a payload of ours at that time.
// Its end is derived from the text, so that we recognize the message in any copy of
// the session that keeps ids.
func payloadMessageID(text string, at time.Time) string { return payloadID("msg", text, at) }

func payloadID(prefix, text string, at time.Time) string {
	return fmt.Sprintf("%s_%012x%s", prefix, clock(at), idTail(inject.PayloadID(text)))
}

// isPayloadMessage reports whether a launch of ours made the message with that id and
// text, at any time.
func isPayloadMessage(id, text string) bool {
	rest, ok := strings.CutPrefix(id, "msg_")
	return ok && len(rest) == timeBits/4+idTailLen && rest[timeBits/4:] == idTail(inject.PayloadID(text))
}

// idTail returns the end of an id, from a UUID: its first digits, which are valid in
// base 62.
func idTail(uuid string) string {
	digits := strings.ReplaceAll(uuid, "-", "") + strings.Repeat("0", idTailLen)
	return digits[:idTailLen]
}
