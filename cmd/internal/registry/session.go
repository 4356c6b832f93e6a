package registry

import "slices"

// A Session is what is known about one native session.
type Session struct {
	Skipped  bool      `json:"skipped,omitempty"` // the user does not want it saved anywhere
	Bindings []Binding `json:"bindings,omitempty"`
	Removed  []Removal `json:"removed,omitempty"`
	Roots    []string  `json:"roots,omitempty"`  // of a skipped session: lines that a fork of it may begin with
	Wanted   bool      `json:"wanted,omitempty"` // the user imported it by name, although it is a fork of a withheld session
}

// A Binding lists the conversations of a workspace that a native session goes into.
type Binding struct {
	Place
	Segments []Segment `json:"segments"`
}

// A Segment is the part of a native session that belongs to one conversation.
type Segment struct {
	Path    string `json:"path"`            // of the conversation, relative to the workspace
	ID      string `json:"id"`              // of the conversation
	From    string `json:"from,omitempty"`  // the prompt that it begins with; empty: the session's beginning
	After   string `json:"after,omitempty"` // the conversation's message that its first message follows
	Fork    bool   `json:"fork,omitempty"`  // it repeats messages of another session of the conversation
	Resumed bool   `json:"kept,omitempty"`  // the user resumed the conversation after its removal
}

// A Removal is a segment whose conversation the user removed.
type Removal struct {
	Place
	Segment
	Roots []string `json:"roots,omitempty"` // lines that a fork of the session may begin with
}

// In returns the segments of a session in the workspace at the places that same accepts.
func (s *Session) In(same func(Place) bool) []Segment {
	for _, b := range s.Bindings {
		if same(b.Place) {
			return b.Segments
		}
	}
	return nil
}

// RemovedIn returns what was removed from the workspace at the places that same accepts.
func (s *Session) RemovedIn(same func(Place) bool) (list []Removal) {
	for _, r := range s.Removed {
		if same(r.Place) {
			list = append(list, r)
		}
	}
	return list
}

// Bind sets the segments of a session in a place. They replace its segments in all places
// that same accepts.
func (s *Session) Bind(p Place, same func(Place) bool, segments []Segment) {
	for i := range s.Bindings {
		if same(s.Bindings[i].Place) {
			s.Bindings[i] = Binding{p, segments}
			return
		}
	}
	s.Bindings = append(s.Bindings, Binding{p, segments})
}

// Unbind drops the segments that match from the places that same accepts, and returns the
// bindings that had any, as they were. The session's other conversations stay bound,
// because a segment that a hook began may be identified by a time that no transcript
// contains.
func (s *Session) Unbind(same func(Place) bool, match func(Segment) bool) (had []Binding) {
	var left []Binding
	for _, b := range s.Bindings {
		if same(b.Place) && slices.ContainsFunc(b.Segments, match) {
			had = append(had, b)
			b.Segments = slices.DeleteFunc(slices.Clone(b.Segments), match)
		}
		if len(b.Segments) > 0 {
			left = append(left, b)
		}
	}
	s.Bindings = left
	return had
}

// byUser reports whether a session holds a decision of the user. Everything else can be
// found again, because the conversations' sources also record it.
func (s *Session) byUser() bool { return s.Skipped || s.Wanted || len(s.Removed) > 0 }
