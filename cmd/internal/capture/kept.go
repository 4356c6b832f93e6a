package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"runtime/debug"
	"sync"
)

// readCached reads what writeCached wrote to a file of the cache. Anything else is a miss:
// a sum stands before the JSON, as some of what a disk damages is still JSON. So is what
// another version of cortext wrote, which may have read transcripts in another way.
func (c *Capture) readCached(name string, v any) bool {
	b, _ := c.ws.Store.ReadCache(name)
	sum, text, ok := bytes.Cut(b, []byte("\n"))
	return ok && string(sum) == sumOf(version(), text) && json.Unmarshal(text, v) == nil
}

// writeCached writes a file of the cache. A failure costs the next command time only.
func (c *Capture) writeCached(name string, v any) {
	if text, err := json.Marshal(v); err == nil {
		_ = c.ws.Store.WriteCache(name, fmt.Appendf(nil, "%s\n%s", sumOf(version(), text), text))
	}
}

func sumOf(version string, text []byte) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(append([]byte(version+"\n"), text...)))
}

// version names the version of the module that the program was built from.
var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
})
