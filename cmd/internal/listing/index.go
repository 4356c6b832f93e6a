package listing

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"path"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"cortext/schema"
	"cortext/store"
)

// The index is a cache file with everything that lists show of conversations, the most
// recently active first, so that a page is read from its beginning. It has a header, the
// checksums of all blocks, and sections. Numbers are little-endian. Each block is checked
// when it is first read, so that any damage counts as a missing index.

const (
	indexMagic = "cortext listing index 11"
	headBytes  = 512
	blockBytes = 32 << 10
	rowBytes   = 96
	slotBytes  = 12

	signatureBytes = 8
)

// The sections.
const (
	rowSection       = iota // rows of fixed length: see fixed
	lookSection             // the state of the files that each row was read from
	heapSection             // title, path, ids, tags and twins of each row
	textSection             // first prompt and summary of each row
	nameSection             // the text that words are searched in: see [find.AppendName]
	wordSection             // types, statuses, agents, models and providers, each once
	idSection               // rows by the hash of their id, sorted
	folderSection           // rows by the hash of their folders, sorted by day
	baseSection             // rows by the hash of their folder's own name, and of ids that folding changes
	jsonSection             // rows as --json prints them, separated by commas
	sourceSection           // the sources of each row, after a table of where they begin
	activeSection           // the active rows, in order
	archivedSection         // the archived rows, in order
	titleSection            // rows by the hash of their folded title
	termSection             // the terms of names, first prompts and summaries: see [builder.addTerms]
	placeSection            // where the hits of each term begin
	hitSection              // the rows that have each term
	orderSection            // the number of names that end before each of their blocks
	signatureSection        // the signature of each row's name: see [find.Signature]
	gramSection             // which blocks of names may contain a text: see [builder.addGrams]
	sectionCount
)

// nameEnd follows each name in the section of names. No folded text contains it.
const nameEnd = 0xff

// errDamaged means that the index was changed after it was written.
var errDamaged = errors.New("the index of conversations is damaged")

// The offsets of the fields of a row that filters read.
const (
	nameAt   = 56
	typeAt   = 64
	statusAt = 68
	agentAt  = 72
	modelAt  = 76
	flagsAt  = 84
	jsonAt   = 88
)

// The flags of a row.
const (
	isArchived = 1 << iota
	isDamaged
	isShown    // selected by the zero Filter
	isVolatile // the look does not cover everything that the row depends on: read the row again
	knowsID    // the id is that of its session.json
	hasNotes   // see [Row.hasNotes]
)

// A fixed is a row without its strings.
type fixed struct {
	active, created                  time.Time
	tokens, messages                 int64
	heap, text, name, json           extent
	typ, status, agent, model, owner uint32 // words
	flags                            uint32
}

// An extent is a part of a section.
type extent struct{ at, size uint32 }

// A record is a row with the state of the files that it was read from, and its sources.
type record struct {
	Row
	look    store.Look
	flags   uint32 // isVolatile, knowsID
	sources []schema.Source
}

// An index is an open index file. It is safe for concurrent use.
type index struct {
	sections   *sections
	names      names
	terms      terms
	signatures signatures

	close func() error
	paged atomic.Bool // whether pages may read it until the listing is closed

	id       uint64 // distinguishes indexes
	n        int    // rows
	shown    int    // rows with isShown
	archived int    // rows with isArchived
	words    atomic.Pointer[[]string]
}

// openIndex opens an index of a known length.
func openIndex(in io.ReaderAt, size int64, closer func() error) (*index, error) {
	head := make([]byte, min(size, headBytes+4*(size/blockBytes+1))) // the header and the checksums of the blocks
	if n, err := in.ReadAt(head, 0); n < len(head) || n < headBytes {
		return nil, errors.Join(errDamaged, err)
	}
	h := head[:headBytes]
	u32 := func(at int) int64 { return int64(binary.LittleEndian.Uint32(h[at:])) }
	if string(h[:len(indexMagic)]) != indexMagic || u32(24) != int64(crc32.ChecksumIEEE(h[28:])) {
		return nil, errDamaged
	}
	s := &sections{in: in, n: int(u32(48)), block: map[int64][]byte{}}
	x := &index{
		sections: s, names: names{s}, terms: terms{s}, signatures: signatures{s}, close: closer,
		id: binary.LittleEndian.Uint64(h[40:]), n: s.n, shown: int(u32(52)), archived: int(u32(56)),
	}
	blocks := u32(32)
	s.data = headBytes + 4*blocks
	at := int64(0)
	for k := range s.size {
		s.from[k], s.size[k] = at, int64(binary.LittleEndian.Uint64(h[64+8*k:]))
		if s.size[k] < 0 || s.size[k] > math.MaxUint32 {
			return nil, errDamaged
		}
		at += s.size[k]
	}
	if size != s.data+at || blocks != (at+blockBytes-1)/blockBytes || s.size[rowSection] != int64(s.n)*rowBytes ||
		s.size[lookSection] != int64(s.n)*store.LookBytes || s.size[signatureSection] != int64(s.n)*signatureBytes || s.size[activeSection]%4+s.size[archivedSection]%4 != 0 ||
		s.size[idSection]%slotBytes+s.size[folderSection]%slotBytes+s.size[baseSection]%slotBytes+s.size[titleSection]%slotBytes != 0 {
		return nil, errDamaged
	}
	s.sums = head[headBytes:s.data]
	if u32(36) != int64(crc32.ChecksumIEEE(s.sums)) {
		return nil, errDamaged
	}
	return x, nil
}

// rowSections are the sections that rows are made of.
var rowSections = []int{rowSection, heapSection, textSection, wordSection}

// loadAll reads the sections that rows are made of.
func (x *index) loadAll() error {
	for _, s := range rowSections {
		if _, err := x.sections.load(s); err != nil {
			return err
		}
	}
	return nil
}

// checkRows verifies that all rows can be read, without keeping them.
func (x *index) checkRows() error {
	for _, s := range rowSections {
		if err := x.sections.check(s); err != nil {
			return err
		}
	}
	return nil
}

// text returns bytes as a string without copying. The bytes must not change.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func decodeFixed(b []byte) (f fixed) {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	u64 := func(at int) int64 { return int64(binary.LittleEndian.Uint64(b[at:])) }
	f.active = time.Unix(u64(0), int64(u32(16))).UTC()
	f.created = time.Unix(u64(8), int64(u32(20))).UTC()
	f.tokens, f.messages = u64(24), u64(32)
	f.heap, f.text, f.name = extent{u32(40), u32(44)}, extent{u32(48), u32(52)}, extent{u32(nameAt), u32(nameAt + 4)}
	f.json = extent{u32(jsonAt), u32(jsonAt + 4)}
	f.typ, f.status, f.agent, f.model, f.owner, f.flags = u32(typeAt), u32(statusAt), u32(agentAt), u32(modelAt), u32(80), u32(flagsAt)
	return f
}

func (f *fixed) appendTo(b []byte) []byte {
	for _, n := range []int64{f.active.Unix(), f.created.Unix()} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	for _, n := range []int{f.active.Nanosecond(), f.created.Nanosecond()} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	for _, n := range []int64{f.tokens, f.messages} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	for _, n := range []uint32{f.heap.at, f.heap.size, f.text.at, f.text.size, f.name.at, f.name.size, f.typ, f.status, f.agent, f.model, f.owner, f.flags, f.json.at, f.json.size} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// row reads a row.
func (x *index) row(i int) (r Row, f fixed, err error) {
	if f, err = x.sections.fixed(i); err != nil {
		return r, f, err
	}
	heap, err := x.sections.bytes(heapSection, int64(f.heap.at), int64(f.heap.size))
	if err != nil {
		return r, f, err
	}
	more, err := x.sections.bytes(textSection, int64(f.text.at), int64(f.text.size))
	if err != nil {
		return r, f, err
	}
	words, err := x.allWords()
	if err != nil {
		return r, f, err
	}
	if int(max(f.typ, f.status, f.agent, f.model, f.owner)) >= len(words) {
		return r, f, errDamaged
	}
	r = Row{
		Type: words[f.typ], Status: words[f.status], Agents: words[f.agent], Model: words[f.model], Provider: words[f.owner],
		Archived: f.flags&isArchived != 0, Damaged: f.flags&isDamaged != 0,
		LastActive: f.active, Created: f.created, Tokens: f.tokens, Messages: int(f.messages),
	}
	r.Agent, _, _ = strings.Cut(r.Agents, "\n")
	d := decoder{text(heap), true}
	r.Path, r.Title, r.ID, r.ConversationID = d.string(), d.string(), d.string(), d.string()
	r.Tags, r.Twins = d.list(), d.list()
	if r.ConversationID == "" {
		r.ConversationID = path.Base(r.Path)
	}
	t := decoder{text(more), true}
	r.Description, r.Summary = t.string(), t.string()
	if !d.ok || !t.ok {
		return r, f, errDamaged
	}
	return r, f, nil
}

// titled reads only the path and title of a row.
func (x *index) titled(i int) (r Row, err error) {
	f, err := x.sections.fixed(i)
	if err != nil {
		return r, err
	}
	heap, err := x.sections.bytes(heapSection, int64(f.heap.at), int64(f.heap.size))
	d := decoder{text(heap), err == nil}
	r.Path, r.Title = d.string(), d.string()
	if err == nil && !d.ok {
		err = errDamaged
	}
	return r, err
}

// record reads a row with the state of its files, but without its sources.
func (x *index) record(i int) (record, error) {
	r, f, err := x.row(i)
	if err != nil {
		return record{}, err
	}
	b, err := x.sections.bytes(lookSection, int64(i)*store.LookBytes, store.LookBytes)
	if err != nil {
		return record{}, err
	}
	return record{Row: r, look: store.DecodeLook(b), flags: f.flags & (isVolatile | knowsID)}, nil
}

// sources returns the sources of a row. They are in a section of their own because few lists
// need them.
func (x *index) sources(i int) (list []schema.Source, err error) {
	b, err := x.sections.bytes(sourceSection, 4*int64(i), 8)
	if err != nil {
		return nil, err
	}
	from, end := int64(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint32(b[4:]))
	b, err = x.sections.bytes(sourceSection, from, end-from)
	d := decoder{text(b), err == nil}
	for d.ok && d.rest != "" {
		list = append(list, schema.Source{Agent: d.string(), NativeID: d.string(), From: d.string(), After: d.string()})
	}
	if err == nil && !d.ok {
		err = errDamaged
	}
	return list, err
}

// listed returns the rows that a section such as activeSection lists, in order. Reading the list
// takes less time than reading all rows.
func (x *index) listed(section int) (rows []int, err error) {
	list, err := x.sections.bytes(section, 0, x.sections.size[section])
	for ; err == nil && len(list) > 0; list = list[4:] {
		row := int(binary.LittleEndian.Uint32(list))
		if row >= x.n {
			return nil, errDamaged
		}
		rows = append(rows, row)
	}
	return rows, err
}

// allWords returns the strings that rows share.
func (x *index) allWords() ([]string, error) {
	if w := x.words.Load(); w != nil {
		return *w, nil
	}
	b, err := x.sections.bytes(wordSection, 0, x.sections.size[wordSection])
	if err != nil {
		return nil, err
	}
	d := decoder{text(b), true}
	words := d.list()
	if !d.ok {
		return nil, errDamaged
	}
	x.words.Store(&words)
	return words, nil
}

// byHash returns the rows that a section of slots has for a hash.
func (x *index) byHash(section int, hash, last uint64) (rows []int, err error) {
	n := x.sections.size[section] / slotBytes
	slot := func(i int64) (uint64, int) {
		b, e := x.sections.bytes(section, i*slotBytes, slotBytes)
		if e != nil {
			err = e
			return 0, 0
		}
		return binary.LittleEndian.Uint64(b), int(binary.LittleEndian.Uint32(b[8:]))
	}
	low, high := int64(0), n
	for low < high && err == nil {
		if at := (low + high) / 2; func() bool { h, _ := slot(at); return h < hash }() {
			low = at + 1
		} else {
			high = at
		}
	}
	for ; low < n && err == nil; low++ {
		h, row := slot(low)
		if h > last {
			break
		}
		if row >= x.n {
			return nil, errDamaged
		}
		rows = append(rows, row)
	}
	return rows, err
}

// byKey returns the rows of conversations with the same id.
func (x *index) byKey(id string) (rows []int, err error) {
	h := idHash(id)
	return x.byHash(idSection, h, h)
}

// byFolder returns the row of the conversation that has a folder.
func (x *index) byFolder(folder string) (int, bool, error) {
	h := folderHash(folder)
	rows, err := x.byHash(folderSection, h, h)
	for _, i := range rows {
		path, err := x.path(i)
		if err == nil && path != folder {
			var r Row
			if r, _, err = x.row(i); err == nil && !r.isIn(folder) {
				continue
			}
		}
		return i, err == nil, err
	}
	return 0, false, err
}

// path returns the folder of a row.
func (x *index) path(i int) (string, error) {
	r, err := x.titled(i)
	return r.Path, err
}

// look returns the state of the files that a row was read from. ok is false if it does not
// cover everything that the row depends on.
func (x *index) look(i int) (l store.Look, ok bool, err error) {
	f, err := x.sections.fixed(i)
	if err != nil {
		return l, false, err
	}
	b, err := x.sections.bytes(lookSection, int64(i)*store.LookBytes, store.LookBytes)
	if err != nil {
		return l, false, err
	}
	return store.DecodeLook(b), f.flags&isVolatile == 0, nil
}

// ofDay returns the rows of conversations with a folder of the day.
func (x *index) ofDay(day string) (rows []int, err error) {
	h := uint64(hash(day)) << 32
	return x.byHash(folderSection, h, h|math.MaxUint32)
}
