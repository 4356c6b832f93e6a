package capture

import (
	"maps"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
)

// forks recognizes sessions that begin with the lines of another session. It binds a fork
// only after it has captured all of the original, so the lines that both share are in a
// conversation once.
type forks struct {
	ws          *workspace.Workspace
	bindings    *binding.Bindings
	binder      *Binder
	launches    *launches
	catalog     *catalog
	transcripts *transcripts
	withheld    *withheld
	capture     func(agent inject.Agent, nativeID string) // captures what was added to a session
}

// bindFork binds a session whose transcript begins with a line of one of ours. A fork
// repeats the lines of its original, from the beginning or from the last compaction
// (Claude Code 2.1.329). If the session already has segments, only the lines before them
// can belong to a fork.
func (f *forks) bindFork(n nativeSession, b *binding.Binding) error {
	var roots []string
	if n.opened != nil {
		roots = n.opened.Roots
	} else {
		roots = f.transcripts.rootsOf(n.agent, n.transcript)
	}
	if len(roots) == 0 {
		return nil // it is still empty
	}
	b.Roots = roots[:1]
	later := len(b.Segments) > 0
	if at, ok := f.launches.launchedWith(n.agent.Name(), roots[0]); ok && !later {
		return f.binder.ContinueIn(n.agent, inject.Event{NativeID: n.id, Transcript: n.transcript}, b, at)
	}
	if is, err := f.withheld.repeatedBy(n, roots[0]); err != nil {
		return err
	} else if is {
		b.Segments = slices.Insert(b.Segments, 0, binding.Segment{Removed: true})
		b.Current = len(b.Segments) - 1
		return nil
	}
	if later || !f.isPossible(n.agent, roots[0]) {
		return nil
	}
	if err := f.captureOriginals(n.agent, roots[0]); err != nil {
		return err
	}
	shared, stopped := f.shared(n, roots[0])
	for _, s := range shared {
		copied := binding.Segment{Segment: registry.Segment{Path: s.Path, ID: s.ID, After: s.After, Fork: true, Resumed: s.Resumed}}
		if len(b.Segments) > 0 {
			copied.From = binding.MessageFrom + s.Start // a fork gives its copies new prompt ids
		}
		if s.Removed {
			copied.Removed = true
			b.Segments = append(b.Segments, copied)
			continue
		}
		if err := f.binder.addSource(copied, schema.Source{Agent: n.agent.Name(), NativeID: n.id}); err != nil {
			return err
		}
		b.Segments = append(b.Segments, copied)
	}
	b.Current, b.Stopped = max(len(b.Segments)-1, 0), stopped
	return nil
}

// maxOriginals limits how many sessions missing from the cache are checked.
const maxOriginals = 200

// captureOriginals loads into the cache the possible originals of a fork that begins with
// the line root. It also captures what was added to them, because the fork may repeat it.
func (f *forks) captureOriginals(agent inject.Agent, root string) error {
	all, err := f.catalog.entries()
	if err != nil {
		return err
	}
	looked := 0
	defer f.transcripts.heads.write()
	files, known := f.transcripts.locate(agent), f.bindings.All(agent.Name())
	for _, e := range all { // most recently active first
		for _, src := range e.Session.Sources {
			b := known[schema.PathElement(src.NativeID)]
			if src.Agent != agent.Name() || looked == maxOriginals || b != nil && (!slices.Contains(b.Roots, root) || !b.Grown(agent)) {
				continue
			}
			file, ok := f.transcripts.find(agent, files, src.NativeID)
			if !ok {
				continue
			}
			if looked++; !slices.Contains(f.transcripts.rootsOf(agent, file), root) {
				continue
			}
			if f.ws.Removed.Skipped(agent.Name(), src.NativeID) {
				f.bindSkipped(agent, src.NativeID, root)
			} else {
				f.capture(agent, src.NativeID)
			}
		}
	}
	return nil
}

// bindSkipped loads into the cache the conversation that a skipped session went into
// before. It captures nothing.
func (f *forks) bindSkipped(agent inject.Agent, nativeID, root string) {
	if b, err := f.binder.Bind(agent, nativeID, ""); err == nil {
		b.Roots = []string{root}
		f.bindings.SaveCursor(agent.Name(), nativeID, b)
	}
}

// shared returns the segments of a fork's original up to the fork, or none if the original
// is not one of our sessions, and whether the user stopped the last of them. If several
// sessions begin alike because one is a fork of the other, it picks the one with which the
// fork shares most of its last lines.
func (f *forks) shared(n nativeSession, root string) (segments []binding.Segment, stopped bool) {
	known := f.bindings.All(n.agent.Name())
	delete(known, schema.PathElement(n.id))
	for name, b := range known {
		if !b.Captured() || !slices.Contains(b.Roots, root) {
			delete(known, name)
		}
	}
	if len(known) == 0 {
		return nil, false
	}
	lines := lastLines(n.agent, n.transcript)
	var best *binding.Binding
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
	return best.Segments[:last+1], best.Stopped && best.Current == last // later segments are not part of the fork
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

// isPossible reports whether a session that begins with the line root may be a fork of one
// of ours. It can rule that out only during a scan.
func (f *forks) isPossible(agent inject.Agent, root string) bool {
	if f.catalog.scan == nil {
		return true
	}
	known, err := f.firstLines(agent)
	if err != nil || known[root] {
		return true
	}
	known[root] = true // the next session with this root may be a fork of this one
	return false
}

// firstLines returns the lines that forks of our sessions may begin with.
func (f *forks) firstLines(agent inject.Agent) (map[string]bool, error) {
	if known := f.catalog.scan.roots[agent.Name()]; known != nil {
		return known, nil
	}
	named, err := f.catalog.scan.named()
	if err != nil {
		return nil, err
	}
	known, files, bound := map[string]bool{}, f.transcripts.locate(agent), map[string]bool{}
	note := func(roots []string) {
		for _, root := range roots {
			known[root] = true
		}
	}
	looked := map[string]bool{}
	for id, file := range files {
		row, ok := f.catalog.scan.scanned[agent.Name()].At[file]
		if note(row.Roots); ok && (row.Left || len(row.Roots) > 0) && lookAt(agent, file) == row.Look {
			looked[schema.PathElement(id)] = true
		}
	}
	for _, name := range f.bindings.Names(agent.Name()) {
		if looked[name] {
			continue
		}
		if b, ok := f.bindings.Named(agent.Name(), name); ok {
			if bound[name] = true; len(b.Segments) > 0 {
				note(b.Roots)
			}
		}
	}
	for of := range named {
		name := schema.PathElement(of.id)
		if of.agent != agent.Name() || bound[name] || looked[name] {
			continue
		}
		if file, ok := f.transcripts.find(agent, files, of.id); ok {
			note(f.transcripts.rootsOf(agent, file))
		}
	}
	f.catalog.scan.roots[agent.Name()] = known
	return known, nil
}
