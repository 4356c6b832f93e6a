package inject

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// PayloadID returns the id of a line with a payload of ours. It is derived from the
// text, so that we recognize the line in any copy of the session, and no other line
// has it. It is a UUID of version 8 (RFC 9562).
func PayloadID(text string) string {
	sum := sha256.Sum256([]byte("cortext payload\n" + text))
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	h := hex.EncodeToString(sum[:16])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}
