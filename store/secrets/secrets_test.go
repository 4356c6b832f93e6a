package secrets

import (
	"strings"
	"testing"
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
	for seed := range uint64(40) {
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
			t.Errorf("rule %s stands twice", rule.ID)
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
		if (rule.pattern == "") == (rule.find == nil) {
			t.Errorf("rule %s needs either a pattern or a function", rule.ID)
		}
	}
}
