package store

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"cortext/schema"
	"cortext/schema/tokens"
)

// A counter computes the counters of session.json from the logs of a conversation.
type counter struct{ *Reader }

// countRest brings the counters of s up to date with the logs. They are right if they
// were taken at the present length of messages.jsonl. Otherwise it counts the lines after
// that length, or everything if no line ends there or if a message after it is not newer than
// what was counted.
func (r counter) countRest(s *schema.Session) error {
	if len(r.others()) > 0 {
		return r.recount(s, r.folders()...)
	}
	if info, err := r.s.root.Lstat(r.file(messagesFile)); err == nil && info.Size() == s.CountedBytes {
		return nil // the usual case opens no file
	}
	l, err := r.openOwn(messagesFile)
	if l == nil {
		return err
	}
	defer l.close()
	from := s.CountedBytes
	if from == l.size {
		return nil
	}
	if from == 0 || !l.endsLine(from) {
		return r.recount(s, r.folders()...)
	}
	var rest tally
	calls := map[string]bool{}
	for m, err := range Undamaged(parseLog(l, from, messageLog())) {
		if err != nil {
			return err
		}
		if m.Rev > 0 {
			continue // already counted, or just now
		}
		if !m.Timestamp.Time().After(s.LastActive.Time()) { // may be counted: git has merged the log since
			return r.recount(s, r.folders()...)
		}
		rest.message(&m)
		for _, call := range m.ToolCalls {
			calls[call.ID] = true
		}
	}
	if err := r.tallyCalls(&rest, calls); err != nil {
		return err
	}
	if s.Tokens > math.MaxInt64-rest.tokens || s.MessageCount > math.MaxInt-rest.messages || !addUsage(s, rest.usage) {
		return r.recount(s, r.folders()...) // nothing counted that far
	}
	s.MessageCount += rest.messages
	s.Tokens += rest.tokens
	s.CountedBytes = l.size
	s.LastActive = later(s.LastActive, rest.last)
	return nil
}

// addUsage adds to the usage of s. It returns false if the sum would be wrong.
func addUsage(s *schema.Session, more schema.Usage) bool {
	if s.Usage == nil {
		return more.PromptTokens|more.CompletionTokens|more.CachedTokens == 0
	}
	sum := *s.Usage
	for _, part := range []struct {
		sum  *int64
		more int64
	}{{&sum.PromptTokens, more.PromptTokens}, {&sum.CompletionTokens, more.CompletionTokens}, {&sum.CachedTokens, more.CachedTokens}} {
		if *part.sum < 0 || *part.sum > math.MaxInt64-part.more {
			return false
		}
		*part.sum += part.more
	}
	s.Usage = &sum
	return true
}

// recount computes the counters of s from the logs in some folders of the conversation.
func (r counter) recount(s *schema.Session, folders ...sessionFolder) error {
	if l := r.unpublished[messagesFile]; l != nil && r.written != nil {
		r.written.tally.into(s, l.Size())
		return nil
	}
	l, err := r.openOwn(messagesFile)
	if l == nil && (err != nil || len(folders) < 2) {
		return err
	}
	size := int64(0)
	if l != nil {
		size = l.size
		if err := l.close(); err != nil {
			return err
		}
	}
	all, err := r.tally(folders)
	if err != nil {
		return err
	}
	all.into(s, size)
	return nil
}

// into writes the counters to s. size is the length of messages.jsonl in bytes.
func (n tally) into(s *schema.Session, size int64) {
	s.MessageCount, s.Tokens, s.CountedBytes = n.messages, n.tokens, size
	s.LastActive = later(s.LastActive, n.last)
	if n.usage.PromptTokens|n.usage.CompletionTokens|n.usage.CachedTokens != 0 {
		if s.Usage != nil {
			n.usage.Unknown = s.Usage.Unknown
		}
		s.Usage = &n.usage
	}
}

// tally adds up the logs in some folders of the conversation.
func (r counter) tally(folders []sessionFolder) (all tally, err error) {
	for _, f := range folders {
		for m, err := range Undamaged(readIn(r.Reader, f, messageLog())) {
			if err != nil {
				return all, err
			}
			all.message(&m)
		}
		for t, err := range Undamaged(readIn(r.Reader, f, toolLog())) {
			if err != nil {
				return all, err
			}
			all.tool(&t)
		}
	}
	return all, nil
}

func later(a, b schema.Time) schema.Time {
	if a.Time().Before(b.Time()) {
		return b
	}
	return a
}

// endsLine reports whether the byte before offset is a newline.
func (l *logReader) endsLine(offset int64) bool {
	var last [1]byte
	if offset > l.size {
		return false
	}
	_, err := l.ReadAt(last[:], offset-1)
	return err == nil && last[0] == '\n'
}

// tallyCalls adds the tool lines of some calls, which are near the end of the log.
func (r counter) tallyCalls(all *tally, calls map[string]bool) error {
	if len(calls) == 0 {
		return nil
	}
	l, err := r.openOwn(toolsFile)
	if l == nil {
		return err
	}
	defer l.close()
	tools := newToolFinder(l)
	defer tools.stop()
	for id := range calls {
		t, err := tools.find(id)
		if err != nil {
			return err
		}
		if t != nil {
			all.tool(t)
		}
	}
	return nil
}

// A tally adds up the records of a conversation. Each id counts once, with its greatest
// rev.
type tally struct {
	messages int
	tokens   int64
	last     schema.Time
	usage    schema.Usage
	ofID     map[string]share // messages by "m" + id, tool calls by "t" + id
}

// A share is the contribution of one record to a tally.
type share struct {
	rank   int64 // the record's precedence
	tokens int
	usage  schema.Usage
}

func (n *tally) message(m *schema.Message) {
	p := share{rank: m.Precedence(), tokens: messageTokens(m)}
	if m.Usage != nil {
		p.usage = *m.Usage
	}
	if m.ID == "" || n.add("m"+m.ID, p) {
		n.messages++
	}
	if m.ID == "" {
		n.sum(p, 1)
	}
	n.last = later(n.last, m.Timestamp)
}

// record counts a record.
func (n *tally) record(r record) {
	if r.message != nil {
		n.message(r.message)
	} else {
		n.tool(r.tool)
	}
}

func (n *tally) tool(t *schema.Tool) {
	n.add("t"+t.ID, share{rank: t.Precedence(), tokens: toolTokens(t)})
}

// add counts p under an id and reports whether the id is new.
func (n *tally) add(id string, p share) bool {
	old, ok := n.ofID[id]
	// Two clones may have used the same rev: the larger record counts, whatever the order
	// of the lines.
	if ok && (old.rank > p.rank || old.rank == p.rank && old.tokens >= p.tokens) {
		return false
	}
	if ok {
		n.sum(old, -1)
	}
	n.sum(p, 1)
	if n.ofID == nil {
		n.ofID = map[string]share{}
	}
	n.ofID[id] = p
	return !ok
}

func (n *tally) sum(p share, sign int64) {
	n.tokens += sign * sane(int64(p.tokens))
	n.usage.PromptTokens += sign * sane(p.usage.PromptTokens)
	n.usage.CompletionTokens += sign * sane(p.usage.CompletionTokens)
	n.usage.CachedTokens += sign * sane(p.usage.CachedTokens)
}

// sane bounds the token count of one record, so that no sum over a log overflows.
func sane(tokens int64) int64 { return max(0, min(tokens, 1<<32)) }

// messageTokens returns the count stored with a message, or a new count for version 1.0,
// which stored none.
func messageTokens(m *schema.Message) int {
	if m.Tokens == 0 && m.Content != "" {
		return tokens.Count(m.Content)
	}
	return m.Tokens
}

func toolTokens(t *schema.Tool) int {
	if t.Tokens == 0 && len(t.Input)+len(t.Output) > 0 {
		return countTool(t)
	}
	return t.Tokens
}

// countTool counts the tokens of a call.
func countTool(t *schema.Tool) int {
	return tokens.Count(string(t.Input)) + tokens.Count(t.Output)
}

// Tokens are counted by several goroutines if there is much to count: it is the longest part
// of a capture.
const (
	mostCounting = 4
	muchToCount  = 64 << 10 // bytes
)

// countBatch counts the tokens of records of about size bytes.
func countBatch(b schema.Batch, size int) {
	var next atomic.Int64
	count := func() {
		for {
			i := int(next.Add(1)) - 1
			switch m := i - len(b.Tools); {
			case m >= len(b.Messages):
				return
			case m >= 0:
				b.Messages[m].Tokens = tokens.Count(b.Messages[m].Content)
			default:
				b.Tools[i].Tokens = countTool(&b.Tools[i])
			}
		}
	}
	var others sync.WaitGroup
	if size >= muchToCount {
		for range min(runtime.GOMAXPROCS(0), mostCounting) - 1 {
			others.Go(count)
		}
	}
	count()
	others.Wait()
}

// Recount recomputes the counters of session.json from the logs.
func (tx *Tx) Recount() error {
	if err := tx.Flush(); err != nil {
		return err
	}
	s, _, err := tx.Session()
	if err != nil {
		return err
	}
	tx.counted = true
	return counter{&tx.c.Reader}.recount(s, tx.c.folders()...)
}

// Count brings the counters of session.json up to date with the logs. If the log is known
// to have only new records after the counted ones, it counts just those. Otherwise it
// counts everything.
func (tx *Tx) Count() error {
	if err := tx.Flush(); err != nil {
		return err
	}
	s, damage, err := tx.Session()
	if err != nil {
		return err
	}
	known := !tx.logs.rewritten && (tx.counted || tx.logs.began == s.CountedBytes || tx.logs.began == tx.logs.since.Messages.End && tx.logs.since.Counted == countedBy(s))
	tx.counted = true
	if s.CountedBytes == 0 || len(damage) > 0 || !known {
		return counter{&tx.c.Reader}.recount(s, tx.c.folders()...)
	}
	return counter{&tx.c.Reader}.countRest(s)
}
