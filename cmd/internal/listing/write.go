package listing

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/fnv"
	"math"
	"path"
	"slices"

	"cortext/cmd/internal/find"
	"cortext/store"
)

// errTooMany means that an index would be too large; the list works without it.
var errTooMany = errors.New("too many conversations for an index")

// A slot leads from a hash to a row.
type slot struct {
	hash uint64
	row  uint32
}

// A builder makes the bytes of an index.
type builder struct {
	section         [sectionCount][]byte
	words           map[string]uint32
	list            []string
	ids             []slot
	folders         []slot
	bases           []slot
	shown, archived uint32
}

// encode makes an index of records, which are sorted as a list is.
func encode(records []*record) ([]byte, error) {
	b := builder{words: map[string]uint32{}}
	b.reserve(records)
	for i, r := range records {
		b.add(r, uint32(i))
	}
	b.section[wordSection] = appendList(nil, b.list)
	b.section[idSection], b.section[folderSection], b.section[baseSection] = sorted(b.ids), sorted(b.folders), sorted(b.bases)
	size := 0
	for _, s := range b.section {
		if size += len(s); len(s) > math.MaxUint32 {
			return nil, errTooMany
		}
	}
	return b.file(len(records), size), nil
}

// reserve makes room for about as many bytes as records need.
func (b *builder) reserve(records []*record) {
	const (
		lengths = 8   // bytes for the lengths of strings in a row
		names   = 290 // bytes for names, numbers and punctuation in a row's JSON
	)
	var heap, text, name, json int
	for _, r := range records {
		short, long := len(r.Path)+len(r.Title)+len(r.ID), len(r.Description)+len(r.Summary)
		for _, s := range r.Tags {
			short += len(s) + 3
		}
		heap += short + lengths
		text += long + lengths
		name += short + lengths
		json += short + long + len(r.ConversationID) + names
	}
	for section, size := range map[int]int{rowSection: len(records) * rowBytes, lookSection: len(records) * store.LookBytes, heapSection: heap, textSection: text, nameSection: name, jsonSection: json} {
		b.section[section] = make([]byte, 0, size)
	}
	for _, slots := range []*[]slot{&b.ids, &b.folders, &b.bases} {
		*slots = make([]slot, 0, len(records))
	}
}

func (b *builder) word(s string) uint32 {
	n, ok := b.words[s]
	if !ok {
		n = uint32(len(b.list))
		b.words[s] = n
		b.list = append(b.list, s)
	}
	return n
}

func (b *builder) add(r *record, row uint32) {
	f := fixed{
		active: r.LastActive, created: r.Created, tokens: r.Tokens, messages: int64(r.Messages),
		typ: b.word(r.Type), status: b.word(r.Status), agent: b.word(r.Agent), model: b.word(r.Model), owner: b.word(r.Provider),
	}
	if f.flags = r.allFlags(); f.flags&isShown != 0 {
		b.shown++
	}
	if f.flags&isArchived != 0 {
		b.archived++
	}
	f.heap = b.append(heapSection, func(h []byte) []byte {
		id := r.ConversationID
		if id == path.Base(r.Path) {
			id = ""
		}
		for _, s := range []string{r.Path, r.Title, r.ID, id} {
			h = appendString(h, s)
		}
		return appendList(appendList(h, r.Tags), r.Twins)
	})
	f.text = b.append(textSection, func(t []byte) []byte { return appendString(appendString(t, r.Description), r.Summary) })
	f.name = b.append(nameSection, func(n []byte) []byte { return find.AppendName(n, r.Title, r.Folder(), r.ID) })
	if row > 0 {
		b.section[jsonSection] = append(b.section[jsonSection], ',')
	}
	f.json = b.append(jsonSection, func(j []byte) []byte { l := r.Listed(); return l.Append(j) })
	b.section[rowSection] = f.appendTo(b.section[rowSection])
	b.section[lookSection] = r.look.AppendTo(b.section[lookSection])
	b.ids = append(b.ids, slot{idHash(r.ID), row})
	b.folders = append(b.folders, slot{folderHash(r.Path), row})
	b.bases = append(b.bases, slot{baseHash(find.BaseName(r.Folder())), row})
	for _, twin := range r.Twins {
		b.folders = append(b.folders, slot{folderHash(twin), row})
	}
}

// allFlags returns the flags that a row of an index has.
func (r *record) allFlags() uint32 {
	flags := r.flags
	set := func(flag uint32, is bool) {
		if is {
			flags |= flag
		}
	}
	set(isArchived, r.Archived)
	set(isDamaged, r.Damaged)
	set(isShown, new(Filter).Selects(&r.Row))
	set(hasNotes, r.hasNotes())
	return flags
}

// append appends to a section and returns where.
func (b *builder) append(section int, f func([]byte) []byte) extent {
	at := len(b.section[section])
	b.section[section] = f(b.section[section])
	return extent{uint32(at), uint32(len(b.section[section]) - at)}
}

func sorted(slots []slot) []byte {
	slices.SortFunc(slots, func(a, b slot) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return int(a.row) - int(b.row)
	})
	b := make([]byte, 0, len(slots)*slotBytes)
	for _, s := range slots {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(b, s.hash), s.row)
	}
	return b
}

// file puts the header, the checksums and the sections together.
func (b *builder) file(n, size int) []byte {
	blocks := (size + blockBytes - 1) / blockBytes
	out := make([]byte, headBytes+4*blocks, headBytes+4*blocks+size)
	for _, s := range b.section {
		out = append(out, s...)
	}
	sums, data := out[headBytes:headBytes+4*blocks], out[headBytes+4*blocks:]
	for i := range blocks {
		block := data[i*blockBytes : min((i+1)*blockBytes, size)]
		binary.LittleEndian.PutUint32(sums[4*i:], crc32.Checksum(block, castagnoli))
	}
	id := fnv.New64a()
	_, _ = id.Write(sums)
	h := out[:headBytes]
	copy(h, indexMagic)
	binary.LittleEndian.PutUint32(h[32:], uint32(blocks))
	binary.LittleEndian.PutUint32(h[36:], crc32.Checksum(sums, castagnoli))
	binary.LittleEndian.PutUint64(h[40:], id.Sum64())
	binary.LittleEndian.PutUint32(h[48:], uint32(n))
	binary.LittleEndian.PutUint32(h[52:], b.shown)
	binary.LittleEndian.PutUint32(h[56:], b.archived)
	for s := range b.section {
		binary.LittleEndian.PutUint64(h[64+8*s:], uint64(len(b.section[s])))
	}
	binary.LittleEndian.PutUint32(h[24:], crc32.Checksum(h[28:], castagnoli))
	return out
}

// inMemory makes an index that no file holds.
func inMemory(records []*record) (*index, []byte, error) {
	b, err := encode(records)
	if err != nil {
		return nil, nil, err
	}
	x, err := openIndex(bytes.NewReader(b), int64(len(b)), func() error { return nil })
	return x, b, err
}
