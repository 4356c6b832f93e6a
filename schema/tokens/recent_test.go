package tokens

import (
	"strings"
	"sync"
	"testing"
)

// TestCountAgain: the count of a long text is the same the second time, also if other
// goroutines count, and not that of another text of the same length.
func TestCountAgain(t *testing.T) {
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 200 {
				long := strings.Repeat("word ", longText/5) + strings.Repeat("x", i%100) + strings.Repeat(" y", 200-i%100)
				for range 2 {
					if got, want := Count(long), count(long); got != want {
						t.Errorf("Count returned %d, without its memory %d", got, want)
					}
				}
			}
		})
	}
	group.Wait()
}
