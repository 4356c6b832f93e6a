package excerpt

// Weights are the weights in the code, for TestWeights to fit again.
var Weights = weights

// A NameIn is a name in texts, with its features.
type NameIn struct {
	Name     string
	Features []float64
	Rare     float64
}

// NamesIn finds the names in texts.
func NamesIn(texts []Text) (all []NameIn) {
	h := &History{ids: map[string]int32{}}
	for _, t := range texts {
		h.texts = append(h.texts, text{Text: t, snippets: snippetsOf(t)})
	}
	for id, s := range h.stats() {
		name := h.names[id].text
		x := s.features(len(texts), name)
		all = append(all, NameIn{name, x[:], s.rare(len(texts))})
	}
	return all
}
