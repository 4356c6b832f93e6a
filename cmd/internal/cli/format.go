package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"text/template"
	"time"

	"cortext/cmd/internal/listing"
	"cortext/resume"
	"cortext/schema"
)

// sample is a row with typical values, for trying out a template.
var sample = row{Listed: listing.Listed{
	ID: "01kajbx5k9p3e7h0k4n8q2s6hv", ConversationID: "1030-brainstorm-api-design-s6hv", Path: "conversations/2025-11-22/1030-brainstorm-api-design-s6hv",
	Title: "API design", Type: "brainstorm", Status: "paused", Agent: "claude", LastAgent: "claude", CreatedAt: "2025-11-22T10:30:00.000Z", LastActive: "2025-11-22T11:30:00.000Z",
	MessageCount: 24, Tokens: 9000, Summary: "REST.", Tags: []string{"api", "http", "draft"}, Model: "model", Provider: "provider", Description: "API design", Workspace: "/w",
}}

// parseFormat parses a template of --format and tries it out.
func parseFormat(text string, now func() time.Time) (*template.Template, error) {
	t, err := template.New("format").Funcs(template.FuncMap{
		"json": func(v any) (string, error) {
			b, err := json.Marshal(v)
			return string(b), err
		},
		"join":  func(sep string, list []string) string { return strings.Join(list, sep) },
		"lower": strings.ToLower,
		"upper": strings.ToUpper,
		"ago": func(at schema.Time) string {
			if at.Time().IsZero() {
				return ""
			}
			return resume.Ago(now(), at.Time())
		},
	}).Parse(text)
	if err == nil {
		err = t.Execute(io.Discard, sample)
	}
	if err != nil {
		return nil, &usageError{templateError(err), "cortext list --help lists the fields and functions"}
	}
	return t, nil
}

// templateError describes an error in a template of --format.
func templateError(err error) string {
	return "--format: " + strings.TrimPrefix(err.Error(), "template: ")
}

// printFormat prints each row with a template, on a line of its own, up to a row that the
// template fails for.
func printFormat(out io.Writer, t *template.Template, rows iter.Seq[row]) error {
	w := bufio.NewWriter(out)
	terminal := isTerminal(out)
	var b strings.Builder
	for r := range rows {
		b.Reset()
		if err := t.Execute(&b, r); err != nil {
			return cmp.Or(w.Flush(), fmt.Errorf("%s: %s", r.Path, templateError(err)))
		}
		text := b.String()
		if terminal {
			text = visible(text)
		}
		if _, err := w.WriteString(text + "\n"); err != nil {
			return err
		}
	}
	return w.Flush()
}
