package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// idAlphabet is Crockford's base32 in lower case: it sorts like the numbers it spells, is
// safe in a file name and has no letters that look like digits.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const (
	idLen  = 26
	idTime = 10 // characters for the time
)

// NewID makes the id of a session: ten characters for the milliseconds of t, which make
// ids sort by time, and sixteen for the 80 bits of entropy.
func NewID(t time.Time, entropy [10]byte) string {
	var id [idLen]byte
	ms := uint64(max(t.UnixMilli(), 0))
	for i := idTime - 1; i >= 0; i-- {
		id[i] = idAlphabet[ms&31]
		ms >>= 5
	}
	var bits, n uint
	at := idTime
	for _, b := range entropy {
		bits, n = bits<<8|uint(b), n+8
		for n >= 5 {
			n -= 5
			id[at] = idAlphabet[bits>>n&31]
			at++
		}
	}
	return string(id[:])
}

// DerivedID makes the id of a captured session from the agent's own id for it and the
// time of its first message, so that two clones that capture the same transcript agree.
func DerivedID(agent, nativeID string, first time.Time) string {
	sum := sha256.Sum256([]byte(agent + "\n" + nativeID))
	return NewID(first, [10]byte(sum[:]))
}

// DerivedPartID is DerivedID for a later conversation of a native session. from
// identifies the beginning of its part, as in [Source]. An empty from means the session's
// first conversation, and gives the id of DerivedID.
func DerivedPartID(agent, nativeID, from string, first time.Time) string {
	if from != "" {
		nativeID += "\n" + from
	}
	return DerivedID(agent, nativeID, first)
}

// SameConversation reports whether two ids belong to the same conversation: they end in
// the same 80 bits. The time before these is that of the first message, which may differ
// between two captures of one native session.
func SameConversation(a, b string) bool {
	return a == b && a != "" || len(a) == idLen && len(b) == idLen && a[idTime:] == b[idTime:]
}

// IDKey returns the part of an id that [SameConversation] compares: ids with equal keys
// belong to the same conversation.
func IDKey(id string) string {
	if len(id) == idLen {
		return id[idTime:]
	}
	return id
}

// CheckID returns an error if s cannot be the id of a session.
func CheckID(s string) error {
	if len(s) != idLen {
		return fmt.Errorf("id %.40q does not have %d characters", s, idLen)
	}
	for _, c := range []byte(s) {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' && c != 'i' && c != 'l' && c != 'o' && c != 'u') {
			return fmt.Errorf("id %.40q holds %q", s, c)
		}
	}
	return nil
}

// maxElement is the length in bytes of the longest id used unchanged as a file name.
const maxElement = 100

// PathElement turns an id into one safe path element: the id itself if it is safe on
// every system, otherwise a hash of it (FORMAT.md, "Names").
func PathElement(id string) string {
	safe := id != "" && len(id) <= maxElement && id[0] != '.' && id[len(id)-1] != '.' && !ReservedName(id)
	for _, c := range []byte(id) {
		safe = safe && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	}
	if safe {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256-" + hex.EncodeToString(sum[:16])
}

// ReservedName reports whether Windows treats a name as a device. filepath.IsLocal checks
// this only on Windows, and folders travel.
func ReservedName(name string) bool {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (name[:3] == "com" || name[:3] == "lpt") && name[3] >= '0' && name[3] <= '9'
}
