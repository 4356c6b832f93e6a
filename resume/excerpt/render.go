package excerpt

import (
	"fmt"
	"strings"
)

// Count formats a count, as in "1 line" or "2 lines".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// result renders the choice.
func (c *chooser) result() []Chosen {
	for i := range c.sections {
		d := &c.out[i]
		d.Whole = c.open[i] || c.empty(i)
		if !c.open[i] {
			continue
		}
		for k := c.first[i]; k < c.first[i+1]; k++ {
			t := &c.texts[k]
			text, whole := t.render()
			d.Whole = d.Whole && whole
			if t.Kind == Input {
				d.Input = strings.TrimSuffix(text, "\n")
			} else {
				d.Text += text
			}
		}
	}
	return c.out
}

// empty reports whether a section is omitted entirely.
func (c *chooser) empty(section int) bool {
	for _, t := range c.sections[section].Texts {
		if t.Text != "" {
			return false
		}
	}
	return true
}

// render writes the included part of a text, on lines of its own, and reports
// whether that is everything.
func (t *text) render() (spelled string, whole bool) {
	var b strings.Builder
	whole = true
	for j := 0; j < len(t.snippets); j++ {
		s := &t.snippets[j]
		if s.included {
			b.WriteString(t.Text.Text[s.from:s.to])
			continue
		}
		whole = false
		k := j
		for k+1 < len(t.snippets) && !t.snippets[k+1].included {
			k++
		}
		left := t.Text.Text[s.from:t.snippets[k].to]
		lines := strings.Count(left, "\n")
		last := k+1 == len(t.snippets)
		if last && !strings.HasSuffix(left, "\n") {
			lines++
		}
		switch {
		case t.Kind == Input:
			b.WriteString(Gap)
		case b.Len() == 0 && last:
		case lines == 0 || !t.startsLine(j) && !t.endsSentence(j-1) || !last && !t.startsLine(k+1):
			b.WriteString(Gap)
			if strings.Contains(left, "\n") && (last || t.startsLine(k+1)) {
				b.WriteString("\n")
			}
		default:
			if !t.startsLine(j) {
				b.WriteString("\n") // so that a whole sentence is on its own line
			}
			b.WriteString(Gap + " " + Count(lines, "line") + "\n")
		}
		j = k
	}
	if b.Len() == 0 {
		return "", whole
	}
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteString("\n")
	}
	return b.String(), whole
}

// endsSentence reports whether snippet j is included and ends a sentence within its
// line.
func (t *text) endsSentence(j int) bool {
	if j < 0 || !t.snippets[j].included || t.snippets[j].to < 2 {
		return false
	}
	end := t.Text.Text[t.snippets[j].to-2 : t.snippets[j].to]
	return end[1] == ' ' && strings.IndexByte(".!?", end[0]) >= 0
}
