package summarize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/children"
	"cortext/inject"
	"cortext/schema"
)

// An Agent is the user's own agent as a program that reads a prompt from standard input
// and prints the answer. [AgentFor] knows how to start each agent.
type Agent struct {
	Program string   // absolute
	Args    []string // fixed: the prompt is never on the command line
	Dir     string   // parent of the temporary folder that it starts in; empty: the system's
	Env     []string // nil: the environment of this process

	files []file // written to the folder, or beside it, before the start
}

// A file holds instructions that an agent reads from a file. Its name is relative to the
// folder that the agent starts in, with slashes.
type file struct{ name, data string }

// waitDelay is how long a process that an agent leaves running may hold its output open.
const waitDelay = time.Second

var errTooLong = errors.New("the answer is too long")

// Summarize asks for a summary; the prompt says how long it should be. ctx limits the time.
// If it ends, the program and everything it started are killed, and the error is the cause
// of ctx. The program starts in an empty folder of its own, so that it does not
// read a project's files. An unusable answer is an error of [Check].
func (a Agent) Summarize(ctx context.Context, prompt string, _ int) (Result, error) {
	return a.ask(ctx, prompt, Check)
}

// Title is Summarize for a title. An unusable answer is an error of [CheckTitle].
func (a Agent) Title(ctx context.Context, prompt string) (Result, error) {
	return a.ask(ctx, prompt, CheckTitle)
}

// ask runs the program and returns what check extracts from its answer.
func (a Agent) ask(ctx context.Context, prompt string, check func(string) (string, error)) (Result, error) {
	name := filepath.Base(a.Program)
	text, err := a.run(ctx, prompt)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	if text, err = check(unmarked(schema.WithoutEscapes(text))); err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	return Result{Text: text}, nil
}

// marked and unmarked add and remove a backslash before each @. Without it, an agent takes
// @path in a prompt as a file to read, even a file elsewhere, and even without tools
// (Claude Code 2.1.329, Gemini CLI 0.61.0).
func marked(prompt string) string   { return strings.ReplaceAll(prompt, "@", `\@`) }
func unmarked(answer string) string { return strings.ReplaceAll(answer, `\@`, "@") }

// run starts the program and returns what it prints.
func (a Agent) run(ctx context.Context, prompt string) (string, error) {
	base, err := os.MkdirTemp(a.Dir, "cortext-summary-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "empty")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	for _, f := range a.files {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(f.data), 0o600); err != nil {
			return "", err
		}
	}
	// Use a file, because Gemini CLI gives up on a pipe that has nothing to read at once.
	input := filepath.Join(base, "prompt")
	if err := os.WriteFile(input, []byte(marked(prompt)), 0o600); err != nil {
		return "", err
	}
	stdin, err := os.Open(input)
	if err != nil {
		return "", err
	}
	defer stdin.Close()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answer := bounded{most: MaxAnswer, over: func() { cancel(errTooLong) }}
	complaint := bounded{most: 64 << 10, over: func() {}}
	cmd, err := inject.CommandOf(ctx, a.Program, a.Args...)
	if err != nil {
		return "", err
	}
	env := a.Env
	if env == nil {
		env = os.Environ()
	}
	// OpenCode trusts PWD more than the system (1.18.33).
	cmd.Dir, cmd.Env = dir, append(slices.Clone(env), "PWD="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &answer, &complaint
	children.Group(cmd)
	cmd.WaitDelay = waitDelay
	err = cmd.Run()
	children.Kill(cmd)
	exit := (*exec.ExitError)(nil)
	switch {
	case errors.Is(context.Cause(ctx), errTooLong):
		return "", fmt.Errorf("%w: more than %d bytes", errTooLong, MaxAnswer)
	case ctx.Err() != nil && err != nil:
		return "", AsAway(context.Cause(ctx))
	case errors.Is(err, exec.ErrWaitDelay): // it ended successfully
	case errors.As(err, &exit):
		text := strings.TrimSpace(string(complaint.text))
		if text == "" {
			text = string(answer.text)
		}
		text = Said(strings.Join(strings.Fields(text), " ")) // OpenCode spreads it over many lines
		if err = fmt.Errorf("%w: %s", err, text); signIn(text) {
			err = AsAway(err)
		}
		return "", err
	case err != nil:
		return "", AsAway(err)
	}
	return string(answer.text), nil
}

// signIn reports whether an agent complains that it is not signed in.
func signIn(text string) bool {
	text = strings.ToLower(text)
	for _, word := range []string{"login", "log in", "logged in", "sign in", "signed in", "api key", "api_key", "unauthorized", "authentication", "auth method"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// A bounded keeps the first bytes written to it, and calls over for each write beyond
// them.
type bounded struct {
	text []byte
	most int
	over func()
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := min(len(p), b.most-len(b.text))
	b.text = append(b.text, p[:keep]...)
	if keep < len(p) {
		b.over()
	}
	return len(p), nil
}
