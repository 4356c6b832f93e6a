package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/find"
	"cortext/cmd/internal/listing"
	"cortext/schema"
)

// allStatuses is the value of --status that selects every status.
const allStatuses = "all"

// statusNames lists the values of --status.
func statusNames() []string {
	return append(names(schema.Statuses()), allStatuses)
}

// filterFlags are the flags that select conversations.
type filterFlags struct {
	known                                 []string // names of the agents
	types, statuses, tags, agents, models []string
	since, until                          string
	archived                              bool
}

// define defines the flags. usual describes the statuses that are selected without a flag.
func (o *filterFlags) define(cmd *cobra.Command, usual string) {
	f := cmd.Flags()
	o.defineCommon(cmd, usual)
	f.StringSliceVar(&o.agents, "agent", nil, "only conversations held in `AGENT`, at least in part: "+orList(o.known))
	f.StringSliceVar(&o.models, "model", nil, "only conversations with `MODEL`, or a part of its name")
	f.StringVar(&o.since, "since", "", "only conversations active since `WHEN`: "+whenForms)
	f.StringVar(&o.until, "until", "", "only conversations last active before the end of `WHEN`")
	f.BoolVar(&o.archived, "archived", false, "include archived conversations")
}

// defineCommon defines the flags that resume also has. usual describes the statuses that
// are selected without a flag.
func (o *filterFlags) defineCommon(cmd *cobra.Command, usual string) {
	f := cmd.Flags()
	f.StringSliceVar(&o.types, "type", nil, "only conversations of `TYPE`; repeatable or comma-separated")
	f.StringSliceVar(&o.statuses, "status", nil, "only conversations whose `STATUS` is "+orList(statusNames())+" (default: "+usual+")")
	f.StringSliceVar(&o.tags, "tag", nil, "only conversations with `TAG`")
}

// filter returns the filter that the flags describe.
func (o *filterFlags) filter(now time.Time) (listing.Filter, error) {
	f := listing.Filter{Types: o.types, Tags: o.tags, Agents: o.agents, Models: o.models, Archived: o.archived}
	if err := oneOf("--agent", o.agents, o.known); err != nil {
		return f, err
	}
	if err := oneOf("--status", o.statuses, statusNames()); err != nil {
		return f, err
	}
	for _, s := range o.statuses {
		f.All = f.All || strings.EqualFold(s, allStatuses)
	}
	if !f.All {
		f.Statuses = o.statuses
	}
	since, err := whenOf("--since", o.since, now)
	if err != nil {
		return f, err
	}
	until, err := whenOf("--until", o.until, now)
	f.Since, f.Until = since.from, until.to
	return f, err
}

// narrows reports whether a flag hides conversations that are shown by default.
func (o *filterFlags) narrows() bool {
	return len(o.types)+len(o.tags)+len(o.agents)+len(o.models)+len(o.statuses) > 0 || o.since != "" || o.until != ""
}

// oneOf checks the values of a flag, without regard to case.
func oneOf(flag string, values, known []string) error {
	for _, v := range values {
		if err := knownWord(flag, v, known); err != nil {
			return err
		}
	}
	return nil
}

// knownWord checks a value of a flag, without regard to case.
func knownWord(flag, value string, known []string) error {
	for _, k := range known {
		if strings.EqualFold(k, value) {
			return nil
		}
	}
	return &usageError{fmt.Sprintf("%s %q is not one of %s", flag, value, strings.Join(known, ", ")), near(flag+" ", find.NearestWord(known, value), "")}
}

// whenOf parses the value of a flag; without one the span is zero.
func whenOf(flag, text string, now time.Time) (span, error) {
	if text == "" {
		return span{}, nil
	}
	at, ok := parseWhen(text, now)
	if !ok {
		return at, &usageError{fmt.Sprintf("%s %q is not of the form %s", flag, text, whenForms), ""}
	}
	return at, nil
}

// orList joins words: a, b or c.
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
