package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"cortext/inject"
)

// sessionID matches what may be given to the program as the id of a session.
var sessionID = regexp.MustCompile(`^ses_[0-9A-Za-z]+$`)

// discardTime bounds all that Discard does; on a slow machine each of its three runs
// of the program takes 3 s.
const discardTime = time.Minute

// Discard removes a session that a launch had imported and in which nothing was
// said: it makes sure that there is nothing in it but the payload. A session that is
// gone already is no error.
func Discard(ctx context.Context, m inject.Machine, nativeID string) error {
	if !sessionID.MatchString(nativeID) {
		return fmt.Errorf("%q is no session id of OpenCode's", nativeID)
	}
	program, err := find(m)
	if err != nil {
		return err
	}
	v, err := probe(program)
	if err != nil {
		return err
	}
	if !v.atLeast(deletes) {
		return fmt.Errorf("OpenCode %s cannot delete a session by command: remove %s in its list of sessions", v, nativeID)
	}
	ctx, cancel := context.WithTimeout(ctx, discardTime)
	defer cancel()
	var gone *goneError
	switch ours, err := onlyPayload(ctx, m, program, v, nativeID); {
	case errors.As(err, &gone):
		return nil
	case err != nil:
		return err
	case !ours:
		return fmt.Errorf("the OpenCode session %s holds more than was put there: it stays", nativeID)
	}
	if err := run(ctx, m, nil, program, append(v.pure(), "session", "delete", nativeID)...); err != nil && !errors.As(err, &gone) {
		return err
	}
	return nil
}

// onlyPayload reports whether a session has one message, and that is a payload.
func onlyPayload(ctx context.Context, m inject.Machine, program string, v version, nativeID string) (bool, error) {
	file, err := os.CreateTemp("", "cortext-export-") // through a pipe it is cut: FACTS.md, "What is lost without a word"
	if err != nil {
		return false, err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	if err := run(ctx, m, file, program, append(v.pure(), "export", nativeID)...); err != nil {
		return false, err
	}
	b, err := os.ReadFile(file.Name())
	if err != nil {
		return false, err
	}
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		return false, fmt.Errorf("the export of the OpenCode session %s cannot be read: %w", nativeID, err)
	}
	if d.Info.ID != nativeID || len(d.Messages) != 1 || len(d.Messages[0].Parts) != 1 {
		return false, nil
	}
	return IsPayloadMessage(d.Messages[0].Info.ID, d.Messages[0].Parts[0].Text), nil
}

// A goneError says that a session is not there.
type goneError struct{ error }

// run runs the program in the user's home folder: for a session its project's folder
// is not needed (1.18.33).
func run(ctx context.Context, m inject.Machine, out *os.File, program string, args ...string) error {
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = m.Home, &errs, time.Second
	if out != nil {
		cmd.Stdout = out
	}
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if said := errs.String(); strings.Contains(said, "ession not found") { // the program tells it in no other way
		return &goneError{err}
	}
	return fmt.Errorf("%s %s: %w: %.300s", program, strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
}
