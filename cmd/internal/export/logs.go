package export

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"sync"

	"cortext/cmd/internal/export/portable"
	"cortext/schema"
	"cortext/store"
)

// logs reads both logs.
func (g *gatherer) logs(c *store.Conversation, out *portable.Conversation) error {
	if g.lines {
		return g.logLines(c, out)
	}
	messages := reading[schema.Message]{plain: c.Messages(), settled: c.Settled().Messages(), redacted: func(m *schema.Message) bool { return len(m.Redacted) > 0 }}
	tools := reading[schema.Tool]{plain: c.Tools(), settled: c.Settled().Tools(), redacted: func(t *schema.Tool) bool { return len(t.Redacted) > 0 }}
	err := readBoth(g, &messages, &tools)
	out.Messages, out.Tools = messages.list, tools.list
	return err
}

// logLines reads the lines of both logs.
func (g *gatherer) logLines(c *store.Conversation, out *portable.Conversation) error {
	redacted := func(line *store.LogLine) bool { return line.Redacted }
	messages := reading[store.LogLine]{plain: kept(c.MessageLines()), settled: encoded(c.Settled().Messages(), schema.AppendMessage), redacted: redacted}
	tools := reading[store.LogLine]{plain: kept(c.ToolLines()), settled: encoded(c.Settled().Tools(), schema.AppendTool), redacted: redacted}
	err := readBoth(g, &messages, &tools)
	out.Lines = &portable.Lines{Messages: texts(messages.list), Tools: texts(tools.list)}
	return err
}

// readBoth reads both logs at once.
func readBoth[M, T any](g *gatherer, messages *reading[M], tools *reading[T]) error {
	var both sync.WaitGroup
	both.Go(tools.read)
	messages.read()
	both.Wait()
	g.warnings = slices.Concat(g.warnings, messages.warnings, tools.warnings)
	return errors.Join(messages.err, tools.err)
}

// kept copies the lines, so that they stay valid.
func kept(lines iter.Seq2[store.LogLine, error]) iter.Seq2[store.LogLine, error] {
	return func(yield func(store.LogLine, error) bool) {
		var block []byte
		for line, err := range lines {
			if len(line.Text) > cap(block)-len(block) {
				block = make([]byte, 0, max(len(line.Text), 256<<10))
			}
			from := len(block)
			block = append(block, line.Text...)
			line.Text = block[from:]
			if !yield(line, err) {
				return
			}
		}
	}
}

// encoded returns the lines of the records.
func encoded[R any](records iter.Seq2[R, error], encode func(dst []byte, r *R) []byte) iter.Seq2[store.LogLine, error] {
	return func(yield func(store.LogLine, error) bool) {
		for r, err := range records {
			var line store.LogLine
			if err == nil {
				line.Text = bytes.TrimSuffix(encode(nil, &r), []byte("\n"))
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

func texts(lines []store.LogLine) [][]byte {
	out := make([][]byte, len(lines))
	for i, line := range lines {
		out[i] = line.Text
	}
	return out
}

// A reading reads a log into a list.
type reading[R any] struct {
	plain    iter.Seq2[R, error]
	settled  iter.Seq2[R, error] // takes longer
	redacted func(*R) bool       // whether a record was redacted

	list     []R
	warnings []string // of damage
	err      error
}

// read reads the log: as it is, and settled only if it has a record that was redacted.
func (r *reading[R]) read() {
	r.all(r.plain)
	for i := range r.list {
		if r.err == nil && r.redacted(&r.list[i]) {
			r.list, r.warnings = nil, nil
			r.all(r.settled)
			return
		}
	}
}

// all reads what is whole. Damage becomes a warning. Any other error ends the reading.
func (r *reading[R]) all(seq iter.Seq2[R, error]) {
	for v, err := range seq {
		var damage *store.Damage
		switch {
		case errors.As(err, &damage):
			r.warnings = append(r.warnings, damage.Error()+": the export lacks it")
		case err != nil:
			r.err = err
			return
		default:
			r.list = append(r.list, v)
		}
	}
}
