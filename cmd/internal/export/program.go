package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/export/page"
	"cortext/cmd/internal/export/portable"
)

// cortext-web writes pages (see package companion). It reads a line about the page and the
// conversation in JSON Lines.

// aboutPage is the line about a page.
type aboutPage struct {
	Numbers []int `json:"numbers"` // numbers of the messages
	NoData  bool  `json:"no_data"` // see [Options]
}

// writePage writes a page. If cortext-web is not installed, the page shows messages as typed.
func writePage(ctx context.Context, w io.Writer, g *Gathered) error {
	cmd, err := companion.Web.Command(ctx, companion.PageWord)
	if err != nil {
		return pageTo(w, g, nil)
	}
	about := aboutPage{NoData: g.NoData}
	for i := range g.Messages {
		about.Numbers = append(about.Numbers, g.Messages[i].Number)
	}
	var in, failed bytes.Buffer
	if err := errors.Join(json.NewEncoder(&in).Encode(about), portable.WriteLines(&in, &g.Conversation)); err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, w, &failed
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %.400s", cmd.Path, err, bytes.TrimSpace(failed.Bytes()))
	}
	return nil
}

// RenderPage reads a conversation and writes its page. cortext-web calls it.
func RenderPage(from io.Reader, to io.Writer, markdown page.Markdown) error {
	in := bufio.NewReaderSize(from, 1<<16)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	var about aboutPage
	if err := json.Unmarshal(line, &about); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	c, err := portable.ReadLines(in)
	if err != nil {
		return fmt.Errorf("standard input %w", err)
	}
	if c.Session == nil {
		return errors.New("standard input has no record of the conversation")
	}
	g := &Gathered{Conversation: *c, NoData: about.NoData}
	numberAll(&g.Conversation)
	for i := range g.Messages {
		if i < len(about.Numbers) {
			g.Messages[i].Number = about.Numbers[i]
		}
	}
	return pageTo(to, g, markdown)
}

func pageTo(to io.Writer, g *Gathered, markdown page.Markdown) error {
	in := inputOf(g, markdown)
	if !g.NoData {
		var err error
		if in.Data, err = dataOf(&g.Conversation); err != nil {
			return err
		}
	}
	return page.Write(to, in)
}

// numberAll numbers the messages of a conversation and of its sub-agents.
func numberAll(c *portable.Conversation) {
	number(c.Messages)
	for i := range c.Subagents {
		numberAll(&c.Subagents[i].Conversation)
	}
}

// inputOf returns the content of a conversation's page: the branch that a resume continues.
func inputOf(g *Gathered, markdown page.Markdown) *page.Input {
	content := map[string][]byte{}
	contentsOf(&g.Conversation, content)
	in := pageOf(&g.Conversation, func(sha256 string) ([]byte, bool) {
		b, ok := content[sha256]
		return b, ok
	})
	in.Markdown = markdown
	return in
}

func contentsOf(c *portable.Conversation, content map[string][]byte) {
	for _, a := range c.Attachments {
		content[a.SHA256] = a.Data
	}
	for i := range c.Subagents {
		contentsOf(&c.Subagents[i].Conversation, content)
	}
}

func pageOf(c *portable.Conversation, content func(string) ([]byte, bool)) *page.Input {
	in := &page.Input{Session: c.Session, History: historyOf(c), LeftOut: c.LeftOut, Content: content}
	for i := range c.Subagents {
		sub := &c.Subagents[i].Conversation
		in.Subagents = append(in.Subagents, page.Subagent{Input: *pageOf(sub, content), Call: startedBy(sub)})
	}
	return in
}
