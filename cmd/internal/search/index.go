package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc64"
	"maps"
	"os"
	"slices"
	"sync"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/search/grams"
	"cortext/cmd/internal/search/needle"
	"cortext/store"
)

// An Index says which blocks of the logs of a workspace need not be searched. It is below
// .workspace/local/cache: it may be missing, old or damaged, and only makes a search
// faster. What it does not cover is searched as if there were none. It changes only in
// [Index.Update] and [Index.Refresh], which write new shards for what is new, and in [Forget].
type Index struct {
	cache   store.Cache
	shards  []*shard
	entries map[uint64][]entry // by the hash of the log's name
	files   []string           // names of all files when it was opened
	damaged []string           // damaged shards and other files

	least int64 // minimum number of new bytes for an update
	block int   // bytes of text in a block
	mu    sync.Mutex
	new   map[string]newText // by the name of the log
	size  int64              // bytes of new
}

// A shard is an open file of the index.
type shard struct {
	*grams.Shard
	name string
	file *os.File
}

// An entry is the part of a log that one shard covers.
type entry struct {
	*grams.Entry
	in *shard
}

// A newText is a part of a log that the index does not cover.
type newText struct {
	entry  store.Entry
	call   bool // of the log of calls
	from   int64
	before uint64 // checksum of the log before from
}

const indexDir = "search"

// OpenIndex opens the index of a workspace. The caller must close it.
func OpenIndex(cache store.Cache) *Index {
	x := &Index{cache: cache, entries: map[uint64][]entry{}, new: map[string]newText{}, least: leastNew, block: grams.BlockSize}
	x.files = cache.ListCache(indexDir)
	for _, name := range x.files {
		name = indexDir + "/" + name
		f, size, ok := cache.OpenCache(name)
		if !ok {
			x.damaged = append(x.damaged, name)
			continue
		}
		s, err := grams.Open(f, size)
		if err != nil {
			_ = f.Close()
			x.damaged = append(x.damaged, name)
			continue
		}
		in := &shard{s, name, f}
		x.shards = append(x.shards, in)
		for i := range s.Entries {
			e := &s.Entries[i]
			x.entries[e.Log] = append(x.entries[e.Log], entry{e, in})
		}
	}
	for _, list := range x.entries {
		slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(b.To, a.To) })
	}
	return x
}

// Close closes the index.
func (x *Index) Close() error {
	var errs []error
	for _, s := range x.shards {
		errs = append(errs, s.file.Close())
	}
	return errors.Join(errs...)
}

// hash returns the hash of the name of a log, which is shorter.
func hash(name string) uint64 { return crc64.Checksum([]byte(name), crc64.MakeTable(crc64.ECMA)) }

func numbers(s store.LogState) [4]int64 {
	return [4]int64{int64(s.Inode), s.Size, s.Written, s.Changed}
}

// covering returns the entries that cover a log from its beginning without a gap, in order.
// log may be nil if only its state is known.
func (x *Index) covering(name string, state store.LogState, log *store.Log) []entry {
	list := x.entries[hash(name)]
	if len(list) == 0 || !state.Known {
		return nil
	}
	for i, e := range list {
		if !e.holds(state, log) {
			continue
		}
		chain := []entry{e}
		for _, before := range list[i+1:] {
			if first := chain[len(chain)-1]; before.To == first.From && before.Sum == first.Before && before.To > before.From {
				chain = append(chain, before)
			}
		}
		if chain[len(chain)-1].From == 0 {
			slices.Reverse(chain)
			return chain
		}
	}
	return nil
}

// holds reports whether a log still contains the text that an entry covers, because it is
// unchanged or only grew.
func (e entry) holds(state store.LogState, log *store.Log) bool {
	if e.State == numbers(state) {
		return true
	}
	if log == nil || e.State[0] != int64(state.Inode) || state.Inode == 0 || e.To > log.Size() {
		return false
	}
	sum, err := log.Sum(e.To)
	return err == nil && sum == e.Sum
}

// A lookup is the result of looking up a query's terms in the index.
type lookup struct {
	*Index
	sets map[*shard][]grams.Set // by term; nil if every block may contain the term
}

// lookUp finds the blocks that may contain the terms of a query.
func (x *Index) lookUp(q *Query) *lookup {
	l := &lookup{x, map[*shard][]grams.Set{}}
	for _, s := range x.shards {
		sets := make([]grams.Set, len(q.terms))
		for i, t := range q.terms {
			set, err := s.having(&t)
			if err != nil { // every block may contain it
				x.mu.Lock()
				x.damaged = append(x.damaged, s.name)
				x.mu.Unlock()
			}
			sets[i] = set
		}
		l.sets[s] = sets
	}
	return l
}

// having returns the blocks that may contain a term; nil if every block may.
func (s *shard) having(t *term) (all grams.Set, err error) {
	for _, n := range t.needles {
		rows := grams.Rows([]byte(n.Part()))
		if len(rows) == 0 {
			return nil, nil
		}
		set, err := s.With(rows)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = set
		}
		for i := range all {
			all[i] |= set[i]
		}
	}
	return all, nil
}

// ruleOut reports whether no record of a conversation can have a term, without opening its
// logs.
func (l *lookup) ruleOut(st *store.Store, row *listing.Row, term int) bool {
	if row.Waiting || len(row.Twins) > 0 {
		return false
	}
	names, states, ok := st.Folders().LogStates(row.Path)
	for i, state := range states {
		ok = ok && state.Known && len(l.within(l.covering(names[i], state, nil), state.Size, 1<<term)) == 0
	}
	return ok
}

// may reports whether a block may have one of the terms in a set.
func (l *lookup) may(s *shard, block int, terms uint64) bool {
	for i, set := range l.sets[s] {
		if terms>>i&1 != 0 && (set == nil || set.Has(block)) {
			return true
		}
	}
	return false
}

// A span is a part of a log.
type span struct{ from, to int64 }

// within returns the parts of a log, of the given size, that may have a term of the set.
func (l *lookup) within(chain []entry, size int64, terms uint64) (spans []span) {
	add := func(from, to int64) {
		if n := len(spans); n > 0 && spans[n-1].to == from {
			spans[n-1].to = to
		} else if from < to {
			spans = append(spans, span{from, to})
		}
	}
	end := int64(0)
	for _, e := range chain {
		for _, p := range e.Pieces {
			if l.may(e.in, p.Block, terms) {
				add(p.From, p.To)
			}
		}
		end = e.To
	}
	add(end, size)
	return spans
}

// note records the new part of a log.
func (x *Index) note(e store.Entry, call bool, log *store.Log, chain []entry) {
	n := newText{entry: e, call: call}
	if len(chain) > 0 {
		last := chain[len(chain)-1]
		n.from, n.before = last.To, last.Sum
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, known := x.new[log.Name()]; !known && log.Size() > n.from {
		x.new[log.Name()] = n
		x.size += log.Size() - n.from
	}
}

const (
	leastNew  = 4 << 20  // minimum number of new bytes for a shard
	logCost   = 32 << 10 // number of bytes that can be read in the time it takes to open a log
	mostSmall = 8        // shards that are not full
	shardFull = grams.MaxBlocks / 2
)

// New returns how many bytes the last searches found that the index does not cover, and logCost
// more for each log. ok is false if there are too few for an update, unless a part is damaged.
func (x *Index) New() (bytes int64, ok bool) {
	return x.size + logCost*int64(len(x.new)), x.size >= x.least || len(x.damaged) > 0
}

// Update adds the new text that the last searches found. It does nothing if another process
// is updating the index.
func (x *Index) Update(ctx context.Context, open func(store.Entry) (*store.Conversation, error)) error {
	if _, ok := x.New(); !ok {
		return nil
	}
	return x.alone(func() error { return x.update(ctx, open) })
}

// CanUpdate reports whether the index can be written, and no other process is updating it.
func (x *Index) CanUpdate() bool { return x.cache.CanLockCache(indexDir) }

// alone calls f, unless another process is updating the index or has done so since it was
// opened: that one may have added the same text.
func (x *Index) alone(f func() error) error {
	unlock, err := x.cache.LockCache(indexDir, 0)
	if locked := (*store.LockedError)(nil); errors.As(err, &locked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	if !slices.Equal(x.cache.ListCache(indexDir), x.files) {
		return nil
	}
	if err = f(); err != nil { // on a full disk, each search would repeat the work in vain
		_ = x.cache.Postpone(indexDir)
	}
	return err
}

func (x *Index) update(ctx context.Context, open func(store.Entry) (*store.Conversation, error)) error {
	if _, ok := x.New(); !ok {
		return nil
	}
	for _, name := range x.damaged {
		_ = x.cache.RemoveCache(name)
	}
	w := &indexWriter{x, grams.Builder{BlockSize: x.block}}
	for _, name := range slices.Sorted(maps.Keys(x.new)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.add(x.new[name], open); err != nil {
			return err
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	clear(x.new) // until the index is opened again
	x.size = 0
	return x.compact()
}

// Refresh is like Update, but needs no search first: it looks for new text in all
// conversations of a source. The source needs no Index.
func (x *Index) Refresh(ctx context.Context, from Source) error {
	return x.alone(func() error {
		look := &lookup{Index: x}
		for i := range from.Rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			e := entryOf(&from.Rows[i])
			c, err := from.Open(e)
			if err != nil {
				continue // it is gone
			}
			r := &reading{Query: &Query{}, c: &c.Reader, entry: e, index: look, use: &memory{}}
			r.open()
			r.close()
			_ = c.Close()
		}
		return x.update(ctx, from.Open)
	})
}

// An indexWriter writes shards.
type indexWriter struct {
	*Index
	grams.Builder
}

// add adds the new text of a log.
func (w *indexWriter) add(n newText, open func(store.Entry) (*store.Conversation, error)) error {
	c, err := open(n.entry)
	if err != nil {
		return nil // it is gone
	}
	defer c.Close()
	logs, ok := c.OpenLogs()
	if !ok {
		return nil
	}
	defer logs.Close()
	if logs.Unread() != nil {
		return nil // each search says so
	}
	log := logs.Messages
	if n.call {
		log = logs.Tools
	}
	state := log.State()
	if !state.Known {
		return nil // left for the next search
	}
	if sum, err := log.Sum(min(n.from, log.Size())); err != nil || sum != n.before {
		n.from, n.before = 0, 0
	}
	e := grams.Entry{Log: hash(log.Name()), From: n.from, Before: n.before, State: numbers(state)}
	w.Begin(e)
	for b, err := range log.Blocks(n.from, log.Size()) {
		if err != nil {
			return err
		}
		text := b.Text[:bytes.LastIndexByte(b.Text, '\n')+1] // the last line may still grow
		if b.Offset != w.Last().To {
			break // a line is too long for the index
		}
		for len(text) > 0 {
			text = text[w.Add(text, needle.Wild):]
			if w.Full() {
				e.From = w.Last().To
				if e.Before, err = log.Sum(e.From); err != nil {
					return err
				}
				w.End(e.Before)
				if err := w.flush(); err != nil {
					return err
				}
				w.Begin(e)
			}
		}
	}
	sum, err := log.Sum(w.Last().To)
	w.End(sum)
	return err
}

// flush writes the shard.
func (w *indexWriter) flush() error {
	if w.Blocks() == 0 {
		return nil
	}
	err := w.write(w.Encode())
	w.Builder = grams.Builder{BlockSize: w.block}
	return err
}

// write writes a shard to a new file.
func (x *Index) write(data []byte) error {
	last := 0
	for _, name := range x.cache.ListCache(indexDir) {
		n := 0
		if _, err := fmt.Sscanf(name, "%08x", &n); err == nil {
			last = max(last, n)
		}
	}
	return x.cache.WriteCache(fmt.Sprintf("%s/%08x", indexDir, last+1), data)
}

// compact merges small shards, and drops the index if most of the text it covers is no
// longer in the logs.
func (x *Index) compact() error {
	now := OpenIndex(x.cache)
	now.block = x.block
	defer now.Close()
	var small []*shard
	blocks := 0
	for _, s := range now.shards {
		if s.Blocks < shardFull && blocks+s.Blocks+8 <= grams.MaxBlocks {
			small = append(small, s)
			blocks += s.Blocks + 8
		}
	}
	if now.mostlyOld() {
		for _, s := range now.shards {
			_ = x.cache.RemoveCache(s.name)
		}
		return nil
	}
	if len(small) <= mostSmall {
		return nil
	}
	list := make([]*grams.Shard, len(small))
	for i, s := range small {
		list[i] = s.Shard
	}
	if data, err := grams.Merge(list); err == nil { // on failure one is damaged, and all are rebuilt
		if err := now.write(data); err != nil {
			return err
		}
	}
	var err error
	for _, s := range small {
		err = errors.Join(err, x.cache.RemoveCache(s.name))
	}
	return err
}

// mostlyOld reports whether less than half of the index covers the latest indexed state of
// the logs.
func (x *Index) mostlyOld() bool {
	blocks, bytes := 0, int64(0)
	for _, s := range x.shards {
		blocks += s.Blocks
	}
	for _, list := range x.entries {
		newest := slices.MaxFunc(list, func(a, b entry) int { return cmp.Compare(a.in.name, b.in.name) })
		bytes += newest.To
	}
	const slack = 64 // blocks, for shards that are not full
	return int64(blocks-len(x.shards)*8-slack) > 2*(bytes/int64(x.block)+1)
}
