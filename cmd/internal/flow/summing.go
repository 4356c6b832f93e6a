package flow

import (
	"encoding/json"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/workspace"
	"cortext/resume/summary"
	"cortext/schema"
)

// asksModel reports whether the user wants a model to sum up old messages.
func (w *Workspace) asksModel() bool {
	return w.Config.Summarizer == workspace.SummarizerAgent || w.Config.Summarizer == workspace.SummarizerOpenAI
}

// A summing is what the cache has of when a model was last to sum up a conversation's old
// messages. Where it is lost a model is asked once more for what has no summary yet.
type summing struct {
	Messages int  `json:"messages"` // that the conversation had then
	Done     bool `json:"done"`     // the summaries were made
}

// askAgain is after how many more messages a model is asked again, if that failed.
const askAgain = 10

func summingName(path string) string { return "summing/" + schema.PathElement(path) + ".json" }

// sumUpLater notes that old messages of a session's conversation are to be summed up, if a
// model is asked for that: when it has more than summarize_after messages, and then
// whenever it has as many more as a summary covers.
func (w *Workspace) sumUpLater(b *capture.Binding) error {
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

// Unsummed returns the paths of the conversations of which a model is to sum up old
// messages, each once. That takes minutes: a hook has another process do it.
func (w *Workspace) Unsummed() []string {
	list := w.unsummed
	w.unsummed = nil
	return list
}
