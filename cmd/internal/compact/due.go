package compact

import (
	"encoding/json"

	"cortext/cmd/internal/settings"
	"cortext/resume/summary"
	"cortext/schema"
)

// asksModel reports whether the user wants a model to summarize old messages.
func (c *Compactor) asksModel() bool {
	return c.ws.Config.Summarizer == settings.SummarizerAgent || c.ws.Config.Summarizer == settings.SummarizerOpenAI
}

// An asked is the cached record of the last time a model was due to summarize a
// conversation's old messages. If it is lost, a model is asked once more for what has no
// summary yet.
type asked struct {
	Messages int  `json:"messages"` // number in the conversation at that time
	Done     bool `json:"done"`     // the summaries were made
}

// askAgain is how many more messages a conversation must get after a failure before a model
// is asked again.
const askAgain = 10

func askedName(path string) string { return "summing/" + schema.PathElement(path) + ".json" }

// MarkDue marks the conversation at the given path as due, if a model summarizes old
// messages: once it has more than summarize_after messages, and then each time it grows by
// as many messages as a summary covers.
func (c *Compactor) MarkDue(path string) error {
	if !c.asksModel() {
		return nil
	}
	conv, err := c.ws.Conversation(path)
	if err != nil {
		return err
	}
	defer conv.Close()
	s, _, err := conv.Session()
	if err != nil {
		return err
	}
	var last asked
	kept, ok := c.ws.Store.ReadCache(askedName(path))
	before := ok && json.Unmarshal(kept, &last) == nil
	wait := askAgain
	if last.Done {
		wait = summary.RangeMessages
	}
	if s.MessageCount <= c.ws.Config.SummarizeAfter || before && s.MessageCount < last.Messages+wait {
		return nil
	}
	if err := c.recordAsked(path, asked{Messages: s.MessageCount}); err != nil {
		return err
	}
	c.due = append(c.due, path)
	return nil
}

func (c *Compactor) recordAsked(path string, at asked) error {
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	return c.ws.Store.WriteCache(askedName(path), text)
}

// TakeDue returns the paths of the conversations whose old messages a model should
// summarize, each once. Summarizing takes minutes, so a hook leaves it to another
// process.
func (c *Compactor) TakeDue() []string {
	list := c.due
	c.due = nil
	return list
}
