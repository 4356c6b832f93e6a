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
	section [sectionCount][]byte
	words   map[string]uint32
	list    []string
	ids     []slot
	folders []slot
	bases   []slot
	shown   uint32
}

// encode makes an index of records, which are sorted as a list is.
func encode(records []record) ([]byte, error) {
	b := builder{words: map[string]uint32{}}
	b.section[rowSection] = make([]byte, 0, len(records)*rowBytes)
	b.section[lookSection] = make([]byte, 0, len(records)*store.LookBytes)
	for i := range records {
		b.add(&records[i], uint32(i))
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
		flags: r.flags,
	}
	for flag, set := range map[uint32]bool{isArchived: r.Archived, isDamaged: r.Damaged, isShown: new(Filter).Selects(&r.Row)} {
		if set {
			f.flags |= flag
		}
	}
	if f.flags&isShown != 0 {
		b.shown++
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
	b.section[rowSection] = f.appendTo(b.section[rowSection])
	b.section[lookSection] = r.look.AppendTo(b.section[lookSection])
	b.ids = append(b.ids, slot{idHash(r.ID), row})
	b.folders = append(b.folders, slot{folderHash(r.Path), row})
	b.bases = append(b.bases, slot{baseHash(find.BaseName(r.Folder())), row})
	for _, twin := range r.Twins {
		b.folders = append(b.folders, slot{folderHash(twin), row})
	}
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
	for s := range b.section {
		binary.LittleEndian.PutUint64(h[64+8*s:], uint64(len(b.section[s])))
	}
	binary.LittleEndian.PutUint32(h[24:], crc32.Checksum(h[28:], castagnoli))
	return out
}

// inMemory makes an index that no file holds.
func inMemory(records []record) (*index, []byte, error) {
	b, err := encode(records)
	if err != nil {
		return nil, nil, err
	}
	x, err := openIndex(bytes.NewReader(b), int64(len(b)), func() error { return nil })
	return x, b, err
}
