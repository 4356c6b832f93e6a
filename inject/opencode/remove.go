package opencode

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cortext/inject"
)

// Remove removes a session that a launch imported, unless something was said in it.
func (a agent) Remove(ctx context.Context, m inject.Machine, nativeID string) error {
	path, ok, err := a.Locate(m, nativeID)
	if !ok || err != nil {
		return err
	}
	t, err := a.Open(path, inject.Options{})
	if err != nil {
		return err
	}
	if err := t.Close(); t.Messages > 0 || err != nil {
		return err
	}
	return deleteSession(ctx, m, nativeID)
}

// isSessionID reports whether an id is safe to pass to the program.
func isSessionID(id string) bool {
	rest, ok := strings.CutPrefix(id, "ses_")
	return ok && rest != "" && strings.Trim(rest, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}

// deleteTime limits all of deleteSession. On a slow machine, each of its two runs of the
// program takes 3 s.
const deleteTime = time.Minute

// deleteSession has the program delete a session. It is not an error if the session is
// already gone.
func deleteSession(ctx context.Context, m inject.Machine, nativeID string) error {
	if !isSessionID(nativeID) {
		return fmt.Errorf("%q is not an OpenCode session id", nativeID)
	}
	program, err := openCode.Find(m)
	if err != nil {
		return err
	}
	v, err := openCode.Version(program)
	if err != nil {
		return err
	}
	if !atLeast(v, deletes) {
		return fmt.Errorf("OpenCode %s cannot delete a session by command: remove %s in its list of sessions", v, nativeID)
	}
	ctx, cancel := context.WithTimeout(ctx, deleteTime)
	defer cancel()
	args := append(pure(v), "session", "delete", nativeID)
	// Deleting a session does not need its project's folder (1.18.33).
	stderr, err := inject.Run(ctx, m.Home, program, args...)
	if err == nil || strings.Contains(stderr, "ession not found") { // the program reports it in no other way
		return nil
	}
	return fmt.Errorf("%s %s: %w: %.300s", program, strings.Join(args, " "), err, strings.TrimSpace(stderr))
}
