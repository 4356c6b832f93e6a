package screen

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// The widths of the columns.
const (
	pointerWidth  = 2
	timeWidth     = 6
	typeWidth     = 10
	initialWidth  = 1
	messagesWidth = 5
	agentWidth    = 8
	statusWidth   = 9
	tagsWidth     = 18
	placeWidth    = 14
)

// The minimum widths of a list that shows the whole type, and one that also shows agent and status.
const (
	wholeType  = 61
	allColumns = 72
	withPlace  = 87
)

// A rowLook says how to draw rows.
type rowLook struct {
	ruler  ruler
	width  int
	tags   bool
	places bool // rows from several workspaces
	dated  bool // rows below headings for days
	chosen style
	words  []string // words to mark in titles
	now    time.Time
}

// line draws a conversation.
func (k *rowLook) line(r *listing.Row, chosen, gone bool) string {
	base := plain
	pointer := "  "
	if chosen {
		base, pointer = k.chosen, "❯ "
	}
	paint := func(s style, text string) string {
		if gone {
			s = struck
		}
		return base.and(s).of(text)
	}
	var sb strings.Builder
	title := strong
	if !chosen {
		title = plain
	}
	sb.WriteString(base.and(accent).of(pointer))
	sb.WriteString(paint(faint, k.ruler.fit(k.when(r.LastActive), timeWidth)) + base.of(" "))
	left := k.width - pointerWidth - timeWidth - 1 - messagesWidth - 1
	if k.width < wholeType {
		left -= initialWidth + 1
		first, _ := utf8.DecodeRuneInString(clean(r.Type))
		sb.WriteString(paint(kindOf, k.ruler.fit(string(first), initialWidth)))
	} else {
		left -= typeWidth + 1
		sb.WriteString(paint(kindOf, k.ruler.fit(clean(r.Type), typeWidth)))
	}
	all := k.width >= allColumns
	if all {
		left -= agentWidth + 1 + statusWidth + 1
	}
	place := k.places && k.width >= withPlace
	if place {
		left -= placeWidth + 1
	}
	tags := ""
	if text := tagsOf(r); k.tags && text != "" {
		tags = k.ruler.cut(text, tagsWidth)
		left -= k.ruler.width(tags) + 1
		tags = base.of(" ") + paint(faint, tags)
	}
	words := k.ruler.fit(clean(r.Title), left)
	if gone {
		words = paint(plain, words)
	} else {
		words = mark(words, k.marks(words), base, title)
	}
	sb.WriteString(base.of(" ") + words + tags + base.of(" "))
	status, look := statusOf(r)
	messages := number(r.Messages)
	switch {
	case gone && all:
		status = "gone"
	case gone:
		messages = "gone"
	}
	sb.WriteString(paint(faint, k.ruler.right(messages, messagesWidth)))
	if all {
		sb.WriteString(base.of(" ") + paint(plain, k.ruler.fit(clean(r.LastAgent()), agentWidth)))
		sb.WriteString(base.of(" ") + paint(look, k.ruler.fit(status, statusWidth)))
	}
	if place {
		sb.WriteString(base.of(" ") + paint(faint, k.ruler.fit(clean(filepath.Base(r.Workspace)), placeWidth)))
	}
	return sb.String()
}

// marks returns the byte ranges of a text that match the words.
func (k *rowLook) marks(text string) (ranges [][2]int) {
	if len(k.words) == 0 {
		return nil
	}
	folded, from := foldAt(text)
	for _, w := range k.words {
		if at := strings.Index(folded, w); at >= 0 {
			ranges = append(ranges, [2]int{from[at], from[at+len(w)]})
			continue
		}
		if !scattered(folded, w, span) {
			continue
		}
		for _, found := range fuzzy.FindNoSort(w, []string{folded}) {
			for _, at := range found.MatchedIndexes {
				_, size := utf8.DecodeRuneInString(folded[at:])
				ranges = append(ranges, [2]int{from[at], from[at+size]})
			}
		}
	}
	return ranges
}

// mark draws a text with some byte ranges marked.
func mark(text string, ranges [][2]int, base, look style) string {
	slices.SortFunc(ranges, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	var sb strings.Builder
	at := 0
	for _, r := range ranges {
		from, to := max(r[0], at), min(r[1], len(text))
		if from >= to {
			continue
		}
		sb.WriteString(base.and(look).of(text[at:from]))
		sb.WriteString(base.and(match).of(text[from:to]))
		at = to
	}
	sb.WriteString(base.and(look).of(text[at:]))
	return sb.String()
}

// when formats the time since a conversation was last active, in at most timeWidth columns.
func (k *rowLook) when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.In(k.now.Location())
	switch days := daysBetween(t, k.now); {
	case k.dated || days <= 0:
		return t.Format("15:04")
	case days < 7:
		return t.Format("Mon _2")
	case t.Year() == k.now.Year():
		return t.Format("_2 Jan")
	}
	return t.Format("Jan'06")
}

// heading formats the day of a conversation.
func heading(t, now time.Time) string {
	if t.IsZero() {
		return "No date"
	}
	t = t.In(now.Location())
	switch days := daysBetween(t, now); {
	case days <= 0:
		return "Today"
	case days == 1:
		return "Yesterday"
	case t.Year() == now.Year():
		return t.Format("Mon 2 Jan")
	}
	return t.Format("Mon 2 Jan 2006")
}

// daysBetween returns how many midnights lie between two times.
func daysBetween(t, now time.Time) int {
	day := func(t time.Time) time.Time {
		y, m, d := t.Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	return int(day(now).Sub(day(t)) / (24 * time.Hour))
}

// statusOf returns the status of a conversation in one word.
func statusOf(r *listing.Row) (string, style) {
	switch {
	case r.Damaged:
		return "damaged", bad
	case r.Archived:
		return "archived", faint
	case r.Status == "active":
		return "active", running
	case r.Status == "paused":
		return "paused", resting
	case r.Status == "completed":
		return "completed", faint
	}
	return clean(r.Status), plain
}

func tagsOf(r *listing.Row) string {
	tags := make([]string, len(r.Tags))
	for i, tag := range r.Tags {
		tags[i] = "#" + clean(tag)
	}
	return strings.Join(tags, " ")
}

// number formats a count in at most messagesWidth columns.
func number(n int) string {
	if n >= 100_000 {
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}

// sentence draws a hit below its conversation.
func (k *rowLook) sentence(h picker.Hit, chosen bool) string {
	base := plain
	if chosen {
		base = k.chosen
	}
	lead := "         "
	if h.Message > 0 {
		lead += "#" + strconv.Itoa(h.Message) + " "
	}
	more := ""
	if h.Count > 1 {
		more = " +" + strconv.Itoa(h.Count-1)
	}
	width := k.width - k.ruler.width(lead) - len(more)
	text, marks := k.around(h, width)
	return base.and(faint).of(lead) + mark(k.ruler.fit(text, width), marks, base, plain) + base.and(faint).of(more)
}

// around returns the part of a hit's sentence that fits a width and contains the first
// words found, and the ranges of the words.
func (k *rowLook) around(h picker.Hit, width int) (string, [][2]int) {
	text, marks := h.Sentence, h.Marks
	if len(marks) > 0 && marks[0][1] <= len(text) && k.ruler.width(text[:marks[0][1]]) > width {
		before := k.ruler.left(clean(text[:marks[0][0]]), width/3)
		by := len(before) - marks[0][0]
		text = before + text[marks[0][0]:]
		moved := make([][2]int, len(marks))
		for i, r := range marks {
			moved[i] = [2]int{r[0] + by, r[1] + by}
		}
		marks = moved
	}
	safe := clean(text)
	if safe != text {
		return safe, nil
	}
	return safe, marks
}
