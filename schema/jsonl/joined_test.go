package jsonl

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// TestJoined cuts lines and joins them with others. A line that is whole never looks joined,
// whatever texts it has.
func TestJoined(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	line := func() []byte {
		b := []byte(`{"id":"x","message_id":"y"`)
		for _, key := range []string{`,"input":`, `,"output":`} {
			var text []byte
			for range rng.IntN(6) {
				text = append(text, "{}[]\",:\\x\n"[rng.IntN(10)])
			}
			var value any = string(text)
			if rng.IntN(3) == 0 {
				value = []any{map[string]any{"a{": string(text)}, map[string]any{"id": "z", "name": string(text)}, map[string]any{}}
			}
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			b = append(append(b, key...), text...)
		}
		return append(b, '}')
	}
	for range 20000 {
		whole := line()
		if Joined(append(whole, '\n')) {
			t.Fatalf("%s is whole", whole)
		}
		torn := whole[:1+rng.IntN(len(whole))]
		if both := append(torn[:len(torn):len(torn)], line()...); !Joined(both) {
			t.Fatalf("%s are two lines", both)
		}
	}
}
