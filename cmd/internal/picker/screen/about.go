package screen

import (
	"errors"
	"fmt"
	"strings"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// about draws the preview of the conversation at the cursor.
func (f *frame) about(width, height int) []string {
	row := f.chosen()
	if row == nil || width < 10 || height < 1 {
		return nil
	}
	k, loaded := f.preview.kept[row.ID]
	p := page{ruler: f.ruler, width: width, dense: height < roomy}
	p.text(strong, clean(row.Title), 2)
	folder, rest := clean(row.Folder()), describe(row)
	if line := folder + " · " + rest; p.ruler.width(line) <= width {
		p.text(faint, line, 1)
	} else {
		p.text(faint, folder, 1)
		p.text(faint, rest, 1)
	}
	if row.Workspace != "" {
		p.lines = append(p.lines, faint.of(strings.TrimRight(p.left(clean(row.Workspace), width), " ")))
	}
	switch {
	case f.list.isGone(row.ID), errors.Is(k.err, picker.ErrGone):
		p.text(bad, picker.ErrGone.Error(), 2)
		return p.lines
	case k.err != nil:
		p.text(bad, clean(k.err.Error()), 3)
	}
	long := 8
	if p.dense {
		long = 2
	}
	if summary := row.Summary; summary != "" {
		p.section("Summary", func() { p.text(plain, clean(summary), long) })
	} else if row.Description != "" {
		p.section("Begins with", func() { p.text(plain, clean(row.Description), 4) })
	}
	if !loaded && f.o.Preview != nil {
		p.text(faint, "…", 1)
	}
	p.preview(&k.preview)
	if len(row.Tags) > 0 {
		p.section("Tags", func() { p.text(plain, tagsOf(row), 2) })
	}
	if n := k.preview.Branches; n > 0 {
		p.section("Branches", func() { p.text(plain, count(n, "other branch", "other branches")+" with an answer", 1) })
	}
	return p.lines
}

// describe formats a conversation's agent, model, number of messages and status.
func describe(r *listing.Row) string {
	var parts []string
	for _, s := range []string{r.LastAgent(), r.Model} {
		if s != "" {
			parts = append(parts, clean(s))
		}
	}
	parts = append(parts, count(r.Messages, "message", "messages"))
	if status, _ := statusOf(r); status != "" {
		parts = append(parts, status)
	}
	return strings.Join(parts, " · ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// A page is a list of lines with a fixed width.
type page struct {
	ruler
	width int
	dense bool // low height: omit empty lines and shorten each part
	lines []string
}

// roomy is the minimum height of a page with empty lines.
const roomy = 14

func (p *page) text(look style, s string, most int) {
	for _, line := range p.wrap(s, p.width, most) {
		p.lines = append(p.lines, look.of(line))
	}
}

// section adds a heading with its content.
func (p *page) section(title string, body func()) {
	if !p.dense {
		p.lines = append(p.lines, "")
	}
	p.lines = append(p.lines, accent.of(title))
	body()
}

// Limits on each part of a preview.
const (
	mostSteps = 12
	mostFiles = 12
	mostSince = 6
)

func (p *page) preview(v *picker.Preview) {
	if p.dense {
		p.exchange(v.Exchange)
	}
	if len(v.Plan) > 0 {
		p.section("Plan", func() {
			for _, s := range v.Plan[:min(len(v.Plan), mostSteps)] {
				box, look := "○ ", plain
				if s.Done {
					box, look = "✓ ", faint
				}
				p.lines = append(p.lines, look.of(box+strings.TrimRight(p.fit(clean(s.Text), p.width-2), " ")))
			}
			if n := len(v.Plan) - mostSteps; n > 0 {
				p.text(faint, count(n, "more step", "more steps"), 1)
			}
		})
	}
	if !p.dense {
		p.exchange(v.Exchange)
	}
	if len(v.Files) > 0 {
		p.section("Files", func() {
			for _, f := range v.Files[:min(len(v.Files), mostFiles)] {
				p.lines = append(p.lines, kindOf.of(p.fit(f.Mark, 2))+p.left(clean(f.Path), p.width-2))
			}
			if n := len(v.Files) - mostFiles; n > 0 {
				p.text(faint, count(n, "more file", "more files"), 1)
			}
		})
	}
	if len(v.Since) > 0 {
		p.section("Since then", func() {
			for _, s := range v.Since[:min(len(v.Since), mostSince)] {
				p.text(plain, clean(s), 1)
			}
		})
	}
}

// exchange draws the end of a conversation: two lines of the prompt, three of the answer.
func (p *page) exchange(lines []picker.Line) {
	if len(lines) == 0 {
		return
	}
	p.section("Last exchange", func() {
		for i, l := range lines {
			p.message(l, 2+i)
		}
	})
}

// message draws a message in up to most lines.
func (p *page) message(l picker.Line, most int) {
	who := clean(l.Who) + ":"
	for i, line := range p.wrap(who+" "+clean(l.Text), p.width, most) {
		if rest, ok := strings.CutPrefix(line, who); ok && i == 0 {
			line = faint.of(who) + rest
		}
		p.lines = append(p.lines, line)
	}
}
