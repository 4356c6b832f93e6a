package claude

import (
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema/jsonl"
	"cortext/schema/rawjson"
)

// A record is the envelope of a transcript line (FACTS.md, "Records of a
// transcript").
type record struct {
	Type, Subtype               string
	UUID, Parent, LogicalParent string
	Session, AgentID            string
	Timestamp, Version          string
	Cwd, Branch, Permission     string
	PromptSource, Origin        string
	SourceAssistant             string
	CustomTitle, Prompt         string
	ParentToolUse               string
	Sidechain, Meta, Compact    bool
	Aborted                     bool
	Message, Attachment, Data   []byte
	ToolUseResult, Content      []byte
	line                        []byte // of the file; nil if the record was read again
	Kept                        []byte // by a compaction: the lines at either end, and the line that they follow
}

// repeated holds strings that most lines of a transcript repeat, by their JSON.
type repeated map[string]string

// mostRepeated is how many different strings are kept: a session has few.
const mostRepeated = 100

func (m repeated) decode(value []byte) string {
	s, ok := m[string(value)]
	if !ok {
		if s = rawjson.String(value); m != nil && len(m) < mostRepeated {
			m[string(value)] = s
		}
	}
	return s
}

// parseRecord parses a line that is valid JSON. Unless the line is an object, the
// record has no type. same may be nil.
func parseRecord(raw []byte, same repeated) (r record) {
	for name, value := range rawjson.Fields(raw) {
		r.set(name, value, same)
	}
	return r
}

// recordOf returns the same as parseRecord for a line just read.
func recordOf(rec jsonl.Record, same repeated) (r record) {
	for _, f := range rec.Fields {
		r.set(f.Name, f.Value, same)
	}
	r.line = rec.Raw
	return r
}

// set takes over a member of the line.
func (r *record) set(name, value []byte, same repeated) {
	switch string(name) {
	case "type":
		r.Type = same.decode(value)
	case "subtype":
		r.Subtype = same.decode(value)
	case "uuid":
		r.UUID = rawjson.String(value)
	case "parentUuid":
		r.Parent = rawjson.String(value)
	case "logicalParentUuid":
		r.LogicalParent = rawjson.String(value)
	case "sessionId":
		r.Session = same.decode(value)
	case "agentId":
		r.AgentID = same.decode(value)
	case "timestamp":
		r.Timestamp = rawjson.String(value)
	case "version":
		r.Version = same.decode(value)
	case "cwd":
		r.Cwd = same.decode(value)
	case "gitBranch":
		r.Branch = same.decode(value)
	case "permissionMode":
		r.Permission = same.decode(value)
	case "promptId":
		r.Prompt = rawjson.String(value)
	case "promptSource":
		r.PromptSource = same.decode(value)
	case "origin":
		r.Origin = rawjson.String(rawjson.Get(value, "kind"))
	case "sourceToolAssistantUUID":
		r.SourceAssistant = rawjson.String(value)
	case "customTitle":
		r.CustomTitle = rawjson.String(value)
	case "parentToolUseID":
		r.ParentToolUse = rawjson.String(value)
	case "isSidechain":
		r.Sidechain = inject.IsTrue(value)
	case "isMeta":
		r.Meta = inject.IsTrue(value)
	case "isCompactSummary":
		r.Compact = inject.IsTrue(value)
	case "isAbortedMidStream":
		r.Aborted = inject.IsTrue(value)
	case "message":
		r.Message = value
	case "attachment":
		r.Attachment = value
	case "data":
		r.Data = value
	case "toolUseResult":
		r.ToolUseResult = value
	case "content":
		r.Content = value
	case "compactMetadata":
		r.Kept = rawjson.Get(value, "preservedSegment")
	}
}

// A message is the API's message in a record; its members are raw JSON.
type message struct{ id, model, content, stopReason, usage []byte }

// message takes the message apart.
func (r *record) message() message { return parseMessage(r.Message) }

// parseMessage takes a message apart, all at once because its content may be long.
func parseMessage(raw []byte) (m message) {
	for name, value := range rawjson.Fields(raw) {
		var member *[]byte
		switch string(name) {
		case "id":
			member = &m.id
		case "model":
			member = &m.model
		case "content":
			member = &m.content
		case "stop_reason":
			member = &m.stopReason
		case "usage":
			member = &m.usage
		default:
			continue
		}
		if *member == nil {
			*member = value
		}
	}
	return m
}

// A block is one element of a message's content.
type block struct {
	Type                string
	ID, Name, ToolUseID string
	Input, Content      []byte
	Source              []byte
	text, thinking      []byte // raw, as in the file
	IsError             bool
	Title               string
	raw                 []byte
}

// blocks returns the content of a message. A string becomes one text block.
func blocks(content []byte) []block {
	if len(content) == 0 {
		return nil
	}
	if content[0] == '"' {
		return []block{{Type: "text", text: content}}
	}
	var list []block
	for e := range rawjson.Elements(content) {
		if e[0] == '"' {
			list = append(list, block{Type: "text", text: e, raw: e})
			continue
		}
		if e[0] != '{' {
			continue
		}
		b := block{raw: e}
		for name, value := range rawjson.Fields(e) {
			switch string(name) {
			case "type":
				b.Type = rawjson.String(value)
			case "text":
				b.text = value
			case "thinking":
				b.thinking = value
			case "id":
				b.ID = rawjson.String(value)
			case "name":
				b.Name = rawjson.String(value)
			case "tool_use_id":
				b.ToolUseID = rawjson.String(value)
			case "input":
				b.Input = value
			case "content":
				b.Content = value
			case "source":
				b.Source = value
			case "is_error":
				b.IsError = inject.IsTrue(value)
			case "title":
				b.Title = rawjson.String(value)
			}
		}
		list = append(list, b)
	}
	return list
}

// Text returns the text of a text block; Thinking that of a reasoning block.
func (b block) Text() string     { return rawjson.String(b.text) }
func (b block) Thinking() string { return rawjson.String(b.thinking) }

// tagged returns the text between <tag> and </tag> in s.
func tagged(s, tag string) (string, bool) {
	_, rest, ok := strings.Cut(s, "<"+tag+">")
	if !ok {
		return "", false
	}
	i := strings.LastIndex(rest, "</"+tag+">")
	if i < 0 {
		return "", false
	}
	return rest[:i], true
}

// typed returns what the user typed if Claude Code stored it in a form of its own: a
// slash command, a shell line (`!`), a memory (`#`).
func typed(s string) (string, bool) {
	switch {
	case strings.HasPrefix(s, "<command-name>"), strings.HasPrefix(s, "<command-message>"):
		name, ok := tagged(s, "command-name")
		if !ok {
			return "", false
		}
		if !strings.HasPrefix(name, "/") {
			name = "/" + name
		}
		if args, _ := tagged(s, "command-args"); args != "" {
			return name + " " + args, true
		}
		return name, true
	case strings.HasPrefix(s, "<bash-input>"):
		line, ok := tagged(s, "bash-input")
		return "!" + line, ok
	case strings.HasPrefix(s, "<user-memory-input>"):
		line, ok := tagged(s, "user-memory-input")
		return "#" + line, ok
	}
	return "", false
}

// isEvent reports whether nobody typed a user line: it is the output of a local
// command, a notification, or an interruption.
func isEvent(s string) bool {
	return isOutput(s) || beginsWith(s, "<task-notification>", "[Request interrupted by user")
}

// isOutput reports whether a user line is the terminal output of a local command.
func isOutput(s string) bool {
	return beginsWith(s, "<bash-stdout>", "<bash-stderr>", "<local-command-stdout>", "<local-command-stderr>")
}

func beginsWith(s string, tags ...string) bool {
	return slices.ContainsFunc(tags, func(tag string) bool { return strings.HasPrefix(s, tag) })
}

// isEmptyOutput reports whether s is the empty output of a local command.
func isEmptyOutput(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || s == "<local-command-stdout></local-command-stdout>" ||
		s == "<bash-stdout></bash-stdout><bash-stderr></bash-stderr>"
}

// isNoise reports whether a record type adds nothing to a history (FACTS.md,
// "Noise").
func isNoise(typ string) bool {
	switch typ {
	case "queue-operation", "atis-latch", "tools-used", "mode", "permission-mode",
		"file-history-snapshot", "file-history-delta", "last-prompt", "cost-state",
		"api-request", "api-request-shape", "api-request-blob",
		"summary", "custom-title", "ai-title", "agent-name", "agent-color", "agent-setting",
		"pr-link", "frame-link", "bridge-session", "relocated", "worktree-state",
		"started", "result", "tag", "attribution-snapshot", "content-replacement",
		"progress", "api-request-resumed", "artifact-autoreact-ledger", "artifact-comment-monitor",
		"continued-in", "data-flow-incomplete", "data-flow-records", "derived-from", "dev-mods",
		"ended-by-model", "fork-context-ref", "history-suppression", "hybrid-organization",
		"isolation-latch", "memory-mode", "observer-ref", "repl-mode", "resume-head-vouch",
		"session-owner":
		return true
	}
	return false
}

// isNoiseSystem is isNoise for the subtypes of system records.
func isNoiseSystem(subtype string) bool {
	switch subtype {
	case "compact_boundary", "microcompact_boundary", "stop_hook_summary", "turn_duration", "session_start",
		"api_error", "api_metrics", "error", "api_refusal", "model_refusal_fallback", "informational",
		"local_command", "away_summary", "bridge_status", "scheduled_task_fire", "memory_saved",
		"agents_killed", "model_consent_fallback", "model_fallback", "model_refusal_no_fallback",
		"permission_retry", "rewind_stand_in":
		return true
	}
	return false
}

// isNoiseAttachment is isNoise for the types of attachment records.
func isNoiseAttachment(typ string) bool {
	switch typ {
	case "environment", "model", "deferred_tools_delta", "agent_listing_delta", "skill_listing",
		"auto_mode", "auto_mode_exit", "command_permissions", "session_context", "date", "date_change",
		"remote_session_change", "prompt_snapshot", "invoked_skills", "mcp_instructions_delta",
		"batching_reminder_sent", "budget_usd", "compact_file_reference", "dynamic_skill",
		"edited_text_file", "hook_additional_context", "hook_blocking_error", "hook_non_blocking_error",
		"hook_success", "hook_cancelled", "hook_system_message", "hook_stopped_continuation",
		"hook_permission_decision", "async_hook_response", "nested_memory", "plan_mode", "plan_mode_exit",
		"plan_mode_reentry", "plan_file_reference", "read_truncation_notice", "silent_turn_reminder",
		"task_reminder", "task_status", "todo_reminder", "total_tokens_reminder", "token_usage",
		"ultra_effort_enter", "ultra_effort_exit", "ultrathink_effort", "diagnostics", "directory",
		"opened_file_in_ide", "selected_lines_in_ide", "output_style", "critical_system_reminder",
		"relevant_memories", "current_session_memory", "max_turns_reached", "already_read_file",
		"companion_intro", "verify_plan_reminder", "compaction_reminder", "structured_output",
		"account_memory_recall", "advisor_stripped", "advisor_tool", "agent_ask_notice",
		"agent_mention", "artifact_opening_prefetch", "async_hook_response_batch",
		"at_mention_reference", "attention_budget", "bash_output_audience_note", "batching_reminder",
		"claude_app_notice", "context_efficiency", "context_sections", "coordinator_context",
		"cowork_memory_context", "credential_org", "deferred_tools_record", "edited_image_file",
		"elapsed_time_reminder", "first_week", "fork_briefing", "goal_status", "goals",
		"hook_deferred_tool", "hook_error_during_execution", "hook_plugin_listing",
		"inlined_image_paths", "instruction_files_not_loaded", "instructions", "language",
		"linked_plugin_tools_note", "mcp_dropped_tools_delta", "memory_update",
		"output_limit_note", "output_style_instructions", "output_token_usage", "pdf_reference",
		"peer_mention", "prefix_delta", "proactivity", "projects_thread_ask", "prompt_render_point",
		"repl_mcp_needs_auth", "repl_mcp_servers", "sandbox_instructions", "secondary_reminder", "secondary_reminder_sent",
		"selected_lines_in_diff", "session_cron_carry", "skill_mention", "team_context",
		"teammate_shutdown_batch", "thinking_drop", "thinking_stripped", "thread_state",
		"tool_host_result_lines", "tool_hosts_correction", "tool_hosts_notice", "tool_offer_record",
		"tool_results_cut", "tool_search_usage_reminder", "unknown_command_fallback",
		"whole_texts_withdrawn", "widget_context_hint", "withheld_memory",
		"workflow_keyword_request", "workflow_size_guideline_change":
		return true
	}
	return false
}
