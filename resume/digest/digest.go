// Package digest makes a person's notes about a conversation from its messages
// and tool calls, without a model: a title, a description, where things
// stopped, and the plan as it stands.
package digest

import "cortext/schema"

// Summary says where things stopped.
func Summary(h schema.History) string { return "" }

// Plan is the agent's todo list as it stood last.
func Plan(tools []schema.Tool) *schema.Plan { return nil }
