package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// readCached reads what writeCached wrote to a file of the cache. Anything else is a miss:
// a sum stands before the JSON, as some of what a disk damages is still JSON.
func (c *Capture) readCached(name string, v any) bool {
	b, _ := c.ws.Store.ReadCache(name)
	sum, text, ok := bytes.Cut(b, []byte("\n"))
	return ok && string(sum) == sumOf(text) && json.Unmarshal(text, v) == nil
}

// writeCached writes a file of the cache. A failure costs the next command time only.
func (c *Capture) writeCached(name string, v any) {
	if text, err := json.Marshal(v); err == nil {
		_ = c.ws.Store.WriteCache(name, fmt.Appendf(nil, "%s\n%s", sumOf(text), text))
	}
}

func sumOf(text []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) }
