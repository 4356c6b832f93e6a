package store

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf16"

	"cortext/schema"
)

// TestFromUTF16: an editor may write a log as UTF-16, with a mark or without one, and a process
// that does not notice appends to it in UTF-8.
func TestFromUTF16(t *testing.T) {
	encode := func(text string, order binary.AppendByteOrder) (b []byte) {
		for _, unit := range utf16.Encode([]rune(text)) {
			b = order.AppendUint16(b, unit)
		}
		return b
	}
	const two, half, more = "{\"a\":\"é🜁\"}\n{\"b\":2}\n", `{"c":"no end`, "{\"d\":\"é\"}\n"
	for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		for _, mark := range []string{"", "\ufeff"} {
			for _, c := range []struct {
				file []byte
				want string
			}{
				{encode(mark+two, order), two},
				{encode(mark+two+half, order), two + half},
				{append(encode(mark+two, order), more...), two + more},
				{append(encode(mark+two, order), 'x'), two + "x"},
			} {
				if got, ok := fromUTF16(c.file); !ok || string(got) != c.want {
					t.Errorf("%s endian, mark %q: %q, %v, want %q", name, mark, got, ok, c.want)
				}
			}
		}
	}
	for _, text := range []string{"", two, "\xff", "{", "\x00\x00"} {
		if got, ok := fromUTF16([]byte(text)); ok {
			t.Errorf("%q is not UTF-16: %q", text, got)
		}
	}
}

// TestRebuildIdentified: if session.json is lost, what the user's machine remembers of the
// native sessions in the log gives the conversation its id back.
func TestRebuildIdentified(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	m := message(0)
	m.Source = "native"
	appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}})
	must(t, os.Remove(filepath.Join(s.dir, c.path, sessionDir, sessionFile)))
	must(t, os.RemoveAll(filepath.Join(s.dir, backupsDir)))
	other := openTestStore(t, s.dir)
	other.opts.Identify = func(folder string, nativeIDs []string) (string, []schema.Source) {
		if folder != c.path || !slices.Equal(nativeIDs, []string{"native"}) {
			t.Errorf("asked about %q of %q", nativeIDs, folder)
		}
		return testID("7"), []schema.Source{{Agent: "claude", NativeID: "native"}}
	}
	list, err := other.List()
	must(t, err)
	if len(list) != 1 || list[0].Session.ID != testID("7") || len(list[0].Session.Sources) != 1 {
		t.Errorf("%+v", list)
	}
}
