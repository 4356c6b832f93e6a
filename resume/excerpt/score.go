package excerpt

import (
	"math"
	"strings"
)

// Where a name occurred predicts whether the next turns will use it. The weights
// below come from a logistic regression over the names in real conversations of the
// three agents, each cut at many of its turns: was a name in the history used in the
// 30 texts that followed?

// A stat is where a name occurred.
type stat struct {
	texts       int // that contain it
	calls       int // texts that are inputs of calls
	first, last int // first and last text that contains it
	fewest      int // names in the text with the fewest names
	kinds       kindSet
	inUse       float64 // the highest inUse value of these texts
	lastText    int     // the last text counted
}

// lately is how many texts at the end show what is still in use.
const lately = 40

// inUse rates how much of each text is still in use: the share of its names, weighted
// by rarity, that also occur in other texts at the end. A file that is still being
// worked on is likely to matter again, even if it was not named recently.
func inUse(stats []stat, of [][]int32) {
	late := make([]int, len(stats)) // how many texts at the end contain the name
	for _, names := range of[max(len(of)-lately, 0):] {
		for _, id := range names {
			late[id]++
		}
	}
	for i, names := range of {
		self := 0
		if i >= len(of)-lately {
			self = 1
		}
		used, all := 0.0, 5.0 // start above 0, so that a single name says little
		for _, id := range names {
			rare := stats[id].rare(len(of))
			all += rare
			if late[id] > self {
				used += rare
			}
		}
		for _, id := range names {
			stats[id].inUse = max(stats[id].inUse, used/all)
		}
	}
}

// rare rates how rare the name is among n texts: a name that occurs everywhere says
// little.
func (s *stat) rare(n int) float64 { return math.Log(1 + float64(n)/float64(s.texts)) }

// A kindSet is a set of kinds of texts.
type kindSet uint8

func (s kindSet) has(k Kind) bool { return s&(1<<k) != 0 }

// worth returns the value of including a name, out of n texts: how likely the next
// turns use it, times how much they would miss it. It is in millionths, so that
// floating-point differences between machines do not matter.
func (s *stat) worth(n int, name string) int64 {
	if nameless(name) {
		return 0
	}
	z := 0.0
	for i, x := range s.features(n, name) {
		z += weights[i] * x
	}
	p := 1 / (1 + math.Exp(-z))
	return int64(math.Round(1e6 * p * s.rare(n)))
}

// features returns a name's features, in the order of weights.
func (s *stat) features(n int, name string) [features]float64 {
	age := math.Log(float64(n - s.last))
	x := [features]float64{1, age, math.Log(float64(n - s.first)), math.Log(float64(1 + s.fewest)), math.Log(float64(1 + s.calls)), math.Log(0.05 + min(s.inUse, 0.5))}
	for i, has := range []bool{s.kinds.has(User), s.kinds.has(Assistant), s.kinds.has(Input), s.kinds.has(Input) && strings.Contains(name, "/"), s.kinds == 1<<Output} {
		if has {
			x[6+i] = 1
		}
	}
	if s.kinds == 1<<Output {
		x[11] = age
	}
	return x
}

// nameless reports whether something shaped like a name names nothing: a full
// checksum, or numbers of a drawing ("428l-7.5", an SVG path). Nobody repeats those,
// and they occur by the hundred.
func nameless(name string) bool {
	var count [256]int
	kind := func(c byte) byte {
		switch {
		case c >= '0' && c <= '9':
			return '0'
		case c >= 'a' && c <= 'z':
			return 'a'
		case c >= 'A' && c <= 'Z':
			return 'A'
		}
		return c
	}
	drawn := 0 // single letters between digits
	for i := range len(name) {
		count[kind(name[i])]++
		if k := kind(name[i]); (k == 'a' || k == 'A') && i > 0 && kind(name[i-1]) == '0' && (i+1 == len(name) || kind(name[i+1]) != 'a' && kind(name[i+1]) != 'A') {
			drawn++
		}
	}
	letters := count['a'] + count['A']
	switch {
	case len(name) > longestName:
		return count['0'] > len(name)/4 || count['0'] > len(name)/12 && min(count['a'], count['A']) > len(name)/6
	case count['.'] == 0 || drawn == 0:
		return false
	}
	return drawn == letters && (letters > 1 || count['-'] > 0)
}

// longestName is the longest random-looking name, in bytes, that is not a path: a
// commit hash has 40.
const longestName = 40

// weights are the regression's, as
//
//	CORTEXT_TRANSCRIPTS=… go test ./resume/excerpt -run=TestWeights -v -fit
//
// prints them.
var weights = [features]float64{
	0:  1.00,  // for every name
	1:  -0.46, // time since it was last named, as a logarithm
	2:  -0.28, // time since it was first named
	3:  -0.50, // names beside it, in the text with the fewest
	4:  0.80,  // calls that it was passed to
	5:  0.52,  // how much of its context is still in use
	6:  0.57,  // the user named it
	7:  -0.17, // the agent named it
	8:  0.27,  // it was passed to a call
	9:  -0.36, // and is a path
	10: -1.08, // it occurs only in outputs
	11: 0.23,  // and how long ago
}

const features = 12
