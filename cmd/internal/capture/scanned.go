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

// scanned is what the cache knows of sessions that were looked at. One that has not changed
// since needs no second look, also where conversations have come and gone, if none of them
// is of this session.
type scanned struct {
	Seen string                `json:"seen"` // the conversations that there were
	Git  string                `json:"git"`  // what git had put into the work tree
	At   map[string]lookedOnce `json:"at"`   // by the path of the transcript; some agents split a session over files
	All  bool                  `json:"all"`  // ordinary sessions began conversations, too

	stale bool            // git may have replaced logs since
	moved bool            // conversations have come or gone since
	fresh []inject.Native // looked at just now
}

// A lookedOnce says how a session was when it was looked at, and what came of it.
type lookedOnce struct {
	Updated int64  `json:"updated"` // in nanoseconds
	Look    string `json:"look"`    // of its files, where it has some of its own
	In      string `json:"in"`      // the conversations that name it as their source
	Left    bool   `json:"left"`    // no command began it, who adopts looks again

	Roots []string `json:"roots,omitempty"` // of one that is ours: lines that a fork of it may begin with
}

func scannedName(agent string) string { return fmt.Sprintf("scanned/%s.json", agent) }

func (c *Capture) readScanned(agent string) scanned {
	var l scanned
	if !c.readCached(scannedName(agent), &l) || l.At == nil || l.All != c.all() {
		l = scanned{At: map[string]lookedOnce{}, All: c.all()}
	}
	now := git.State(c.ws.Store.Root())
	l.moved, l.stale, l.Git = l.Seen != c.ws.Seen(), l.Git != now, now
	return l
}

// needsLook reports whether a session that looks so must be looked at. One that is ours
// must be after git may have replaced logs.
func (c *Capture) needsLook(agent inject.Agent, n inject.Native, l *scanned, look string) bool {
	was, ok := l.At[n.Path]
	if !ok || n.Updated.IsZero() || was.Updated != n.Updated.UnixNano() || was.Look != look || look == "" && agent.Transcripts == nil {
		return true
	}
	switch {
	case !was.Left && l.stale:
		return true
	case !l.moved:
		return false
	case !was.Left:
		return was.In == "" || was.In != c.namedIn(agent.Name, n.NativeID)
	case c.namedIn(agent.Name, n.NativeID) != "":
		return true
	}
	roots := c.rootsOf(agent, n.Path)
	if len(roots) == 0 {
		return true
	}
	ours, err := c.rootsOfOurs(agent)
	return err != nil || ours[roots[0]] // it may be a fork of a session that was captured since
}

// namedIn are the conversations that name a session as their source, each in a line; empty
// where they are not known.
func (c *Capture) namedIn(agent, nativeID string) string {
	named, err := c.scan.named()
	if err != nil {
		return ""
	}
	return named[native{agent, nativeID}]
}

// add notes that a session was looked at.
func (l *scanned) add(agent inject.Agent, n inject.Native, now lookedOnce) {
	if now.Look == "" && agent.Transcripts == nil {
		delete(l.At, n.Path) // written just now: it may change and look the same
		return
	}
	now.Updated = n.Updated.UnixNano()
	l.At[n.Path] = now
	l.fresh = append(l.fresh, n)
}

// writeScanned remembers what was looked at.
func (c *Capture) writeScanned(agent inject.Agent, l scanned) {
	if len(l.fresh) == 0 && !l.moved && !l.stale {
		return
	}
	all, err := c.ws.Store.List() // with those that have begun just now
	if err != nil {
		return
	}
	named := namedAmong(all)
	for _, n := range l.fresh {
		row := l.At[n.Path]
		row.In = named[native{agent.Name, n.NativeID}]
		if b, ok := c.cached(agent.Name, n.NativeID); ok && len(b.Segments) > 0 {
			row.Roots = b.Roots
		}
		l.At[n.Path] = row
	}
	l.Seen = c.ws.Seen()
	c.writeCached(scannedName(agent.Name), l)
}

// lookAt tells how a transcript looks, with those of its sub-agents; "" if it is not a file
// of its own, or may still change without looking another way.
func lookAt(agent inject.Agent, file string) string {
	if agent.Transcripts != nil {
		return "" // a store of many
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

// lastWritten is when a session was written last, or one of its sub-agents.
func lastWritten(agent inject.Agent, n inject.Native) time.Time {
	at := n.Updated
	if agent.Transcripts != nil {
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

// namedAmong are the sources of conversations, with the paths of these.
func namedAmong(all []store.Entry) map[native]string {
	named := map[native]string{}
	for _, e := range slices.SortedFunc(slices.Values(all), func(a, b store.Entry) int { return strings.Compare(a.Path, b.Path) }) {
		for _, src := range e.Session.Sources {
			named[native{src.Agent, src.NativeID}] += e.Path + " " + src.From + " " + src.After + "\n"
		}
	}
	return named
}
