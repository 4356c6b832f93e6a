package hook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/statusline"
	"cortext/inject"
)

// StatusLine is the event by which an agent asks for its status line.
const StatusLine = "StatusLine"

// Limits of the user's own status line, which is a program of theirs.
const (
	ownTime  = 2 * time.Second
	ownBytes = 4 << 10
)

// statusLine prints the user's own status line, and ours below it. Outside of a workspace
// it prints only the user's.
func (p Program) statusLine(ctx context.Context, agent inject.Agent, input []byte) {
	liner, ok := agent.(inject.StatusLiner)
	if !ok {
		return
	}
	if own := ownLine(ctx, liner.UserStatusLine(p.Machine), input); own != "" {
		fmt.Fprintln(p.Out, own)
	}
	s, err := liner.Status(p.Machine, input)
	if err != nil || s.Dir == "" {
		return // an agent shows no reason
	}
	w := p.open(s.Dir, StatusLine)
	if w == nil {
		return
	}
	defer w.Close()
	fmt.Fprintln(p.Out, statusline.Line(w, capture.New(w), agent, s))
}

// ownLine returns what the user's own command prints.
func ownLine(ctx context.Context, command string, input []byte) string {
	if command == "" || runtime.GOOS == "windows" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, ownTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout = bytes.NewReader(input), &limited{&out, ownBytes}
	cmd.WaitDelay = 100 * time.Millisecond // its children may keep the pipe open
	_ = cmd.Run()                          // what it printed counts, as for the agent
	return strings.TrimRight(out.String(), "\n")
}

// limited passes on the first bytes written to it.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	if _, err := l.w.Write(b[:n]); err != nil {
		return 0, err
	}
	return len(b), nil
}
