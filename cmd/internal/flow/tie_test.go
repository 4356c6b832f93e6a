package flow

import (
	"testing"

	"cortext/inject"
)

// TestUnsoundTie: what a damaged cache says of a session is a miss, also where the
// origin of a fork is looked for among all of them.
func TestUnsoundTie(t *testing.T) {
	w := newWorld(t, 1)
	s := w.begin()
	w.turn(s, "turn", "p", nil)
	first := s.lines[0]["uuid"].(string)
	ws := w.open()
	for name, text := range map[string]string{
		"part":    `{"roots":["` + first + `"],"parts":[{"path":"p"}],"part_of":{"m":9},"read":{"cursor":{"anchors":[{"line":"` + first + `","message":"m"}]}}}`,
		"current": `{"roots":["` + first + `"],"parts":[{"path":"p"}],"current":9}`,
		"json":    `{"roots":`,
	} {
		if err := ws.Store.WriteCache(tieName("claude", name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got := ws.ties("claude"); len(got) != 0 {
		t.Errorf("ties %v", got)
	}
	ws.Close()
	w.hook(s, inject.Answered, nil)
	if got := w.conversations(); len(got) != 0 {
		t.Errorf("conversations %v", got)
	}
}
