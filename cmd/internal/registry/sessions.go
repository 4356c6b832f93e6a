package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cortext/schema"
	"cortext/store/atomicfile"
)

// Sessions are what is known about native sessions, by agent and native id.
type Sessions struct{ files files }

// folder returns the folder of an agent's sessions.
func (l Sessions) folder(agent string) string { return l.files.path("sessions", agent) }

func (l Sessions) file(agent, nativeID string) string {
	return filepath.Join(l.folder(agent), schema.PathElement(nativeID)+".json")
}

// Get returns what is known about a session, or the zero value. An unreadable file is
// an error, because it may hold a decision of the user.
func (l Sessions) Get(agent, nativeID string) (s Session, err error) {
	return readSession(l.file(agent, nativeID))
}

func readSession(file string) (s Session, err error) {
	b, err := readFile(file)
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

// Each calls f with every known session of an agent. An unreadable file may hold a
// decision of the user: the error names it, after the others were read.
func (l Sessions) Each(agent string, f func(nativeName string, s Session)) error {
	entries, err := os.ReadDir(l.folder(agent))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		s, err := readSession(filepath.Join(l.folder(agent), e.Name()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f(name, s)
	}
	return errors.Join(errs...)
}

// Update changes what is known about a session. It writes nothing if f changes nothing.
// It is safe for several processes at once.
func (l Sessions) Update(agent, nativeID string, f func(*Session)) error {
	return l.files.locked(func() error {
		s, err := l.Get(agent, nativeID)
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
		return l.files.replace(l.file(agent, nativeID), after, atomicfile.Calls{NoSync: !durable && !s.byUser()})
	})
}
