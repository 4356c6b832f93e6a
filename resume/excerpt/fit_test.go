package excerpt_test

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"cortext/resume/excerpt"
)

var fit = flag.Bool("fit", false, "print the weights that the real transcripts give")

// An example is a name in a history up to a cut: was it used after the cut?
type example struct {
	x    []float64
	y, w float64
}

// TestWeights fits the weights again, and checks that those in the code are close.
func TestWeights(t *testing.T) {
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		t.Skip("NOT RUN: CORTEXT_TRANSCRIPTS is not set")
	}
	var all []example
	for _, pattern := range Patterns() {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if tr := Read(file, data); tr != nil {
				all = append(all, examples(tr.Said)...)
			}
		}
	}
	got := regress(all)
	if *fit {
		t.Logf("%d examples: %.2f", len(all), got)
	}
	for i := range got {
		if math.Abs(got[i]-excerpt.Weights[i]) > 0.02 {
			t.Errorf("weight %d is %.2f, the transcripts give %.2f (-fit prints all)", i, excerpt.Weights[i], got[i])
		}
	}
}

// examples cuts a conversation at most 14 times, at user turns and in between.
func examples(said []Said) (all []example) {
	var cuts []int
	for i := 22; i < len(said)-Window/2; i++ {
		if said[i].Kind == "user" && len(said[i].Text) > 3 || i%23 == 0 {
			cuts = append(cuts, i)
		}
	}
	for len(cuts) > 14 {
		for i := range (len(cuts) + 1) / 2 {
			cuts[i] = cuts[2*i]
		}
		cuts = cuts[:(len(cuts)+1)/2]
	}
	kinds := map[string]excerpt.Kind{"user": excerpt.User, "assistant": excerpt.Assistant, "call": excerpt.Input, "result": excerpt.Output}
	for _, cut := range cuts {
		need := Future(said, cut)
		if len(need) < 5 {
			continue
		}
		var texts []excerpt.Text
		for _, s := range said[:cut] {
			texts = append(texts, excerpt.Text{Kind: kinds[s.Kind], Text: s.Text})
		}
		total := 0.0
		for _, w := range need {
			total += w
		}
		for _, n := range excerpt.NamesIn(texts) {
			e := example{x: n.Features, w: 20 * n.Rare / total}
			if need[n.Name] > 0 {
				e.y = 1
			}
			all = append(all, e)
		}
	}
	return all
}

// features is the number of weights.
const features = len(excerpt.Weights)

// regress fits a logistic regression to weighted examples, by Newton's method.
func regress(all []example) (b [features]float64) {
	for range 25 {
		var g [features]float64
		var h [features][features]float64
		for _, e := range all {
			z := 0.0
			for k := range b {
				z += b[k] * e.x[k]
			}
			p := 1 / (1 + math.Exp(-z))
			for k := range b {
				g[k] += e.w * (e.y - p) * e.x[k]
				for l := range b {
					h[k][l] += e.w * p * (1 - p) * e.x[k] * e.x[l]
				}
			}
		}
		for k := range b { // slight regularization, so that there is one solution
			g[k] -= 0.5 * b[k]
			h[k][k] += 0.5
		}
		step := 0.0
		for k, d := range solve(h, g) {
			b[k] += d
			step += math.Abs(d)
		}
		if step < 1e-6 {
			break
		}
	}
	return b
}

// solve returns x with a·x = v.
func solve(a [features][features]float64, v [features]float64) [features]float64 {
	for c := range v {
		best := c
		for r := c; r < features; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[best][c]) {
				best = r
			}
		}
		a[c], a[best], v[c], v[best] = a[best], a[c], v[best], v[c]
		for r := c + 1; r < features; r++ {
			f := a[r][c] / a[c][c]
			for k := c; k < features; k++ {
				a[r][k] -= f * a[c][k]
			}
			v[r] -= f * v[c]
		}
	}
	for c := features - 1; c >= 0; c-- {
		for k := c + 1; k < features; k++ {
			v[c] -= a[c][k] * v[k]
		}
		v[c] /= a[c][c]
	}
	return v
}
