// Package tokens counts text in tokens of the o200k_base encoding.
package tokens

import "sync"

// Count x
func Count(text string) int {
	t := loaded()
	total := 0
	c := caches.Get().(*cache)
	defer caches.Put(c)
	for i := 0; i < len(text); {
		n := t.piece(text[i:])
		total += t.count(text[i:i+n], c)
		i += n
	}
	return total
}

var caches = sync.Pool{New: func() any { return new(cache) }}
