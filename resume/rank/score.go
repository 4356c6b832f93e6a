package rank

import "math"

// What the next turns will name can be told from where a name stood so far. The
// weights below are those of a logistic regression over the names of real
// conversations of the three agents, each cut at many of its turns: was a name
// that stood in the history used in the 30 texts that followed?

// A stat is where a name stood.
type stat struct {
	parts       int // that contain it
	first, last int // the first and the last of these
	fewest      int // names in the one of these that has the fewest
	kinds       kindSet
	part        int // the last part that was counted
}

// A kindSet is a set of kinds of parts.
type kindSet uint8

func (s kindSet) has(k Kind) bool { return s&(1<<k) != 0 }

// worth is what it is worth to tell a name, when n parts were said: how likely the
// next turns use it, by how much they would miss it. A name that stands everywhere
// tells little. It is in millionths, so that the last bits of floating point, in
// which machines differ, decide nothing.
func (s *stat) worth(n int, name string) int64 {
	z := weights.bias +
		weights.age*math.Log(float64(n-s.last)) +
		weights.span*math.Log(float64(n-s.first)) +
		weights.parts*math.Log(float64(s.parts)) +
		weights.fewest*math.Log(float64(1+s.fewest)) +
		weights.length*math.Log(float64(len(name)))
	if s.kinds.has(User) {
		z += weights.user
	}
	if s.kinds.has(Assistant) {
		z += weights.assistant
	}
	if s.kinds.has(Call) {
		z += weights.call
	}
	if s.kinds == 1<<Result {
		z += weights.resultOnly
	}
	if isPath(name) {
		z += weights.path
	}
	p := 1 / (1 + math.Exp(-z))
	return int64(math.Round(1e6 * p * math.Log(1+float64(n)/float64(s.parts))))
}

func isPath(name string) bool {
	for i := range len(name) {
		if name[i] == '/' {
			return true
		}
	}
	return false
}

// weights are the regression's, as
//
//	CORTEXT_TRANSCRIPTS=… go test ./resume/rank -run=TestWeights -v -fit
//
// prints them.
var weights = struct {
	bias, age, span, parts, fewest, length  float64
	user, assistant, call, resultOnly, path float64
}{
	bias: 1.05, age: -0.47, span: -0.27, parts: 0.43, fewest: -0.57, length: -0.20,
	user: 0.50, assistant: -0.32, call: 0.70, resultOnly: -0.58, path: -0.12,
}
