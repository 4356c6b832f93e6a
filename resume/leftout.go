package resume

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A LeftOut is one piece of the conversation that the payload omits. Its JSON is stable, as that
// of a Part.
type LeftOut struct {
	What   string `json:"what"`
	Count  int    `json:"count"`  // 0 if it cannot be counted, such as a part of the summary
	Tokens int    `json:"tokens"` // approximate; 0 if unknown
	Show   string `json:"show"`   // the command line that shows it
}

// PartsOfMessages is the What for messages that are included in part. Its Count is
// the number of such messages.
const PartsOfMessages = "parts of messages"

// A detail is the level of detail about what was left out.
type detail int

const (
	perLine   detail = iota // one entry per line, with the command that shows it
	inOneLine               // all entries on one line
	totalOnly               // only the total
)

// leftOutText renders the part of the block about what was left out. show is the
// command line that shows the conversation.
func leftOutText(left []LeftOut, how detail, show string) string {
	if len(left) == 0 {
		return ""
	}
	var lines, words []string
	size := 0
	for _, l := range left {
		line, word := "- "+l.What, l.What
		if l.Count > 0 {
			line += fmt.Sprintf(": %d", l.Count)
			word = fmt.Sprintf("%d %s", l.Count, l.What)
		}
		lines = append(lines, line+aboutTokens(l.Tokens)+", see "+l.Show+"\n")
		words = append(words, word)
		size += l.Tokens
	}
	switch how {
	case perLine:
		return "Left out:\n" + strings.Join(lines, "")
	case inOneLine:
		return "Left out: " + strings.Join(words, ", ") + aboutTokens(size) + ", see " + show + "\n"
	}
	return "Left out: " + words[0] + " and more" + aboutTokens(size) + ", see " + show + "\n"
}

// aboutTokens formats an approximate number of tokens, if it is known.
func aboutTokens(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (about %d tokens)", n)
}

// leftOutBefore lists what a payload omits if it includes the messages from start on in
// full.
func (b *builder) leftOutBefore(start int) []LeftOut {
	var left []LeftOut
	recorded := 0
	for i := start; i < len(b.Messages); i++ {
		recorded += b.recordedTokens(&b.Messages[i])
	}
	if n := b.Earlier + start; n > 0 {
		left = append(left, LeftOut{"earlier messages", n, b.earlierTokens(recorded), commandLine(b.session, "show", "")})
	}
	return append(left, b.neverIncluded(start)...)
}

// earlierTokens estimates the tokens before messages that have recorded tokens. For
// messages that were not read it uses the session's own count, if that is usable.
func (b *builder) earlierTokens(recorded int) int {
	if b.Earlier == 0 {
		return b.total - recorded
	}
	if b.Aside > 0 || b.session.Tokens <= int64(b.total) {
		return 0
	}
	return int(b.session.Tokens) - recorded
}

// neverIncluded lists what no payload includes: abandoned branches, and the model's
// reasoning from message start on.
func (b *builder) neverIncluded(start int) (left []LeftOut) {
	if b.Aside > 0 {
		left = append(left, LeftOut{"messages on branches that were left", b.Aside, 0, commandLine(b.session, "show", "")})
	}
	count, size := 0, 0
	for i := start; i < len(b.Messages); i++ {
		if text := b.Messages[i].Reasoning; text != "" {
			count++
			size += estimate(text)
		}
	}
	if count > 0 {
		left = append(left, LeftOut{"passages of reasoning", count, size, commandLine(b.session, "show", " --reasoning")})
	}
	return left
}

// leftOutOf lists what an excerpt leaves out, with commands that show the messages it
// omits entirely and those it includes in part. Each command lists at most the given
// number of ranges.
func (b *builder) leftOutOf(e extract, ranges int) []LeftOut {
	var left []LeftOut
	omitted, partial := numbers{count: b.Earlier}, numbers{}
	omittedTokens, partialTokens := 0, 0 // estimates
	included := map[int]int{}            // tokens by message
	for _, part := range e.parts {
		included[part.Message] += part.Tokens
	}
	if b.Earlier > 0 {
		omitted.ranges = [][2]int{{1, b.Earlier}}
	}
	before := b.Earlier // number of the previous message
	for i := range e.included {
		n := b.number(i)
		switch {
		case !e.included[i]:
			omitted.add(before, n)
			omittedTokens += b.recordedTokens(&b.Messages[i])
		case e.partial[i]:
			partial.add(before, n)
			partialTokens += max(b.recordedTokens(&b.Messages[i])-included[n], 0)
		}
		before = n
	}
	if omitted.count > 0 {
		if b.Earlier > 0 {
			omittedTokens = 0 // do not count messages we did not read
		}
		left = append(left, LeftOut{"messages", omitted.count, omittedTokens, b.showMessages(omitted.in(ranges))})
	}
	if partial.count > 0 {
		left = append(left, LeftOut{PartsOfMessages, partial.count, partialTokens, b.showMessages(partial.in(ranges))})
	}
	return append(left, b.neverIncluded(0)...)
}

// mostLeftOut returns a list with as many entries as [builder.leftOutOf] can return.
func (b *builder) mostLeftOut(budget int) []LeftOut {
	e := b.nothing()
	for i := range e.included {
		e.included[i], e.partial[i] = i%3 > 0, i%3 == 1
	}
	return b.leftOutOf(e, budget/rangeTokens)
}

// rangeTokens is how many tokens of budget allow for one more range of messages.
const rangeTokens = 500

// numbers is a set of message numbers, as ranges that include both ends.
type numbers struct {
	ranges [][2]int
	count  int // of messages
}

// add adds n, which is greater than all numbers so far. last is the number of the
// preceding message.
func (ns *numbers) add(last, n int) {
	ns.count++
	if k := len(ns.ranges) - 1; k >= 0 && ns.ranges[k][1] == last {
		ns.ranges[k][1] = n
		return
	}
	ns.ranges = append(ns.ranges, [2]int{n, n})
}

// in formats the numbers as at most the given number of ranges, split at the widest
// gaps.
func (ns *numbers) in(most int) string {
	ranges := ns.ranges
	if most = max(most, 1); len(ranges) > most {
		gaps := make([]int, len(ranges)-1) // each is the index of the range before it
		for k := range gaps {
			gaps[k] = k
		}
		slices.SortStableFunc(gaps, func(a, b int) int { return (ranges[b+1][0] - ranges[b][1]) - (ranges[a+1][0] - ranges[a][1]) })
		gaps = gaps[:most-1]
		slices.Sort(gaps)
		var joined [][2]int
		first := ranges[0][0]
		for _, k := range gaps {
			joined = append(joined, [2]int{first, ranges[k][1]})
			first = ranges[k+1][0]
		}
		ranges = append(joined, [2]int{first, ranges[len(ranges)-1][1]})
	}
	var all []string
	for _, r := range ranges {
		if r[0] == r[1] {
			all = append(all, strconv.Itoa(r[0]))
		} else {
			all = append(all, fmt.Sprintf("%d-%d", r[0], r[1]))
		}
	}
	return strings.Join(all, ",")
}

// showMessages returns the command line that shows messages of the branch, by number.
func (b *builder) showMessages(numbers string) string {
	if b.branches {
		return commandLine(b.session, "show", "") // show takes the numbers of one branch
	}
	flags := " --message " + numbers
	if b.branch > 0 {
		flags = fmt.Sprintf(" --branch %d%s", b.branch, flags)
	}
	return commandLine(b.session, "show", flags)
}
