package page

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/export/call"
	"cortext/cmd/internal/shown"
	"cortext/schema"
	"cortext/schema/clip"
)

// A turn is a user prompt and everything up to the next one.
type turn struct {
	number         int // number of the turn, from 1
	messages       []*schema.Message
	words          string // start of the prompt
	steps, failed  int    // numbers of tool calls
	added, removed int    // numbers of lines
	began          time.Time
	took           time.Duration
}

// mostWords is the maximum number of bytes of a prompt that the index shows.
const mostWords = 160

// turnsOf splits a history into turns, without their counts of calls. The first may have no
// prompt.
func turnsOf(h *schema.History) (list []turn) {
	for i := range h.Messages {
		m := &h.Messages[i]
		if m.Role == schema.User || len(list) == 0 {
			list = append(list, turn{number: len(list) + 1, began: m.Timestamp.Time()})
			if t := &list[len(list)-1]; m.Role == schema.User {
				t.words = strings.Join(strings.Fields(clip.Head(shown.Clean(m.Content), 4*mostWords)), " ")
				if len(t.words) > mostWords {
					t.words = clip.Head(t.words, mostWords) + "…"
				}
			}
		}
		t := &list[len(list)-1]
		t.messages = append(t.messages, m)
		if at := m.Timestamp.Time(); !at.IsZero() && !t.began.IsZero() {
			t.took = max(t.took, at.Sub(t.began))
		}
	}
	return list
}

// tally counts the calls of a turn. It describes each of them, which takes most of the time
// that a page takes.
func (w *writer) tally(t *turn) {
	for _, m := range t.messages {
		for _, id := range append(idsOf(m), w.loose[m.ID]...) {
			about, ok := w.call(id)
			if !ok {
				continue
			}
			t.steps++
			if about.Result == call.Failed {
				t.failed++
			} else {
				t.added, t.removed = t.added+about.Added, t.removed+about.Removed
			}
		}
	}
}

// call describes a call, and caches the description.
func (w *writer) call(id string) (*call.Call, bool) {
	if c, ok := w.calls[id]; ok {
		return c, true
	}
	t, ok := w.in.History.Tools[id]
	if !ok {
		return nil, false
	}
	c := call.Describe(&t, w.in.Root)
	w.calls[id] = &c
	return &c, true
}

func idsOf(m *schema.Message) (ids []string) {
	for _, c := range m.ToolCalls {
		ids = append(ids, c.ID)
	}
	return ids
}

// has reports whether a turn has messages with numbers from first to last.
func (t *turn) has(first, last int) bool {
	return slices.ContainsFunc(t.messages, func(m *schema.Message) bool { return m.Number >= first && m.Number <= last })
}

// within keeps only the messages of a turn with numbers from first to last.
func (t *turn) within(first, last int) {
	var kept []*schema.Message
	for _, m := range t.messages {
		if m.Number >= first && m.Number <= last {
			kept = append(kept, m)
		}
	}
	t.messages = kept
}

// facts summarizes a turn in a few words each.
func (t *turn) facts() (parts []string) {
	if !t.began.IsZero() {
		parts = append(parts, clock(t.began))
	}
	if took := lasting(t.took); took != "" {
		parts = append(parts, took)
	}
	if t.steps > 0 {
		parts = append(parts, count(t.steps, "step"))
	}
	return parts
}

// trimZero formats a number with at most one decimal.
func trimZero(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}

// index writes the list of the prompts.
func (w *writer) index(turns []turn) {
	w.out.raw("<nav class=\"index\" aria-label=\"Prompts\"><details open><summary>Prompts <span class=\"soft\">" + strconv.Itoa(len(turns)) + "</span></summary>\n<ol>\n")
	for i := range turns {
		t := &turns[i]
		words := t.words
		if words == "" {
			words = "(no text)"
		}
		w.out.raw("<li><a href=\"#p" + strconv.Itoa(t.number) + "\"><span class=\"words\">")
		w.out.text(words)
		w.out.raw("</span> <span class=\"soft\">")
		w.out.text(strings.Join(t.indexFacts(), " · "))
		if t.failed > 0 {
			w.out.raw(" · <span class=\"bad\">" + strconv.Itoa(t.failed) + " failed</span>")
		}
		w.out.raw("</span></a></li>\n")
	}
	w.out.raw("</ol></details></nav>\n")
}

func (t *turn) indexFacts() (parts []string) {
	if !t.began.IsZero() {
		parts = append(parts, clock(t.began))
	}
	if t.steps > 0 {
		parts = append(parts, count(t.steps, "step"))
	}
	return parts
}

// head writes the part above the conversation: title, facts, summary and plan.
func (w *writer) head(turns []turn) {
	s := w.in.Session
	w.out.raw("<header>\n<p class=\"soft\">")
	w.out.text(shown.Clean(s.ConversationType))
	if at := s.CreatedAt.Time(); !at.IsZero() {
		w.out.raw(" · <time datetime=\"")
		w.out.text(string(schema.NewTime(at)))
		w.out.raw("\">" + date(at) + "</time>")
	}
	w.out.raw("</p>\n<h1>")
	w.out.text(shown.Clean(s.DisplayTitle()))
	w.out.raw("</h1>\n<dl class=\"facts\">\n")
	fact := func(name, value string) {
		if value == "" {
			return
		}
		w.out.raw("<div><dt>" + name + "</dt><dd>")
		w.out.text(shown.Clean(value))
		w.out.raw("</dd></div>\n")
	}
	steps, failed, added, removed := 0, 0, 0, 0
	for _, t := range turns {
		steps, failed, added, removed = steps+t.steps, failed+t.failed, added+t.added, removed+t.removed
	}
	fact("Agent", s.LastAgent())
	fact("Model", s.AgentConfig.Model)
	if s.Git != nil {
		fact("Branch", s.Git.Branch)
	}
	fact("Messages", strconv.Itoa(len(w.in.History.Messages)))
	if steps > 0 {
		value := strconv.Itoa(steps)
		if failed > 0 {
			value += ", " + strconv.Itoa(failed) + " failed"
		}
		fact("Steps", value)
	}
	if added+removed > 0 {
		fact("Lines", call.Changed(added, removed))
	}
	if u := s.Usage; u != nil && u.CompletionTokens > 0 {
		fact("Tokens written", "at least "+strconv.FormatInt(u.CompletionTokens, 10))
	}
	fact("Tags", strings.Join(s.Tags, ", "))
	w.out.raw("</dl>\n")
	w.about(s)
	w.out.raw("</header>\n")
}

// about writes the summary, the plan and the notes of a conversation.
func (w *writer) about(s *schema.Session) {
	if s.ContextSummary == "" && s.Plan == nil && s.Notes == "" {
		return
	}
	w.out.raw("<div class=\"card about\">\n")
	part := func(title, text string) {
		if text != "" {
			w.out.raw("<h2>" + title + "</h2>\n<div class=\"md\">")
			w.out.markdown(text)
			w.out.raw("</div>\n")
		}
	}
	part("Summary", s.ContextSummary)
	if s.Plan != nil && len(s.Plan.Steps) > 0 {
		w.out.raw("<h2>Plan</h2>\n<ul class=\"plan\">\n")
		for _, step := range s.Plan.Steps {
			mark, class := "○", "open"
			switch step.Status {
			case "completed":
				mark, class = "✓", "done"
			case "in_progress":
				mark, class = "◐", "now"
			}
			w.out.raw("<li class=\"" + class + "\"><span class=\"mark\">" + mark + "</span><span class=\"hide\">" + class + ": </span> ")
			w.out.text(shown.Clean(step.Content))
			w.out.raw("</li>\n")
		}
		w.out.raw("</ul>\n")
	}
	part("Notes", s.Notes)
	w.out.raw("</div>\n")
}
