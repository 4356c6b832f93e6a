package secrets

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

func redact(t *testing.T, s string) (string, Counts) {
	t.Helper()
	counts := Counts{}
	got, err := New().Text(s, counts)
	if err != nil {
		t.Fatal(err)
	}
	return got, counts
}

func TestSamples(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(20) {
		for _, sm := range samples(seed) {
			seen[sm.rule] = true
			got, counts := redact(t, sm.text())
			if got != sm.want() {
				t.Errorf("seed %d, rule %s:\n got %q\nwant %q\nfrom %q", seed, sm.rule, got, sm.want(), sm.text())
			}
			if counts[sm.rule] != 1 || len(counts) != 1 {
				t.Errorf("seed %d, rule %s: counts %v", seed, sm.rule, counts)
			}
		}
		if t.Failed() {
			break
		}
	}
	for _, rule := range Rules() {
		if !seen[rule.ID] {
			t.Errorf("rule %s has no sample", rule.ID)
		}
	}
}

func TestRulesAreDocumented(t *testing.T) {
	ids := map[string]bool{}
	for _, rule := range Rules() {
		if rule.ID == "" || rule.Description == "" || rule.Source == "" || len(rule.Keywords) == 0 {
			t.Errorf("rule %q lacks a part: %+v", rule.ID, rule)
		}
		if ids[rule.ID] {
			t.Errorf("rule %s appears twice", rule.ID)
		}
		ids[rule.ID] = true
		for _, k := range rule.Keywords {
			if len(k) < 3 {
				t.Errorf("rule %s: keyword %q is too short to be found", rule.ID, k)
			}
		}
		if strings.ContainsAny(rule.ID, " []:") || len(markerStart)+len(rule.ID) > 60 {
			t.Errorf("rule id %q", rule.ID)
		}
		if (rule.pattern == "") == (rule.find == nil && rule.findAll == nil) {
			t.Errorf("rule %s needs either a pattern or a function", rule.ID)
		}
	}
}

func TestIdempotent(t *testing.T) {
	r := New()
	for _, sm := range samples(1) {
		once, err := r.Text(sm.text(), nil)
		if err != nil {
			t.Fatal(err)
		}
		counts := Counts{}
		twice, err := r.Text(once, counts)
		if err != nil || twice != once || len(counts) > 0 {
			t.Errorf("rule %s: %q became %q (%v, %v)", sm.rule, once, twice, counts, err)
		}
	}
}

// TestManyInOneText replaces all samples in one text, each by its own rule.
func TestManyInOneText(t *testing.T) {
	var in, want strings.Builder
	total := 0
	for _, sm := range samples(2) {
		in.WriteString("\n\n" + strings.Repeat("-- next ", 40) + "\n" + sm.text())
		want.WriteString("\n\n" + strings.Repeat("-- next ", 40) + "\n" + sm.want())
		total++
	}
	got, counts := redact(t, in.String())
	if got != want.String() {
		t.Error("some secrets were not replaced as they are alone")
	}
	for _, n := range counts {
		total -= n
	}
	if total != 0 {
		t.Errorf("%d samples were not counted: %v", total, counts)
	}
}

func TestCleanTextIsReturnedItself(t *testing.T) {
	r := New()
	for _, s := range []string{"", "a", cleanText(5000), `C:\tmp\new "x" \u00e9`} {
		got, err := r.Text(s, nil)
		if err != nil || got != s || unsafe.StringData(got) != unsafe.StringData(s) {
			t.Errorf("%.40q was copied or changed (%v)", s, err)
		}
	}
	plain := "nothing to see in this text, not even a keyword"
	if n := testing.AllocsPerRun(100, func() { r.Text(plain, nil) }); n > 0 {
		t.Errorf("a text without keywords costs %v allocations", n)
	}
}

func TestBrokenRuleStopsTheWrite(t *testing.T) {
	r := &Redactor{source: func() []Rule { return []Rule{{ID: "broken", Keywords: []string{"abc"}, pattern: "abc("}} }}
	if got, err := r.Text("no keyword", nil); err != nil || got != "no keyword" {
		t.Errorf("got %q, %v", got, err)
	}
	for range 2 {
		if got, err := r.Text("an abc in it", nil); err == nil || got != "" {
			t.Errorf("got %q, %v", got, err)
		}
		if got, err := r.JSON([]byte(`{"a":"an abc in it"}`), nil); err == nil || got != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if got, err := r.JSON([]byte(`{"abc":"x"}`), nil); err == nil || got != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	r := New()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, sm := range samples(5) {
				if got, err := r.Text(sm.text(), Counts{}); err != nil || got != sm.want() {
					t.Errorf("rule %s: got %q, %v", sm.rule, got, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestLargeTexts searches some megabytes of matches and near matches. If the search took
// quadratic time, this would take minutes instead of seconds.
func TestLargeTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT RUN with -short (scripts/coverage.sh runs it): searches large texts")
	}
	const size = 2 << 20
	m := newMaker(6)
	fill := func(pieces ...string) string {
		var b strings.Builder
		for b.Len() < size {
			for _, p := range pieces {
				b.WriteString(p)
			}
		}
		return b.String()
	}
	var all, pems strings.Builder
	for seed := uint64(0); all.Len() < size; seed++ {
		for _, sm := range samples(seed % 8) {
			all.WriteString(sm.text() + "\n")
		}
	}
	for pems.Len() < size {
		pems.WriteString("-----BEGIN PRIVATE " + "KEY-----\n" + m.of(b64, 64) + "\n")
	}
	texts := map[string]string{
		"samples":         all.String(),
		"escaped samples": quoted(quoted(all.String()[:size/2])),
		"tokens":          fill("gh"+"p_"+m.of(alnum, 36), " and ", "AK"+"IA"+m.of(upper, 16), "\n"),
		"short tokens":    fill("gh"+"p_", m.of(alnum, 20), " "),
		"one long token":  "gl" + "pat-" + strings.Repeat(m.of(alnum, 64), size/64),
		"jwt heads":       fill("-eyJhbGciOi"),
		"jwt parts":       fill("eyJhbGciOiabc."),
		"pem heads":       fill("-----BEGIN PRIVATE " + "KEY-----"),
		"cut pems":        pems.String(),
		"names":           fill("token"),
		"assignments":     fill(`secret="`, "token='"),
		"urls":            fill("a://b:", "c"),
		"near names":      fill("discord twilio deepseek mailgun "),
		"backslashes":     fill(`\`),
		"escapes":         fill(`\n\"\u0041`),
		"markers":         fill(markerStart),
		"aws":             fill("AK"+"IA"+m.of(upper, 16), "+"),
		"basic":           fill("basic QUJDREVG", m.of(b64, 60), " "),
		"vendor names":    fill("datadog cloudflare ", "heroku_", "aws_secret"),
		"curl":            fill("curl -u a:b "),
		"long line":       "curl " + fill("-u --user "),
		"atlas":           fill(".atlasv1."),
		"quotes":          "PRIVATE " + "KEY-----" + fill(`"`),
	}
	for name, s := range texts {
		start := time.Now()
		if _, err := New().Text(s, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		took := time.Since(start)
		t.Logf("%-16s %v", name, took.Round(time.Millisecond))
	}
}
