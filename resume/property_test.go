package resume

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"cortext/resume/excerpt"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

// randomSession returns a session with fields of all lengths from nothing to far beyond
// any budget, or with only short ones.
func randomSession(r *rand.Rand) *schema.Session {
	kinds := 3 + 2*r.IntN(2)
	size := func() int { return []int{0, 1, 4, 30, 4000}[r.IntN(kinds)] }
	s := &schema.Session{
		ConversationID:   noise(r, size()),
		ConversationType: noise(r, size()),
		Title:            noise(r, size()),
		ContextSummary:   noise(r, size()),
		MessageCount:     r.IntN(1 << uint(r.IntN(31))),
		Tokens:           r.Int64N(1 << 40),
	}
	if r.IntN(2) == 0 {
		s.ID = schema.NewID(noon, [10]byte{byte(r.Int()), byte(r.Int()), 3, 4, 5, 6, 7, 8, 9, byte(r.Int())})
	}
	if r.IntN(2) == 0 {
		s.LastActive = schema.NewTime(noon.Add(time.Duration(r.Int64N(int64(60 * year)))).Add(-50 * year))
	}
	s.AgentConfig.Arguments = noise(r, size())
	if r.IntN(2) == 0 {
		s.Plan = &schema.Plan{Current: r.IntN(20) - 2, Awaiting: r.IntN(2) == 0}
		for range r.IntN(30) {
			s.Plan.Steps = append(s.Plan.Steps, schema.Step{Content: noise(r, size()/20), Status: []string{"pending", "in_progress", "completed", "odd"}[r.IntN(4)]})
		}
	}
	return s
}

// randomHistory returns up to n messages, including calls, blocks, attachments,
// reasoning and sealed records.
func randomHistory(r *rand.Rand, n int) schema.History {
	h := schema.History{Tools: map[string]schema.Tool{}}
	if r.IntN(3) == 0 {
		h.Earlier = r.IntN(1 << uint(r.IntN(31)))
	}
	if r.IntN(3) == 0 {
		h.Aside = r.IntN(1000)
	}
	calls := 0
	for i := range r.IntN(n + 1) {
		m := schema.Message{ID: "m" + label(i), Role: []schema.Role{schema.User, schema.Assistant, schema.Assistant, schema.System}[r.IntN(4)]}
		if r.IntN(10) > 0 {
			m.Timestamp = schema.NewTime(noon.Add(time.Duration(i) * time.Minute))
		}
		if r.IntN(4) == 0 {
			m.Reasoning = noise(r, 40)
		}
		if r.IntN(30) == 0 {
			m.Sealed = "secret"
			h.Messages = append(h.Messages, m)
			continue
		}
		var texts []string
		for range r.IntN(4) {
			if r.IntN(2) == 0 {
				text := noise(r, 30) + "."
				texts = append(texts, text)
				m.Blocks = append(m.Blocks, schema.Block{Type: schema.TextBlock, Bytes: len(text)})
				continue
			}
			t := schema.Tool{ID: "c" + label(calls), MessageID: m.ID, Name: noise(r, 2), Output: noise(r, 60), Tokens: r.IntN(5000)}
			calls++
			if r.IntN(4) > 0 {
				t.Success = yes(r.IntN(2) == 0)
			}
			if r.IntN(4) == 0 {
				t.ExitCode = number(r.IntN(3))
			}
			t.Input = schema.Raw(rawjson.AppendQuote([]byte(`{ "x": `), noise(r, 5)))
			t.Input = append(t.Input, " }"...)
			if r.IntN(10) > 0 {
				h.Tools[t.ID] = t
			}
			if r.IntN(8) > 0 {
				m.Blocks = append(m.Blocks, schema.Block{Type: schema.ToolCallBlock, ID: t.ID})
				m.ToolCalls = append(m.ToolCalls, schema.ToolCall{ID: t.ID, Name: t.Name})
			}
		}
		m.Content = strings.Join(texts, schema.TextJoint)
		if len(m.Blocks) < 2 || r.IntN(8) == 0 {
			m.Blocks = nil
		}
		m.Tokens = []int{0, len(m.Content) / 3, math.MaxInt / 1000, -5}[r.IntN(4)]
		if r.IntN(10) == 0 {
			m.Attachments = append(m.Attachments, schema.Attachment{MediaType: noise(r, 1), Bytes: 5, Name: noise(r, 2)})
		}
		h.Messages = append(h.Messages, m)
	}
	return h
}

// checkPayload fails for a payload that breaks a rule for every session, history and
// options.
func checkPayload(s *schema.Session, h schema.History, o Options, p *Payload) error {
	if n := tokens.Count(p.Text); n != p.Tokens || n > o.Budget {
		return fmt.Errorf("%d tokens, said to be %d, budget %d", n, p.Tokens, o.Budget)
	}
	if rawjson.Text(p.Text) != p.Text {
		return fmt.Errorf("the payload is not valid UTF-8")
	}
	again, err := Build(s, h, o)
	if err != nil || again.Text != p.Text {
		return fmt.Errorf("the second time gives other bytes (%v)", err)
	}
	ps, err := parse(p.Text)
	if err != nil {
		return err
	}
	if err := checkFence(p.Text, ps); err != nil {
		return err
	}
	if text := bare(ps.block); strings.Count(text, "[RESUMED") != 1 || strings.Count(text, "[ENDRESUMED") != 1 {
		return fmt.Errorf("a marker is forged in the block %q", ps.block)
	}
	if strings.Contains(ps.introduction, " excerpt ") {
		return checkExcerpt(h, p, ps)
	}
	if ps.messages() != p.Included {
		return fmt.Errorf("%d messages in the fence, %d included", ps.messages(), p.Included)
	}
	left := 0
	for _, l := range p.LeftOut {
		if l.What == "earlier messages" {
			left += l.Count
		}
		if l.Show == "" || l.What == "" || l.Tokens < 0 || l.Count < 0 {
			return fmt.Errorf("left out %+v", l)
		}
	}
	if total := len(h.Messages) + h.Earlier; p.Included+left != total {
		return fmt.Errorf("%d included and %d left out of %d", p.Included, left, total)
	}
	if (len(p.LeftOut) > 0) != strings.Contains(ps.block, "\nLeft out:") {
		return fmt.Errorf("left out %+v, but the block is %q", p.LeftOut, ps.block)
	}
	body := strings.ReplaceAll(strings.ReplaceAll(o.Command.Body, "\r\n", "\n"), "$ARGUMENTS", defuse(rawjson.Text(s.AgentConfig.Arguments)))
	if body = strings.Trim(rawjson.Text(body), " \t\r\n"); p.Strategy != MinimalState && !referred(p) && !strings.HasPrefix(strings.TrimLeft(ps.command, "\n \t\r"), body) {
		return fmt.Errorf("%s without the command: %q", p.Strategy, ps.command)
	}
	wanted := len(h.Messages) + h.Earlier
	if o.Last > 0 {
		wanted = min(len(h.Messages), o.Last)
	}
	if p.Strategy == FullHistory && p.Included != wanted {
		return fmt.Errorf("%s with %d of %d", p.Strategy, p.Included, len(h.Messages)+h.Earlier)
	}
	return checkTexts(h.Messages[len(h.Messages)-p.Included:], ps.sections)
}

// referred reports whether a reference replaces the command's text, which must be
// reported.
func referred(p *Payload) bool {
	return slices.ContainsFunc(p.LeftOut, func(l LeftOut) bool { return l.What == theCommand })
}

// bare returns text as a careless reader sees it: without what is invisible or
// separates, in capitals of normal width.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '！' && r <= '～' {
			r -= '！' - '!'
		}
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.M) || strings.ContainsRune("\u115f\u1160\u3164\uffa0", r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, text)
}

// checkExcerpt fails unless the payload quotes the messages verbatim and in order, and
// counts them correctly.
func checkExcerpt(h schema.History, p *Payload, ps parsed) error {
	quoted := map[int]bool{}
	left := 0
	for _, l := range p.LeftOut {
		if l.What == "messages" {
			left = l.Count
		}
	}
	b := newBuilder(&schema.Session{}, h, Options{})
	all, at := b.read(0, len(h.Messages), 0).passages, 0
	find := func(of string, from, to int, fits func(p passage) bool) error {
		for ; at < len(all); at++ {
			if n := h.Earlier + all[at].message + 1; n >= from && n <= to && fits(all[at]) {
				quoted[n] = true
				at++
				return nil
			}
		}
		return fmt.Errorf("messages %d to %d have no %q", from, to, of)
	}
	for i, s := range ps.sections {
		if s.heading == strings.TrimSpace(notesHeading) || strings.HasPrefix(s.heading, "summary of messages ") {
			if i > 0 && len(quoted) > 0 {
				return fmt.Errorf("%q among the messages", s.heading)
			}
			continue
		}
		numbers, speaker, _ := strings.Cut(s.heading, " ")
		first, last, ok := strings.Cut(numbers, "-")
		if !ok {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from > to || from <= h.Earlier || to > h.Earlier+len(h.Messages) || ok && speaker != callsHeading && speaker != string(schema.Assistant) {
			return fmt.Errorf("heading %q of %d and %d", s.heading, h.Earlier, len(h.Messages))
		}
		if speaker == string(schema.Assistant) { // parts says which texts the pieces belong to
			texts := ""
			for ; at < len(all) && h.Earlier+all[at].message+1 <= to && !(quoted[to] && holds(texts, s.text)); at++ {
				if n := h.Earlier + all[at].message + 1; n >= from && all[at].tool == "" && all[at].speaker == speaker {
					texts += all[at].allText()
					if slices.ContainsFunc(p.Parts, func(part Part) bool { return part.Message == n && part.What == speaker }) {
						quoted[n] = true
					}
				}
			}
			if !quoted[from] || !quoted[to] || !holds(texts, s.text) {
				return fmt.Errorf("messages %d to %d have no %q", from, to, s.text)
			}
			continue
		}
		if speaker != callsHeading {
			if err := find(s.text, from, to, func(p passage) bool { return p.tool == "" && p.speaker == speaker && holds(p.allText(), s.text) }); err != nil {
				return err
			}
			continue
		}
		for call := range strings.SplitSeq(strings.TrimPrefix("\n"+s.text, "\n- "), "\n- ") {
			line, output, _ := strings.Cut(call, "\n")
			output = strings.ReplaceAll("\n"+output, "\n  ", "\n")
			err := find(call, from, to, func(p passage) bool {
				input, ok := strings.CutPrefix(line, p.tool+" ")
				input, ended := strings.CutSuffix(input, " "+p.outcome)
				return p.tool != "" && ok && ended && holds(p.allText(), input+"\n"+output)
			})
			if err != nil {
				return err
			}
		}
	}
	if len(quoted) != p.Included || p.Included+left != len(h.Messages)+h.Earlier {
		return fmt.Errorf("%d quoted, %d included and %d left out of %d", len(quoted), p.Included, left, len(h.Messages)+h.Earlier)
	}
	for i := range h.Messages {
		if n := h.Earlier + i + 1; !quoted[n] && !shown(p.LeftOut, n) {
			return fmt.Errorf("no command shows message %d: %+v", n, p.LeftOut)
		}
	}
	if h.Earlier > 0 && (!shown(p.LeftOut, 1) || !shown(p.LeftOut, h.Earlier)) {
		return fmt.Errorf("no command shows the earlier messages: %+v", p.LeftOut)
	}
	return nil
}

// shown reports whether one of the commands shows message n.
func shown(left []LeftOut, n int) bool {
	for _, l := range left {
		_, list, ok := strings.Cut(l.Show, " --message ")
		if !ok {
			return true // all messages
		}
		list, _, _ = strings.Cut(list, " ")
		for r := range strings.SplitSeq(list, ",") {
			first, last, ok := strings.Cut(r, "-")
			if !ok {
				last = first
			}
			from, err := strconv.Atoi(first)
			to, err2 := strconv.Atoi(last)
			if err == nil && err2 == nil && from <= n && n <= to {
				return true
			}
		}
	}
	return false
}

// allText returns the texts of a passage, each on its own lines.
func (p passage) allText() string {
	var b strings.Builder
	for _, t := range p.texts {
		b.WriteString(t.Text + "\n")
	}
	return b.String()
}

// holds reports whether whole contains the pieces of text, in order.
func holds(whole, text string) bool {
	whole = strings.ReplaceAll(whole, excerpt.Gap, "")
	for _, piece := range strings.Split(text, excerpt.Gap) {
		if gap := gapLine.FindString(excerpt.Gap + piece + "\n"); gap != "" {
			piece = (excerpt.Gap + piece + "\n")[len(gap):]
		}
		for line := range strings.SplitSeq(piece, "\n") {
			i := strings.Index(whole, line)
			if i < 0 {
				return false
			}
			whole = whole[i+len(line):]
		}
	}
	return true
}

// checkTexts compares what was said with what the fence claims was said.
func checkTexts(messages []schema.Message, sections []parsedSection) error {
	for i := range messages {
		m := &messages[i]
		var texts []string
		calls := 0
		for at := 0; len(sections) > 0; at++ {
			h := sections[0].heading
			if at > 0 && !strings.HasPrefix(h, "tool ") && !strings.HasSuffix(h, " continued") {
				break
			}
			if at == 0 && !strings.HasPrefix(h, string(m.Role)) {
				return fmt.Errorf("message %s is under %q", m.ID, h)
			}
			if strings.HasPrefix(h, "tool ") {
				calls++
			} else if at > 0 || sections[0].text != "" {
				texts = append(texts, sections[0].text)
			}
			sections = sections[1:]
		}
		if calls < len(m.ToolCalls) {
			return fmt.Errorf("message %s made %d calls, %d are included", m.ID, len(m.ToolCalls), calls)
		}
		want := rawjson.Text(m.Content)
		if m.Sealed != "" {
			want = "[sealed]"
		}
		got := strings.Join(texts, schema.TextJoint)
		if len(m.Attachments) > 0 {
			got, _, _ = strings.Cut(got, "[attachment ")
			got = strings.TrimSuffix(got, schema.TextJoint)
		}
		if got != want {
			return fmt.Errorf("message %s is %q, not %q", m.ID, got, want)
		}
	}
	if len(sections) > 0 {
		return fmt.Errorf("%d sections too many, from %q", len(sections), sections[0].heading)
	}
	return nil
}

func TestEveryPayload(t *testing.T) {
	rounds := 500
	if testing.Short() {
		rounds = 12
	}
	counts := map[string]int{}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		s := randomSession(r)
		h := randomHistory(r, []int{0, 3, 20, 150, 300, 300}[r.IntN(6)])
		o := Options{Now: noon, Budget: MinBudget + r.IntN(1<<uint(6+r.IntN(10)))}
		if r.IntN(5) == 0 {
			o.Budget = MinBudget
		}
		if r.IntN(4) == 0 {
			o.Last = r.IntN(50)
		}
		if r.IntN(4) > 0 {
			o.Command = Command{Name: "/workspace." + noise(r, 3), File: ".workspace/commands/" + noise(r, 3) + ".md", Body: noise(r, []int{1, 30, 3000}[r.IntN(2+r.IntN(2))]), BuiltIn: r.IntN(4) == 0}
		}
		o.Strategy = append(Strategies(), "", Ranked)[r.IntN(len(Strategies())+2)]
		if r.IntN(2) == 0 {
			o.Notes = new(notes.Notes)
			o.Notes.Add(h)
		}
		if r.IntN(2) == 0 {
			o.Changes = &Changes{Commits: r.IntN(300), More: r.IntN(2) == 0, Subjects: []string{noise(r, 5), noise(r, 50)}, Changed: []string{"a" + noise(r, 3)}, Gone: []string{"b" + noise(r, 3), "c/" + noise(r, 30)}[:r.IntN(3)]}
		}
		p, err := Build(s, h, o)
		if err == nil {
			err = checkPayload(s, h, o, p)
		}
		if err != nil {
			t.Fatalf("seed %d, budget %d: %v", seed, o.Budget, err)
		}
		counts[p.Strategy]++
	}
	for _, strategy := range []string{FullHistory, Ranked, PrunedTools, RecentPlus, MinimalState} {
		if counts[strategy] < rounds/50 {
			t.Errorf("%s came up %d times of %d: the rounds do not test it", strategy, counts[strategy], rounds)
		}
	}
}

// spelled returns the longest prefix of text that our own words still use as a name.
func spelled(text string) string {
	for n := min(len(text), 200); n > 0; n-- {
		if utf8.ValidString(text[:n]) && !tokens.Exceed(shellWord(oneLine(text[:n])), maxName) {
			return text[:n]
		}
	}
	return ""
}

// TestSmallestBudget builds the smallest payload with everything at its longest at
// once.
func TestSmallestBudget(t *testing.T) {
	for i, filler := range append([]string{"a", "word ", "1", "x1", "[x", "\x01", "日", "🜁", "\\", "'"}, hostile...) {
		if testing.Short() && i >= 10 && i%8 > 0 {
			continue
		}
		huge := strings.Repeat(filler, 250)
		name := spelled(huge)
		s := &schema.Session{
			ConversationID: name, ConversationType: huge, Title: huge, ContextSummary: huge,
			MessageCount: math.MaxInt / 2, LastActive: "0001-01-02T00:00:00Z", Tokens: math.MaxInt / 2,
			AgentConfig: schema.AgentConfig{Arguments: huge},
			Plan:        &schema.Plan{Current: 2, Awaiting: true},
		}
		for range 12 {
			s.Plan.Steps = append(s.Plan.Steps, schema.Step{Content: huge[:min(len(huge), 300)]})
		}
		for kind, c := range []Command{
			{Name: "/workspace." + huge, File: name, Body: huge},
			{Name: name, File: huge, Body: huge},
			{Name: name, File: name, Body: huge, BuiltIn: true},
			{Name: huge, File: huge, Body: huge},
			{},
		} {
			h := schema.History{Earlier: math.MaxInt / 2}
			if kind%2 == 1 {
				h = schema.History{Earlier: 123_456_789, Aside: 123_456_789}
			}
			o := Options{Now: noon, Budget: MinBudget, Command: c}
			p, err := Build(s, h, o)
			if err == nil {
				err = checkPayload(s, h, o, p)
			}
			if err != nil {
				t.Errorf("%.20q, case %d: %v", filler, kind, err)
			}
		}
	}
}

func FuzzBuild(f *testing.F) {
	for i, text := range hostile {
		f.Add(text, hostile[len(hostile)-1-i], "title "+text, uint16(i*37))
	}
	f.Fuzz(func(t *testing.T, content, output, title string, budget uint16) {
		s, h, o := brainstorm()
		s.Title, s.ContextSummary, s.AgentConfig.Arguments = title, title+output, title
		s.Plan.Steps[1].Content = title
		m := &h.Messages[0]
		m.Content = content
		c := h.Tools["c1"]
		c.Output, c.Name, c.Error = output, title, content
		h.Tools["c1"] = c
		o.Budget = MinBudget + int(budget)
		p, err := Build(s, h, o)
		if err == nil {
			err = checkPayload(s, h, o, p)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
