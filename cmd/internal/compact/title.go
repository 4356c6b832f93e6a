package compact

import (
	"context"
	"errors"
	"strings"
	"time"

	"cortext/cmd/internal/summarize"
	"cortext/resume/notes"
	"cortext/resume/summary"
	"cortext/schema/clip"
	"cortext/store"
)

// titleSource is the maximum text of a conversation that a model is given for a title: its
// beginning and end tell enough.
const titleSource = 30_000

// titleTime limits how long one title may take.
const titleTime = time.Minute

// maxTitle is the maximum length of a title in characters.
const maxTitle = 80

// Title returns a title for a conversation, and changes nothing. The configured summarizer
// makes it. If that one asks no model, the title is the first words of the first prompt, as for a
// conversation that the user has not named.
func (c *Compactor) Title(ctx context.Context, e store.Entry) (string, error) {
	conv, err := c.ws.Open(e)
	if err != nil {
		return "", err
	}
	defer conv.Close()
	s, _, err := conv.Session()
	if err != nil {
		return "", err
	}
	h, _, err := conv.History(store.Limit{})
	if err != nil {
		return "", err
	}
	if len(h.Messages) == 0 {
		return "", errors.New("there are no messages yet to make a title from")
	}
	if !c.asksModel() {
		title := notes.Title(h.Messages)
		if title == notes.Untitled {
			return "", errors.New("the messages have no words to make a title from")
		}
		return title, nil
	}
	by, _, err := c.summarizer(s)
	if err != nil {
		return "", err
	}
	text := summarize.Text(h, summary.Range{End: len(h.Messages)}, titleSource)
	ctx, cancel := c.limited(ctx, titleTime)
	defer cancel()
	got, err := by.Title(ctx, summarize.TitlePrompt(text))
	if err != nil {
		return "", err
	}
	title, err := c.ws.Store.Redact(got.Text) // before it is shortened
	return shortTitle(title), err
}

// shortTitle shortens a title that is too long, after a word if there is one.
func shortTitle(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	short := clip.Characters(title, maxTitle)
	if short == title {
		return title
	}
	short = strings.TrimSuffix(short, clip.Mark)
	if at := strings.LastIndexByte(short, ' '); at > len(short)/2 {
		short = short[:at]
	}
	return short + clip.Mark
}
