package resume

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// parsed is a payload as parsed by a reader who knows only its description.
type parsed struct {
	command, block, introduction string
	run                          int
	sections                     []parsedSection
}

type parsedSection struct{ heading, text string }

// messages counts the sections that begin a message.
func (p parsed) messages() int {
	n := 0
	for _, s := range p.sections {
		if !strings.HasPrefix(s.heading, "tool ") && !strings.HasSuffix(s.heading, " continued") {
			n++
		}
	}
	return n
}

// gapLine matches a line about omissions.
var gapLine = regexp.MustCompile(`^… \d+ (calls?|lines?)(, \d+ lines?)?\n`)

var blockPattern = regexp.MustCompile(`(?s)^(.*?)(\[RESUMED CONVERSATION\]\nYou are continuing a previous conversation\.\n\n` +
	`Conversation: [^\n]+\nLast active: [^\n]+ ago\nMessages: \d+ exchanges\nSummary: [^\n]+\n(?:Task: [^\n]+\n)?(?:Last words of the user: [^\n]+\n)?` +
	`(?:Plan: [^\n]+\n(?:- \[[ x>]\] [^\n]*\n)*)?` +
	`(?:Left out:\n(?:- [^\n]+\n)+|Left out: [^\n]+\n)?` +
	`(?:Since then:[^\n]*\n(?:- (?:changed|gone): [^\n]+\n)*)?` +
	`\nPrevious context is loaded\. The user expects you to continue where you left off\.\n` +
	`Review the conversation history and pick up naturally\.\n\[END RESUMED CONTEXT\]\n)(.*)$`)

// parse parses a payload whose command contains no block.
func parse(text string) (parsed, error) {
	var p parsed
	m := blockPattern.FindStringSubmatch(text)
	if m == nil {
		return p, fmt.Errorf("no block in %.2000q", text)
	}
	p.command, p.block = m[1], m[2]
	if m[3] == "" {
		return p, nil
	}
	rest, ok := strings.CutPrefix(m[3], "\n")
	if !ok {
		return p, fmt.Errorf("no empty line after the block: %.200q", m[3])
	}
	p.introduction, rest, _ = strings.Cut(rest, "\n")
	if _, err := fmt.Sscanf(p.introduction[strings.Index(p.introduction, "exactly "):], "exactly %d tildes", &p.run); err != nil {
		return p, fmt.Errorf("introduction %q: %w", p.introduction, err)
	}
	fence := strings.Repeat("~", p.run)
	if rest, ok = strings.CutPrefix(rest, fence+" history\n"); !ok {
		return p, fmt.Errorf("no opening line of %d tildes: %.200q", p.run, rest)
	}
	if rest, ok = strings.CutSuffix(rest, "\n"+fence+"\n"); !ok {
		return p, fmt.Errorf("no closing line of %d tildes", p.run)
	}
	if gap := gapLine.FindString(rest); gap != "" {
		rest = rest[len(gap):]
	}
	if rest, ok = strings.CutPrefix(rest, fence+" "); !ok {
		return p, fmt.Errorf("no first heading: %.200q", rest)
	}
	for s := range strings.SplitSeq(rest, "\n"+fence+" ") {
		var ps parsedSection
		ps.heading, ps.text, _ = strings.Cut(s, "\n")
		p.sections = append(p.sections, ps)
	}
	return p, nil
}

var (
	lineBreaks = regexp.MustCompile("[\n\r\v\f\x1c-\x1e\u0085\u2028\u2029]")
	lineStart  = regexp.MustCompile(`^(?:[ \t>]|[-*+] |\d+[.)] )*`)
)

// checkFence fails for a line that begins with the run but is not one of the fence's
// own, all of which start a line by any definition.
func checkFence(text string, p parsed) error {
	if p.run == 0 {
		return nil
	}
	if p.run < 4 {
		return fmt.Errorf("a run of %d tildes", p.run)
	}
	fence := strings.Repeat("~", p.run)
	if n, want := strings.Count(text, fence), len(p.sections)+2; n != want {
		return fmt.Errorf("%d runs of %d tildes, %d expected", n, p.run, want)
	}
	own := 0
	for _, line := range lineBreaks.Split(text, -1) {
		if strings.HasPrefix(lineStart.ReplaceAllString(line, ""), fence) {
			own++
		}
	}
	if own != len(p.sections)+2 {
		return fmt.Errorf("%d lines begin with the run, %d expected", own, len(p.sections)+2)
	}
	return nil
}

func mustParse(t testing.TB, text string) parsed {
	t.Helper()
	p, err := parse(text)
	if err == nil {
		err = checkFence(text, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}
