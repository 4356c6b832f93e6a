package store

import (
	"errors"
	"fmt"
	"io/fs"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/store/secrets"
)

// Result says what an [Conversation.Append] did.
type Result struct {
	Appended int            // lines written to messages.jsonl
	Tools    int            // lines written to tools.jsonl
	Skipped  int            // records that were there already, or said less than what was
	Redacted secrets.Counts // secrets replaced, by rule, in the whole batch
	SetAside []SetAside     // torn lines that an earlier writer left
}

// Append adds to the conversation what is new in b and returns once it is
// durable. What was appended before changes nothing; a record that says more than
// the one of its id is written with a greater rev. Secrets are replaced and
// tokens counted here.
//
// After an error nothing of b counts, though some of it may be there: appending
// it again is right and safe. The error is a [*LockedError] if another process
// kept writing.
func (c *Conversation) Append(b schema.Batch) (Result, error) {
	result := Result{Redacted: secrets.Counts{}}
	tools := make([]record, 0, len(b.Tools))
	for _, t := range b.Tools {
		t, err := c.s.prepareTool(t, result.Redacted)
		if err != nil {
			return Result{}, fmt.Errorf("append to %q: %w", c.path, err)
		}
		tools = append(tools, toolRecord(t))
	}
	messages := make([]record, 0, len(b.Messages))
	for _, m := range b.Messages {
		m, err := c.s.prepareMessage(m, result.Redacted)
		if err != nil {
			return Result{}, fmt.Errorf("append to %q: %w", c.path, err)
		}
		messages = append(messages, messageRecord(m))
	}
	if len(tools)+len(messages) == 0 {
		return result, nil
	}
	h, err := c.lock()
	if err != nil {
		return Result{}, fmt.Errorf("append to %q: %w", c.path, err)
	}
	defer h.release()
	if err := h.append(tools, messages, &result); err != nil {
		h.undo()
		_ = c.drop() // what is on the disk is not known any more: it is read again
		return Result{SetAside: result.SetAside}, fmt.Errorf("append to %q: %w", c.path, explain(err))
	}
	return result, nil
}

func (h *hold) append(tools, messages []record, result *Result) error {
	c := h.c
	if len(tools) > 0 {
		if err := h.openTools(); err != nil {
			return err
		}
		n, err := h.appendTo(c.tools, tools, result)
		if err != nil {
			return err
		}
		result.Tools = n
	}
	n, err := h.appendTo(c.messages, messages, result)
	if err != nil {
		return err
	}
	result.Appended = n
	if c.noSession {
		return h.makeSession()
	}
	return nil
}

// openTools opens tools.jsonl, or sees that the open one is still the
// conversation's.
func (h *hold) openTools() error {
	c := h.c
	info, err := c.s.look(c.file(toolsFile), c.tools)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if c.tools != nil && (err != nil || !c.tools.Is(info)) {
		_ = c.tools.Close()
		c.tools = nil
	}
	if c.tools == nil {
		l, created, err := c.openLog(toolsFile)
		if err != nil {
			return err
		}
		if created {
			h.made = append(h.made, c.file(toolsFile))
		}
		c.tools = l
	}
	if info == nil {
		return nil
	}
	return fixMode(c.tools.File.File(), info, privateFileMode)
}

// appendTo writes what is new of the records to a log, each with one write, and
// syncs it once. After an error it takes back what it wrote: a later append must
// not take for safe what a failed sync has left in memory only.
func (h *hold) appendTo(l *logFile, records []record, result *Result) (written int, err error) {
	aside, err := l.refresh(h.c.s)
	result.SetAside = append(result.SetAside, aside...)
	if err != nil {
		return 0, err
	}
	begin := l.Size()
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Cut(begin))
		}
	}()
	var last []byte
	for _, r := range records {
		line := r.encode(0)
		if r.id() != "" {
			stored, err := l.at(r.id())
			if err != nil {
				return 0, err
			}
			if len(stored) > 0 {
				rev, isNew := r.revise(stored)
				if !isNew {
					result.Skipped++
					continue
				}
				line = r.encode(rev)
			}
		}
		if len(line) > jsonl.MaxLine {
			return 0, fmt.Errorf("record %q has %d bytes, more than the %d that can be read again", r.id(), len(line), jsonl.MaxLine)
		}
		offset := l.Size()
		if err := l.Append(line); err != nil {
			return 0, err
		}
		l.add(r.id(), offset)
		last = line
		written++
	}
	if err := l.Sync(); err != nil {
		return 0, err
	}
	return written, l.note(last)
}
