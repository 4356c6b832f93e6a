package capture

import (
	"errors"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/store"
)

// descriptions writes what session.json says about a conversation and its sessions. All of
// it comes from transcripts and bindings, none from the clock.
type descriptions struct {
	ws       *workspace.Workspace
	bindings *binding.Bindings
}

// A beginning is the place in a transcript where a conversation begins.
type beginning struct {
	typ, title string         // empty: derived from the transcript
	command    inject.Command // the command that begins it; zero: none
	part       string         // where a later segment of the session starts, as in a source; empty: the first segment
	at         time.Time      // of the first message
}

// beginning returns the beginning of a session's first conversation.
func (d *descriptions) beginning(t *inject.Transcript, o ImportOptions) (beginning, error) {
	p := beginning{typ: o.Type, title: o.Title, at: t.First}
	i := slices.IndexFunc(t.Commands, inject.Command.Begins)
	if i < 0 {
		return p, nil
	}
	if d.ws.Config.CapturesAll() && o.Type == "" { // an answer before the command began a conversation of its own
		head, err := headOf(t, p, answered)
		if err != nil || answered(head) {
			return p, err
		}
	}
	p.command = t.Commands[i]
	return p, nil
}

// answered reports whether messages have an answer of a model.
func answered(messages []schema.Message) bool {
	return slices.ContainsFunc(messages, func(m schema.Message) bool { return m.Role == schema.Assistant && m.Model != "" })
}

// newSession builds the metadata of a new conversation from its transcript, and the
// words for its folder name. Nothing in it depends on the clock or the time of the
// import, so two clones that import the same file produce the same bytes. head has the
// conversation's first messages.
func (d *descriptions) newSession(t *inject.Transcript, p beginning, head []schema.Message) (s *schema.Session, words string, err error) {
	typ := p.typ
	if typ == "" {
		if typ = p.command.Name; !workspace.ValidType(typ) {
			typ = "chat"
		}
	}
	title := p.title
	if title == "" && p.part == "" {
		title = t.Title
	}
	named := head
	if p.command.Name != "" { // what was typed with the command names the conversation, not what was said before
		named = append([]schema.Message{{Role: schema.User, Content: p.command.Line() + " " + p.command.Arguments}}, head...)
	}
	if title == "" {
		title = notes.Title(named)
	}
	s = &schema.Session{
		Version:          schema.Version,
		ID:               schema.DerivedPartID(t.Agent, t.NativeID, p.part, p.at),
		ConversationType: typ,
		Title:            title,
		Description:      notes.Description(head),
		Status:           schema.Paused, // as when its agent ends; only the user completes it
		CreatedAt:        schema.NewTime(p.at),
		LastActive:       schema.NewTime(t.Last),
		Sources:          []schema.Source{{Agent: t.Agent, NativeID: t.NativeID, Version: t.Version, From: p.part}},
	}
	if p.at.IsZero() { // no message has a time
		s.CreatedAt = schema.NewTime(time.Unix(0, 0))
	}
	if t.Branch != "" {
		s.Git = &schema.Git{Branch: t.Branch}
	}
	if rel, ok := d.ws.Tree.Relative(t.WorkingDir); ok && t.WorkingDir != "" && rel != "." {
		s.WorkingDir = rel
	}
	s.AgentConfig.Agent = t.Agent
	s.AgentConfig.Model = t.Model
	s.AgentConfig.Provider = t.Provider
	if !slices.ContainsFunc(t.Commands, func(cmd inject.Command) bool { return moves(cmd) && cmd.Message != p.command.Message }) {
		s.AgentConfig.Tools = t.Tools // otherwise some belong to other conversations
	}
	if t.Permission != "" {
		s.AgentConfig.Modes = &schema.Modes{Permission: t.Permission, Plan: t.Permission == "plan"}
	}
	command, arguments := p.command.Line(), p.command.Arguments
	if p.command.Name == "" || p.typ != "" {
		command = inject.CommandPrefix + typ
	}
	return s, firstWords(named), d.ws.Prompts.Describe(s, command, arguments)
}

// stage stages a conversation with its document.
func (d *descriptions) stage(s *schema.Session, words string) (*store.Conversation, error) {
	return d.ws.Store.Stage(s.ConversationType, words, s, []byte(workspace.DocumentOf(s)))
}

var errEnough = errors.New("enough")

// headOf returns the first messages of a session's first conversation, up to where the
// session moves to another, or until there are enough.
func headOf(t *inject.Transcript, p beginning, enough func([]schema.Message) bool) (head []schema.Message, err error) {
	ends := map[string]bool{}
	for _, cmd := range t.Commands {
		ends[cmd.Message] = moves(cmd) && cmd.Message != p.command.Message
	}
	err = t.Each(func(sub string, b inject.Batch) error {
		for _, m := range workspace.Shorten(b.Messages) {
			if sub != "" {
				break
			}
			if ends[m.ID] {
				return errEnough
			}
			head = append(head, m)
		}
		if len(head) >= workspace.HeadMessages || enough(head) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return head, err
}

// headsOf returns, for each command that moves a session to another conversation, the first
// messages from there, by the command's message. It reads the transcript only once, because
// a session may have thousands of commands.
func headsOf(t *inject.Transcript) (heads map[string][]schema.Message, err error) {
	begins := map[string]bool{}
	for _, cmd := range t.Commands {
		begins[cmd.Message] = begins[cmd.Message] || moves(cmd)
	}
	heads = map[string][]schema.Message{}
	in := "" // the command whose messages are read; empty: none
	err = t.Each(func(sub string, b inject.Batch) error {
		for _, m := range workspace.Shorten(b.Messages) {
			if sub != "" {
				break
			}
			if begins[m.ID] && in != m.ID {
				if in = m.ID; heads[in] != nil { // read before, as an agent may repeat a message
					in = ""
				}
			}
			if in != "" {
				heads[in] = append(heads[in], m)
			}
		}
		if len(heads[in]) >= workspace.HeadMessages {
			in = ""
		}
		return nil
	})
	return heads, err
}

// firstWords returns the words for a folder name. They come from the first prompt, which
// a hook knows before anything else, or from the next prompt if the first has no words.
func firstWords(head []schema.Message) string {
	for _, m := range head {
		if m.Role == schema.User && strings.TrimSpace(m.Content) != "" {
			if words := notes.Title([]schema.Message{{Role: schema.User, Content: m.Content}}); words != notes.Untitled {
				return words
			}
			return notes.Title(head)
		}
	}
	return notes.Untitled
}

// DescribeSources adds what the cache knows about the sessions to the sources.
func (c *Capture) DescribeSources(s *schema.Session) { c.describe.sources("", "", nil)(s) }

// sources adds what the binding knows about its session to the sources.
func (d *descriptions) sources(agent, nativeID string, b *binding.Binding) func(*schema.Session) {
	return func(s *schema.Session) {
		for i := range s.Sources {
			src := &s.Sources[i]
			known := b
			if src.Agent != agent || src.NativeID != nativeID {
				var ok bool
				if known, ok = d.bindings.Cached(src.Agent, src.NativeID); !ok {
					continue
				}
			}
			if known.Version != "" {
				src.Version = known.Version
			}
			if known.Provider != nil && i == len(s.Sources)-1 {
				s.AgentConfig.Provider = known.Provider
			}
			if known.Permission != "" && i == len(s.Sources)-1 {
				s.AgentConfig.Modes = &schema.Modes{Permission: known.Permission, Plan: known.Permission == "plan"}
			}
			if s.AgentConfig.Agent == "" {
				s.AgentConfig.Agent = src.Agent
			}
		}
	}
}
