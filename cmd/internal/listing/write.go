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
	"cortext/store/parallel"
)

// errTooMany means that an index would be too large. Lists work without it.
var errTooMany = errors.New("too many conversations for an index")

// A slot maps a hash to a row.
type slot struct {
	hash uint64
	row  uint32
}

// A builder encodes an index.
type builder struct {
	records []*record
	rows    []fixed
	section [sectionCount][]byte
}

// encode encodes an index of records, which must be in the order of a list.
func encode(records []*record) ([]byte, error) {
	b := builder{records: records, rows: make([]fixed, len(records))}
	b.reserve()
	parts := []func(){b.addTerms, b.addJSON, b.addNames, b.addTexts, b.addNumbers, b.addLooks, b.addIDs, b.addFolders, b.addSources, b.addLists}
	parallel.Each(len(parts), func(i int) { parts[i]() }) // each sets its own sections, and fields of the rows
	for i := range b.rows {
		b.section[rowSection] = b.rows[i].appendTo(b.section[rowSection])
	}
	b.addOrder()
	b.addGrams()
	size := 0
	for _, s := range b.section {
		if size += len(s); uint64(len(s)) > math.MaxUint32 {
			return nil, errTooMany
		}
	}
	return b.file(size), nil
}

// reserve allocates about as many bytes as records need.
func (b *builder) reserve() {
	const (
		lengths = 8   // bytes for the lengths of strings in a row
		names   = 290 // bytes for names, numbers and punctuation in a row's JSON
	)
	var heap, text, name, json int
	for _, r := range b.records {
		short, long := len(r.Path)+len(r.Title)+len(r.ID), len(r.Description)+len(r.Summary)
		for _, s := range r.Tags {
			short += len(s) + 3
		}
		heap += short + lengths
		text += long + lengths
		name += short + lengths
		json += short + long + len(r.ConversationID) + names
	}
	n := len(b.records)
	for section, size := range map[int]int{rowSection: n * rowBytes, lookSection: n * store.LookBytes, heapSection: heap, textSection: text, nameSection: name, jsonSection: json} {
		b.section[section] = make([]byte, 0, size)
	}
}

// addJSON adds the rows as --json prints them.
func (b *builder) addJSON() {
	for i, r := range b.records {
		if i > 0 {
			b.section[jsonSection] = append(b.section[jsonSection], ',')
		}
		listed := r.Listed()
		b.rows[i].json = b.append(jsonSection, listed.Append)
	}
}

// addNames adds the texts that words are searched in, and their signatures.
func (b *builder) addNames() {
	for i, r := range b.records {
		b.rows[i].name = b.append(nameSection, func(n []byte) []byte { return find.AppendName(n, r.Title, r.Folder(), r.ID) })
		b.section[nameSection] = append(b.section[nameSection], nameEnd)
		name := b.section[nameSection][b.rows[i].name.at:]
		b.section[signatureSection] = binary.LittleEndian.AppendUint64(b.section[signatureSection], uint64(find.SignatureOf(r.Title, r.Folder(), name)))
	}
}

// addTexts adds the strings of the rows.
func (b *builder) addTexts() {
	for i, r := range b.records {
		b.rows[i].heap = b.append(heapSection, func(h []byte) []byte {
			id := r.ConversationID
			if id == path.Base(r.Path) {
				id = ""
			}
			for _, s := range []string{r.Path, r.Title, r.ID, id} {
				h = appendString(h, s)
			}
			return appendList(appendList(h, r.Tags), r.Twins)
		})
		b.rows[i].text = b.append(textSection, func(t []byte) []byte { return appendString(appendString(t, r.Description), r.Summary) })
	}
}

// addNumbers adds the fixed part of each row.
func (b *builder) addNumbers() {
	at := map[string]uint32{}
	var words []string
	word := func(s string) uint32 {
		n, ok := at[s]
		if !ok {
			n = uint32(len(words))
			at[s] = n
			words = append(words, s)
		}
		return n
	}
	for i, r := range b.records {
		f := &b.rows[i]
		f.active, f.created, f.tokens, f.messages = r.LastActive, r.Created, r.Tokens, int64(r.Messages)
		f.typ, f.status, f.agent, f.model, f.owner = word(r.Type), word(r.Status), word(r.Agents), word(r.Model), word(r.Provider)
		f.flags = r.allFlags()
	}
	b.section[wordSection] = appendList(nil, words)
}

// addLooks adds the state of the files that the rows were read from.
func (b *builder) addLooks() {
	for _, r := range b.records {
		b.section[lookSection] = r.look.AppendTo(b.section[lookSection])
	}
}

// addSources adds the sources of the rows.
func (b *builder) addSources() {
	var list []byte
	begin := 4 * (len(b.records) + 1) // the length of the table
	table := binary.LittleEndian.AppendUint32(nil, uint32(begin))
	for _, r := range b.records {
		for _, src := range r.sources {
			for _, s := range []string{src.Agent, src.NativeID, src.From, src.After} {
				list = appendString(list, s)
			}
		}
		table = binary.LittleEndian.AppendUint32(table, uint32(begin+len(list)))
	}
	b.section[sourceSection] = append(table, list...)
}

// addLists adds the numbers of the active and of the archived rows.
func (b *builder) addLists() {
	add := func(section, row int) {
		b.section[section] = binary.LittleEndian.AppendUint32(b.section[section], uint32(row))
	}
	for i, r := range b.records {
		if isActive(r.Status) {
			add(activeSection, i)
		}
		if r.Archived {
			add(archivedSection, i)
		}
	}
}

// addIDs adds the hash tables from ids, folder names and titles to rows.
func (b *builder) addIDs() {
	ids, titles := make([]slot, len(b.records)), make([]slot, len(b.records))
	bases := make([]slot, 0, len(b.records))
	for i, r := range b.records {
		ids[i] = slot{idHash(r.ID), uint32(i)}
		bases = append(bases, slot{baseHash(find.BaseName(r.Folder())), uint32(i)})
		titles[i] = slot{baseHash(find.FoldTitle(r.Title)), uint32(i)}
		if !find.IsFolded(r.ID) {
			bases = append(bases, slot{baseHash(find.FoldID(r.ID)), uint32(i)})
		}
	}
	b.section[idSection], b.section[baseSection], b.section[titleSection] = sorted(ids), sorted(bases), sorted(titles)
}

// addFolders adds the hash table from folders to rows.
func (b *builder) addFolders() {
	folders := make([]slot, 0, len(b.records))
	for i, r := range b.records {
		folders = append(folders, slot{folderHash(r.Path), uint32(i)})
		for _, twin := range r.Twins {
			folders = append(folders, slot{folderHash(twin), uint32(i)})
		}
	}
	b.section[folderSection] = sorted(folders)
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

// append appends to a section and returns the extent.
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

// sumsAtOnce is how many blocks are copied and summed at a time.
const sumsAtOnce = 32

// file assembles the header, the checksums and the sections.
func (b *builder) file(size int) []byte {
	blocks := (size + blockBytes - 1) / blockBytes
	out := make([]byte, headBytes+4*blocks+size)
	sums, data := out[headBytes:headBytes+4*blocks], out[headBytes+4*blocks:]
	var from [sectionCount]int
	for s := range from[1:] {
		from[s+1] = from[s] + len(b.section[s])
	}
	parallel.Each((blocks+sumsAtOnce-1)/sumsAtOnce, func(k int) {
		at, end := k*sumsAtOnce*blockBytes, min((k+1)*sumsAtOnce*blockBytes, size)
		for s, begin := range from {
			if i := max(at-begin, 0); i < len(b.section[s]) && begin < end {
				copy(data[begin+i:end], b.section[s][i:])
			}
		}
		for ; at < end; at += blockBytes {
			binary.LittleEndian.PutUint32(sums[at/blockBytes*4:], crc32.ChecksumIEEE(data[at:min(at+blockBytes, end)]))
		}
	})
	shown, archived := 0, 0
	for i := range b.rows {
		if b.rows[i].flags&isShown != 0 {
			shown++
		}
		if b.rows[i].flags&isArchived != 0 {
			archived++
		}
	}
	id := fnv.New64a()
	_, _ = id.Write(sums)
	h := out[:headBytes]
	copy(h, indexMagic)
	binary.LittleEndian.PutUint32(h[32:], uint32(blocks))
	binary.LittleEndian.PutUint32(h[36:], crc32.ChecksumIEEE(sums))
	binary.LittleEndian.PutUint64(h[40:], id.Sum64())
	binary.LittleEndian.PutUint32(h[48:], uint32(len(b.rows)))
	binary.LittleEndian.PutUint32(h[52:], uint32(shown))
	binary.LittleEndian.PutUint32(h[56:], uint32(archived))
	for s := range b.section {
		binary.LittleEndian.PutUint64(h[64+8*s:], uint64(len(b.section[s])))
	}
	binary.LittleEndian.PutUint32(h[24:], crc32.ChecksumIEEE(h[28:]))
	return out
}

// inMemory returns an index that is only in memory.
func inMemory(records []*record) (*index, []byte, error) {
	b, err := encode(records)
	if err != nil {
		return nil, nil, err
	}
	x, err := openIndex(bytes.NewReader(b), int64(len(b)), func() error { return nil })
	return x, b, err
}
