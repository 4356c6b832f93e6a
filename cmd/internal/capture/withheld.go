package capture

import (
	"errors"
	"maps"
	"slices"

	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
)

// withheld knows what the user does not want saved, and which forks repeat it. If that
// cannot be determined, a fork counts as repeating it.
type withheld struct {
	ws          *workspace.Workspace
	catalog     *catalog
	transcripts *transcripts
}

// skip stops capturing a session, and the parts of it that its forks repeat.
func (w *withheld) skip(agent inject.Agent, nativeID string) error {
	err := w.ws.Removed.Skip(agent.Name(), nativeID)
	if err == nil {
		w.rootsOfSkipped(agent, nativeID)
	}
	return err
}

// rootsOfSkipped finds and stores the lines that a fork of a skipped session may begin
// with: agents delete old transcripts but keep their forks.
func (w *withheld) rootsOfSkipped(agent inject.Agent, nativeID string) []string {
	file, ok, _ := agent.Locate(w.ws.Env.Machine, nativeID) // if it cannot be read, the next look finds it
	if !ok {
		return nil // it is still empty
	}
	roots := w.transcripts.rootsOf(agent, file)
	if len(roots) > 0 {
		// If this fails, the next look only takes longer.
		_ = w.ws.Registry.Sessions.Update(agent.Name(), nativeID, func(s *registry.Session) { s.Roots = roots })
	}
	return roots
}

// repeatedBy reports whether a session whose transcript begins with the line root is a
// fork of a session that the user removed or skipped, and repeats content the user does
// not want here.
func (w *withheld) repeatedBy(n nativeSession, root string) (bool, error) {
	known, err := w.ws.Registry.Sessions.Get(n.agent.Name(), n.id)
	if err != nil || known.Wanted {
		return false, err
	}
	unwanted, err := w.of(n.agent)
	if err != nil {
		return false, err
	}
	if w.ws.Removed.Fork(n.agent.Name(), root, unwanted.removed[root]) {
		return true, nil
	}
	skipped := slices.DeleteFunc(slices.Clone(unwanted.skipped[root]), func(name string) bool { return name == schema.PathElement(n.id) })
	if len(skipped) == 0 {
		return false, nil
	}
	have, err := w.capturedWith(n.agent, root)
	if err != nil {
		return false, err
	}
	return w.sharesUncaptured(n, skipped, have), nil
}

// An unwanted lists the sessions of an agent that the user does not want saved, by their
// first lines.
type unwanted struct {
	skipped map[string][]string         // session names
	removed map[string][]registry.Place // where the removed conversations were
}

// of lists the unwanted sessions of an agent, once per scan.
func (w *withheld) of(agent inject.Agent) (unwanted, error) {
	if w.catalog.scan != nil {
		if u, ok := w.catalog.scan.unwanted[agent.Name()]; ok {
			return u, nil
		}
	}
	u := unwanted{map[string][]string{}, map[string][]registry.Place{}}
	err := w.ws.Registry.Sessions.Each(agent.Name(), func(name string, s registry.Session) {
		for _, r := range s.Removed {
			for _, line := range r.Roots {
				u.removed[line] = append(u.removed[line], r.Place)
			}
		}
		if !s.Skipped {
			return
		}
		if len(s.Roots) == 0 {
			s.Roots = w.rootsOfSkipped(agent, name)
		}
		for _, line := range s.Roots {
			u.skipped[line] = append(u.skipped[line], name)
		}
	})
	if err == nil && w.catalog.scan != nil {
		w.catalog.scan.unwanted[agent.Name()] = u
	}
	return u, err
}

// sharesUncaptured reports whether a transcript repeats messages of these sessions that are
// in no conversation. It may repeat what was captured before the user skipped the session.
// If a transcript cannot be read, it is assumed to repeat them.
func (w *withheld) sharesUncaptured(n nativeSession, sessions []string, have map[string]bool) bool {
	private := map[string]bool{}
	for _, id := range sessions {
		file, ok, _ := n.agent.Locate(w.ws.Env.Machine, id)
		if !ok || eachID(n.agent, file, func(m string) { private[m] = !have[m] }) != nil {
			return true
		}
	}
	found := false
	err := eachID(n.agent, n.transcript, func(m string) { found = found || private[m] })
	return found || err != nil
}

// capturedWith returns the ids of the messages in the conversations of sessions that
// begin with a given line.
func (w *withheld) capturedWith(agent inject.Agent, root string) (map[string]bool, error) {
	all, err := w.catalog.entries()
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, e := range all {
		if !slices.ContainsFunc(e.Session.Sources, func(src schema.Source) bool {
			return src.Agent == agent.Name() && slices.Contains(w.transcripts.rootsOfSource(agent.Name(), src.NativeID), root)
		}) {
			continue
		}
		conv, err := w.ws.Open(e)
		if err != nil {
			return nil, err
		}
		ids, err := conv.MessageIDs()
		if err = errors.Join(err, conv.Close()); err != nil {
			return nil, err
		}
		maps.Copy(have, ids)
	}
	return have, nil
}

// eachID calls f with the id of each message of a transcript.
func eachID(agent inject.Agent, transcript string, f func(id string)) error {
	t, err := agent.Open(transcript, inject.Options{})
	if err != nil {
		return err
	}
	defer t.Close()
	return eachMessage(t, func(m schema.Message) { f(m.ID) })
}

// want records that the user asked for a session by name, so that it is captured although
// it repeats withheld content.
func (w *withheld) want(agent inject.Agent, t *inject.Transcript, transcript string) error {
	if len(t.Roots) == 0 {
		return nil
	}
	if is, err := w.repeatedBy(nativeSession{agent: agent, id: t.NativeID, transcript: transcript}, t.Roots[0]); err != nil || !is {
		return err
	}
	return w.ws.Registry.Sessions.Update(agent.Name(), t.NativeID, func(s *registry.Session) { s.Wanted = true })
}
