//go:build unix

package capture

import (
	"fmt"
	"testing"
)

// TestCached: a cache file that is damaged or of another cortext version is a miss.
func TestCached(t *testing.T) {
	dir, home, _, _ := setUp(t)
	c := openCapture(t, dir, home)
	writeCached(c.ws.Store, "x.json", map[string]int{"a": 1})
	for sum, want := range map[string]bool{
		sumOf(version(), []byte(`{"a":2}`)):          true,
		sumOf(version()+"-other", []byte(`{"a":2}`)): false,
		sumOf(version(), []byte(`{"a":1}`)):          false,
		"":                                           false,
	} {
		if err := c.ws.Store.WriteCache("x.json", fmt.Appendf(nil, "%s\n%s", sum, `{"a":2}`)); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		if ok := readCached(c.ws.Store, "x.json", &got); ok != want || ok && got["a"] != 2 {
			t.Errorf("%q: %v, %v", sum, ok, got)
		}
	}
}
