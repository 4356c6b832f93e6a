package resume

import (
	"cmp"
	"fmt"
	"iter"

	"cortext/resume/model"
	"cortext/schema"
)

// defaultWindow is the context window, in tokens, assumed for an unknown model. The
// current models of all three agents have at least this much.
const defaultWindow = 200_000

// mostAllowed caps, in percent of a window, the estimated size of an agent's own
// prompt and tools when we have no measurement. Without the cap, a small model's
// window would have no room left.
const mostAllowed = 40

// allowance returns what an agent sends besides the conversation, in the vendor's
// tokens: its own prompt and tools, and the user's global setup. The numbers come
// from the first requests of real conversations. An agent we did not measure gets the
// largest.
func allowance(agent string) int {
	switch agent {
	case "gemini":
		return 16_000 // 6,700 to 15,500 (7 conversations)
	case "opencode":
		return 17_000 // 15,300 to 16,200 (5 conversations with OpenCode 1.2.5)
	}
	// Claude Code: 12 of 15 sent 25,300 to 28,100, those with many more tools
	// 44,000; an empty session of 2.1.329 sends 14,431.
	return 30_000
}

// A Request is the first request of a conversation as its agent reported it.
type Request struct {
	Agent        string
	Prompt       int // everything the model read, in the vendor's tokens
	Conversation int // the conversation up to then, in tokens of o200k_base
}

// FirstRequest returns the first request whose usage the agent reported, or the zero
// Request if no message has one. The messages start at the beginning of the
// conversation.
func FirstRequest(s *schema.Session, messages iter.Seq2[schema.Message, error]) Request {
	conversation, n := 0, 0
	for m, err := range messages {
		if n++; err != nil || n > firstMessages {
			break
		}
		if m.Role != schema.Assistant || m.Usage == nil || m.Usage.PromptTokens <= 0 {
			conversation += recordedOr(m.Tokens, m.Content)
			continue
		}
		for _, src := range s.Sources {
			if src.NativeID == m.Source {
				return Request{Agent: src.Agent, Prompt: int(m.Usage.PromptTokens), Conversation: conversation}
			}
		}
		break
	}
	return Request{}
}

// firstMessages is how many messages FirstRequest searches.
const firstMessages = 20

// geminiModel stands for the models that Gemini CLI picks on its own. It runs no
// others, and they do not differ in what matters here.
const geminiModel = "gemini-3-pro"

// A Budget is the room for a payload and the values it was computed from.
type Budget struct {
	Tokens    int     // of o200k_base
	Window    int     // the model's, in its vendor's tokens
	Allowance int     // part of Window reserved for the agent's own prompt and tools
	Model     string  // empty if unknown
	Exact     bool    // the model counts in o200k_base
	Factor    float64 // vendor tokens per token of o200k_base; 1 if Exact
	Sent      int     // what the agent itself sent in its first request; 0 if unknown
}

// leastUseful is the smallest budget, in tokens, that needs no warning. It is also
// the smallest at which we measure recall.
const leastUseful = 2000

// BudgetOf returns the room for a conversation in the model and agent that continue
// it: the context window, less a quarter for the answer, less what the agent itself
// sends, divided by the vendor's token factor. It is at least [MinBudget].
//
// What the agent sends is what it sent in this conversation's first request. If that
// is unknown or leaves too little room, it is what others sent, at most 40 % of a
// small window.
//
// The window is o.Window, else that of o.Model, else that of the conversation's model
// if all of it took place in that agent, else 200,000. The conversation's model in
// another agent does not count.
func BudgetOf(s *schema.Session, o Options) Budget {
	agent := cmp.Or(o.Agent, s.AgentConfig.Agent)
	name := o.Model
	if name == "" && onlyIn(s, agent) {
		name = modelOf(s)
	}
	b := Budget{Window: o.Window, Factor: model.UnknownFactor}
	m, known := model.Lookup(name)
	if known {
		b.Model = name
	} else if agent == "gemini" {
		m, known = model.Lookup(geminiModel)
	}
	if known {
		b.Exact, b.Factor = m.Exact, m.Factor
	}
	if p := s.AgentConfig.Provider; b.Window <= 0 && p != nil && onlyIn(s, agent) && name == modelOf(s) {
		b.Window = p.ContextWindow
	}
	if b.Window <= 0 && known {
		b.Window = m.In(agent)
	}
	if b.Window <= 0 {
		b.Window = defaultWindow
	}
	request := b.Window - b.Window/4
	if known && m.Input < m.Window && b.Window <= m.Window {
		request = min(request, m.Input)
	}
	b.Allowance = min(allowance(agent), b.Window/100*mostAllowed)
	if own := o.First.Prompt - int(float64(o.First.Conversation)*b.Factor); o.First.Agent == agent && own > 0 {
		if b.Sent = own; int(float64(request-own)/b.Factor) >= leastUseful {
			b.Allowance = own // otherwise it came from another setup with a larger window
		}
	}
	b.Tokens = max(int(float64(request-b.Allowance)/b.Factor), MinBudget)
	return b
}

// warnings returns a warning if the window is too small for agent.
func (b Budget) warnings(agent string) []Warning {
	agent = cmp.Or(oneLine(agent), "the agent")
	switch {
	case b.Sent > b.Allowance:
		return []Warning{{"window", fmt.Sprintf("a window of %d tokens leaves no room besides the %d that %s itself sent at first; this payload assumes %d; --budget overrides that", b.Window, b.Sent, agent, b.Allowance)}}
	case b.Tokens < leastUseful:
		return []Warning{{"window", fmt.Sprintf("a window of %d tokens leaves room for only %d besides the %d that %s itself sends and a quarter for the answer; --budget overrides that", b.Window, b.Tokens, b.Allowance, agent)}}
	}
	return nil
}

// onlyIn reports whether the whole conversation took place in one agent. Only then
// does the model in session.json apply to that agent.
func onlyIn(s *schema.Session, agent string) bool {
	for _, src := range s.Sources {
		if src.Agent != agent {
			return false
		}
	}
	return s.AgentConfig.Agent == agent
}

// modelOf returns the name of the conversation's most recent model.
func modelOf(s *schema.Session) string {
	if s.AgentConfig.Model == "" && s.AgentConfig.Provider != nil {
		return s.AgentConfig.Provider.Model
	}
	return s.AgentConfig.Model
}
