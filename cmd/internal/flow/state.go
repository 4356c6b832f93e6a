package flow

import (
	"encoding/json"
	"fmt"

	"cortext/resume/digest"
	"cortext/schema"
	"cortext/store"
)

// A keptState is what the cache has of the state of a conversation: that of all
// turns but the last, which may still grow. It may be deleted at any time.
type keptState struct {
	Last  string       `json:"last"` // id of the last message that is in it
	State digest.State `json:"state"`
}

func stateName(c *store.Conversation) string {
	return "state/" + store.NativeName(c.Path()) + ".json"
}

// stateTokens is how much of the end of a conversation a state is made of that was
// not kept: one that was captured turn by turn is kept from its beginning on.
const stateTokens = 1_600_000

// stateOf returns the state of a conversation: what the cache has of it, extended
// by what is new. keep puts that into the cache, which only who writes may do; a
// failure costs the next reader time only.
func (w *Workspace) stateOf(c *store.Conversation, keep bool) (*digest.State, error) {
	var kept keptState
	b, ok := w.Store.ReadCache(stateName(c))
	if !ok || json.Unmarshal(b, &kept) != nil || kept.State.Version != digest.StateVersion || kept.Last == "" {
		kept = keptState{}
	}
	h, _, err := c.History(store.Limit{After: kept.Last, Tokens: stateTokens})
	if err != nil {
		return nil, err
	}
	if kept.Last != "" && len(h.Messages) > 0 && h.Messages[0].ParentID != kept.Last { // another branch, or more than that
		if kept = (keptState{}); h.Earlier > 0 {
			if h, _, err = c.History(store.Limit{Tokens: stateTokens}); err != nil {
				return nil, err
			}
		}
	}
	if kept.Last == "" {
		kept.State.Messages = h.Earlier
	}
	h.Messages = brief(h.Messages)
	done, rest := h, h
	turn := lastTurn(h.Messages)
	done.Messages, rest.Messages = h.Messages[:turn], h.Messages[turn:]
	kept.State.Add(done)
	if keep && turn > 0 {
		kept.Last = done.Messages[turn-1].ID
		if b, err = json.Marshal(kept); err != nil {
			return nil, fmt.Errorf("the state of %q: %w", c.Path(), err)
		}
		_ = w.Store.WriteCache(stateName(c), b)
	}
	kept.State.Add(rest)
	return &kept.State, nil
}

// lastTurn is the index of the message that the last turn begins with.
func lastTurn(messages []schema.Message) int {
	for i := len(messages) - 1; i > 0; i-- {
		if messages[i].Role == schema.User {
			return i
		}
	}
	return 0
}
