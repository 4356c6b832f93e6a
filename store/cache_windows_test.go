package store

import "testing"

// TestCacheInUse replaces and removes a file of the cache that is being read.
func TestCacheInUse(t *testing.T) {
	s := newTestStore(t)
	for _, text := range []string{"one", "two"} {
		if err := s.WriteCache("a/b", []byte(text)); err != nil {
			t.Fatal(err)
		}
		f, size, ok := s.OpenCache("a/b")
		if !ok || size != int64(len(text)) {
			t.Fatalf("%q has %d bytes, %t", text, size, ok)
		}
		defer f.Close()
	}
	if err := s.RemoveCache("a/b"); err != nil {
		t.Error(err)
	}
	if _, ok := s.ReadCache("a/b"); ok {
		t.Error("the file is still there")
	}
}
