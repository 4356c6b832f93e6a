package flow

import (
	"encoding/json"
	"errors"
	"fmt"

	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// A Sent is the payload that an agent got of a conversation, as the cache remembers it.
type Sent struct {
	At         schema.Time      `json:"at"`
	Agent      string           `json:"agent"`
	Strategy   string           `json:"strategy"`
	Tokens     int              `json:"tokens"`
	Budget     int              `json:"budget"`
	Factor     float64          `json:"factor"` // the model's own tokens for each of Tokens
	Original   int              `json:"original"`
	Included   int              `json:"included"`
	Summarized int              `json:"summarized"`
	Parts      []resume.Part    `json:"parts"`
	LeftOut    []resume.LeftOut `json:"left_out"`
}

// SentOf describes a payload for an agent, at no time.
func SentOf(agent string, p *resume.Payload) *Sent {
	return &Sent{Agent: agent, Strategy: p.Strategy, Tokens: p.Tokens, Budget: p.Budget, Factor: p.Factor, Original: p.Original, Included: p.Included, Summarized: p.Summarized, Parts: p.Parts, LeftOut: p.LeftOut}
}

// ErrNotSent is returned where it is not known what was sent last.
var ErrNotSent = errors.New("it is not known what was sent last: the conversation was not resumed on this machine, or the cache was deleted")

func sentName(path string) string { return "sent/" + schema.PathElement(path) + ".json" }

// noteSent remembers what an agent got. A failure costs that knowledge only.
func (w *Workspace) noteSent(path, agent string, p *resume.Payload) {
	sent := SentOf(agent, p)
	sent.At = schema.NewTime(w.Env.Now())
	b, err := json.Marshal(sent)
	if err == nil {
		_ = w.Store.WriteCache(sentName(path), b)
	}
}

// LastSent returns what an agent got last of a conversation, [ErrNotSent] if
// that is not known.
func (w *Workspace) LastSent(e store.Entry) (*Sent, error) {
	b, ok := w.Store.ReadCache(sentName(e.Path))
	if !ok {
		return nil, ErrNotSent
	}
	s := new(Sent)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrNotSent, err)
	}
	return s, nil
}
