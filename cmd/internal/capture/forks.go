package capture

import (
	"context"
	"maps"
	"slices"

	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// headBytes is how much of a transcript is read to find its first line.
const headBytes = 1 << 20

// adoptFork binds a session whose transcript begins with a line of one of ours. A fork
// repeats the lines of its original, from the beginning or from the last compaction
// (Claude Code 2.1.329). If the session already has segments, only the lines before them
// can belong to a fork.
func (c *Capture) adoptFork(agent inject.Agent, nativeID, transcript string, b *Binding) error {
	roots := c.opened.roots
	if c.opened.file != transcript {
		roots = c.rootsOf(agent, transcript)
	}
	if len(roots) == 0 {
		return nil // it is still empty
	}
	b.Roots = roots[:1]
	later := len(b.Segments) > 0
	if path, ok := c.LaunchedWith(agent.Name(), roots[0]); ok && !later {
		return c.ContinueIn(agent, inject.Event{NativeID: nativeID, Transcript: transcript}, b, path)
	}
	if is, err := c.withheld(agent, nativeID, roots[0], transcript); err != nil {
		return err
	} else if is {
		b.Segments = slices.Insert(b.Segments, 0, Segment{Removed: true})
		b.Current = len(b.Segments) - 1
		return nil
	}
	if later || !c.mayBeFork(agent, roots[0]) {
		return nil
	}
	if err := c.warmBindings(agent, roots[0]); err != nil {
		return err
	}
	for _, s := range c.forkedFrom(agent, nativeID, roots[0], transcript) {
		copied := Segment{Segment: registry.Segment{Path: s.Path, ID: s.ID, After: s.After, Fork: true, Kept: s.Kept}}
		if len(b.Segments) > 0 {
			copied.From = messageFrom + s.Start // a fork gives its copies new prompt ids
		}
		if s.Removed {
			copied.Removed = true
			b.Segments = append(b.Segments, copied)
			continue
		}
		if err := c.addSource(copied, schema.Source{Agent: agent.Name(), NativeID: nativeID}); err != nil {
			return err
		}
		b.Segments = append(b.Segments, copied)
	}
	b.Current = max(len(b.Segments)-1, 0)
	return nil
}

// ContinueIn makes a session continue in a conversation, after its last message. The user
// asks for this. If the conversation was removed, this session is captured into it again;
// its earlier sessions stay removed.
func (c *Capture) ContinueIn(agent inject.Agent, e inject.Event, b *Binding, path string) error {
	s := Segment{Segment: registry.Segment{Path: path}}
	if len(b.Segments) > 0 {
		s.From = c.From(e)
	}
	entry, err := c.ws.Entry(path)
	if err != nil {
		return err
	}
	s.ID = entry.Session.ID
	if s.Kept, err = c.ws.Removed.Segment(agent.Name(), e.NativeID, s.Segment); err != nil {
		return err
	}
	if s.After, err = c.leaf(path); err != nil {
		return err
	}
	if err := c.addSource(s, schema.Source{Agent: agent.Name(), NativeID: e.NativeID, Version: b.Version}); err != nil {
		return err
	}
	b.Add(s)
	if e.Transcript != "" {
		b.Transcript = e.Transcript
	}
	return c.Save(agent.Name(), e.NativeID, b)
}

// leaf returns the id of the message at which a conversation would be resumed.
func (c *Capture) leaf(path string) (string, error) {
	conv, err := c.ws.Conversation(path)
	if err != nil {
		return "", err
	}
	defer conv.Close()
	h, _, err := conv.History(store.Limit{Messages: 1})
	if err != nil || len(h.Messages) == 0 {
		return "", err
	}
	return h.Messages[len(h.Messages)-1].ID, nil
}

// RootsOf reads the beginning of a transcript and returns the lines that follow no other.
func RootsOf(agent inject.Agent, transcript string) ([]string, error) {
	head, err := agent.Open(transcript, inject.Options{Head: headBytes})
	if err != nil {
		return nil, err
	}
	return head.Roots, head.Close()
}

// RootsOfSource returns the lines with which a fork of a session may begin.
func (c *Capture) RootsOfSource(name, nativeID string) []string {
	if b, ok := c.cached(name, nativeID); ok && len(b.Roots) > 0 {
		return b.Roots
	}
	agent, ok := c.ws.Env.Agent(name)
	if !ok {
		return nil
	}
	file, ok, _ := agent.Locate(c.ws.Env.Machine, nativeID)
	if !ok {
		return nil
	}
	return c.rootsOf(agent, file)
}

// maxCold limits how many sessions missing from the cache are looked at.
const maxCold = 200

// warmBindings loads into the cache the sessions that a fork beginning with the line root
// may have been made from, and captures what was added to them: the fork may repeat it.
func (c *Capture) warmBindings(agent inject.Agent, root string) error {
	all, err := c.entries()
	if err != nil {
		return err
	}
	looked := 0
	defer c.writeHeads()
	files, known := c.locate(agent), c.bindings(agent.Name())
	for _, e := range all { // most recently active first
		for _, src := range e.Session.Sources {
			b := known[schema.PathElement(src.NativeID)+".json"]
			if src.Agent != agent.Name() || looked == maxCold || b != nil && (!slices.Contains(b.Roots, root) || !b.Grown(agent)) {
				continue
			}
			file, ok := c.transcript(agent, files, src.NativeID)
			if !ok {
				continue
			}
			if looked++; !slices.Contains(c.rootsOf(agent, file), root) {
				continue
			}
			if c.ws.Removed.Skipped(agent.Name(), src.NativeID) {
				c.warmSkipped(agent, src.NativeID, root)
			} else {
				_, _ = c.Source(context.Background(), agent, src.NativeID, Options{}) // an error here is reported when that session is captured
			}
		}
	}
	return nil
}

// warmSkipped loads into the cache the conversation that a skipped session went into
// before. It captures nothing.
func (c *Capture) warmSkipped(agent inject.Agent, nativeID, root string) {
	if b, err := c.Bind(agent, nativeID, ""); err == nil {
		b.Roots = []string{root}
		c.saveCursor(agent.Name(), nativeID, b)
	}
}

// forkedFrom returns the segments, up to the fork, of our session that a fork was made
// from, or none if there is no such session. If several sessions begin alike because one
// is a fork of the other, it picks the one that shares the most of its last lines.
func (c *Capture) forkedFrom(agent inject.Agent, nativeID, root, transcript string) []Segment {
	known := c.bindings(agent.Name())
	delete(known, schema.PathElement(nativeID)+".json")
	for name, b := range known {
		if !b.Captured() || !slices.Contains(b.Roots, root) {
			delete(known, name)
		}
	}
	if len(known) == 0 {
		return nil
	}
	lines := lastLines(agent, transcript)
	var best *Binding
	most, last := -1, 0
	for _, name := range slices.Sorted(maps.Keys(known)) {
		b := known[name]
		shared, newest := 0, 0
		for _, a := range b.Cursor.Anchors {
			if lines[a.Line] {
				shared++
				newest = max(newest, b.SegmentOf[a.Message])
			}
		}
		if shared > most {
			best, most, last = b, shared, newest
		}
	}
	return best.Segments[:last+1] // later segments are not part of the fork
}

// lastLines returns the ids of the last lines of a transcript.
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

// mayBeFork reports whether a session that begins with the line root may be a fork of one
// of ours. It can rule that out only during a scan.
func (c *Capture) mayBeFork(agent inject.Agent, root string) bool {
	if c.scan == nil {
		return true
	}
	known, err := c.rootsOfOurs(agent)
	if err != nil || known[root] {
		return true
	}
	known[root] = true // the next session with this root may be a fork of this one
	return false
}

// rootsOfOurs returns the lines with which forks of our sessions may begin.
func (c *Capture) rootsOfOurs(agent inject.Agent) (map[string]bool, error) {
	if known := c.scan.roots[agent.Name()]; known != nil {
		return known, nil
	}
	named, err := c.scan.named()
	if err != nil {
		return nil, err
	}
	known, files, bound := map[string]bool{}, c.locate(agent), map[string]bool{}
	note := func(roots []string) {
		for _, root := range roots {
			known[root] = true
		}
	}
	looked := map[string]bool{}
	for id, file := range files {
		row, ok := c.scan.scanned[agent.Name()].At[file]
		if note(row.Roots); ok && (row.Left || len(row.Roots) > 0) && lookAt(agent, file) == row.Look {
			looked[schema.PathElement(id)+".json"] = true
		}
	}
	for _, name := range c.ws.Store.ListCache("bindings/" + agent.Name()) {
		if looked[name] {
			continue
		}
		if b, ok := c.cachedAt("bindings/" + agent.Name() + "/" + name); ok {
			if bound[name] = true; len(b.Segments) > 0 {
				note(b.Roots)
			}
		}
	}
	for of := range named {
		name := schema.PathElement(of.id) + ".json"
		if of.agent != agent.Name() || bound[name] || looked[name] {
			continue
		}
		if file, ok := c.transcript(agent, files, of.id); ok {
			note(c.rootsOf(agent, file))
		}
	}
	c.scan.roots[agent.Name()] = known
	return known, nil
}
