package excerpt_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"cortext/schema"
)

// manyPayloads is the number of payloads whose claims are listed.
const manyPayloads = 20

// BenchmarkClaims lists what the summary, the plan and the notes of payloads of 8,000
// tokens claim, each with the message it cites, for a person to judge:
//
//	CORTEXT_TRANSCRIPTS=… go test -run='^$' -bench=Claims -benchtime=1x -v ./resume/excerpt
func BenchmarkClaims(b *testing.B) {
	var cuts []*cutAt
	for _, t := range transcripts(b) {
		for _, at := range Cuts(t.Said) {
			if c := cutOf(b, t, at); c.size() >= 8000*34/10 {
				cuts = append(cuts, c)
			}
		}
	}
	for b.Loop() {
		claims := 0
		for i := range min(manyPayloads, len(cuts)) {
			c := cuts[i*len(cuts)/min(manyPayloads, len(cuts))]
			b.Logf("=== %s at %d", c.Name, c.at)
			for _, claim := range claimsIn(built("")(b, c.session, c.history, c.before, 8000)) {
				claims++
				b.Logf("%s%s", claim.text, c.source(claim.message))
			}
		}
		b.ReportMetric(float64(claims), "claims")
	}
}

// A claim is a line in a payload that cortext itself wrote.
type claim struct {
	text    string
	message int // number of the message it cites; 0 if none
}

var numbered = regexp.MustCompile(` \((\d+)\)$`)

// claimsIn returns the claims in a payload.
func claimsIn(payload string) (all []claim) {
	block, _, _ := strings.Cut(payload, "[END RESUMED CONTEXT]")
	for line := range strings.Lines(block) {
		if strings.HasPrefix(line, "Summary: ") || strings.HasPrefix(line, "Plan: ") || strings.HasPrefix(line, "- [") {
			all = append(all, claim{text: strings.TrimSpace(line)})
		}
	}
	_, notes, _ := strings.Cut(payload, "\n~~~~ notes\n")
	notes, _, _ = strings.Cut(notes, "\n~~~~ ")
	group := ""
	for line := range strings.Lines(notes) {
		line = strings.TrimSpace(line)
		m := numbered.FindStringSubmatch(line)
		if m == nil {
			group = line
			continue
		}
		n, _ := strconv.Atoi(m[1])
		all = append(all, claim{group + " " + line, n})
	}
	return all
}

// source returns message n, abridged, with its calls.
func (c *cutAt) source(n int) string {
	if n < 1 || n > len(c.history.Messages) {
		return ""
	}
	m := c.history.Messages[n-1]
	text := fmt.Sprintf("\n    %d %s: %.300q", n, m.Role, m.Content)
	for _, call := range m.ToolCalls {
		t := c.history.Tools[call.ID]
		code := ""
		if t.ExitCode != nil {
			code = fmt.Sprintf(" exit code %d", *t.ExitCode)
		}
		success := "no result"
		if t.Success != nil {
			success = fmt.Sprint(*t.Success)
		}
		text += fmt.Sprintf("\n    %s %.200s -> %s%s: %.300q", t.Name, t.Input, success, code, ending(t))
	}
	return text
}

// ending returns the end of a call's output.
func ending(t schema.Tool) string { return t.Output[max(len(t.Output)-300, 0):] }
