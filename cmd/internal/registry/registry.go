// Package registry records, for this user on this machine, which conversations the agents'
// native sessions belong to, which sessions the user does not want saved, and which
// belonged to a removed conversation.
//
// It survives what git does to a work tree, and applies to every work tree and clone on
// the machine. It contains ids and paths, never content.
package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/schema"
	"cortext/store/atomicfile"
	"cortext/store/filelock"
)

// A Registry is the folder cortext below $XDG_STATE_HOME or ~/.local/state.
type Registry struct{ dir string }

// In returns the registry below a state folder.
func In(state string) Registry { return Registry{filepath.Join(state, "cortext")} }

// A Place identifies a workspace, and relates the work trees and clones of one
// repository.
type Place struct {
	Workspace  string   `json:"workspace"`            // absolute path of its folder
	Repository string   `json:"repository,omitempty"` // absolute path of git's common folder; work trees share it
	Within     string   `json:"within,omitempty"`     // the workspace, relative to the top of its work tree
	Commits    []string `json:"commits,omitempty"`    // root commits of the repository, if known; clones share them
}

// Same reports whether two places are the same workspace, or the same workspace in
// another work tree or clone of the repository.
func (p Place) Same(o Place) bool {
	if p.Workspace == o.Workspace {
		return true
	}
	if p.Within != o.Within {
		return false
	}
	return p.Repository != "" && p.Repository == o.Repository ||
		slices.ContainsFunc(p.Commits, func(c string) bool { return slices.Contains(o.Commits, c) })
}

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
	Path  string `json:"path"`            // of the conversation, relative to the workspace
	ID    string `json:"id"`              // of the conversation
	From  string `json:"from,omitempty"`  // the prompt that it begins with; empty: the session's beginning
	After string `json:"after,omitempty"` // the conversation's message that its first message follows
	Fork  bool   `json:"fork,omitempty"`  // it repeats messages of another session of the conversation
	Kept  bool   `json:"kept,omitempty"`  // the user resumed the conversation after its removal
}

// A Removal is a segment whose conversation the user removed.
type Removal struct {
	Place
	Segment
	Roots []string `json:"roots,omitempty"` // lines with which a fork of the session may begin
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

func (r Registry) folder(agent string) string { return filepath.Join(r.dir, "sessions", agent) }

func (r Registry) file(agent, nativeID string) string {
	return filepath.Join(r.folder(agent), schema.PathElement(nativeID)+".json")
}

// Session returns what is known about a session, or the zero value. An unreadable file is
// an error, because it may hold a decision of the user.
func (r Registry) Session(agent, nativeID string) (s Session, err error) {
	return readSession(r.file(agent, nativeID))
}

func readSession(file string) (s Session, err error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return s, nil // most sessions are unknown: a stat costs less than an open
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil && len(bytes.Trim(b, "\x00\n")) == 0 {
		return s, nil // lost to a power cut before it was on disk: it held no decision of the user
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		return Session{}, fmt.Errorf("%s: %w: mend the file or delete it", file, err)
	}
	return s, nil
}

// Sessions calls f with every known session of an agent. An unreadable file may hold a
// decision of the user: the error names it, after the others were read.
func (r Registry) Sessions(agent string, f func(nativeName string, s Session)) error {
	entries, err := os.ReadDir(r.folder(agent))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		s, err := readSession(filepath.Join(r.folder(agent), e.Name()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f(name, s)
	}
	return errors.Join(errs...)
}

// removedFile names the file of a conversation's removal.
func (r Registry) removedFile(key string) string {
	return filepath.Join(r.dir, "removed", schema.PathElement(key)+".json")
}

// Remove records that the user removed a conversation, by its id key, from the workspace
// at a place. This includes the messages of sessions that are unknown here.
func (r Registry) Remove(key string, p Place) error {
	return r.locked(func() error {
		places, err := r.removedFrom(key)
		if err != nil {
			return err
		}
		b, err := json.Marshal(append(places, p))
		if err != nil {
			return err
		}
		return r.write(r.removedFile(key), b)
	})
}

// BringBack undoes a Remove.
func (r Registry) BringBack(key string, same func(Place) bool) error {
	return r.locked(func() error {
		places, err := r.removedFrom(key)
		if err != nil || len(places) == 0 {
			return err
		}
		places = slices.DeleteFunc(places, same)
		if len(places) == 0 {
			return os.Remove(r.removedFile(key))
		}
		b, err := json.Marshal(places)
		if err != nil {
			return err
		}
		return r.write(r.removedFile(key), b)
	})
}

// Removed reports whether the user removed a conversation from a workspace.
func (r Registry) Removed(key string, same func(Place) bool) (bool, error) {
	places, err := r.removedFrom(key)
	return slices.ContainsFunc(places, same), err
}

// AnyRemoved reports whether the user removed any conversation on this machine.
func (r Registry) AnyRemoved() bool {
	files, err := os.ReadDir(filepath.Join(r.dir, "removed"))
	return len(files) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist)
}

func (r Registry) removedFrom(key string) (places []Place, err error) {
	file := r.removedFile(key)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // as most are: a stat costs less than an open
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &places)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: mend the file or delete it", file, err)
	}
	return places, nil
}

// byUser reports whether a session holds a decision of the user. Everything else can be
// found again, because the conversations' sources record it, too.
func (s *Session) byUser() bool { return s.Skipped || s.Wanted || len(s.Removed) > 0 }

// write replaces a file of the registry.
func (r Registry) write(name string, b []byte) error { return r.replace(name, b, atomicfile.Calls{}) }

func (r Registry) replace(name string, b []byte, calls atomicfile.Calls) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = calls.Replace(root, filepath.Base(name), append(b, '\n'), 0o600, ".")
	return err
}

// lockWait is how long a writer waits for another writer.
const lockWait = 5 * time.Second

// Update changes what is known about a session. It writes nothing if f changes nothing.
// It is safe for several processes at once.
func (r Registry) Update(agent, nativeID string, f func(*Session)) error {
	return r.locked(func() error {
		s, err := r.Session(agent, nativeID)
		if err != nil {
			return err
		}
		before, err := json.Marshal(s)
		if err != nil {
			return err
		}
		durable := s.byUser()
		f(&s)
		after, err := json.Marshal(s)
		if err != nil || string(before) == string(after) {
			return err
		}
		return r.replace(r.file(agent, nativeID), after, atomicfile.Calls{NoSync: !durable && !s.byUser()})
	})
}

// locked calls f while no other process changes the registry.
func (r Registry) locked(f func() error) error {
	if !filepath.IsAbs(r.dir) {
		return errNoHome
	}
	return filelock.With(filepath.Join(r.dir, "lock"), lockWait, f)
}
