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

// The variables that say where an OpenAI-compatible endpoint is. They are not
// settings of the workspace, since who clones one must not have its conversations
// sent to where the repository says.
const (
	openAIURLVar   = "CORTEXT_OPENAI_URL" // such as http://localhost:11434/v1
	openAIModelVar = "CORTEXT_OPENAI_MODEL"
	openAIKeyVar   = "CORTEXT_OPENAI_KEY"
)

// sourceBytes is how much text of a range a model is given at most.
const sourceBytes = 200_000

// summaryTime bounds how long one summary may take.
const summaryTime = 2 * time.Minute

// A Compacted says what of a conversation summaries stand for, or would.
type Compacted struct {
	Messages int
	Ranges   []CompactRange
	Failed   []error        // the messages of those ranges stay as they are
	Damage   []store.Damage // of the conversation and its summaries
}

// A CompactRange is a range of messages that a summary stands for.
type CompactRange struct {
	First, Last  int // numbers of messages, from 1
	SourceTokens int64
	Tokens       int    // of the summary; 0: there is none yet
	Method       string // what made it; empty: there is none yet
	Made         bool   // just now
	Why          string // there is none, where more is to be said than that nobody has made it
}

// Compact lists the ranges of a conversation that summaries stand for. With apply it
// makes those that are missing, by the configured summarizer. Of the last range, which
// still grows, a summary is made once, by a model only where there is no other range yet;
// what was added since is short enough to stand as it is.
func (w *Workspace) Compact(ctx context.Context, e store.Entry, apply bool) (*Compacted, error) {
	c, err := w.Open(e)
	if err == nil && apply && !c.IsWaiting() && w.Away(c) != "" { // summaries wait, too
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

// made returns the summary of a range and where it ends; of one that is open the longest
// of its beginning. nil if there is none.
func made(have []*schema.Summary, h schema.History, r summary.Range) (sum *schema.Summary, end int) {
	for _, s := range have {
		v, ok := summary.Valid(s, h)
		if ok && v.Start == r.Start && v.End > end && (v.End == r.End || r.Open && v.End < r.End) {
			sum, end = s, v.End
		}
	}
	return sum, end
}

// A maker makes the summaries of one conversation that are missing.
type maker struct {
	w            *Workspace
	conversation *store.Conversation
	history      schema.History
	session      *schema.Session
	broken       []store.Damage

	errs  []error
	over  error // the last of errs: nobody is asked any more
	spare int   // ranges after it that nobody was asked for
}

var errNotAsked = errors.New("not tried after that failure")

// make makes and writes the summary of a range; nil if there is nothing to say of it.
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

// failed tells the failures; of the last that none was asked for after it.
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

// sumUp makes the summary of a range.
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
	text, err := w.Store.Redact(got.Text) // before it is condensed to what it may have
	if err != nil {
		return nil, err
	}
	sum := summary.New(h, r, summary.Draft{Content: text, Method: method, Model: got.Model}, most, w.Env.Now())
	if sum == nil {
		return nil, fmt.Errorf("no sentence of the answer has at most the %d tokens of summary_max_tokens", most)
	}
	return sum, nil
}

// stands says what stands where the summary of a range would be written, and is not
// to be replaced: nobody is asked for it then.
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

// A settingError is one that no other range would fare better with.
type settingError struct{ err error }

func (e *settingError) Error() string { return e.err.Error() }

// A Summarizer asks a model for a summary.
type Summarizer interface {
	Summarize(ctx context.Context, prompt string, maxTokens int) (summarize.Result, error)
}

// summarizer returns the one that is configured, and the word for it in the format.
func (w *Workspace) summarizer(s *schema.Session) (Summarizer, string, error) {
	env := w.Env.Machine.Getenv
	switch w.Config.Summarizer {
	case workspace.SummarizerOff:
		return nil, "", errors.New("the setting summarizer is off")
	case workspace.SummarizerAgent:
		// The agent's program as a launch would find it.
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

// Budgets says what each budget would do to a conversation: the payload of the
// strategy that would be taken, and if that leaves something out, of
// recent-plus-summary after it, without their texts.
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
