package flow

import (
	"encoding/json"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/workspace"
	"cortext/resume/summary"
	"cortext/schema"
)

// asksModel reports whether the user wants a model to summarize old messages.
func (w *Workspace) asksModel() bool {
	return w.Config.Summarizer == workspace.SummarizerAgent || w.Config.Summarizer == workspace.SummarizerOpenAI
}

// A summing is the cached record of the last time a model was due to summarize a
// conversation's old messages. If it is lost, a model is asked once more for what has no
// summary yet.
type summing struct {
	Messages int  `json:"messages"` // number in the conversation at that time
	Done     bool `json:"done"`     // the summaries were made
}

// askAgain is the number of further messages after which a model is asked again following
// a failure.
const askAgain = 10

func summingName(path string) string { return "summing/" + schema.PathElement(path) + ".json" }

// sumUpLater marks a session's conversation for summarizing old messages, if a model does
// that: when it has more than summarize_after messages, and then each time it grows by as
// many as a summary covers.
func (w *Workspace) sumUpLater(b *binding.Binding) error {
	if !w.asksModel() || !b.Bound() {
		return nil
	}
	path := b.CurrentSegment().Path
	c, err := w.Conversation(path)
	if err != nil {
		return err
	}
	defer c.Close()
	s, _, err := c.Session()
	if err != nil {
		return err
	}
	var last summing
	kept, ok := w.Store.ReadCache(summingName(path))
	asked := ok && json.Unmarshal(kept, &last) == nil
	wait := askAgain
	if last.Done {
		wait = summary.RangeMessages
	}
	if s.MessageCount <= w.Config.SummarizeAfter || asked && s.MessageCount < last.Messages+wait {
		return nil
	}
	if err := w.noteSumming(path, summing{Messages: s.MessageCount}); err != nil {
		return err
	}
	w.unsummed = append(w.unsummed, path)
	return nil
}

func (w *Workspace) noteSumming(path string, at summing) error {
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	return w.Store.WriteCache(summingName(path), text)
}

// Unsummed returns the paths of the conversations whose old messages a model should
// summarize, each once. That takes minutes, so a hook leaves it to another process.
func (w *Workspace) Unsummed() []string {
	list := w.unsummed
	w.unsummed = nil
	return list
}
