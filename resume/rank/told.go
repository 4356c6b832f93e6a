package rank

import "strings"

// told spells the choice.
func (c *chooser) told() []Told {
	out := make([]Told, len(c.sections))
	for i := range c.sections {
		d := &out[i]
		d.Whole, d.Recent = c.open[i] || c.empty(i), c.open[i] && i >= c.from
		if !c.open[i] {
			continue
		}
		var b strings.Builder
		for k := c.first[i]; k < c.first[i+1]; k++ {
			d.Whole = c.texts[k].spell(&b) && d.Whole
		}
		d.Text, d.Names = b.String(), c.earned[i]
	}
	return out
}

// empty reports whether there is nothing to tell of a section.
func (c *chooser) empty(section int) bool {
	for _, p := range c.sections[section].Parts {
		if p.Text != "" {
			return false
		}
	}
	return true
}

// spell writes what is told of a text, on lines of its own, and reports whether
// that is all of it. A gap where the text before it ended in one is not marked twice.
func (t *text) spell(b *strings.Builder) (whole bool) {
	marked := strings.HasSuffix(b.String(), Gap+"\n")
	if t.Text == "" {
		return true
	}
	whole = true
	line := true // at the beginning of a line
	gap := false // something was left out since the last segment
	for j := range t.segments {
		s := &t.segments[j]
		if !s.shown {
			gap, whole = true, false
			continue
		}
		starts := s.from == 0 || t.Text[s.from-1] == '\n'
		if gap {
			if !line || !marked || !starts {
				b.WriteString(Gap)
				if starts {
					b.WriteByte('\n')
				}
			}
			gap = false
		}
		b.WriteString(t.Text[s.from:s.to])
		line, marked = t.Text[s.to-1] == '\n', false
	}
	if gap && (!line || !marked) {
		b.WriteString(Gap)
		line = false
	}
	if !line {
		b.WriteByte('\n')
	}
	return whole
}
