package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/listing"
)

// filterFlags are the flags that select conversations.
type filterFlags struct {
	types, statuses, tags, agents, models []string
	since, until                          string
	archived                              bool
}

// define defines the flags.
func (o *filterFlags) define(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.types, "type", nil, "only conversations of `TYPE`; repeatable or comma-separated")
	f.StringSliceVar(&o.statuses, "status", nil, "only conversations whose `STATUS` is active, paused, completed or all")
	f.StringSliceVar(&o.tags, "tag", nil, "only conversations with `TAG`")
	f.StringSliceVar(&o.agents, "agent", nil, "only conversations with `AGENT`")
	f.StringSliceVar(&o.models, "model", nil, "only conversations with `MODEL`")
	f.StringVar(&o.since, "since", "", "only conversations active since `WHEN`: 2h, 3d, 2025-11-22, or an RFC 3339 time")
	f.StringVar(&o.until, "until", "", "only conversations last active before `WHEN`")
	f.BoolVar(&o.archived, "archived", false, "archived conversations, too")
}

// filter returns the filter that the flags describe.
func (o *filterFlags) filter(now time.Time) (f listing.Filter, err error) {
	f = listing.Filter{Types: o.types, Tags: o.tags, Agents: o.agents, Models: o.models, Archived: o.archived}
	for _, s := range o.statuses {
		f.All = f.All || strings.EqualFold(s, "all")
	}
	if !f.All {
		f.Statuses = o.statuses
	}
	if o.since != "" {
		if f.Since, err = parseSince(o.since, now); err != nil {
			return f, err
		}
	}
	if o.until != "" {
		f.Until, err = parseSince(o.until, now)
	}
	return f, err
}
