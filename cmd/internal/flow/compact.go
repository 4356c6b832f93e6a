package flow

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"cortext/cmd/internal/summarize"
	"cortext/resume"
	"cortext/resume/summary"
	"cortext/schema"
	"cortext/store"
)

// The values of Config.Summarizer.
const (
	Extractive    = "extractive" // what stands in the messages, without a model
	ByAgent       = "agent"      // the agent that the conversation was held in, headless
	ByOpenAI      = "openai"     // an endpoint that speaks OpenAI's protocol
	SummarizerOff = "off"
)

// The variables that say where an OpenAI-compatible endpoint is. They are not
// settings of the workspace, since who clones one must not have its conversations
// sent to where the repository says.
const (
	openAIURLVar   = "CORTEXT_OPENAI_URL" // such as http://localhost:11434/v1
	openAIModelVar = "CORTEXT_OPENAI_MODEL"
	openAIKeyVar   = "CORTEXT_OPENAI_KEY"
)

// summaryTime bounds how long one summary may take.
const summaryTime = 2 * time.Minute

// summariesOf reads the summaries of a conversation; what cannot be read is none.
func (w *Workspace) summariesOf(c *store.Conversation) (list []*schema.Summary) {
	dir := summariesDir(c)
	for _, name := range w.Store.ListFiles(dir) {
		b, err := w.Store.ReadFile(path.Join(dir, name))
		if err != nil {
			continue
		}
		if s, err := schema.ParseSummary(b); err == nil {
			list = append(list, s)
		}
	}
	return list
}

func summariesDir(c *store.Conversation) string { return path.Join(c.Path(), ".session/summaries") }

// A Compacted says what of a conversation is, or would be, told by summaries.
type Compacted struct {
	Messages int
	Ranges   []CompactRange
	Failed   []error // the messages of those ranges stay as they are
}

// A CompactRange is a range of messages that a summary stands for.
type CompactRange struct {
	First, Last  int // numbers of messages, from 1
	SourceTokens int64
	Tokens       int    // of the summary; 0: there is none yet
	Method       string // what made it; empty: there is none yet
	Made         bool   // just now
}

// What Compact makes.
type Making int

const (
	MakeNone   Making = iota
	MakeClosed        // summaries of ranges that do not grow any more
	MakeAll           // of the last range too, unless a model would be asked for it again and again
)

// Compact lists the ranges of a conversation that summaries stand for, and makes
// those that are missing, by the configured summarizer.
func (w *Workspace) Compact(ctx context.Context, e store.Entry, making Making) (*Compacted, error) {
	c, err := w.Store.Conversation(e.Path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return w.compact(ctx, c, e.Session, making)
}

func (w *Workspace) compact(ctx context.Context, c *store.Conversation, s *schema.Session, making Making) (*Compacted, error) {
	h, _, err := c.History(store.Limit{})
	if err != nil {
		return nil, err
	}
	out := &Compacted{Messages: len(h.Messages)}
	have := w.summariesOf(c)
	for _, r := range summary.Plan(h, summary.Options{Threshold: w.Config.SummarizeAfter, Keep: w.Config.KeepMessages}) {
		at := CompactRange{First: r.Start + 1, Last: r.End}
		found := slices.IndexFunc(have, func(s *schema.Summary) bool {
			v, ok := summary.Valid(s, h)
			return ok && v.Start == r.Start && v.End == r.End
		})
		var made *schema.Summary
		switch {
		case found >= 0:
			made = have[found]
		case making == MakeClosed && !r.Open, making == MakeAll && (!r.Open || w.Config.Summarizer == Extractive):
			if made, err = w.sumUp(ctx, h, r, s); err == nil && made != nil {
				err = w.writeSummary(c, made, have)
				at.Made = err == nil
			}
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			if err != nil {
				out.Failed = append(out.Failed, fmt.Errorf("no summary of messages %d to %d: %w", at.First, at.Last, err))
				made = nil
			}
		}
		if made != nil {
			at.SourceTokens, at.Tokens, at.Method = made.SourceTokens, made.Tokens, made.Method
		}
		out.Ranges = append(out.Ranges, at)
	}
	return out, nil
}

// sumUp makes a summary of a range.
func (w *Workspace) sumUp(ctx context.Context, h schema.History, r summary.Range, s *schema.Session) (*schema.Summary, error) {
	most, now := w.Config.SummaryMaxTokens, w.env.Now()
	switch w.Config.Summarizer {
	case SummarizerOff:
		return nil, errors.New("the setting summarizer is off")
	case Extractive:
		return summary.New(h, r, summary.Extract(h, r, most), schema.Extracted, "", most, now), nil
	}
	ctx, cancel := context.WithTimeout(ctx, summaryTime)
	defer cancel()
	by, method, err := w.summarizer(s)
	if err != nil {
		return nil, err
	}
	got, err := by.Summarize(ctx, summary.Prompt(summary.Text(h, r, summary.Options{}), most), most)
	if err != nil {
		return nil, err
	}
	return summary.New(h, r, got.Text, method, got.Model, most, now), nil
}

// A summarizer asks a model for a summary.
type summarizer interface {
	Summarize(ctx context.Context, prompt string, maxTokens int) (summarize.Result, error)
}

// summarizer returns the one that is configured, and the word for it in the format.
func (w *Workspace) summarizer(s *schema.Session) (summarizer, string, error) {
	env := w.env.Machine.Getenv
	if w.Config.Summarizer == ByAgent {
		a, err := summarize.AgentFor(s.AgentConfig.Agent, "")
		return a, schema.FromAgent, err
	}
	o := summarize.OpenAI{BaseURL: env(openAIURLVar), Model: env(openAIModelVar), Key: env(openAIKeyVar)}
	if o.BaseURL == "" || o.Model == "" {
		return nil, "", errors.New("summarizer is openai: set " + openAIURLVar + " and " + openAIModelVar + " (and " + openAIKeyVar + " if it wants a key)")
	}
	return o, schema.FromOpenAI, nil
}

// writeSummary writes a summary and removes those of the same range when it was
// shorter.
func (w *Workspace) writeSummary(c *store.Conversation, s *schema.Summary, have []*schema.Summary) error {
	b, err := s.Marshal()
	if err != nil {
		return err
	}
	if err := w.Store.WriteFile(path.Join(summariesDir(c), s.FileName()), b); err != nil {
		return err
	}
	for _, old := range have {
		if old.First == s.First && old.FileName() != s.FileName() {
			if err := w.Store.RemoveFile(path.Join(summariesDir(c), old.FileName())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Budgets says what each budget would do to a conversation: the payload of the
// strategy that would be taken, without its text.
func (w *Workspace) Budgets(e store.Entry, o ResumeOptions, budgets ...int) ([]*resume.Payload, error) {
	var list []*resume.Payload
	for _, o.Budget = range budgets {
		r, err := w.Resume(e, o)
		if err != nil {
			return nil, err
		}
		r.Payload.Text = ""
		list = append(list, r.Payload)
	}
	return list, nil
}
