// Package capture brings the agents' native sessions into the conversations of a
// workspace.
//
// # Terms
//
// A native session is an agent's own record of a conversation, and a transcript is
// where the agent keeps it. A [Binding] says which conversations a native session
// goes into: each has a [Segment] of it. A cursor is how far a transcript was read; a
// checkpoint is how far what was read was delivered into the logs of a conversation.
//
// # What is trusted
//
// Bindings with their cursors and checkpoints are in the cache, and git replaces logs
// at any time. So a cursor counts only while the logs confirm the checkpoint beside
// it, which costs one small read. If they do not, the transcript is read again from
// its beginning, and the logs get the records that they miss, each once, by id. The
// same loop, [Capture.Ingest], serves a hook, an import, sync, watch and sub-agents.
//
// How far a session was captured in this work tree, the user's registry knows, too: of
// what a log lacks, git took what is before that, and what is after it is new. So the
// cache may be lost or old.
//
// # Where records go
//
// Into the logs in the work tree, if the conversation's folder is there. If it is
// not (another branch is checked out, the folder was cleaned away), or git is in the
// middle of a merge, they wait below .workspace/local/kept, so that git never
// refuses a command because of a file that nobody asked for. They move into the logs
// when the folder is back, or when a command puts the conversation back.
//
// # Write order
//
// Attachments first, then tool calls, messages, session.json, and the binding last:
// a kill at any moment leaves a binding that says too little, never too much.
package capture

import (
	"cortext/cmd/internal/workspace"
)

// A Capture fills the conversations of one workspace.
type Capture struct {
	ws *workspace.Workspace

	warnings []string // see TakeWarnings
	warned   int      // how often there was something to warn of

	scan      *scan  // what is known while many sessions are looked at
	rootNoted bool   // see noteRoot
	heads     *heads // see readHeads
	opened    begun  // the transcript that is being imported
}

// begun is a transcript with the lines in it that follow no other.
type begun struct {
	file  string
	roots []string
}

// New returns the capture of a workspace.
func New(w *workspace.Workspace) *Capture { return &Capture{ws: w} }
