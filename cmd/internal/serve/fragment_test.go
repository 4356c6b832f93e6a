package serve

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/export/page"
	"cortext/schema"
)

// TestFragmentNames: what has the same name is the same HTML, however a conversation grows.
func TestFragmentNames(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 5))
	f := fragments{seed: maphash.MakeSeed()}
	htmlOf, again := map[string]string{}, 0
	c := &content{History: schema.History{Tools: map[string]schema.Tool{}}}
	for n := 1; n <= 40; n++ {
		m := schema.Message{ID: fmt.Sprint("m", n), Role: []schema.Role{schema.User, schema.Assistant, schema.Assistant, schema.System}[r.IntN(4)], Content: "words"}
		m.Timestamp = schema.NewTime(time.Unix(1_763_800_000+int64(n)*40, 0))
		if m.Role == schema.Assistant && r.IntN(2) == 0 {
			call := schema.Tool{ID: fmt.Sprint("t", n), MessageID: m.ID, Name: "Bash", Input: schema.Raw(`{"command":"ls"}`)}
			m.ToolCalls = []schema.ToolCall{{ID: call.ID, Name: call.Name}}
			c.Tools[call.ID] = call
		}
		c.Messages = append(c.Messages, m)
		schema.NumberAll(c.Messages)
		if id := fmt.Sprint("t", 1+r.IntN(n)); c.Tools[id].ID != "" { // an outcome comes later
			call := c.Tools[id]
			call.Output = fmt.Sprint("output ", n)
			c.Tools[id] = call
		}
		for first := 1; first <= n+1; first++ {
			for _, last := range []int{first - 1, first, first + 3, n} {
				var html bytes.Buffer
				in := page.Input{Session: &schema.Session{}, History: c.History}
				if err := page.WriteMessages(&html, &in, first, last); err != nil {
					t.Fatal(err)
				}
				name := f.nameOf("", c, first, last)
				if have, ok := htmlOf[name]; ok {
					again++
					if have != html.String() {
						t.Fatalf("messages %d to %d of %d have the name of\n%s\nand are\n%s", first, last, n, have, html.String())
					}
				}
				htmlOf[name] = html.String()
			}
		}
	}
	if again < 1000 {
		t.Errorf("only %d of %d are named again", again, len(htmlOf))
	}
}

// TestFragmentsBound: what was not used for the longest time makes room.
func TestFragmentsBound(t *testing.T) {
	f := fragments{of: map[string]string{}}
	large := strings.Repeat("x", fragmentsMostEach)
	for i := range 9 {
		f.put(fmt.Sprint(i), large)
		f.get("0")
	}
	if _, ok := f.get("0"); !ok || f.bytes > fragmentsMost || len(f.of) != len(f.order) {
		t.Errorf("%d bytes, %d of %d, the used one %v", f.bytes, len(f.of), len(f.order), ok)
	}
	if _, ok := f.get("1"); ok {
		t.Error("the oldest is kept")
	}
	f.put("larger", large+"x")
	if _, ok := f.get("larger"); ok {
		t.Error("one that is too large is kept")
	}
}
