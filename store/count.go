package store

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/schema/tokens"
	"cortext/store/internal/lines"
)

// countRest brings the counters of s up to date with the logs. They are right if they
// were taken at the present length of messages.jsonl. Otherwise it counts the lines after
// that length, or everything if no line ends there.
func (c *Conversation) countRest(s *schema.Session) error {
	if len(c.others()) > 0 {
		return c.recount(s, c.dirs())
	}
	if info, err := c.s.root.Lstat(c.file(messagesFile)); err == nil && info.Size() == s.CountedBytes {
		return nil // the usual case opens no file
	}
	f, size, err := c.openForReading(messagesFile)
	if f == nil {
		return err
	}
	defer f.Close()
	from := s.CountedBytes
	if from == size {
		return nil
	}
	if from == 0 || !endsLine(f, from, size) {
		return c.recount(s, c.dirs())
	}
	var rest tally
	calls := map[string]bool{}
	err = eachMessage(f, from, size, func(m *schema.Message) {
		if m.Rev > 0 {
			return // already counted, or just now
		}
		rest.message(m)
		for _, call := range m.ToolCalls {
			calls[call.ID] = true
		}
	})
	if err != nil {
		return err
	}
	if err := c.tallyCalls(&rest, calls); err != nil {
		return err
	}
	if s.Tokens > math.MaxInt64-rest.tokens || s.MessageCount > math.MaxInt-rest.messages {
		return c.recount(s, c.dirs()) // nothing counted that far
	}
	s.MessageCount += rest.messages
	s.Tokens += rest.tokens
	s.CountedBytes = size
	s.LastActive = later(s.LastActive, rest.last)
	return nil
}

// recount computes the counters of s from the logs in some folders of the conversation.
func (c *Conversation) recount(s *schema.Session, dirs []string) error {
	if c.staged() && c.written != nil && c.messages != nil {
		c.written.into(s, c.messages.Size())
		return nil
	}
	f, size, err := c.openForReading(messagesFile)
	if f == nil && (err != nil || len(dirs) < 2) {
		return err
	}
	if f != nil {
		if err := f.Close(); err != nil {
			return err
		}
	}
	all, err := c.tally(dirs)
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
func (c *Conversation) tally(dirs []string) (all tally, err error) {
	for _, dir := range dirs {
		for m, err := range readHeld(c.hold(dir, messagesFile), schema.ParseMessage) {
			if err == nil {
				all.message(&m)
			} else if !isDamage(err) {
				return all, err
			}
		}
		for t, err := range readHeld(c.hold(dir, toolsFile), schema.ParseTool) {
			if err == nil {
				all.tool(&t)
			} else if !isDamage(err) {
				return all, err
			}
		}
	}
	return all, nil
}

// eachMessage calls f for each message in the range from-to of a log.
func eachMessage(r io.ReaderAt, from, to int64, f func(*schema.Message)) error {
	for m, err := range records(io.NewSectionReader(r, from, to-from), from, 0, schema.ParseMessage) {
		if err == nil {
			f(&m)
		} else if !isDamage(err) {
			return err
		}
	}
	return nil
}

func later(a, b schema.Time) schema.Time {
	if a.Time().Before(b.Time()) {
		return b
	}
	return a
}

// endsLine reports whether the byte before offset is a newline.
func endsLine(r io.ReaderAt, offset, size int64) bool {
	var last [1]byte
	if offset > size {
		return false
	}
	_, err := r.ReadAt(last[:], offset-1)
	return err == nil && last[0] == '\n'
}

// tallyCalls adds the tool lines of some calls, which are near the end of the log.
func (c *Conversation) tallyCalls(all *tally, calls map[string]bool) error {
	f, size, err := c.openForReading(toolsFile)
	if f == nil {
		return err
	}
	defer f.Close()
	if len(calls) == 0 {
		return nil
	}
	tools := newToolFinder(f, size)
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
	ofID     map[string]part // messages by "m" + id, tool calls by "t" + id
}

// A part is the contribution of one record to a tally.
type part struct {
	rev    int
	tokens int
	usage  schema.Usage
}

func (n *tally) message(m *schema.Message) {
	p := part{rev: m.Rev, tokens: messageTokens(m)}
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

// record counts a record written with a rev.
func (n *tally) record(r record, rev int) {
	if r.message != nil {
		m := *r.message
		m.Rev = rev
		n.message(&m)
		return
	}
	t := *r.tool
	t.Rev = rev
	n.tool(&t)
}

func (n *tally) tool(t *schema.Tool) {
	n.add("t"+t.ID, part{rev: t.Rev, tokens: toolTokens(t)})
}

// add counts p under an id and reports whether the id is new.
func (n *tally) add(id string, p part) bool {
	old, ok := n.ofID[id]
	// Two clones may have used the same rev: the larger record counts, whatever the order
	// of the lines.
	if ok && (old.rev > p.rev || old.rev == p.rev && old.tokens >= p.tokens) {
		return false
	}
	if ok {
		n.sum(old, -1)
	}
	n.sum(p, 1)
	if n.ofID == nil {
		n.ofID = map[string]part{}
	}
	n.ofID[id] = p
	return !ok
}

func (n *tally) sum(p part, sign int64) {
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

// openForReading opens a log and returns its present length. f is nil if the log is
// missing or not a regular file, which [Store.Check] reports.
func (c *Conversation) openForReading(name string) (f logReader, size int64, err error) {
	if l := c.stagedLog(name); l != nil {
		return sharedLog{l.File.File()}, l.Size(), nil
	}
	file, info, _, err := lines.Open(c.s.root, c.file(name), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, lines.ErrNotRegular) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, explain(err)
	}
	return file, info.Size(), nil
}

// A logReader is a log open for reading.
type logReader interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// A sharedLog is also open for a writer, which closes it.
type sharedLog struct{ *os.File }

func (sharedLog) Close() error { return nil }

// stagedLog returns the log of an unpublished conversation that is open for writing: no
// other process knows of it. Otherwise it returns nil.
func (c *Conversation) stagedLog(name string) *logFile {
	switch {
	case !c.staged():
		return nil
	case name == messagesFile:
		return c.messages
	}
	return c.tools
}

func isDamage(err error) bool {
	var in *jsonl.Damage
	return errors.As(err, &in)
}
