package resume

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/clip"
	"cortext/schema/tokens"
)

// A head is the part of a payload before the history: the command and the block. Its
// fields are formatted as they appear.
type head struct {
	command  commandPart
	typ      string
	title    string
	ago      string
	messages int
	summary  string
	task     string // the user's first request; shown if there is no history
	last     string // the user's last message; likewise
	branches string // what the marks in the history mean, if it has several branches
	plan     plan
	since    string // changes since the last message, as part of the block
	detail   detail
	cut      []LeftOut // what was removed to shorten the head
	show     string    // the command line that shows the conversation
}

// longestField is the longest session field, in bytes, in the head. Longer fields are
// cut whatever the budget.
const longestField = 16 << 10

// newHead renders the head of s in full.
func newHead(s *schema.Session, h schema.History, o Options) head {
	hd := head{
		ago:      ago(o.Now, lastActive(s, h.Messages)),
		messages: s.MessageCount,
		show:     commandLine(s, "show", ""),
	}
	sessionField := func(text, what string) string {
		if len(text) > longestField {
			hd.cut = append(hd.cut, LeftOut{What: what, Tokens: estimate(text) - longestField/4, Show: hd.show})
		}
		return field(text)
	}
	hd.typ = cmp.Or(sessionField(s.ConversationType, theType), "chat")
	hd.title = cmp.Or(sessionField(s.DisplayTitle(), theTitle), "untitled")
	hd.summary = sessionField(s.ContextSummary, theSummary)
	hd.plan = newPlan(s.Plan)
	hd.branches = branchesLine(h.Messages)
	hd.command = newCommandPart(o.Command, s)
	return hd
}

// branchesLine explains the branches that headings of the history name; it is empty if they
// name none.
func branchesLine(messages []schema.Message) string {
	seen := map[int]bool{}
	newest := 0
	for i := range messages {
		if n := messages[i].Branch; n > 0 {
			seen[n], newest = true, n
		}
	}
	if len(seen) < 2 {
		return ""
	}
	return fmt.Sprintf("Branches: the conversation was continued in %d places, and headings name the branch; continue branch %d, the others show what was said elsewhere\n", len(seen), newest)
}

// field returns a text as a field of the head: on one line, cut to longestField.
func field(text string) string {
	if len(text) > longestField {
		text = clip.Head(text, longestField) + "…"
	}
	return oneLine(text)
}

// addRequests fills the head for a payload without history: the first and the last
// request of the user, as far as the notes or the messages have them.
func (hd *head) addRequests(n *notes.Notes, messages []schema.Message) {
	if n != nil {
		hd.task, hd.last = field(n.Topic.Text), field(n.LastUser.Text)
	}
	for i := len(messages) - 1; i >= 0 && hd.last == ""; i-- {
		if m := &messages[i]; m.Role == schema.User && m.Sealed == "" {
			hd.last = field(m.Content)
		}
	}
	if strings.Contains(hd.summary, hd.task) || hd.task == hd.last {
		hd.task = ""
	}
}

// blockOpen and blockClose are the first and last lines of the block. [CutPayload]
// recognizes payloads by them, including those already in transcripts.
const (
	blockOpen  = "[RESUMED CONVERSATION]\nYou are continuing a previous conversation.\n\n"
	blockClose = "\n[END RESUMED CONTEXT]\n"
)

// text renders the head; left is what the history omits.
func (hd *head) text(left []LeftOut) string { return hd.command.render() + hd.blockText(left) }

// blockText renders the block.
func (hd *head) blockText(left []LeftOut) string {
	var b strings.Builder
	b.WriteString(blockOpen)
	fmt.Fprintf(&b, "Conversation: %s / %s\n", hd.typ, hd.title)
	fmt.Fprintf(&b, "Last active: %s\n", hd.ago)
	fmt.Fprintf(&b, "Messages: %d exchanges\n", hd.messages)
	fmt.Fprintf(&b, "Summary: %s\n", cmp.Or(hd.summary, "none yet"))
	if strings.Trim(hd.task, "…") != "" {
		fmt.Fprintf(&b, "Task: %s\n", hd.task)
	}
	if strings.Trim(hd.last, "…") != "" {
		fmt.Fprintf(&b, "Last words of the user: %s\n", hd.last)
	}
	b.WriteString(hd.branches)
	b.WriteString(hd.plan.text())
	left = append(left[:len(left):len(left)], hd.cut...)
	b.WriteString(leftOutText(left, hd.detail, hd.show))
	b.WriteString(hd.since)
	b.WriteString("\nPrevious context is loaded. The user expects you to continue where you left off.\n" +
		"Review the conversation history and pick up naturally." + blockClose)
	return b.String()
}

// parts describes the head; left is what the history omits.
func (hd *head) parts(left []LeftOut) []Part {
	var parts []Part
	if text := hd.command.render(); text != "" {
		parts = append(parts, Part{What: "command", Tokens: tokens.Count(text), Whole: !hd.command.referred, Why: "the conversation began with it"})
	}
	whole := !slices.ContainsFunc(hd.cut, func(l LeftOut) bool { return l.What != theCommand })
	return append(parts, Part{What: "block", Tokens: tokens.Count(hd.blockText(left)), Whole: whole, Why: "says what is resumed"})
}

const (
	day   = 24 * time.Hour
	month = 30 * day
	year  = 365 * day
)

// Ago formats for a reader how long before now the moment was: as a block does, but a moment
// in this minute or in the future is "just now".
func Ago(now, moment time.Time) string {
	if !moment.IsZero() && now.Sub(moment) < time.Minute {
		return "just now"
	}
	return ago(now, moment)
}

// ago formats how long before now the moment was, in the largest unit that fits at
// least once: minutes, hours, days, months of 30 days, years of 365. The result is
// always relative, as the block requires: a moment in this minute or in the future is
// "0 minutes ago", and the zero time is "an unknown time ago".
func ago(now, moment time.Time) string {
	if moment.IsZero() {
		return "an unknown time ago"
	}
	d := max(now.Sub(moment), 0)
	units := []struct {
		name string
		size time.Duration
	}{{"year", year}, {"month", month}, {"day", day}, {"hour", time.Hour}, {"minute", time.Minute}}
	for _, u := range units {
		n := int(d / u.size)
		if n == 0 && u.size > time.Minute {
			continue
		}
		if n == 1 {
			return "1 " + u.name + " ago"
		}
		return fmt.Sprintf("%d %ss ago", n, u.name)
	}
	return ""
}

// lastActive returns when the conversation was last active: the session's own value,
// else the time of its newest message, else its creation time.
func lastActive(s *schema.Session, messages []schema.Message) time.Time {
	if t := s.LastActive.Time(); !t.IsZero() {
		return t
	}
	for i := len(messages) - 1; i >= 0; i-- {
		if t := messages[i].Timestamp.Time(); !t.IsZero() {
			return t
		}
	}
	return s.CreatedAt.Time()
}
