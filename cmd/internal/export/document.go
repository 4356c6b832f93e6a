package export

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cortext/cmd/internal/export/forge"
	"cortext/cmd/internal/export/page"
	"cortext/cmd/internal/export/portable"
	"cortext/schema"
)

// MayBe reports whether a file that starts with head may be an export: its content or its
// name says so.
func MayBe(file string, head []byte) bool {
	return portable.IsLines(head) || portable.IsJSON(head) || isPage(file, head) || isMarkdown(file, head)
}

// IsText reports whether a file that starts with head may be a page or Markdown, whatever its
// name.
func IsText(head []byte) bool { return page.Is(head) || forge.Is(head) }

func isPage(file string, head []byte) bool { return page.Is(head) || hasSuffix(file, ".html", ".htm") }

func isMarkdown(file string, head []byte) bool {
	return forge.Is(head) || hasSuffix(file, ".md", ".markdown")
}

func hasSuffix(file string, suffixes ...string) bool {
	return slices.Contains(suffixes, strings.ToLower(filepath.Ext(file)))
}

// Read reads an export in any format. file is its name, which need not say the format. left is
// how many bytes may still be unpacked; Read subtracts what it unpacks. ok is false if the
// text is not an export. The error is a [*portable.FormatError].
func Read(file string, text []byte, left *int64) (c *portable.Conversation, ok bool, err error) {
	if c, ok, err = portable.Read(text); ok {
		return c, ok, err
	}
	switch {
	case isPage(file, text):
		c, err = readPage(text, left)
	case isMarkdown(file, text):
		c, err = forge.Read(string(text))
	default:
		return nil, false, nil
	}
	return c, true, err
}

// readPage reads the conversation that a page holds as data.
func readPage(text []byte, left *int64) (*portable.Conversation, error) {
	lines, unpacked, same, err := page.Data(text, *left)
	*left -= unpacked
	switch {
	case errors.Is(err, page.ErrForeign):
		return nil, &portable.FormatError{Foreign: true, Why: err.Error() + ": cortext imports transcripts of agents, and what cortext export writes"}
	case errors.Is(err, page.ErrNoData):
		return nil, &portable.FormatError{Why: err.Error() + ": export the conversation again without --no-data, or as json"}
	case err != nil:
		return nil, &portable.FormatError{Why: "is damaged: " + err.Error() + ": export the conversation again"}
	}
	c, err := portable.ReadLines(bytes.NewReader(lines))
	if err != nil {
		return nil, err
	}
	if !same {
		c.Warnings = append(c.Warnings, "somebody edited the page: what is imported is the data that it holds, as it was exported")
	}
	c.Lacks = "HTML carries no content of attachments"
	return c, nil
}

// dataOf returns what a page holds as data: the branch that it shows, as JSON Lines, without
// the content of attachments, which it shows already.
func dataOf(c *portable.Conversation) ([]byte, error) {
	var out bytes.Buffer
	on := onBranch(c)
	if err := portable.WriteLines(&out, &on); err != nil {
		return nil, fmt.Errorf("data of the page: %w", err)
	}
	return out.Bytes(), nil
}

// onBranch returns what a page shows of a conversation: the branch that a resume continues,
// the current calls on it, and the sub-agents that they started.
func onBranch(c *portable.Conversation) portable.Conversation {
	h := historyOf(c)
	on := portable.Conversation{Session: shownOf(c.Session), Messages: h.Messages, LeftOut: c.LeftOut}
	on.Session.MessageCount = len(h.Messages)
	if h.Aside > 0 {
		on.LeftOut = append(on.LeftOut[:len(on.LeftOut):len(on.LeftOut)], fmt.Sprintf("messages on other branches: %d", h.Aside))
	}
	messages, calls := map[string]bool{}, map[string]bool{}
	for i := range h.Messages {
		messages[h.Messages[i].ID] = true
		for _, call := range h.Messages[i].ToolCalls {
			calls[call.ID] = true
		}
	}
	for _, t := range counting(c.Tools, func(t *schema.Tool) (string, int64) { return t.ID, t.Precedence() }) {
		if calls[t.ID] || t.MessageID != "" && messages[t.MessageID] {
			calls[t.ID] = true
			on.Tools = append(on.Tools, t)
		}
	}
	for i := range c.Subagents {
		sub := &c.Subagents[i]
		if by := startedBy(&sub.Conversation); by == "" || calls[by] {
			on.Subagents = append(on.Subagents, portable.Subagent{NativeID: sub.NativeID, Conversation: onBranch(&sub.Conversation)})
		}
	}
	return on
}

// startedBy returns the id of the call that started a sub-agent, or "".
func startedBy(c *portable.Conversation) string {
	if c.Session == nil || c.Session.Links == nil {
		return ""
	}
	return c.Session.Links.ToolCallID
}

// shownOf returns what a page shows of session.json, with what an import needs besides: the
// id, and the command that began the conversation.
func shownOf(s *schema.Session) *schema.Session {
	on := &schema.Session{
		Version: s.Version, ID: s.ID, Title: s.DisplayTitle(), Status: s.Status, CreatedAt: s.CreatedAt, LastActive: s.LastActive,
		ContextSummary: s.ContextSummary, Plan: s.Plan, Tags: s.Tags, ConversationType: s.ConversationType, Archived: s.Archived,
		Notes: s.Notes, Tokens: s.Tokens, Usage: s.Usage, AgentConfig: s.AgentConfig,
	}
	on.AgentConfig.Unknown, on.AgentConfig.SystemPromptHash = nil, ""
	if s.Git != nil {
		on.Git = &schema.Git{Branch: s.Git.Branch}
	}
	if s.Links != nil && s.Links.ToolCallID != "" {
		on.Links = &schema.Links{ToolCallID: s.Links.ToolCallID}
	}
	return on.Clone()
}
