// Package settings reads and changes settings. They come from the workspace, the user and
// the environment. Each value records its origin.
package settings

// Config holds the settings that apply.
type Config struct {
	// OneActive allows one active conversation at a time: making another one active
	// pauses it.
	OneActive bool

	// Commit says when cortext commits a conversation's folder, and where: CommitOff,
	// CommitStop or CommitRef.
	Commit string

	// Capture says which of the agents' sessions become conversations automatically:
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

	// AfterTool makes the agents' hooks also capture after each tool call.
	AfterTool bool

	// DebounceMS is how long watch waits after a change for the next one, in
	// milliseconds.
	DebounceMS int

	// IntervalS is how often watch looks without a change, in seconds.
	IntervalS int

	// ContextWindow is the context window, in tokens, of the model that resumes
	// conversations. 0 means the window that cortext knows for the model.
	ContextWindow int

	// SinceThen makes payloads report what happened to the repository since the last
	// message.
	SinceThen bool

	// AutoArchiveDays is how many days a conversation may go without activity before it
	// is archived; 0 means forever.
	AutoArchiveDays int

	// MaxConversations is how many of the most recently active conversations stay in lists.
	// The others are archived. 0 means no limit.
	MaxConversations int

	// Summarizer selects how old messages are summarized: SummarizerExtractive,
	// SummarizerAgent, SummarizerOpenAI or SummarizerOff.
	Summarizer string

	// SummarizeAfter is the number of messages above which old ones are summarized.
	SummarizeAfter int

	// KeepMessages is the number of messages at the end that are never summarized.
	KeepMessages int

	// SummaryMaxTokens is the size limit of one summary.
	SummaryMaxTokens int

	// Tools says how much of the agents' tool calls is in the logs: ToolsFull, ToolsTrimmed
	// or ToolsOff. The rest stays on this machine.
	Tools string

	// ToolOutputKB is how much of each output the log keeps with ToolsTrimmed, in units of
	// 1,024 bytes.
	ToolOutputKB int

	// Attachments says where attachments are: AttachmentsLocal or AttachmentsCommit.
	Attachments string
}

// CapturesAll reports whether sessions are captured without a /workspace command.
func (c *Config) CapturesAll() bool { return c.Capture == CaptureAll }

// The values of Config.Commit.
const (
	CommitOff  = "off"  // never
	CommitStop = "stop" // to the branch, when a conversation is stopped
	CommitRef  = "ref"  // to a ref of the clone, likewise
)

// The values of Config.Capture.
const (
	CaptureCommands = "commands" // sessions in which the user typed a /workspace command
	CaptureAll      = "all"      // all sessions in the work tree, from their first answer on
)

// The values of Config.Autosave.
const (
	AutosaveTurn  = "turn"  // after each turn
	AutosavePause = "pause" // when a session ends, and before a compaction
	AutosaveOff   = "off"   // never: only a stop captures
)

// The values of Config.Tools.
const (
	ToolsFull    = "full"    // inputs and outputs
	ToolsTrimmed = "trimmed" // inputs, and the ends of long outputs
	ToolsOff     = "off"     // neither
)

// The values of Config.Attachments.
const (
	AttachmentsLocal  = "local"  // on this machine only
	AttachmentsCommit = "commit" // also in the conversation's folder
)

// The values of Config.Summarizer.
const (
	SummarizerExtractive = "extractive" // sentences of the messages, without a model
	SummarizerAgent      = "agent"      // the conversation's agent, headless
	SummarizerOpenAI     = "openai"     // an endpoint with OpenAI's API
	SummarizerOff        = "off"
)

// Default returns the settings that apply if nothing sets them or their file cannot be
// read.
//
// A broken file falls back to them, so they must be safe. Commit is off: cortext never
// commits unless told to. Autosave is on, although an unreadable file may have turned it
// off: a captured conversation can be removed, but one that was not captured may be lost.
func Default() Config {
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
		Tools:            ToolsFull,
		ToolOutputKB:     16,
		Attachments:      AttachmentsLocal,
	}
}

// Text returns the text of a new [WorkspaceFile]: the defaults, explained, with the given
// values of commit and capture.
func Text(commit, capture string) string {
	return `# Settings of this workspace. Settings not listed here have their defaults. Each user's
# own ~/.config/cortext/config.yaml overrides this file, and variables such as
# CORTEXT_AUTOSAVE override both; cortext config shows what applies.

# At most one conversation is active: starting or resuming one pauses the other.
one_active: true

# When cortext commits a conversation's folder: off, stop, or ref (at a stop, to no branch).
commit: ` + commit + `

# Which sessions of the agents are captured: commands (those in which a /workspace
# command is typed) or all (every session, from its first answer on).
capture: ` + capture + `

# When the agents' hooks capture: turn (after each), pause (at its end, before a
# compaction), or off (only /workspace.stop-conversation does).
autosave: turn

# Minutes without a message after which an active conversation is paused; 0: never.
idle_minutes: 5

# Turns without a stop after which the agent asks once whether to save; 0: never.
# cortext init puts a new number into the agents' prompts.
remind_turns: 30

# Whether the hooks capture after each tool call, and not only after turns: on or
# off. cortext init installs the hook for it.
after_tool: off

# cortext watch: how long it waits for further changes, in milliseconds, and how often it
# looks if it is not notified of any, in seconds.
debounce_ms: 1000
interval_s: 60

# The context window of the model that conversations are resumed with, in tokens; 0:
# the window that cortext knows for the model.
context_window: 0

# Whether a resumed conversation shows what happened in git since its last
# message: commits, and which of its files they changed or removed.
since_then: true

# Old conversations are archived, which hides them from lists and deletes nothing: those
# without activity for auto_archive_days, and those beyond the max_conversations most
# recently active ones; 0: never. cortext checks once a day, and skips active
# conversations. To archive those that git has unchanged, run cortext archive --automatic.
auto_archive_days: 0
max_conversations: 0

# What summarizes old messages: extractive (without a model), agent (the agent of the
# conversation, headless), openai (the endpoint that CORTEXT_OPENAI_URL and
# CORTEXT_OPENAI_MODEL name), or off. agent and openai send conversations to a model. If
# this file sets them, each user must allow them with cortext trust. Summaries are made
# at a stop, by cortext compact --apply and, with a model, in the background while you
# work. They cover conversations of more than summarize_after messages, except for the
# last keep_messages. Each covers about fifty messages in at most summary_max_tokens
# tokens. A smaller remainder is summarized without a model, because it will still grow.
summarizer: extractive
summarize_after: 50
keep_messages: 20
summary_max_tokens: 500

# How much of the agents' tool calls is saved with a conversation: full, trimmed (of an
# output above tool_output_kb kilobytes only the beginning and the end), or off (only
# the name and the outcome of a call). What is left out stays on this machine, in
# .workspace/local/kept/attachments.
tools: full
tool_output_kb: 16

# Where the bytes of attachments are: local (on this machine, not in git), or commit
# (also beside the conversation, for git). Secrets in pictures and other binary files
# are not redacted: in this file, commit applies to a user only after cortext trust.
attachments: local
`
}
