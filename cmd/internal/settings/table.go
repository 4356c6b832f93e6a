package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A setting is an entry of the table of settings, bound to a field of a Config.
type setting struct {
	name    string
	allowed string                  // the allowed values, for display
	words   []string                // the allowed values, unless it is a number
	set     func(v *yaml.Node) bool // sets the field if the scalar is allowed
	value   func() string           // the field's value, as spelled in a file
	typed   func() any              // the field's value
	reset   func()                  // restores the value that the field had when it was bound

	guarded   []string // values that a workspace may choose only for users who trust it
	why       string   // what a guarded value does, for display
	installed Layer    // see [Value.Installed]
}

// table returns all settings, in the order in which they are shown.
//
// Mark a setting as guarded if one of its values weakens protection or sends data
// somewhere: whoever writes to the repository must not choose it for others.
func (c *Config) table() []setting {
	return []setting{
		toggle("one_active", &c.OneActive, "true", "false"),
		choice("commit", &c.Commit, CommitOff, CommitStop, CommitRef),
		choice("capture", &c.Capture, CaptureCommands, CaptureAll),
		choice("autosave", &c.Autosave, AutosaveTurn, AutosavePause, AutosaveOff),
		number("idle_minutes", &c.IdleMinutes, 0, maxNumber),
		number("remind_turns", &c.RemindTurns, 0, maxNumber).install(FromWorkspace),
		toggle("after_tool", &c.AfterTool, "on", "off").install(FromUser),
		number("debounce_ms", &c.DebounceMS, 10, 60_000),
		number("interval_s", &c.IntervalS, 1, maxNumber),
		number("context_window", &c.ContextWindow, 0, maxNumber),
		toggle("since_then", &c.SinceThen, "true", "false"),
		number("auto_archive_days", &c.AutoArchiveDays, 0, maxDays),
		number("max_conversations", &c.MaxConversations, 0, maxNumber),
		choice("summarizer", &c.Summarizer, SummarizerExtractive, SummarizerAgent, SummarizerOpenAI, SummarizerOff).
			guard("sends conversations to a model", SummarizerAgent, SummarizerOpenAI),
		number("summarize_after", &c.SummarizeAfter, 1, maxNumber),
		number("keep_messages", &c.KeepMessages, 1, maxNumber),
		number("summary_max_tokens", &c.SummaryMaxTokens, 20, maxNumber),
		choice("tools", &c.Tools, ToolsFull, ToolsTrimmed, ToolsOff),
		number("tool_output_kb", &c.ToolOutputKB, 1, maxNumber),
		choice("attachments", &c.Attachments, AttachmentsLocal, AttachmentsCommit).
			guard("puts attachments into git, with the secrets in pictures", AttachmentsCommit),
	}
}

// The maximum numbers of minutes and days, which fit in a time.Duration.
const (
	maxNumber = 100_000_000
	maxDays   = 100_000
)

func (s setting) guard(why string, values ...string) setting {
	s.why, s.guarded = why, values
	return s
}

func (s setting) install(of Layer) setting {
	s.installed = of
	return s
}

// variable is the environment variable that overrides the files.
func (s setting) variable() string { return "CORTEXT_" + strings.ToUpper(s.name) }

func bind[T any](name, allowed string, field *T, parse func(*yaml.Node) (T, bool)) setting {
	initial := *field
	return setting{
		name:    name,
		allowed: allowed,
		set: func(v *yaml.Node) bool {
			got, ok := parse(v)
			if ok {
				*field = got
			}
			return ok
		},
		value: func() string { return fmt.Sprint(*field) },
		typed: func() any { return *field },
		reset: func() { *field = initial },
	}
}

// toggle returns a setting that is on or off. Files may spell the value in several ways.
func toggle(name string, field *bool, on, off string) setting {
	s := bind(name, on+" or "+off, field, func(v *yaml.Node) (on, ok bool) {
		switch strings.ToLower(v.Value) {
		case "true", "on", "yes", "y":
			return true, true
		case "false", "off", "no", "n":
			return false, true
		}
		return false, false
	})
	s.words = []string{on, off}
	s.value = func() string {
		if *field {
			return on
		}
		return off
	}
	return s
}

func choice(name string, field *string, words ...string) setting {
	allowed := strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	s := bind(name, allowed, field, func(v *yaml.Node) (string, bool) { return v.Value, slices.Contains(words, v.Value) })
	s.words = words
	return s
}

func number(name string, field *int, least, most int) setting {
	return bind(name, "a whole number from "+strconv.Itoa(least)+" to "+strconv.Itoa(most), field, func(v *yaml.Node) (n int, ok bool) {
		ok = v.ShortTag() == "!!int" && v.Decode(&n) == nil && least <= n && n <= most
		return n, ok
	})
}

// Names lists the settings.
func Names() (names []string) {
	c := Default()
	for _, s := range c.table() {
		names = append(names, s.name)
	}
	return names
}

// Words lists the allowed values of a setting. It is empty for a number.
func Words(name string) []string {
	c := Default()
	if s := named(c.table(), name); s != nil {
		return s.words
	}
	return nil
}

// named looks up a setting.
func named(table []setting, name string) *setting {
	if i := slices.IndexFunc(table, func(s setting) bool { return s.name == name }); i >= 0 {
		return &table[i]
	}
	return nil
}

// A NameError reports a setting that does not exist.
type NameError struct{ Name string }

func (e *NameError) Error() string { return "there is no setting " + quote(e.Name) }

// A ValueError reports a value that a setting cannot have.
type ValueError struct{ Name, Value, Allowed string }

func (e *ValueError) Error() string {
	return fmt.Sprintf("%s is %s, not %s", e.Name, quote(e.Value), e.Allowed)
}
