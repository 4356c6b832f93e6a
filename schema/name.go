package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

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
