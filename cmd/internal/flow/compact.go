package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/summarize"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/resume/summary"
	"cortext/schema"
	"cortext/store"
)

// These variables locate an OpenAI-compatible endpoint. They are not workspace settings,
// because a repository must not decide where the conversations of someone who clones it
// are sent.
const (
	openAIURLVar   = "CORTEXT_OPENAI_URL" // such as http://localhost:11434/v1
	openAIModelVar = "CORTEXT_OPENAI_MODEL"
	openAIKeyVar   = "CORTEXT_OPENAI_KEY"
)

// sourceBytes is the maximum text of a range that a model is given.
const sourceBytes = 200_000

// summaryTime limits how long one summary may take.
const summaryTime = 2 * time.Minute

// Compacted says which parts of a conversation summaries replace, or would replace.
type Compacted struct {
	Messages int
	Ranges   []CompactRange
	Failed   []error        // the messages of those ranges stay as they are
	Damage   []store.Damage // of the conversation and its summaries
}

// A CompactRange is a range of messages that a summary replaces.
type CompactRange struct {
	First, Last  int // message numbers, from 1
	SourceTokens int64
	Tokens       int    // of the summary; 0: no summary yet
	Method       string // what made it; empty: no summary yet
	Made         bool   // by this run
	Why          string // why there is no summary, unless it was simply never made
}

// Compact lists the ranges of a conversation that summaries replace. With apply it makes
// the missing summaries, using the configured summarizer. The last range still grows and
// is summarized once; by a model only if it is the only range. What was added to it since
// is short enough to stay as it is.
func (w *Workspace) Compact(ctx context.Context, e store.Entry, apply bool) (*Compacted, error) {
	c, err := w.Open(e)
	if err == nil && apply && !c.IsWaiting() && w.Tree.Away(c) != "" { // waiting conversations have waiting summaries, too
		if err = c.Close(); err == nil {
			c, err = w.Conversation(e.Path)
		}
	}
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return w.compact(ctx, c, apply)
}

func (w *Workspace) compact(ctx context.Context, c *store.Conversation, apply bool) (*Compacted, error) {
	s, damage, err := c.Session()
	if err != nil {
		return nil, err
	}
	h, more, err := c.History(store.Limit{})
	if err != nil {
		return nil, err
	}
	have, broken := c.Summaries()
	out := &Compacted{Messages: len(h.Messages), Damage: slices.Concat(damage, more, broken)}
	m := maker{w: w, conversation: c, history: h, session: s, broken: broken}
	for i, r := range summary.Plan(h, summary.Options{Threshold: w.Config.SummarizeAfter, Keep: w.Config.KeepMessages}) {
		at := CompactRange{First: h.Messages[r.Start].Number, Last: h.Messages[r.End-1].Number}
		sum, end := made(have, h, r)
		switch {
		case sum != nil:
			at.Last = h.Messages[end-1].Number
		case r.Open && i > 0 && w.asksModel():
			at.Why = "it still grows, and no model is asked before it is complete"
		case apply:
			if sum, err = m.make(ctx, r); ctx.Err() != nil {
				return out, ctx.Err()
			}
			at.Made = sum != nil
			if err != nil {
				at.Why = err.Error()
			} else if sum == nil {
				at.Why = "nothing in it is a sentence that says something"
			}
		}
		if sum != nil {
			at.SourceTokens, at.Tokens, at.Method = sum.SourceTokens, sum.Tokens, sum.Method
		}
		out.Ranges = append(out.Ranges, at)
	}
	if out.Failed = m.failed(); apply && len(out.Failed) == 0 && w.asksModel() {
		return out, w.noteSumming(c.Path(), summing{Messages: s.MessageCount, Done: true})
	}
	return out, nil
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

// A maker makes the missing summaries of one conversation.
type maker struct {
	w            *Workspace
	conversation *store.Conversation
	history      schema.History
	session      *schema.Session
	broken       []store.Damage

	errs  []error
	over  error // the last of errs: ask no model any more
	spare int   // ranges after it that were not tried
}

var errNotAsked = errors.New("not tried after that failure")

// make makes and writes the summary of a range, or returns nil if there is nothing to
// summarize.
func (m *maker) make(ctx context.Context, r summary.Range) (*schema.Summary, error) {
	if m.over != nil {
		m.spare++
		return nil, errNotAsked
	}
	sum, err := m.sumUp(ctx, r)
	if err == nil && sum != nil {
		err = m.conversation.WriteSummary(sum)
	}
	if err != nil {
		m.errs = append(m.errs, fmt.Errorf("no summary of messages %d to %d: %w", r.Start+1, r.End, err))
		if summarize.Away(err) || errors.As(err, new(*settingError)) {
			m.over = err
		}
		return nil, err
	}
	return sum, nil
}

// failed returns the failures. The last one also says how many ranges were not tried
// after it.
func (m *maker) failed() []error {
	if m.spare == 0 {
		return m.errs
	}
	ranges := "one more range"
	if m.spare > 1 {
		ranges = fmt.Sprintf("%d more ranges", m.spare)
	}
	last := len(m.errs) - 1
	return append(m.errs[:last:last], fmt.Errorf("%w; %s not tried", m.errs[last], ranges))
}

// sumUp creates the summary of a range.
func (m *maker) sumUp(ctx context.Context, r summary.Range) (*schema.Summary, error) {
	w, h, most := m.w, m.history, m.w.Config.SummaryMaxTokens
	if err := m.stands(r); err != nil {
		return nil, err
	}
	if w.Config.Summarizer == workspace.SummarizerExtractive {
		return summary.New(h, r, summary.Draft{Content: summary.Extract(h, r, most), Method: schema.Extracted}, most, time.Time{}), nil
	}
	by, method, err := w.summarizer(m.session)
	if err != nil {
		return nil, &settingError{err}
	}
	if w.Summing != nil {
		w.Summing(r.Start+1, r.End, len(h.Messages))
	}
	wait := cmp.Or(w.summaryWait, summaryTime)
	ctx, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("no answer within %g minutes", wait.Minutes()))
	defer cancel()
	got, err := by.Summarize(ctx, summarize.Prompt(summarize.Text(h, r, sourceBytes), most), most)
	if err != nil {
		return nil, err
	}
	text, err := w.Store.Redact(got.Text) // before it is shortened to its maximum size
	if err != nil {
		return nil, err
	}
	sum := summary.New(h, r, summary.Draft{Content: text, Method: method, Model: got.Model}, most, w.Env.Now())
	if sum == nil {
		return nil, fmt.Errorf("no sentence of the answer has at most the %d tokens of summary_max_tokens", most)
	}
	return sum, nil
}

// stands returns the damage of an existing file that the summary of a range must not
// replace. Then no model is asked.
func (m *maker) stands(r summary.Range) error {
	s := schema.Summary{}
	s.First, s.Last = summary.Ends(m.history, r)
	for i := range m.broken {
		if d := &m.broken[i]; path.Base(d.File) == s.FileName() && (d.Kind == store.Newer || d.Kind == store.NotRegular) {
			return d
		}
	}
	return nil
}

// A settingError would fail for every other range, too.
type settingError struct{ err error }

func (e *settingError) Error() string { return e.err.Error() }

// A Summarizer asks a model for a summary.
type Summarizer interface {
	Summarize(ctx context.Context, prompt string, maxTokens int) (summarize.Result, error)
}

// summarizer returns the configured summarizer and its name in the format.
func (w *Workspace) summarizer(s *schema.Session) (Summarizer, string, error) {
	env := w.Env.Machine.Getenv
	switch w.Config.Summarizer {
	case workspace.SummarizerOff:
		return nil, "", errors.New("the setting summarizer is off")
	case workspace.SummarizerAgent:
		// Use the agent's program that a launch would find.
		name := s.AgentConfig.Agent
		a, err := summarize.AgentFor(name, env("CORTEXT_"+strings.ToUpper(name)))
		return a, schema.FromAgent, err
	}
	url, model := env(openAIURLVar), env(openAIModelVar)
	switch {
	case w.Endpoint == nil:
		return nil, "", errors.New("this program asks no endpoint: cortext compact --apply does")
	case url == "" || model == "":
		return nil, "", errors.New("summarizer is openai: set " + openAIURLVar + " and " + openAIModelVar + " (and " + openAIKeyVar + " if it wants a key)")
	}
	return w.Endpoint(url, model, env(openAIKeyVar)), schema.FromOpenAI, nil
}

// Budgets shows the effect of each budget on a conversation: the payload of the strategy
// that would be chosen and, if it leaves something out, the payload of
// recent-plus-summary after it. The payloads have no texts.
func (w *Workspace) Budgets(ctx context.Context, e store.Entry, o ResumeOptions, budgets ...int) ([]*resume.Payload, error) {
	var list []*resume.Payload
	for _, budget := range budgets {
		for _, strategy := range []string{o.Strategy, resume.RecentPlus} {
			o := o
			o.Budget, o.Strategy = budget, strategy
			r, err := w.Resume(ctx, e, o)
			if err != nil {
				return nil, err
			}
			p := r.Payload
			p.Text = ""
			if n := len(list); n == 0 || list[n-1].Budget != p.Budget || list[n-1].Strategy != p.Strategy {
				list = append(list, p)
			}
			if p.Strategy == resume.FullHistory {
				break
			}
		}
	}
	return list, nil
}
