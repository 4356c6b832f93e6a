package resume

import (
	"cmp"
	"fmt"
	"iter"

	"cortext/resume/model"
	"cortext/schema"
)

// defaultWindow is the context window, in tokens, of a model that nothing is known
// of: what the current models of the three agents have at least.
const defaultWindow = 200_000

// mostAllowed is the part of a window, in percent, that an agent's own prompt and tools
// are taken to fill at most, where that was not measured: of a small model's window they
// would leave nothing.
const mostAllowed = 40

// allowance is what an agent sends beside a conversation, in the vendor's tokens:
// its own prompt and tools, and what the user has set up for all sessions. It is
// taken from the first requests of real conversations. An agent that was not
// measured gets the largest.
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
	Agent  string
	Prompt int // all that the model read, in the vendor's tokens
	Said   int // what was said until then, in tokens of o200k_base
}

// FirstRequest is the first request of a conversation that a usage was reported of; the
// zero Request if none of the messages has one. They are those of the conversation from
// its beginning.
func FirstRequest(s *schema.Session, messages iter.Seq2[schema.Message, error]) Request {
	said, n := 0, 0
	for m, err := range messages {
		if n++; err != nil || n > firstMessages {
			break
		}
		if m.Role != schema.Assistant || m.Usage == nil || m.Usage.PromptTokens <= 0 {
			said += believed(m.Tokens, m.Content)
			continue
		}
		for _, src := range s.Sources {
			if src.NativeID == m.Source {
				return Request{Agent: src.Agent, Prompt: int(m.Usage.PromptTokens), Said: said}
			}
		}
		break
	}
	return Request{}
}

// firstMessages is how many messages are looked at for the first request.
const firstMessages = 20

// geminiModel stands for the models that Gemini CLI chooses from by itself: it
// runs no others, and those are alike in what counts here.
const geminiModel = "gemini-3-pro"

// A Budget is the room that a payload has, and what that follows from.
type Budget struct {
	Tokens    int     // of o200k_base
	Window    int     // of the model, in its vendor's tokens
	Allowance int     // of Window, for the agent's own prompt and tools
	Model     string  // the model that is known; empty: none is
	Exact     bool    // the model counts in o200k_base
	Factor    float64 // the vendor's tokens for one of o200k_base; 1 if Exact
	Sent      int     // what the agent sent itself at first; 0: unknown
}

// leastUseful is the smallest budget, in tokens, that is worth no warning: the
// smallest that recall is measured at.
const leastUseful = 2000

// BudgetOf is the room for a conversation in the model and the agent that it goes
// on with: the context window less a quarter for the answer, less what the agent
// sends itself (what it sent first, else, and where that leaves no useful room, what others
// sent, of a small window at most 40 %), divided by the factor of the vendor's tokens; at least [MinBudget].
//
// The window is o.Window, else that of o.Model, else that of the model that the
// conversation had, if it was held in that agent alone, else 200,000. What the
// conversation had in another agent does not count.
func BudgetOf(s *schema.Session, o Options) Budget {
	agent := cmp.Or(o.Agent, s.AgentConfig.Agent)
	name := o.Model
	if name == "" && heldIn(s, agent) {
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
	if p := s.AgentConfig.Provider; b.Window <= 0 && p != nil && heldIn(s, agent) && name == modelOf(s) {
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
	if own := o.First.Prompt - int(float64(o.First.Said)*b.Factor); o.First.Agent == agent && own > 0 {
		if b.Sent = own; int(float64(request-own)/b.Factor) >= leastUseful {
			b.Allowance = own // else it was another setup, of a larger window
		}
	}
	b.Tokens = max(int(float64(request-b.Allowance)/b.Factor), MinBudget)
	return b
}

// warnings say that the window is too small for agent.
func (b Budget) warnings(agent string) []Warning {
	agent = cmp.Or(oneLine(agent), "the agent")
	switch {
	case b.Sent > b.Allowance:
		return []Warning{{"window", fmt.Sprintf("a window of %d tokens leaves no room beside the %d that %s itself sent at first; this payload counts on %d; --budget says otherwise", b.Window, b.Sent, agent, b.Allowance)}}
	case b.Tokens < leastUseful:
		return []Warning{{"window", fmt.Sprintf("a window of %d tokens leaves room for only %d beside the %d that %s itself sends and a quarter for the answer; --budget says otherwise", b.Window, b.Tokens, b.Allowance, agent)}}
	}
	return nil
}

// heldIn reports whether all of a conversation was held in an agent: only then what
// session.json says of its model holds for that agent.
func heldIn(s *schema.Session, agent string) bool {
	for _, src := range s.Sources {
		if src.Agent != agent {
			return false
		}
	}
	return s.AgentConfig.Agent == agent
}

// modelOf is the name of the model that a conversation had last.
func modelOf(s *schema.Session) string {
	if s.AgentConfig.Model == "" && s.AgentConfig.Provider != nil {
		return s.AgentConfig.Provider.Model
	}
	return s.AgentConfig.Model
}
