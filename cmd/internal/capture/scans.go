package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/store"
)

// scanned is what the cache knows about sessions that were checked. An unchanged
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

// A lookedOnce records the state of a session when it was checked, and the result.
type lookedOnce struct {
	Updated int64  `json:"updated"` // in nanoseconds
	Look    string `json:"look"`    // state of its files, if it has its own
	In      string `json:"in"`      // the conversations that list it as a source
	Left    bool   `json:"left"`    // no command began it; sync with Adopt looks again

	Roots []string `json:"roots,omitempty"` // first lines by which a fork of our session is recognized
}

// scans remembers which sessions a sync looked at. A session that is not remembered, or
// that changed since, is checked again.
type scans struct {
	ws          *workspace.Workspace
	bindings    *binding.Bindings
	catalog     *catalog
	transcripts *transcripts
	forks       *forks
}

func scannedName(agent string) string { return fmt.Sprintf("scanned/%s.json", agent) }

func (sc *scans) read(agent string) scanned {
	var l scanned
	if !readCached(sc.ws.Store, scannedName(agent), &l) || l.At == nil || l.All != sc.ws.Config.CapturesAll() {
		l = scanned{At: map[string]lookedOnce{}, All: sc.ws.Config.CapturesAll()}
	}
	now := git.State(sc.ws.Store.Root())
	l.moved, l.stale, l.Git = l.Seen != sc.ws.Index.Seen(), l.Git != now, now
	return l
}

// needsLook reports whether a session with these properties must be checked. Our own
// sessions need another look if git may have replaced logs.
func (sc *scans) needsLook(agent inject.Agent, n inject.SessionRef, l *scanned, look string) bool {
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
		return was.In == "" || was.In != sc.catalog.namedIn(agent.Name(), n.NativeID)
	case sc.catalog.namedIn(agent.Name(), n.NativeID) != "":
		return true
	}
	roots := sc.transcripts.rootsOf(agent, n.Path)
	if len(roots) == 0 {
		return true
	}
	ours, err := sc.forks.firstLines(agent)
	return err != nil || ours[roots[0]] // it may be a fork of a session captured since
}

// add records that a session was checked.
func (l *scanned) add(agent inject.Agent, n inject.SessionRef, now lookedOnce) {
	if now.Look == "" && !bundles(agent) {
		delete(l.At, n.Path) // written just now: it may change without looking different
		return
	}
	now.Updated = n.Updated.UnixNano()
	l.At[n.Path] = now
	l.fresh = append(l.fresh, n)
}

// write saves the results.
func (sc *scans) write(agent inject.Agent, l scanned) {
	if len(l.fresh) == 0 && !l.moved && !l.stale {
		return
	}
	all, err := sc.ws.Index.Written() // including those that have just begun
	if err != nil {
		return
	}
	named := namedAmong(all)
	for _, n := range l.fresh {
		row := l.At[n.Path]
		row.In = named[sessionID{agent.Name(), n.NativeID}]
		if b, ok := sc.bindings.Cached(agent.Name(), n.NativeID); ok && len(b.Segments) > 0 {
			row.Roots = b.Roots
		}
		l.At[n.Path] = row
	}
	l.Seen = sc.ws.Index.Seen()
	writeCached(sc.ws.Store, scannedName(agent.Name()), l)
}

// foreignName is the cache file with the foreign sessions.
const foreignName = "foreign.json"

// foreignSessions are those that no conversation lists as a source, so that other projects'
// sessions on this machine do not make each command read all conversations. They are
// forgotten when conversations come or go, or git may have changed some.
type foreignSessions struct {
	Seen string          `json:"seen"` // the conversations that existed
	Git  string          `json:"git"`  // what git had checked out
	Are  map[string]bool `json:"are"`  // by agent and id

	fresh bool // some were added
}

func (sc *scans) foreign() *foreignSessions {
	known, now := new(foreignSessions), &foreignSessions{Seen: sc.catalog.seen(), Git: git.State(sc.ws.Store.Root()), Are: map[string]bool{}}
	if readCached(sc.ws.Store, foreignName, known) && known.Seen == now.Seen && known.Git == now.Git && known.Are != nil {
		return known
	}
	return now
}

// isForeign reports whether a session is known to be foreign. One that was bound since then is
// not.
func (sc *scans) isForeign(known *foreignSessions, n sessionID) bool {
	if !known.Are[n.agent+" "+n.id] {
		return false
	}
	b, ok := sc.bindings.Cached(n.agent, n.id)
	return !ok || len(b.Segments) == 0
}

func (known *foreignSessions) add(n sessionID) { known.Are[n.agent+" "+n.id], known.fresh = true, true }

func (sc *scans) keepForeign(known *foreignSessions) {
	if known.fresh {
		writeCached(sc.ws.Store, foreignName, known)
	}
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

// bundles reports whether the agent keeps several transcripts in one file.
func bundles(agent inject.Agent) bool {
	_, ok := agent.(inject.Bundler)
	return ok
}
