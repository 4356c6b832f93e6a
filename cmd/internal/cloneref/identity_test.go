package cloneref

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestIdentity: all processes read the same name, whether there is no file yet or an empty one.
func TestIdentity(t *testing.T) {
	for _, empty := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "name")
		if empty {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		names := map[string]bool{}
		for range 8 {
			wg.Go(func() {
				name, err := identity(file)
				if err != nil || name == "" {
					t.Errorf("%q, %v", name, err)
				}
				mu.Lock()
				defer mu.Unlock()
				names[name] = true
			})
		}
		wg.Wait()
		if len(names) != 1 {
			t.Errorf("%d names: %v", len(names), names)
		}
	}
}
