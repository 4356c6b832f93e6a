package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"sync"

	"cortext/store"
)

// readCached reads a cache file that writeCached wrote. Anything else is a miss. A
// checksum precedes the JSON, because damaged JSON may still be valid JSON. A file of
// another cortext version is also a miss: that version may have read transcripts
// differently.
func readCached(st *store.Store, name string, v any) bool {
	b, _ := st.ReadCache(name)
	sum, text, ok := bytes.Cut(b, []byte("\n"))
	return ok && string(sum) == sumOf(version(), text) && json.Unmarshal(text, v) == nil
}

// writeCached writes a cache file. If it fails, the next command only takes longer.
func writeCached(st *store.Store, name string, v any) {
	if text, err := json.Marshal(v); err == nil {
		_ = st.WriteCache(name, fmt.Appendf(nil, "%s\n%s", sumOf(version(), text), text))
	}
}

func sumOf(version string, text []byte) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(append([]byte(version+"\n"), text...)))
}

// version returns the version of the module that the program was built from.
var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
})
