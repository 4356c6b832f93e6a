package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/git"
	"cortext/inject"
	"cortext/store"
)

// scanned is what the cache knows about sessions that were looked at. An unchanged
// session needs no second look, even if conversations came or went, unless one of them
// belongs to the session.
type scanned struct {
	Seen string                `json:"seen"` // the conversations that existed
	Git  string                `json:"git"`  // what git had checked out
	At   map[string]lookedOnce `json:"at"`   // by transcript path, because some agents split a session over files
	All  bool                  `json:"all"`  // capture was all: ordinary sessions began conversations, too

	stale bool                // git may have replaced logs since
	moved bool                // conversations came or went since
	fresh []inject.SessionRef // looked at just now
}

// A lookedOnce records the state of a session when it was looked at, and the result.
type lookedOnce struct {
	Updated int64  `json:"updated"` // in nanoseconds
	Look    string `json:"look"`    // state of its files, if it has its own
	In      string `json:"in"`      // the conversations that list it as a source
	Left    bool   `json:"left"`    // no command began it; sync with Adopt looks again

	Roots []string `json:"roots,omitempty"` // first lines by which a fork of our session is recognized
}

func scannedName(agent string) string { return fmt.Sprintf("scanned/%s.json", agent) }

func (c *Capture) readScanned(agent string) scanned {
	var l scanned
	if !c.readCached(scannedName(agent), &l) || l.At == nil || l.All != c.all() {
		l = scanned{At: map[string]lookedOnce{}, All: c.all()}
	}
	now := git.State(c.ws.Store.Root())
	l.moved, l.stale, l.Git = l.Seen != c.ws.IDs.Seen(), l.Git != now, now
	return l
}

// needsLook reports whether a session with these properties must be looked at. Our own
// sessions must be if git may have replaced logs.
func (c *Capture) needsLook(agent inject.Agent, n inject.SessionRef, l *scanned, look string) bool {
	was, ok := l.At[n.Path]
	if !ok || n.Updated.IsZero() || was.Updated != n.Updated.UnixNano() || was.Look != look || look == "" && !bundles(agent) {
		return true
	}
	switch {
	case !was.Left && l.stale:
		return true
	case !l.moved:
		return false
	case !was.Left:
		return was.In == "" || was.In != c.namedIn(agent.Name(), n.NativeID)
	case c.namedIn(agent.Name(), n.NativeID) != "":
		return true
	}
	roots := c.rootsOf(agent, n.Path)
	if len(roots) == 0 {
		return true
	}
	ours, err := c.rootsOfOurs(agent)
	return err != nil || ours[roots[0]] // it may be a fork of a session captured since
}

// namedIn returns the conversations that list a session as a source, one per line, or ""
// if they are not known.
func (c *Capture) namedIn(agent, nativeID string) string {
	named, err := c.scan.named()
	if err != nil {
		return ""
	}
	return named[native{agent, nativeID}]
}

// add records that a session was looked at.
func (l *scanned) add(agent inject.Agent, n inject.SessionRef, now lookedOnce) {
	if now.Look == "" && !bundles(agent) {
		delete(l.At, n.Path) // written just now: it may change without looking different
		return
	}
	now.Updated = n.Updated.UnixNano()
	l.At[n.Path] = now
	l.fresh = append(l.fresh, n)
}

// writeScanned saves what was looked at.
func (c *Capture) writeScanned(agent inject.Agent, l scanned) {
	if len(l.fresh) == 0 && !l.moved && !l.stale {
		return
	}
	all, err := c.ws.Store.List() // including those that have just begun
	if err != nil {
		return
	}
	named := namedAmong(all)
	for _, n := range l.fresh {
		row := l.At[n.Path]
		row.In = named[native{agent.Name(), n.NativeID}]
		if b, ok := c.cached(agent.Name(), n.NativeID); ok && len(b.Segments) > 0 {
			row.Roots = b.Roots
		}
		l.At[n.Path] = row
	}
	l.Seen = c.ws.IDs.Seen()
	c.writeCached(scannedName(agent.Name()), l)
}

// lookAt returns the state of a transcript and its sub-agents' transcripts, or "" if it
// is not a file of its own, or may still change without looking different.
func lookAt(agent inject.Agent, file string) string {
	if bundles(agent) {
		return "" // a store of many transcripts
	}
	subs, err := agent.Subagents(file)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, s := range append([]inject.Subagent{{Path: file}}, subs...) {
		look, ok := store.LookAt(s.Path)
		if !ok {
			return ""
		}
		fmt.Fprintf(&b, "%s %s\n", filepath.Base(s.Path), look)
	}
	return b.String()
}

// lastWritten returns when a session, or one of its sub-agents, was last written.
func lastWritten(agent inject.Agent, n inject.SessionRef) time.Time {
	at := n.Updated
	if bundles(agent) {
		return at
	}
	subs, _ := agent.Subagents(n.Path)
	for _, s := range subs {
		if info, err := os.Stat(s.Path); err == nil && info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at
}

// namedAmong maps the sources of conversations to the conversations' paths.
func namedAmong(all []store.Entry) map[native]string {
	named := map[native]string{}
	for _, e := range slices.SortedFunc(slices.Values(all), func(a, b store.Entry) int { return strings.Compare(a.Path, b.Path) }) {
		for _, src := range e.Session.Sources {
			named[native{src.Agent, src.NativeID}] += e.Path + " " + src.From + " " + src.After + "\n"
		}
	}
	return named
}

// bundles reports whether the agent keeps several transcripts in one file.
func bundles(agent inject.Agent) bool {
	_, ok := agent.(inject.Bundler)
	return ok
}
