package cli

import (
	"fmt"
	"io"
	"strings"

	"cortext/cmd/internal/launch"
	"cortext/cmd/internal/payload"
	"cortext/resume"
)

// printPayload prints a payload unchanged or, on a terminal, with control characters made visible.
func printPayload(on screen, p *resume.Payload) error {
	if on.asJSON {
		return on.json(struct {
			Payload    string           `json:"payload"`
			Tokens     int              `json:"tokens"`
			Budget     int              `json:"budget"`
			Strategy   string           `json:"strategy"`
			Included   int              `json:"included"`
			Summarized int              `json:"summarized"`
			LeftOut    []resume.LeftOut `json:"left_out"`
			Warnings   []string         `json:"warnings"`
			Estimate   bool             `json:"estimate"`
			Factor     float64          `json:"factor"`
		}{p.Text, p.Tokens, p.Budget, p.Strategy, p.Included, p.Summarized, emptyNotNull(p.LeftOut), warningsOf(p), p.Estimate, p.Factor})
	}
	text := p.Text
	if isTerminal(on.out) {
		text = visible(text)
	}
	_, err := io.WriteString(on.out, text)
	return err
}

func warningsOf(p *resume.Payload) []string {
	list := make([]string, len(p.Warnings))
	for i, w := range p.Warnings {
		list[i] = w.Text
	}
	return list
}

// plannedLaunch is a launch in resume --dry-run --json; its fields are stable.
type plannedLaunch struct {
	Agent      string        `json:"agent"`
	Road       string        `json:"road"`
	Program    string        `json:"program"`
	Import     []string      `json:"import"` // arguments of a run before the launch; empty if there is none
	Args       []string      `json:"args"`
	Dir        string        `json:"dir"`
	Files      []plannedFile `json:"files"`
	StdinBytes int           `json:"stdin_bytes"`
}

type plannedFile struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}

// planned is the output of resume --dry-run --json.
type planned struct {
	Conversation row              `json:"conversation"`
	Launch       *plannedLaunch   `json:"launch"` // null if the launch is not possible
	Bytes        int              `json:"bytes"`
	Tokens       int              `json:"tokens"`
	Budget       int              `json:"budget"`
	Strategy     string           `json:"strategy"`
	Included     int              `json:"included"`
	LeftOut      []resume.LeftOut `json:"left_out"`
	Warnings     []string         `json:"warnings"`
}

// plannedOf describes a payload and its launch. plan is nil if the launch is not possible.
func plannedOf(conversation row, b *payload.Built, plan *launch.Plan) planned {
	p := b.Payload
	out := planned{conversation, nil, len(p.Text), p.Tokens, p.Budget, p.Strategy, p.Included, emptyNotNull(p.LeftOut), append(warningsOf(p), b.Warnings...)}
	if plan != nil {
		l := plan.Launch
		out.Launch = &plannedLaunch{plan.Agent.Name(), l.Method, l.Program, emptyNotNull(l.Import), l.Args, plan.Dir, []plannedFile{}, len(l.Stdin)}
		for _, f := range l.Files {
			out.Launch.Files = append(out.Launch.Files, plannedFile{f.Path, len(f.Data)})
		}
	}
	return out
}

// estimate describes how an o200k_base count relates to the model's own count. It returns
// "" if they are equal.
func estimate(factor float64) string {
	if factor == 0 || factor == 1 {
		return ""
	}
	return fmt.Sprintf(" of o200k_base (this model counts up to %.2g times as many)", factor)
}

// printPlan prints what a payload contains and how a launch would deliver it. plan is nil
// if the launch is not possible.
func printPlan(on screen, b *payload.Built, plan *launch.Plan) {
	p := b.Payload
	line := func(name, format string, args ...any) {
		fmt.Fprintf(on.out, "%-12s  %s\n", name, fmt.Sprintf(format, args...))
	}
	line("conversation", "%s (%s)", oneLine(b.Entry.Session.DisplayTitle()), oneLine(b.Entry.Path))
	line("payload", "%d bytes, %d tokens%s, budget %d", len(p.Text), p.Tokens, estimate(p.Factor), p.Budget)
	line("strategy", "%s, %s", p.Strategy, count(p.Included, "message"))
	printLeftOut(on, p.LeftOut)
	if plan == nil {
		return
	}
	l := plan.Launch
	line("agent", "%s, in %s", plan.Agent.Name(), visible(plan.Dir))
	line("method", "%s", l.Method)
	line("program", "%s", visible(l.Program))
	if len(l.Import) > 0 {
		line("before it", "%s", oneLine(strings.Join(l.Import, " ")))
	}
	for _, arg := range l.Args {
		line("argument", "%s", oneLine(arg))
	}
	for _, f := range l.Files {
		line("file", "%s, %d bytes", visible(f.Path), len(f.Data))
	}
	if len(l.Stdin) > 0 {
		line("input", "%d bytes", len(l.Stdin))
	}
}

func printLeftOut(on screen, left []resume.LeftOut) {
	for _, l := range left {
		fmt.Fprintf(on.out, "left out      %s", oneLine(l.What))
		if l.Count > 0 {
			fmt.Fprintf(on.out, ": %d", l.Count)
		}
		if l.Tokens > 0 {
			fmt.Fprintf(on.out, ", about %d tokens", l.Tokens)
		}
		fmt.Fprintf(on.out, " (%s)\n", oneLine(l.Show))
	}
}
