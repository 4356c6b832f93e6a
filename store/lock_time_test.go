package store

import (
	"testing"
	"time"

	"cortext/schema"
)

// TestWrittenByOurClock checks that the time of the last write is that of our clock even if
// the file system's clock is hours behind or ahead.
func TestWrittenByOurClock(t *testing.T) {
	for _, ahead := range []time.Duration{-13 * time.Hour, 0, 13 * time.Hour} {
		dir := t.TempDir()
		first, _, err := Init(dir)
		if err != nil {
			t.Fatal(err)
		}
		first.Close()
		s, err := Open(dir, Options{Now: func() time.Time { return time.Now().Add(ahead) }})
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now().Add(ahead)
		c := create(t, s)
		for n, edit := range []func(*schema.Session) error{
			func(s *schema.Session) error { s.Notes = "one"; return nil },
			func(s *schema.Session) error { s.Notes = "two"; return nil },
		} {
			must(t, c.Edit(edit))
			at := s.Written(c.Path())
			if at.Before(before.Add(-2*time.Second)) || at.After(time.Now().Add(ahead+2*time.Second)) {
				t.Errorf("clock %v ahead, write %d: written %v, between %v and now", ahead, n, at, before)
			}
		}
		c.Close()
		s.Close()
	}
}
