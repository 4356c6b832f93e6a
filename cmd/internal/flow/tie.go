package flow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A tie is what is known about one native session: which conversations it goes
// into, and how far its transcript was read. It lives in the cache: all of it can
// be found again in the sources of the conversations, and by reading the
// transcript from its beginning.
type tie struct {
	Transcript string   `json:"transcript"`
	Roots      []string `json:"roots"`      // lines that a fork of it may begin with
	Version    string   `json:"version"`    // of the agent
	Permission string   `json:"permission"` // the last mode
	Parts      []part   `json:"parts"`      // in the order of the session; none: it is not ours
	Said       string   `json:"said"`       // the end of what the model said last
	At         int      `json:"at"`         // the part that the cursor stands in
	Current    int      `json:"current"`    // the part that the session is in
	Stopped    bool     `json:"stopped"`    // the user has stopped the current part's conversation
	Seen       string   `json:"seen"`       // of a session without parts: the conversations that there were
	Read       mark     `json:"read"`
	// Looked is how far a session without parts was looked through for a command.
	Looked inject.Cursor `json:"looked,omitzero"`
	// Subagents is how far the transcripts of sub-agents were read, by their ids.
	Subagents map[string]mark `json:"subagents,omitempty"`
	// PartOf tells for the messages that new ones may hang on which part they are
	// in, where there are several.
	PartOf map[string]int `json:"part_of,omitempty"`
}

// sound reports whether what the cache holds can be meant.
func (t *tie) sound() bool {
	n := max(len(t.Parts), 1)
	for _, i := range t.PartOf {
		if i < 0 || i >= n {
			return false
		}
	}
	return t.At >= 0 && t.At < n && t.Current >= 0 && t.Current < n
}

// current is the part that the session is in. There must be one.
func (t *tie) current() part { return t.Parts[t.Current] }

// held reports whether the session is in a conversation.
func (t *tie) held() bool { return len(t.Parts) > 0 && !t.current().Removed }

// kept reports whether anything of the session belongs to a conversation.
func (t *tie) kept() bool {
	return slices.ContainsFunc(t.Parts, func(p part) bool { return !p.Removed })
}

// complete reports whether all of the session belongs to conversations that are
// there.
func (t *tie) complete() bool {
	return len(t.Parts) > 0 && !slices.ContainsFunc(t.Parts, func(p part) bool { return p.Removed })
}

// add lets the session go on in another part.
func (t *tie) add(p part) {
	t.Parts = append(t.Parts, p)
	t.Current = len(t.Parts) - 1
	t.Stopped = false
}

// A part of a native session is what belongs to one conversation.
type part struct {
	Path  string `json:"path"` // of the conversation
	From  string `json:"from,omitempty"`
	After string `json:"after,omitempty"`
	Start string `json:"start,omitempty"` // the message that it begins with, once that was read
	Fork  bool   `json:"fork,omitempty"`  // the session repeats what another one of the conversation has
	// Removed: the user has removed the conversation, and what belongs to it is
	// captured no more.
	Removed bool       `json:"removed,omitempty"`
	Mark    store.Mark `json:"mark"`
}

// A mark is how far a transcript was read.
type mark struct {
	Cursor inject.Cursor `json:"cursor"`
	Store  store.Mark    `json:"store"` // of a sub-agent's conversation
}

func tieName(agent, nativeID string) string {
	return "sessions/" + agent + "/" + schema.PathElement(nativeID) + ".json"
}

// readTie returns what the cache knows of a session.
func (w *Workspace) readTie(agent, nativeID string) (*tie, bool) {
	return w.tieIn(tieName(agent, nativeID))
}

// tieIn reads a tie from a file of the cache; one that cannot be meant is none.
func (w *Workspace) tieIn(name string) (*tie, bool) {
	b, ok := w.Store.ReadCache(name)
	t := new(tie)
	if !ok || json.Unmarshal(b, t) != nil || !t.sound() {
		return nil, false
	}
	return t, true
}

// lockTie keeps other processes off what is known of a session while it is read
// on: two hooks of one session may run at once.
func (w *Workspace) lockTie(agent, nativeID string, wait time.Duration) (unlock func(), err error) {
	return w.Store.LockCache(tieName(agent, nativeID), wait)
}

// writeTie remembers a session. A failure costs the next reader time only.
func (w *Workspace) writeTie(agent, nativeID string, t *tie) {
	b, err := json.Marshal(t)
	if err == nil {
		_ = w.Store.WriteCache(tieName(agent, nativeID), b)
	}
}

// tieOf returns what is known of a session, from the cache or else from the
// conversations that have it among their sources. A session that is a fork of one
// of ours goes on in the conversation of that. A tie without parts says that the
// session is none of ours.
func (w *Workspace) tieOf(agent inject.Agent, nativeID, transcript string) (*tie, error) {
	t, ok := w.readTie(agent.Name, nativeID)
	if ok && !t.complete() && t.Seen != w.conversationsSeen() {
		ok = false // its conversation may have come since, with a branch of git or a clone
	}
	if !ok {
		all, err := w.entries()
		if err != nil {
			return nil, err
		}
		t = &tie{Parts: w.partsOf(all, agent.Name, nativeID)}
		t.Current = max(len(t.Parts)-1, 0)
		if transcript != "" && len(t.Parts) == 0 {
			if err := w.adoptFork(agent, nativeID, transcript, all, t); err != nil {
				return nil, err
			}
		}
	}
	if transcript != "" {
		t.Transcript = transcript
	}
	if !ok && (len(t.Parts) > 0 || len(t.Roots) > 0) {
		t.Seen = w.conversationsSeen()
		w.writeTie(agent.Name, nativeID, t)
	}
	return t, nil
}

// partsOf lists the parts of a native session: first the one without From, then
// the others as they were active. Only the transcript tells their true order.
func (w *Workspace) partsOf(all []store.Entry, agent, nativeID string) []part {
	var first, later []part
	for _, e := range all {
		for i, src := range e.Session.Sources {
			if src.Agent != agent || src.NativeID != nativeID {
				continue
			}
			p := part{Path: e.Path, From: src.From, After: src.After, Fork: i > 0 && src.From == "" && src.After == ""}
			if p.From == "" {
				first = append(first, p)
			} else {
				later = append(later, p)
			}
		}
	}
	slices.Reverse(later)
	for _, p := range w.removedParts(agent, nativeID) {
		if slices.ContainsFunc(slices.Concat(first, later), func(live part) bool { return live.From == p.From && live.After == p.After }) {
			continue // it is back, with a branch of git
		}
		if p.From == "" {
			first = append(first, p)
		} else {
			later = append(later, p)
		}
	}
	return append(first, later...)
}

// continues reports whether a session with these parts goes on from one that was
// captured.
func continues(parts []part) bool {
	return len(parts) > 0 && (parts[0].After != "" || parts[0].Fork)
}

// headBytes is how much of a transcript is read to learn its first line.
const headBytes = 1 << 20

// adoptFork ties a session whose transcript begins with a line of one of ours: a
// fork repeats the lines of the session that it was made from, from its beginning
// or its last compaction (Claude Code 2.1.329).
func (w *Workspace) adoptFork(agent inject.Agent, nativeID, transcript string, all []store.Entry, t *tie) error {
	roots := rootsOf(agent, transcript)
	if len(roots) == 0 {
		return nil // nothing stands in it yet
	}
	t.Roots = roots[:1]
	if at, ok := w.launchedWith(agent.Name, roots[0]); ok {
		return w.goOnIn(agent, inject.Event{NativeID: nativeID, Transcript: transcript}, t, at)
	}
	if w.forkOfRemoved(agent, roots[0]) {
		t.Parts = []part{{Removed: true}}
		return nil
	}
	if !w.mayBeFork(agent, roots[0]) {
		return nil
	}
	w.warmTies(agent, roots[0], all)
	for _, p := range w.forkedFrom(agent, nativeID, roots[0], transcript) {
		copied := part{Path: p.Path, After: p.After, Fork: true}
		if len(t.Parts) > 0 {
			copied.From = messageFrom + p.Start // a fork gives its copies other prompt ids
		}
		if err := w.addSource(copied, schema.Source{Agent: agent.Name, NativeID: nativeID}); err != nil {
			return err
		}
		t.Parts = append(t.Parts, copied)
	}
	t.Current = max(len(t.Parts)-1, 0)
	return nil
}

// rootsOf reads the beginning of a transcript for lines that hang on no other.
func rootsOf(agent inject.Agent, transcript string) []string {
	head, err := agent.Open(transcript, inject.Options{Head: headBytes})
	if err != nil {
		return nil
	}
	defer head.Close()
	return head.Roots
}

// maxCold is how many sessions that the cache does not know are looked at.
const maxCold = 200

// warmTies lets the cache know the sessions that a fork which begins with the line
// root may have been made from.
func (w *Workspace) warmTies(agent inject.Agent, root string, all []store.Entry) {
	looked := 0
	for _, e := range all { // the last active first
		for _, src := range e.Session.Sources {
			if _, ok := w.readTie(agent.Name, src.NativeID); ok || src.Agent != agent.Name || looked == maxCold {
				continue
			}
			file, ok := agent.Locate(w.env.Machine, src.NativeID)
			if !ok {
				continue
			}
			if looked++; slices.Contains(rootsOf(agent, file), root) {
				_, _ = w.captureSource(context.Background(), agent, src.NativeID) // what fails here is said where it is captured
			}
		}
	}
}

// forkedFrom returns the parts of the session of ours that a fork was made from, up
// to the fork; none if there is no such session. Of several that
// begin alike, since one is a fork of the other, it is the one that shares the most
// of its last lines.
func (w *Workspace) forkedFrom(agent inject.Agent, nativeID, root, transcript string) []part {
	ties := w.ties(agent.Name)
	delete(ties, schema.PathElement(nativeID)+".json")
	for name, t := range ties {
		if len(t.Parts) == 0 || !slices.Contains(t.Roots, root) {
			delete(ties, name)
		}
	}
	if len(ties) == 0 {
		return nil
	}
	lines := lastLines(agent, transcript)
	var best *tie
	most, last := -1, 0
	for _, name := range slices.Sorted(maps.Keys(ties)) {
		t := ties[name]
		shared, newest := 0, 0
		for _, a := range t.Read.Cursor.Anchors {
			if lines[a.Line] {
				shared++
				newest = max(newest, t.PartOf[a.Message])
			}
		}
		if shared > most {
			best, most, last = t, shared, newest
		}
	}
	return best.Parts[:last+1] // what it went into later is not the fork's
}

// lastLines are the ids of the last lines of a transcript.
func lastLines(agent inject.Agent, transcript string) map[string]bool {
	lines := map[string]bool{}
	t, err := agent.Open(transcript, inject.Options{})
	if err != nil {
		return lines
	}
	defer t.Close()
	for _, a := range t.Next.Anchors {
		lines[a.Line] = true
	}
	return lines
}

// conversationsSeen tells one state of the folders of conversations from another,
// at the cost of a look at each day.
func (w *Workspace) conversationsSeen() string {
	sum := sha256.New()
	root := filepath.Join(w.Store.Root(), "conversations")
	days, _ := os.ReadDir(root)
	for _, d := range days {
		if info, err := d.Info(); err == nil {
			fmt.Fprintf(sum, "%s %d\n", d.Name(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// ties lists the sessions that the cache knows.
func (w *Workspace) ties(agent string) map[string]*tie {
	ties := map[string]*tie{}
	for _, name := range w.Store.ListCache("sessions/" + agent) {
		if t, ok := w.tieIn("sessions/" + agent + "/" + name); ok {
			ties[name] = t
		}
	}
	return ties
}

// addSource notes in a conversation that a native session goes on in it.
func (w *Workspace) addSource(p part, src schema.Source) error {
	src.From, src.After = p.From, p.After
	_, err := w.edit(p.Path, func(_ *store.Conversation, s *schema.Session) error {
		for _, have := range s.Sources {
			if have.Agent == src.Agent && have.NativeID == src.NativeID && have.From == src.From {
				return nil
			}
		}
		s.Sources = append(s.Sources, src)
		return nil
	})
	return err
}

// gone reports whether a transcript that was read is not there any more: agents
// delete old ones.
func (t *tie) gone(agent inject.Agent) bool {
	_, err := agent.Stat(t.Transcript)
	return t.Read.Cursor.Size > 0 && errors.Is(err, fs.ErrNotExist)
}

// grown reports whether a transcript, or that of a sub-agent, is not as it was when
// it was read.
func (t *tie) grown(agent inject.Agent) bool {
	size, err := agent.Stat(t.Transcript)
	if err != nil {
		return false
	}
	if size != t.Read.Cursor.Size {
		return true
	}
	subs, err := agent.Subagents(t.Transcript)
	return err == nil && slices.ContainsFunc(subs, func(s inject.Subagent) bool {
		size, err := agent.Stat(s.Path)
		return err == nil && size > 0 && size != t.Subagents[s.NativeID].Cursor.Size
	})
}
