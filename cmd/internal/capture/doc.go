// Package capture copies agents' native sessions into the conversations of a workspace.
//
// Hooks enter through [Capture.Session] and [Capture.Answer], transcript files through
// [Importer], and the agents' stores through [Capture.Sync]. All of them, and sub-agents,
// run the same loop, [Capture.Ingest]: read what is new in a transcript, find the
// conversation of each message, and append the message to that conversation's logs.
//
// # Terms
//
// A native session is an agent's own record of a conversation, and a transcript is where
// the agent keeps it. A [binding.Binding] says which conversations a native session goes
// into; each conversation gets a [binding.Segment] of the session. A cursor is the position
// up to which a transcript was read. A checkpoint is the position up to which the records
// read were written to a conversation's logs.
//
// # What is trusted
//
// Bindings, with their cursors and checkpoints, live in the cache, and git can replace
// logs at any time. A cursor therefore counts only while the logs confirm the checkpoint
// stored with it, which costs one small read. Otherwise the transcript is read again from
// its beginning, and the logs get the records they lack, each once, by id.
//
// The user's registry also records how far a session was captured in this work tree. If a
// log lacks records from before that point, git removed them; records after it are new. The
// cache may therefore be lost or out of date.
//
// # Where records go
//
// Records go to the logs in the work tree if the conversation's folder is there. If the
// folder is missing (another branch is checked out, or it was cleaned away), or git is in
// the middle of a merge, they wait below .workspace/local/kept. A file that the user did
// not ask for must never make git refuse a command. Waiting records move into the logs when
// the folder is back, or when a command restores the conversation.
//
// # Write order
//
// Attachments are written first, then tool calls, messages, session.json, and the binding
// last. If the process is killed at any moment, the binding claims too little, never too
// much.
package capture

import (
	"errors"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/workspace"
)

// A Capture imports sessions into the conversations of one workspace.
type Capture struct {
	*binding.Bindings
	*Binder
	*launches
	*reminders

	ws          *workspace.Workspace
	warnings    *warnings
	location    *location
	catalog     *catalog
	transcripts *transcripts
	withheld    *withheld
	forks       *forks
	homes       homes
	waiting     waiting
	describe    descriptions
	scans       scans
}

// New returns a Capture for the workspace ws.
func New(ws *workspace.Workspace) *Capture {
	c := &Capture{ws: ws, warnings: new(warnings), location: &location{ws: ws}, catalog: &catalog{ws: ws}, homes: homes{ws}}
	c.waiting = waiting{ws, c.homes}
	c.Bindings = binding.In(ws.Store, ws.Registry, ws.Here, func(err error) {
		c.warnings.unregistered(errors.Join(err, c.location.note()))
	})
	c.reminders = &reminders{ws, c.Bindings}
	c.describe = descriptions{ws, c.Bindings}
	c.transcripts = &transcripts{ws, c.Bindings, c.catalog, heads{store: ws.Store, used: map[string]bool{}}}
	c.withheld = &withheld{ws, c.catalog, c.transcripts}
	c.Binder = &Binder{ws: ws, bindings: c.Bindings, catalog: c.catalog}
	c.launches = &launches{ws, c.Binder}
	c.forks = &forks{ws, c.Bindings, c.Binder, c.launches, c.catalog, c.transcripts, c.withheld, c.captureOriginal}
	c.Binder.forks = c.forks
	c.scans = scans{ws, c.Bindings, c.catalog, c.transcripts, c.forks}
	return c
}
