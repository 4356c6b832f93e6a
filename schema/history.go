package schema

// A History is what is read of a conversation: messages in their order with the
// calls that they made.
type History struct {
	Messages []Message       // each id once, its greatest rev, on the branch that is resumed, oldest first
	Tools    map[string]Tool // by call id, the greatest rev of each
	Earlier  int             // messages of the conversation before the first of Messages that were not read
	Aside    int             // messages that were read but stand on branches that were left (rewinds)
}
