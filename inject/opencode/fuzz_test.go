package opencode

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"cortext/inject"
)

// seeds returns what to damage: documents, and a small database.
func seeds(t testing.TB) (list [][]byte) {
	for _, name := range []string{"1.2.5/prices/transcript.json", "1.18.33/unknown-kinds/transcript.json", "1.18.33/taken-back/transcript.json", "1.18.33/overflow/transcript.json", "1.18.33/store/transcript.db"} {
		list = append(list, []byte(slurp(t, fixtures+name)))
	}
	return append(list, []byte(exported(asking+typed+"]}", telling+`{"type":"tool","callID":"c"},{"type":"tool","callID":"c"}]}`)))
}

// sound checks that reading any bytes gives what the rest of cortext relies on, or an
// error.
func sound(t *testing.T, file string, data []byte) (messages int) {
	adapter.Detect(bytes.NewReader(data))
	list, err := adapter.Transcripts(write(t, "", file, string(data)))
	if err != nil {
		return 0
	}
	for _, path := range list {
		tr, err := adapter.Open(path, inject.Options{})
		if err != nil {
			continue
		}
		var b inject.Batch
		if err := tr.Each(func(_ string, more inject.Batch) error {
			b.Messages, b.Tools = append(b.Messages, more.Messages...), append(b.Tools, more.Tools...)
			return nil
		}); err != nil {
			tr.Close()
			continue
		}
		ids, calls := map[string]bool{}, map[string]bool{}
		for _, m := range b.Messages {
			if m.ID == "" || ids[m.ID] || m.ParentID != "" && !ids[m.ParentID] {
				t.Fatalf("message %q below %q", m.ID, m.ParentID)
			}
			ids[m.ID] = true
		}
		for _, x := range b.Tools {
			if x.ID == "" || calls[x.ID] || !ids[x.MessageID] {
				t.Fatalf("call %q of %q", x.ID, x.MessageID)
			}
			calls[x.ID] = true
		}
		if len(b.Messages) != tr.Messages {
			t.Fatalf("%d messages, said to be %d", len(b.Messages), tr.Messages)
		}
		if next, err := adapter.Open(path, inject.Options{From: tr.Next}); err == nil {
			if next.Next.Offset != tr.Next.Offset {
				t.Fatalf("read on, the cursor is %+v instead of %+v", next.Next, tr.Next)
			}
			next.Close()
		}
		_, _ = adapter.Subagents(path)
		tr.Close()
		messages += len(b.Messages)
	}
	return messages
}

func FuzzOpen(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
	}
	file := f.TempDir() + "/x"
	f.Fuzz(func(t *testing.T, data []byte) { sound(t, file, data) })
}

// TestDamaged does the same as FuzzOpen with random damage that is identical in each
// run. With the database linked in, the fuzzer only makes a few tries per second.
func TestDamaged(t *testing.T) {
	file := t.TempDir() + "/x"
	rnd := rand.New(rand.NewPCG(1, 2))
	read := 0
	for _, seed := range seeds(t) {
		rounds := 150
		if testing.Short() {
			rounds = 30
		}
		for range rounds {
			data := bytes.Clone(seed)
			for range 1 + rnd.IntN(8) {
				at := rnd.IntN(len(data))
				switch end := min(len(data), at+1+rnd.IntN(200)); rnd.IntN(5) {
				case 0:
					data[at] = byte(rnd.IntN(256))
				case 1:
					copy(data[at:end], seed[rnd.IntN(len(seed)):])
				case 2:
					data = append(data[:at:at], data[end:]...)
				case 3:
					data = append(data[:end:end], data[at:]...)
				case 4:
					data = append(data[:at:at], append([]byte([]string{`"`, `{`, `]`, `null`, `"id":"u",`}[rnd.IntN(5)]), data[at:]...)...)
				}
				if len(data) == 0 {
					data = []byte("{")
				}
			}
			read += sound(t, file, data)
		}
	}
	if read == 0 {
		t.Error("nothing was read")
	}
}
