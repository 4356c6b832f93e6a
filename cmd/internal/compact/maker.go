package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/summarize"
	"cortext/resume/summary"
	"cortext/schema"
	"cortext/store"
)

// sourceBytes is the maximum text of a range that a model is given.
const sourceBytes = 200_000

// summaryTime limits how long one summary may take.
const summaryTime = 2 * time.Minute

// A maker makes the missing summaries of one conversation.
type maker struct {
	c            *Compactor
	conversation *store.Conversation
	history      schema.History
	session      *schema.Session
	broken       []store.Damage

	errs    []error
	fatal   error // the last of errs, after which no model is asked
	untried int   // ranges after it
}

var errNotAsked = errors.New("not tried after that failure")

// make makes and writes the summary of a range, or returns nil if there is nothing to
// summarize.
func (m *maker) make(ctx context.Context, r summary.Range) (*schema.Summary, error) {
	if m.fatal != nil {
		m.untried++
		return nil, errNotAsked
	}
	sum, err := m.create(ctx, r)
	if err == nil && sum != nil {
		err = m.conversation.WriteSummary(sum)
	}
	if err != nil {
		m.errs = append(m.errs, fmt.Errorf("no summary of messages %d to %d: %w", r.Start+1, r.End, err))
		if summarize.Away(err) || errors.As(err, new(*settingError)) {
			m.fatal = err
		}
		return nil, err
	}
	return sum, nil
}

// failed returns the failures. The last one also says how many ranges were not tried
// after it.
func (m *maker) failed() []error {
	if m.untried == 0 {
		return m.errs
	}
	ranges := "one more range"
	if m.untried > 1 {
		ranges = fmt.Sprintf("%d more ranges", m.untried)
	}
	last := len(m.errs) - 1
	return append(m.errs[:last:last], fmt.Errorf("%w; %s not tried", m.errs[last], ranges))
}

// create creates the summary of a range.
func (m *maker) create(ctx context.Context, r summary.Range) (*schema.Summary, error) {
	c, h, most := m.c, m.history, m.c.ws.Config.SummaryMaxTokens
	if err := m.blocked(r); err != nil {
		return nil, err
	}
	if c.ws.Config.Summarizer == settings.SummarizerExtractive {
		return summary.New(h, r, summary.Draft{Content: summary.Extract(h, r, most), Method: schema.Extracted}, most, time.Time{}), nil
	}
	by, method, err := c.summarizer(m.session)
	if err != nil {
		return nil, &settingError{err}
	}
	if c.Progress != nil {
		c.Progress(r.Start+1, r.End, len(h.Messages))
	}
	ctx, cancel := c.limited(ctx, summaryTime)
	defer cancel()
	got, err := by.Summarize(ctx, summarize.Prompt(summarize.Text(h, r, sourceBytes), most), most)
	if err != nil {
		return nil, err
	}
	text, err := c.ws.Store.Redact(got.Text) // before it is shortened to its maximum size
	if err != nil {
		return nil, err
	}
	sum := summary.New(h, r, summary.Draft{Content: text, Method: method, Model: got.Model}, most, c.ws.Env.Now())
	if sum == nil {
		return nil, fmt.Errorf("no sentence of the answer has at most the %d tokens of summary_max_tokens", most)
	}
	return sum, nil
}

// limited limits how long a model may take to answer.
func (c *Compactor) limited(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	most = cmp.Or(c.wait, most)
	return context.WithTimeoutCause(ctx, most, fmt.Errorf("no answer within %g minutes", most.Minutes()))
}

// blocked returns the damage of an existing file that the summary of a range must not
// replace. Then no model is asked.
func (m *maker) blocked(r summary.Range) error {
	s := schema.Summary{}
	s.First, s.Last = summary.Ends(m.history, r)
	for i := range m.broken {
		if d := &m.broken[i]; path.Base(d.File) == s.FileName() && (d.Kind == store.Newer || d.Kind == store.NotRegular) {
			return d
		}
	}
	return nil
}

// A settingError is a defect of the settings, so every other range would fail, too.
type settingError struct{ err error }

func (e *settingError) Error() string { return e.err.Error() }

// These variables locate an OpenAI-compatible endpoint. They are not workspace settings,
// because a repository must not decide where the conversations of someone who clones it
// are sent.
const (
	openAIURLVar   = "CORTEXT_OPENAI_URL" // such as http://localhost:11434/v1
	openAIModelVar = "CORTEXT_OPENAI_MODEL"
	openAIKeyVar   = "CORTEXT_OPENAI_KEY"
)

// A Summarizer asks a model for a summary or a title.
type Summarizer interface {
	Summarize(ctx context.Context, prompt string, maxTokens int) (summarize.Result, error)
	Title(ctx context.Context, prompt string) (summarize.Result, error)
}

// summarizer returns the configured summarizer and its name in the format.
func (c *Compactor) summarizer(s *schema.Session) (Summarizer, string, error) {
	env := c.ws.Env.Machine.Getenv
	switch c.ws.Config.Summarizer {
	case settings.SummarizerOff:
		return nil, "", errors.New("the setting summarizer is off")
	case settings.SummarizerAgent:
		// Use the agent's program that a launch would find.
		name := s.AgentConfig.Agent
		a, err := summarize.AgentFor(name, env("CORTEXT_"+strings.ToUpper(name)))
		return a, schema.FromAgent, err
	}
	url, model := env(openAIURLVar), env(openAIModelVar)
	switch {
	case c.endpoint == nil:
		return nil, "", errors.New("this program asks no endpoint: cortext compact --apply does")
	case url == "" || model == "":
		return nil, "", errors.New("summarizer is openai: set " + openAIURLVar + " and " + openAIModelVar + " (and " + openAIKeyVar + " if it wants a key)")
	}
	return c.endpoint(url, model, env(openAIKeyVar)), schema.FromOpenAI, nil
}
