package program

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"cortext/inject"
)

// sessionID matches what is safe to pass to the program as a session id.
var sessionID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ses_[0-9A-Za-z]+$`) })

// deleteTime limits all of Delete. On a slow machine, each of its two runs of the
// program takes 3 s.
const deleteTime = time.Minute

// Delete has the program delete a session. An already deleted session is no error.
func Delete(ctx context.Context, m inject.Machine, nativeID string) error {
	if !sessionID().MatchString(nativeID) {
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
	ctx, cancel := context.WithTimeout(ctx, deleteTime)
	defer cancel()
	var errs bytes.Buffer
	args := append(v.pure(), "session", "delete", nativeID)
	cmd := exec.CommandContext(ctx, program, args...)
	// Deleting a session does not need its project's folder (1.18.33).
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = m.Home, &errs, time.Second
	err = cmd.Run()
	if err == nil || strings.Contains(errs.String(), "ession not found") { // the program reports it in no other way
		return nil
	}
	return fmt.Errorf("%s %s: %w: %.300s", program, strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
}
