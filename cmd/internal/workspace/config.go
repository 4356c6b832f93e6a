package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"cortext/store"
)

// ConfigFile holds the settings of a workspace.
const ConfigFile = ".workspace/config.yaml"

// Limits of ConfigFile. It comes with a clone, so anyone may have written it.
const (
	maxConfigBytes = 64 << 10
	maxSettings    = 100
	maxWarnings    = 10 // of each kind; the rest are only counted
)

// Config holds the settings of a workspace.
type Config struct {
	// OneActive allows one active conversation at a time: making another one active
	// pauses it.
	OneActive bool

	// Commit says when cortext commits a conversation's folder: CommitOff or
	// CommitStop.
	Commit string

	// Capture says which of the agents' sessions become conversations by themselves:
	// CaptureCommands or CaptureAll.
	Capture string

	// Autosave says when the agents' hooks capture: AutosaveTurn, AutosavePause or
	// AutosaveOff.
	Autosave string

	// IdleMinutes is how long an active conversation may go without a message before
	// it is paused; 0 means forever.
	IdleMinutes int

	// RemindTurns is the number of turns without a stop after which the agent asks
	// once whether to save; 0 means never.
	RemindTurns int

	// AfterTool makes the agents' hooks capture after each tool call too.
	AfterTool bool

	// DebounceMS is how long watch waits after a change for the next one, in
	// milliseconds.
	DebounceMS int

	// IntervalS is how often watch looks without a change, in seconds.
	IntervalS int

	// ContextWindow is the context window, in tokens, of the model that resumes
	// conversations; 0 means what cortext knows about the model.
	ContextWindow int

	// SinceThen makes payloads report what happened to the repository since the last
	// message.
	SinceThen bool

	// Summarizer selects how old messages are summarized: SummarizerExtractive,
	// SummarizerAgent, SummarizerOpenAI or SummarizerOff.
	Summarizer string

	// SummarizeAfter is the number of messages above which old ones are summarized.
	SummarizeAfter int

	// KeepMessages is the number of messages at the end that are never summarized.
	KeepMessages int

	// SummaryMaxTokens is the size limit of one summary.
	SummaryMaxTokens int
}

// The values of Config.Commit.
const (
	CommitOff  = "off"  // never
	CommitStop = "stop" // when a conversation is stopped
)

// The values of Config.Capture.
const (
	CaptureCommands = "commands" // sessions in which the user typed a /workspace command
	CaptureAll      = "all"      // all sessions held in the work tree, from their first answer on
)

// The values of Config.Autosave.
const (
	AutosaveTurn  = "turn"  // after each turn
	AutosavePause = "pause" // when a session ends, and before a compaction
	AutosaveOff   = "off"   // never: only a stop captures
)

// The values of Config.Summarizer.
const (
	SummarizerExtractive = "extractive" // sentences of the messages, without a model
	SummarizerAgent      = "agent"      // the conversation's agent, headless
	SummarizerOpenAI     = "openai"     // an endpoint that speaks OpenAI's protocol
	SummarizerOff        = "off"
)

// DefaultConfig returns the settings that apply if ConfigFile does not set them, or
// cannot be read.
//
// A broken file falls back to them, so they must be safe. Commit is off: cortext never
// commits unless told to. Autosave is on, although an unreadable file may have turned it
// off: a captured conversation can be removed, but one that was not captured may be gone.
func DefaultConfig() Config {
	return Config{
		OneActive:        true,
		Commit:           CommitOff,
		Capture:          CaptureCommands,
		Autosave:         AutosaveTurn,
		IdleMinutes:      5,
		RemindTurns:      30,
		DebounceMS:       1000,
		IntervalS:        60,
		Summarizer:       SummarizerExtractive,
		SummarizeAfter:   50,
		KeepMessages:     20,
		SinceThen:        true,
		SummaryMaxTokens: 500,
	}
}

// ConfigText returns the text of a new ConfigFile: the defaults, explained, with the
// given values of commit and capture.
func ConfigText(commit, capture string) string {
	return `# Settings of this workspace. What is not here has its default.

# At most one conversation is active: starting or resuming one pauses the other.
one_active: true

# When cortext commits a conversation's folder, and nothing else: off, or stop.
commit: ` + commit + `

# Which sessions of the agents are captured: commands (those in which a /workspace
# command is typed), or all (also any other, from its first answer on).
capture: ` + capture + `

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

# Whether a resumed conversation shows what git knows to have happened since its last
# message: commits, and files of the conversation that they touched or that are gone.
since_then: true

# Who sums up old messages: extractive (without a model), agent (the agent of the
# conversation, headless), openai (the endpoint that CORTEXT_OPENAI_URL and
# CORTEXT_OPENAI_MODEL name), or off. It is done at a stop and by cortext compact --apply,
# by a model also while you work, in a process of its own: in conversations of more than
# summarize_after messages, but for the last keep_messages, about fifty at a time, in at
# most summary_max_tokens tokens each. What is left of less than fifty is summed up too,
# but not by a model, which would be asked for it again.
summarizer: extractive
summarize_after: 50
keep_messages: 20
summary_max_tokens: 500
`
}

// ReadConfig reads ConfigFile. It cannot fail: an unreadable setting gets its default,
// and a warning names the file, the line and the allowed values. Unknown settings are
// ignored with a warning, because a newer cortext may have written them.
func ReadConfig(st *store.Store) (c Config, warnings []string) {
	c = DefaultConfig()
	b, err := st.ReadFile(ConfigFile)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return c, nil
	case err != nil:
		return c, []string{fmt.Sprintf("%s cannot be read, the defaults apply: %v", ConfigFile, err)}
	case len(b) > maxConfigBytes:
		return c, []string{fmt.Sprintf("%s has %d bytes, at most %d are read: the defaults apply", ConfigFile, len(b), maxConfigBytes)}
	}
	r := reader{settings: c.settings(), found: map[string]*yaml.Node{}}
	r.file(b)
	return c, slices.Concat(firstOf(r.problems, "problems"), firstOf(r.unknown, "unknown settings"))
}

// firstOf returns the first warnings of a list, and the number of the rest.
func firstOf(list []string, what string) []string {
	if more := len(list) - maxWarnings; more > 0 {
		list = append(list[:maxWarnings:maxWarnings], fmt.Sprintf("%s: and %d more %s", ConfigFile, more, what))
	}
	return list
}

// A setting is one key of the file, bound to a field of a Config.
type setting struct {
	name    string
	allowed string                  // the values, for display
	set     func(v *yaml.Node) bool // sets the field if the scalar is allowed
	value   func() string           // the field's value
	reset   func()                  // restores the field's initial value
}

func (c *Config) settings() []setting {
	return []setting{
		toggle("one_active", &c.OneActive, "true or false"),
		choice("commit", &c.Commit, CommitOff, CommitStop),
		choice("capture", &c.Capture, CaptureCommands, CaptureAll),
		choice("autosave", &c.Autosave, AutosaveTurn, AutosavePause, AutosaveOff),
		number("idle_minutes", &c.IdleMinutes, 0, maxNumber),
		number("remind_turns", &c.RemindTurns, 0, maxNumber),
		toggle("after_tool", &c.AfterTool, "on or off"),
		number("debounce_ms", &c.DebounceMS, 10, 60_000),
		number("interval_s", &c.IntervalS, 1, maxNumber),
		number("context_window", &c.ContextWindow, 0, maxNumber),
		toggle("since_then", &c.SinceThen, "true or false"),
		choice("summarizer", &c.Summarizer, SummarizerExtractive, SummarizerAgent, SummarizerOpenAI, SummarizerOff),
		number("summarize_after", &c.SummarizeAfter, 1, maxNumber),
		number("keep_messages", &c.KeepMessages, 1, maxNumber),
		number("summary_max_tokens", &c.SummaryMaxTokens, 20, maxNumber),
	}
}

// maxNumber keeps this many minutes within a time.Duration.
const maxNumber = 100_000_000

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
		reset: func() { *field = initial },
	}
}

func toggle(name string, field *bool, allowed string) setting {
	return bind(name, allowed, field, func(v *yaml.Node) (on, ok bool) {
		switch strings.ToLower(v.Value) {
		case "true", "on", "yes", "y":
			return true, true
		case "false", "off", "no", "n":
			return false, true
		}
		return false, false
	})
}

func choice(name string, field *string, words ...string) setting {
	allowed := strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	return bind(name, allowed, field, func(v *yaml.Node) (string, bool) { return v.Value, slices.Contains(words, v.Value) })
}

func number(name string, field *int, least, most int) setting {
	return bind(name, fmt.Sprintf("a whole number from %d to %d", least, most), field, func(v *yaml.Node) (n int, ok bool) {
		ok = v.ShortTag() == "!!int" && v.Decode(&n) == nil && least <= n && n <= most
		return n, ok
	})
}

// A reader reads the settings of one file and collects its problems.
type reader struct {
	settings []setting
	found    map[string]*yaml.Node // by name
	count    int                   // settings, and lines that are not settings
	problems []string
	unknown  []string
}

func (r *reader) problem(line int, format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf("%s:%d: %s", ConfigFile, line, fmt.Sprintf(format, args...)))
}

// file reads the whole file. If it is not YAML, file reads it entry by entry, so that a
// problem in one line, such as a conflict marker, does not affect the others.
func (r *reader) file(b []byte) {
	root, err := parse(b)
	if err == nil {
		r.mapping(root, 0)
		return
	}
	for first, text := range entries(b) {
		if r.full(first) {
			return
		}
		root, err := parse(text)
		if err != nil {
			r.count++
			r.broken(first, text, err)
			continue
		}
		r.mapping(root, first-1)
	}
	if len(r.problems) == 0 {
		line, why := explain(err)
		r.problem(line, "%s", why)
	}
}

// full reports, with a warning, whether the maximum number of settings was read.
func (r *reader) full(line int) bool {
	if r.count < maxSettings {
		return false
	}
	if r.count == maxSettings {
		r.count++
		r.problem(line, "only the first %d settings are read", maxSettings)
	}
	return true
}

// parse returns the settings in a YAML text, or nil if it has none. It leaves them
// undecoded, because yaml's own check for duplicates takes quadratic time.
func parse(b []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(b)).Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	root := doc.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, errNotSettings
	}
	return root, nil
}

var errNotSettings = errors.New("settings have the form name: value")

// entries returns the entries of a file, each with the number of its first line. An entry
// is a line that is not indented with spaces, and the indented lines after it. Comments
// are left out.
func entries(b []byte) func(yield func(line int, text []byte) bool) {
	return func(yield func(int, []byte) bool) {
		first, n := 0, 0
		var text []byte
		for line := range bytes.Lines(b) {
			n++
			if text != nil && (line[0] == ' ' || isBlank(line)) {
				text = append(text, line...)
				continue
			}
			if text != nil && !yield(first, text) {
				return
			}
			first, text = n, line
			if line[0] == '#' || isBlank(line) {
				text = nil
			}
		}
		if text != nil {
			yield(first, text)
		}
	}
}

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// broken warns of an entry that is not YAML or not a setting.
func (r *reader) broken(first int, text []byte, err error) {
	head, _, _ := strings.Cut(string(text), "\n")
	for _, marker := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
		if strings.HasPrefix(head, marker) {
			r.problem(first, "%s is a conflict marker: resolve the merge", quote(head))
			return
		}
	}
	line, why := explain(err)
	last := first + bytes.Count(bytes.TrimRight(text, "\n"), []byte("\n"))
	name, _, _ := strings.Cut(head, ":")
	if s := r.setting(strings.TrimSpace(name)); s != nil {
		r.found[s.name] = nil // even if another line sets it
		s.reset()
		why += fmt.Sprintf(": %s is %s", s.name, s.value())
	}
	r.problem(min(first+line-1, last), "%s: %s", quote(head), why)
}

// yamlError matches the messages of package yaml.
var yamlError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`) })

// explain splits an error of package yaml into line and reason; line is 1 if the error
// names none.
func explain(err error) (line int, why string) {
	m := yamlError().FindStringSubmatch(err.Error())
	if m == nil {
		return 1, err.Error()
	}
	line, _ = strconv.Atoi(m[1])
	return max(line, 1), m[2]
}

func (r *reader) setting(name string) *setting {
	if i := slices.IndexFunc(r.settings, func(s setting) bool { return s.name == name }); i >= 0 {
		return &r.settings[i]
	}
	return nil
}

// mapping reads the settings in a text that begins after line before of the file.
func (r *reader) mapping(root *yaml.Node, before int) {
	if root == nil {
		return
	}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		line := before + key.Line
		if r.full(line) {
			return
		}
		r.count++
		s := r.setting(key.Value)
		switch {
		case key.Kind != yaml.ScalarNode || key.Anchor != "" || key.ShortTag() == "!!merge":
			r.problem(line, "%s is not the name of a setting", describe(key))
		case s == nil:
			r.unknown = append(r.unknown, fmt.Sprintf("%s:%d: unknown setting %s", ConfigFile, line, quote(key.Value)))
		default:
			r.one(s, value, line)
		}
	}
}

// one reads the value of one setting.
func (r *reader) one(s *setting, v *yaml.Node, line int) {
	before, again := r.found[s.name]
	if again && before != nil && same(before, v) {
		return
	}
	r.found[s.name] = v
	switch {
	case again:
		s.reset()
		r.found[s.name] = nil
		r.problem(line, "%s is set more than once: using %s", s.name, s.value())
	case v.Kind == yaml.ScalarNode && v.Anchor == "" && v.ShortTag() == "!!null": // left empty
	case v.Kind != yaml.ScalarNode || v.Anchor != "" || !s.set(v):
		r.problem(line, "%s is %s, not %s: using %s", s.name, describe(v), s.allowed, s.value())
	}
}

func same(a, b *yaml.Node) bool {
	return a.Kind == yaml.ScalarNode && b.Kind == yaml.ScalarNode && a.Value == b.Value
}

// CapturesAll reports whether sessions that no command began are captured, too.
func (c *Config) CapturesAll() bool { return c.Capture == CaptureAll }
