// Package digest makes a person's notes about a conversation from its messages
// and tool calls, without a model: a title, a description, where things
// stopped, and the plan as it stands.
package digest

import "cortext/schema"

// Title names the conversation after its first prompt.
func Title(messages []schema.Message) string { return "untitled" }

// Description is the first prompt on one line.
func Description(messages []schema.Message) string { return "" }

// Summary says where things stopped.
func Summary(h schema.History) string { return "" }

// Plan is the agent's todo list as it stood last.
func Plan(tools []schema.Tool) *schema.Plan { return nil }
