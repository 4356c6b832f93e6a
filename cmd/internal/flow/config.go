package flow

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"cortext/store"
)

// ConfigFile holds the settings of a workspace.
const ConfigFile = ".workspace/config.yaml"

// Config are the settings of a workspace (.workspace/config.yaml).
type Config struct {
	// OneActive: at most one conversation is active; one that becomes active
	// pauses the one before.
	OneActive bool `yaml:"one_active"`

	// Commit says when cortext commits a conversation's folder: at a stop, or
	// never.
	Commit string `yaml:"commit"`

	// Autosave says when the agents' hooks capture: after each turn, at the pauses
	// of a conversation, or not at all, so that only a stop does.
	Autosave string `yaml:"autosave"`

	// IdleMinutes is after how many minutes without a message an active
	// conversation is paused; 0: never.
	IdleMinutes int `yaml:"idle_minutes"`

	// RemindTurns is after how many turns without a stop the agent asks once
	// whether to save; 0: never.
	RemindTurns int `yaml:"remind_turns"`

	// AfterTool: the agents' hooks capture after each tool call too.
	AfterTool OnOff `yaml:"after_tool"`

	// DebounceMS is how long watch waits after a change for the next one, in
	// milliseconds.
	DebounceMS int `yaml:"debounce_ms"`

	// IntervalS is how often watch looks without a change, in seconds.
	IntervalS int `yaml:"interval_s"`

	// ContextWindow is that of the model that conversations go on with, in tokens; 0:
	// what is known of it.
	ContextWindow int `yaml:"context_window"`

	// Summarizer makes the summaries of old messages: extractive, agent, openai or
	// off.
	Summarizer string `yaml:"summarizer"`

	// SummarizeAfter is how many messages a conversation has before the old ones are
	// summed up, KeepMessages how many at its end are not.
	SummarizeAfter int `yaml:"summarize_after"`
	KeepMessages   int `yaml:"keep_messages"`

	// SummaryMaxTokens is the most that a summary may have.
	SummaryMaxTokens int `yaml:"summary_max_tokens"`
}

// OnOff is a setting that is on or off; YAML takes the words for true and false,
// too.
type OnOff bool

// UnmarshalYAML reads on, off, true and false.
func (o *OnOff) UnmarshalYAML(n *yaml.Node) error {
	switch n.Value {
	case "on", "true":
		*o = true
	case "off", "false":
		*o = false
	default:
		return fmt.Errorf("line %d: %q is not on or off", n.Line, n.Value)
	}
	return nil
}

// The values of Config.Commit.
const (
	CommitOff  = "off"
	CommitStop = "stop"
)

// The values of Config.Autosave.
const (
	AutosaveTurn  = "turn"
	AutosavePause = "pause"
	AutosaveOff   = "off"
)

// defaultConfig is the file that init writes; commit is off or stop.
func defaultConfig(commit string) string {
	return `# Settings of this workspace. What is not here has its default.

# At most one conversation is active: starting or resuming one pauses the other.
one_active: true

# When cortext commits a conversation's folder, and nothing else: off, or stop.
commit: ` + commit + `

# When the agents' hooks capture: turn (after each), pause (at its end, before a
# compaction), or off (only /workspace.stop-conversation does).
autosave: turn

# An active conversation without a message for so many minutes is paused; 0: never.
idle_minutes: 5

# After so many turns without a stop the agent asks once whether to save; 0: never.
remind_turns: 30

# Whether the hooks capture after each tool call too, not only after turns: on or
# off. cortext init --agent puts the hook for it in.
after_tool: off

# cortext watch: how long it waits after a change for the next one, in milliseconds,
# and how often it looks without one, in seconds.
debounce_ms: 1000
interval_s: 60

# The context window of the model that conversations are resumed with, in tokens; 0:
# what cortext knows of the model.
context_window: 0

# Who sums up old messages, at a stop and for cortext compact --apply: extractive
# (without a model), agent (the agent of the conversation, headless), openai (the
# endpoint that CORTEXT_OPENAI_URL and CORTEXT_OPENAI_MODEL name), or off. It is done in
# conversations of more than summarize_after messages, but for the last keep_messages,
# about fifty at a time, in at most summary_max_tokens tokens each. What is left of less
# than fifty is summed up too, but not by a model, which would be asked for it again.
summarizer: extractive
summarize_after: 50
keep_messages: 20
summary_max_tokens: 500
`
}

// readConfig reads the settings. A name that this version does not know is
// warned of and otherwise ignored: a newer cortext may have written it.
func readConfig(st *store.Store) (Config, []string, error) {
	c := Config{OneActive: true, Commit: CommitOff, Autosave: AutosaveTurn, IdleMinutes: 5, RemindTurns: 30, DebounceMS: 1000, IntervalS: 60, Summarizer: Extractive, SummarizeAfter: 50, KeepMessages: 20, SummaryMaxTokens: 500}
	b, err := st.ReadFile(ConfigFile)
	if errors.Is(err, store.ErrNotFound) {
		return c, nil, nil
	}
	if err != nil {
		return c, nil, err
	}
	fail := func(why any) (Config, []string, error) {
		return c, nil, fmt.Errorf("%s: %v: mend the file or delete it", ConfigFile, why)
	}
	var names map[string]any
	if err := yaml.Unmarshal(b, &names); err != nil {
		return fail(err)
	}
	if err := yaml.Unmarshal(b, &c); err != nil {
		return fail(err)
	}
	switch {
	case c.Commit != CommitOff && c.Commit != CommitStop:
		return fail(fmt.Sprintf("commit is %q, not off or stop", c.Commit))
	case c.Autosave != AutosaveTurn && c.Autosave != AutosavePause && c.Autosave != AutosaveOff:
		return fail(fmt.Sprintf("autosave is %q, not turn, pause or off", c.Autosave))
	case !slices.Contains([]string{Extractive, ByAgent, ByOpenAI, SummarizerOff}, c.Summarizer):
		return fail(fmt.Sprintf("summarizer is %q, not extractive, agent, openai or off", c.Summarizer))
	case c.SummarizeAfter < 1 || c.KeepMessages < 1 || c.SummaryMaxTokens < 20:
		return fail("summarize_after and keep_messages must be at least 1, summary_max_tokens at least 20")
	case c.ContextWindow < 0:
		return fail("context_window must not be negative")
	case c.IdleMinutes < 0 || c.RemindTurns < 0:
		return fail("idle_minutes and remind_turns must not be negative")
	case c.DebounceMS < 10 || c.DebounceMS > 60_000:
		return fail("debounce_ms must be from 10 to 60000")
	case c.IntervalS < 1:
		return fail("interval_s must be at least 1")
	}
	var warnings []string
	for name := range names {
		if !slices.Contains([]string{"one_active", "commit", "autosave", "idle_minutes", "remind_turns", "after_tool", "debounce_ms", "interval_s",
			"context_window", "summarizer", "summarize_after", "keep_messages", "summary_max_tokens"}, name) {
			warnings = append(warnings, fmt.Sprintf("%s: unknown setting %q", ConfigFile, name))
		}
	}
	slices.Sort(warnings)
	return c, warnings, nil
}
