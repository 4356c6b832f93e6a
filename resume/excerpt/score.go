package excerpt

import (
	"math"
	"strings"
)

// Where a name stood so far says whether the next turns will use it. The
// weights below are those of a logistic regression over the names of real
// conversations of the three agents, each cut at many of its turns: was a name
// that stood in the history used in the 30 texts that followed?

// A stat is where a name stood.
type stat struct {
	parts       int // that contain it
	calls       int // of these, the inputs of calls
	first, last int // the first and the last of these
	fewest      int // names in the one of these that has the fewest
	kinds       kindSet
	inUse       float64 // how much of one of these is still in use, at most
	part        int     // the last part that was counted
}

// lately is how many parts at the end say what is still in use.
const lately = 40

// inUse finds how much of each part is still in use: the share that the names have
// which other parts of the end contain, too, each by how rare it is. A file that is
// still worked on is likely to be needed where it was not named yet.
func inUse(stats []stat, of [][]int32) {
	late := make([]int, len(stats)) // how many parts of the end contain the name
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
		used, all := 0.0, 5.0 // so that one name alone says little
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

// rare is how much would be missed without the name, when n parts were said: one
// that stands everywhere tells little.
func (s *stat) rare(n int) float64 { return math.Log(1 + float64(n)/float64(s.parts)) }

// A kindSet is a set of kinds of parts.
type kindSet uint8

func (s kindSet) has(k Kind) bool { return s&(1<<k) != 0 }

// worth is what it is worth to include a name, when n parts were said: how likely the
// next turns use it, by how much they would miss it. It is in millionths, so that
// the last bits of floating point, in which machines differ, decide nothing.
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

// features are what a name is judged by, in the order of weights.
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

// nameless reports whether what has the shape of a name is the name of nothing: a
// checksum in full, or numbers of a drawing ("428l-7.5", a path in SVG). Nobody repeats
// them; where they stand, they stand in hundreds.
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
	drawn := 0 // letters alone between digits
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

// longestName is how many bytes the name of a thing may have that is no path and looks
// as if it was drawn by lot: the sum of a commit has 40.
const longestName = 40

// weights are the regression's, as
//
//	CORTEXT_TRANSCRIPTS=… go test ./resume/excerpt -run=TestWeights -v -fit
//
// prints them.
var weights = [features]float64{
	0:  1.00,  // for every name
	1:  -0.46, // how long ago it was named last, as a logarithm
	2:  -0.28, // and first
	3:  -0.50, // names beside it, where they were fewest
	4:  0.80,  // calls that it was given to
	5:  0.52,  // how much of what it stood in is still in use
	6:  0.57,  // the user named it
	7:  -0.17, // the agent named it
	8:  0.27,  // it was given to a call
	9:  -0.36, // and is a path
	10: -1.08, // only outcomes of calls have it
	11: 0.23,  // and how long ago
}

const features = 12
