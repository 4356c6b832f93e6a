// Package compact makes summaries of a conversation's old messages, and titles, with the
// summarizer of the settings, and decides when summaries are due. The messages themselves
// never change.
package compact

import (
	"context"
	"maps"
	"slices"
	"time"

	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/resume/summary"
	"cortext/schema"
	"cortext/store"
)

// A Compactor makes the summaries of conversations in one workspace.
type Compactor struct {
	// Progress, if it is set, is called before each request to a model with the first,
	// last and total message number.
	Progress func(first, last, of int)

	ws       *workspace.Workspace
	endpoint Endpoint
	due      []string      // paths of conversations whose old messages a model should summarize
	wait     time.Duration // how long a model may take; 0: summaryTime or titleTime
}

// An Endpoint returns the model behind an address. The program passes it in, because
// loading the HTTP code costs each start a millisecond.
type Endpoint func(url, model, key string) Summarizer

// New returns a Compactor for a workspace. endpoint is nil if the program cannot ask one.
func New(ws *workspace.Workspace, endpoint Endpoint) *Compactor {
	return &Compactor{ws: ws, endpoint: endpoint}
}

// A Result says which parts of a conversation summaries replace, or would replace.
type Result struct {
	Messages int
	Ranges   []Range
	Failed   []error        // the messages of those ranges stay as they are
	Damage   []store.Damage // of the conversation and its summaries
}

// A Range is a range of messages that a summary replaces.
type Range struct {
	First, Last  int // message numbers, from 1
	SourceTokens int64
	Tokens       int    // of the summary; 0: no summary yet
	Method       string // what made it; empty: no summary yet
	Made         bool   // by this run
	Why          string // why there is no summary, unless it was simply never made
}

// Preview lists the ranges of a conversation that summaries replace.
func (c *Compactor) Preview(e store.Entry) (*Result, error) {
	conv, err := c.ws.Open(e)
	if err != nil {
		return nil, err
	}
	defer conv.Close()
	p, err := c.plan(conv)
	if err != nil {
		return nil, err
	}
	return p.result, nil
}

// Compact makes the missing summaries of a conversation, using the configured summarizer.
// The last range still grows, but is summarized only once, and by a model only if it is the
// only range. Messages added to it since stay as they are.
func (c *Compactor) Compact(ctx context.Context, e store.Entry) (*Result, error) {
	conv, err := c.ws.Open(e)
	if err == nil && !conv.IsWaiting() && c.ws.Tree.Away(conv) != "" { // waiting conversations have waiting summaries, too
		if err = conv.Close(); err == nil {
			conv, err = c.ws.Conversation(e.Path)
		}
	}
	if err != nil {
		return nil, err
	}
	defer conv.Close()
	p, err := c.plan(conv)
	if err != nil {
		return nil, err
	}
	return c.carryOut(ctx, p)
}

// A plan lists the ranges of a conversation, and those that a summary can be made for.
type plan struct {
	maker
	result  *Result
	missing map[int]summary.Range // by the index in result.Ranges
}

func (c *Compactor) plan(conv *store.Conversation) (*plan, error) {
	s, damage, err := conv.Session()
	if err != nil {
		return nil, err
	}
	h, more, err := conv.History(store.Limit{})
	if err != nil {
		return nil, err
	}
	have, broken := conv.Summaries()
	p := &plan{
		maker:   maker{c: c, conversation: conv, history: h, session: s, broken: broken},
		result:  &Result{Messages: len(h.Messages), Damage: slices.Concat(damage, more, broken)},
		missing: map[int]summary.Range{},
	}
	for i, r := range summary.Plan(h, summary.Options{Threshold: c.ws.Config.SummarizeAfter, Keep: c.ws.Config.KeepMessages}) {
		at := Range{First: h.Messages[r.Start].Number, Last: h.Messages[r.End-1].Number}
		sum, end := made(have, h, r)
		switch {
		case sum != nil:
			at.Last = h.Messages[end-1].Number
			at.describe(sum)
		case r.Open && i > 0 && c.asksModel():
			at.Why = "it is still growing: a model summarizes it once it is complete"
		default:
			p.missing[i] = r
		}
		p.result.Ranges = append(p.result.Ranges, at)
	}
	return p, nil
}

// carryOut makes the missing summaries.
func (c *Compactor) carryOut(ctx context.Context, p *plan) (*Result, error) {
	out := p.result
	for _, i := range slices.Sorted(maps.Keys(p.missing)) {
		at := &out.Ranges[i]
		sum, err := p.make(ctx, p.missing[i])
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil:
			at.Why = err.Error()
		case sum == nil:
			at.Why = "it has no sentence worth keeping"
		default:
			at.Made = true
			at.describe(sum)
		}
	}
	if out.Failed = p.failed(); len(out.Failed) == 0 && c.asksModel() {
		return out, c.recordAsked(p.conversation.Path(), asked{Messages: p.session.MessageCount, Done: true})
	}
	return out, nil
}

func (r *Range) describe(s *schema.Summary) {
	r.SourceTokens, r.Tokens, r.Method = s.SourceTokens, s.Tokens, s.Method
}

// made returns the summary of a range and where it ends, or nil if there is none. For an
// open range it returns the longest summary of its beginning.
func made(have []*schema.Summary, h schema.History, r summary.Range) (sum *schema.Summary, end int) {
	for _, s := range have {
		v, ok := summary.Valid(s, h)
		if ok && v.Start == r.Start && v.End > end && (v.End == r.End || r.Open && v.End < r.End) {
			sum, end = s, v.End
		}
	}
	return sum, end
}

// CompactOld makes the missing summaries of a conversation that is being stopped, unless
// it is so long that this would take too much of a stop. A summary that fails is tried
// again at the next stop; until then its messages stay as they are.
func (c *Compactor) CompactOld(ctx context.Context, e store.Entry) []error {
	if s := e.Session; c.ws.Config.Summarizer == settings.SummarizerOff || s.MessageCount <= c.ws.Config.SummarizeAfter || s.Tokens > workspace.NotesTokens {
		return nil // too long to read at each stop: cortext compact makes its summaries
	}
	out, err := c.Compact(ctx, e)
	if err != nil {
		return []error{err}
	}
	return out.Failed
}
