package workspace

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/settings"
	"cortext/schema"
	"cortext/store"
)

// A CommitError reports why a conversation could not be committed; it is saved anyway.
type CommitError struct {
	Path string
	Err  error
}

func (e *CommitError) Error() string {
	return fmt.Sprintf("%s is saved, but git did not commit it: %v", e.Path, e.Err)
}

func (e *CommitError) Unwrap() error { return e.Err }

// Commit commits the folder of a conversation if the workspace is configured to (commit:
// stop). It reports whether there was anything to commit.
func (w *Workspace) Commit(ctx context.Context, e store.Entry) (done bool, err error) {
	if w.Config.Commit != settings.CommitStop || e.Waiting {
		return false, nil
	}
	if done, err = git.Commit(ctx, w.Store.Root(), e.Path, w.commitMessage(ctx, e)); err != nil {
		return false, &CommitError{e.Path, err}
	}
	return done, nil
}

// The trailers of a commit that is about a conversation.
const (
	SessionTrailer  = "Cortext-Session"  // the id of the conversation
	AgentTrailer    = "Cortext-Agent"    // the agent that it was held with last
	MessagesTrailer = "Cortext-Messages" // the messages that the commit adds, by their numbers
)

// commitMessage returns the message of a commit of a conversation's folder.
func (w *Workspace) commitMessage(ctx context.Context, e store.Entry) string {
	s := e.Session
	var b strings.Builder
	fmt.Fprintf(&b, "[session] Pause: %s\n", Plain(s.DisplayTitle()))
	trailer := func(name, value string) {
		if value = Plain(value); value != "" {
			fmt.Fprintf(&b, "\n%s: %s", name, value)
		}
	}
	trailer(SessionTrailer, s.ID)
	agent := s.AgentConfig.Agent
	if n := len(s.Sources); n > 0 {
		agent = s.Sources[n-1].Agent
	}
	trailer(AgentTrailer, agent)
	before := 0
	if raw, err := git.HeadBlob(ctx, w.Store.Root(), e.Path+"/.session/session.json"); err == nil {
		if old, err := schema.ParseSession(raw); err == nil {
			before = old.MessageCount
		}
	}
	if s.MessageCount > before {
		trailer(MessagesTrailer, fmt.Sprintf("%d-%d", before+1, s.MessageCount))
	}
	return b.String()
}

// Plain puts text on one line and removes control characters: titles and summaries are
// data.
func Plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
