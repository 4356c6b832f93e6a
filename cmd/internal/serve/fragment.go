package serve

import (
	"hash/maphash"
	"slices"
	"strconv"
	"sync"

	"cortext/schema"
)

// fragments keeps the HTML of messages that clients asked for, so that it is not rendered
// again for each client. What it keeps is named after the messages themselves, so it also
// works while a conversation grows.
type fragments struct {
	mu    sync.Mutex
	seed  maphash.Seed
	of    map[string]string
	order []string // of the names, the most recently used last
	bytes int
}

const (
	fragmentsMost     = 16 << 20 // bytes of HTML
	fragmentsMostEach = 4 << 20
)

// nameOf names the HTML of the messages with numbers from first to last: by these messages
// and their calls, and by those of the turns that they begin and end in, which say what
// happened in a turn.
func (f *fragments) nameOf(root string, c *content, first, last int) string {
	from, to := min(first-1, len(c.Messages)), min(max(last, first-1), len(c.Messages))
	for from > 0 && (from == len(c.Messages) || c.Messages[from].Role != schema.User) {
		from--
	}
	for to < len(c.Messages) && c.Messages[to].Role != schema.User {
		to++
	}
	var sum maphash.Hash
	sum.SetSeed(f.seed)
	turns := 0 // before these messages: a turn has a number
	for i := range c.Messages[:from] {
		if i == 0 || c.Messages[i].Role == schema.User {
			turns++
		}
	}
	line := []byte(root + "\n")
	for _, n := range []int{first, last, from, turns} {
		line = append(strconv.AppendInt(line, int64(n), 10), '\n')
	}
	_, _ = sum.Write(line)
	c.hash(&sum, from, to)
	return strconv.FormatUint(sum.Sum64(), 36)
}

// get returns what is kept under a name.
func (f *fragments) get(name string) (html string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if html, ok = f.of[name]; ok {
		i := slices.Index(f.order, name)
		f.order = append(slices.Delete(f.order, i, i+1), name)
	}
	return html, ok
}

// put keeps HTML, and forgets what was not used for the longest time.
func (f *fragments) put(name, html string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.of[name]; ok || len(html) > fragmentsMostEach {
		return
	}
	f.of[name], f.order, f.bytes = html, append(f.order, name), f.bytes+len(html)
	for f.bytes > fragmentsMost || len(f.order) > fragmentsMost>>12 {
		f.bytes -= len(f.of[f.order[0]])
		delete(f.of, f.order[0])
		f.order = slices.Delete(f.order, 0, 1)
	}
}
