package payload

import (
	"encoding/json"
	"errors"
	"fmt"

	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// Sent is the payload of a conversation that an agent got, as recorded in the cache.
type Sent struct {
	At         schema.Time      `json:"at"`
	Agent      string           `json:"agent"`
	Strategy   string           `json:"strategy"`
	Tokens     int              `json:"tokens"`
	Budget     int              `json:"budget"`
	Factor     float64          `json:"factor"` // the model's own tokens per token of Tokens
	Original   int              `json:"original"`
	Included   int              `json:"included"`
	Summarized int              `json:"summarized"`
	Parts      []resume.Part    `json:"parts"`
	LeftOut    []resume.LeftOut `json:"left_out"`
}

// SentOf describes a payload for an agent, without a time.
func SentOf(agent string, p *resume.Payload) *Sent {
	return &Sent{Agent: agent, Strategy: p.Strategy, Tokens: p.Tokens, Budget: p.Budget, Factor: p.Factor, Original: p.Original, Included: p.Included, Summarized: p.Summarized, Parts: p.Parts, LeftOut: p.LeftOut}
}

var errNotSent = errors.New("it is not known what was sent last: the conversation was not resumed on this machine, or the cache was deleted")

func sentName(path string) string { return "sent/" + schema.PathElement(path) + ".json" }

// RecordSent records what an agent got. If it fails, only that information is lost.
func (b *Builder) RecordSent(path, agent string, p *resume.Payload) {
	sent := SentOf(agent, p)
	sent.At = schema.NewTime(b.ws.Env.Now())
	text, err := json.Marshal(sent)
	if err == nil {
		_ = b.ws.Store.WriteCache(sentName(path), text)
	}
}

// LastSent returns the last payload of a conversation that an agent got. It returns an error
// if that is unknown.
func (b *Builder) LastSent(e store.Entry) (*Sent, error) {
	text, ok := b.ws.Store.ReadCache(sentName(e.Path))
	if !ok {
		return nil, errNotSent
	}
	s := new(Sent)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%w (%v)", errNotSent, err)
	}
	return s, nil
}
