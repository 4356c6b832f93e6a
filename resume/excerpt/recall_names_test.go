package excerpt_test

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// This file measures, without a model, how much of what the next turns need is in a
// payload. For a conversation cut at a user turn, we look in the payload for the
// specific names that the following texts use and that occurred before the cut, each
// weighted by its rarity. Transcripts are read here independently of the adapters, so
// that a loss in an adapter shows.

// Window is how many texts after a cut count.
const Window = 30

// maxCuts is the most turns at which a conversation is cut.
const maxCuts = 6

// A Said is one text of a transcript; At is the position before which to cut the
// transcript.
type Said struct {
	Kind, Text string // user, assistant, call, result
	At         int
}

var (
	nameRun  = regexp.MustCompile(`[A-Za-z_~./-][A-Za-z0-9_./~-]{4,}`)
	camel    = regexp.MustCompile(`[a-z][A-Z]`)
	hasDigit = regexp.MustCompile(`[0-9]`)
	hasWord  = regexp.MustCompile(`[A-Za-z]`)
)

// Names returns the specific names in a text.
func Names(text string) map[string]bool {
	all := map[string]bool{}
	for _, n := range nameRun.FindAllString(text, -1) {
		n = strings.Trim(n, "./-~")
		if len(n) >= 5 && (strings.ContainsAny(n, "/_") || strings.Contains(n[1:len(n)-1], ".") || camel.MatchString(n) || hasDigit.MatchString(n) && hasWord.MatchString(n)) {
			all[n] = true
		}
	}
	return all
}

// Cuts returns the turns at which to cut a conversation.
func Cuts(all []Said) []int {
	var at []int
	for i, s := range all {
		if s.Kind == "user" && i > 20 && len(all)-i > Window/2 && len([]rune(s.Text)) > 3 {
			at = append(at, i)
		}
	}
	if len(at) > maxCuts {
		var some []int
		for k := range maxCuts {
			some = append(some, at[int(math.RoundToEven(float64(k*(len(at)-1))/(maxCuts-1)))])
		}
		at = slices.Compact(some)
	}
	return at
}

// Future returns the names that are needed, with their weights.
func Future(all []Said, cut int) map[string]float64 {
	in := map[string]int{}
	for _, s := range all[:cut] {
		for n := range Names(s.Text) {
			in[n]++
		}
	}
	need := map[string]float64{}
	for _, s := range all[cut:min(cut+Window, len(all))] {
		if s.Kind == "result" {
			continue
		}
		for n := range Names(s.Text) {
			if in[n] > 0 {
				need[n] = math.Log(1 + float64(cut)/float64(in[n]))
			}
		}
	}
	return need
}

// Score returns the weight of the names in a payload, relative to that of all.
func Score(need map[string]float64, payload string) float64 {
	have, all := 0.0, 0.0
	for _, n := range slices.Sorted(maps.Keys(need)) {
		all += need[n]
		if strings.Contains(payload, n) {
			have += need[n]
		}
	}
	return have / all
}
