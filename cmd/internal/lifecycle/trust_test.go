package lifecycle

import (
	"fmt"
	"sync"
	"testing"
)

// TestRevokeAtOnce: if one process revokes while another allows, the revoked entry does
// not come back.
func TestRevokeAtOnce(t *testing.T) {
	h := Hooks{map[string]File{"session-end.d/x": {"1", true}}}
	for range 20 {
		r := RegisterIn(t.TempDir())
		if err := r.Allow("/a", Trusted{Hooks: h}); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := r.Revoke("/a"); err != nil {
				t.Error(err)
			}
		})
		for i := range 4 {
			wg.Go(func() {
				if err := r.Allow(fmt.Sprintf("/b%d", i), Trusted{Hooks: h}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if a, err := r.Allowed("/a"); err != nil || len(a.Files) > 0 {
			t.Errorf("still allowed (%v)", err)
		}
		for i := range 4 {
			if b, err := r.Allowed(fmt.Sprintf("/b%d", i)); err != nil || !b.Same(h) {
				t.Errorf("/b%d is not allowed (%v)", i, err)
			}
		}
	}
}
