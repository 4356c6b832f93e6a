// Package git uses the user's own git to read what it knows about a work tree, to commit
// folders of it, and to exchange them with other clones.
//
// Reading runs no program that the repository's configuration names and contacts no other
// machine. Commits and exchanges work like the user's own commands: with hooks, filters,
// signing and the network.
package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"
)

// elsewhere lists variables that point git to a repository other than the one at root.
// git sets them for its hooks, which may call us.
var elsewhere = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX",
	"GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
	"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_CONFIG",
}

// pathspecs lists variables that change what the paths of a command mean.
var pathspecs = []string{"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"}

// hidden lists the variables that Gemini CLI uses to hide the user's git configuration
// from the commands of its shell tool (0.61.0). With them, commits would fail and the
// user's own git hooks would not run.
var hidden = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT"}

// environment returns our environment without the variables that would mislead git.
func environment() []string {
	unset := slices.Concat(elsewhere, pathspecs)
	if os.Getenv("GEMINI_CLI") != "" && os.Getenv("GIT_CONFIG_GLOBAL") == os.DevNull {
		unset = slices.Concat(unset, hidden)
	}
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(unset, name)
	})
}

// noPrograms is configuration that keeps git from running what the repository's own
// configuration names. Filters, textconv, external diffs and signatures have no such
// switch; our reading commands compare no contents and show no diffs, so they never reach
// them. A built-in command cannot be an alias.
var noPrograms = []string{
	"safe.bareRepository=explicit", // files that git takes for a repository may come inside another
	"core.fsmonitor=",
	"core.hooksPath=/dev/null",
	"core.sshCommand=false",
	"core.gitProxy=false",
	"core.pager=cat",
	"core.alternateRefsCommand=",
	"credential.helper=",
	"submodule.recurse=false",
	"gc.auto=0",
	"maintenance.auto=false",
}

// byDefault is configuration that our reading commands rely on, set to git's own defaults.
var byDefault = []string{
	"log.showRoot=true",
	"log.showSignature=false",
	"log.diffMerges=separate",
	"log.follow=false",
	"diff.relative=false",
	"i18n.logOutputEncoding=UTF-8",
}

// noNetwork is the environment in which git fetches nothing, even in a partial clone. Git
// before 2.45 (2.39.4 of the old releases) does not know GIT_NO_LAZY_FETCH; it tries to
// fetch and finds no allowed protocol. The list of allowed protocols overrides any
// configuration, and no protocol has a slash in its name.
var noNetwork = []string{"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=/"}

// unwatched is configuration that makes git itself look for what has changed. The monitor of git
// 2.55 on Linux notices nothing that happens in a folder whose parent was moved, as that of a new
// conversation is: a commit would lack it, and a merge would overwrite it.
func unwatched() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{"-c", "core.fsmonitor="}
}

// command returns a git command at root that ends with ctx. It uses the user's settings,
// which its hooks and filters also see. Paths in args must be [literal].
func command(ctx context.Context, root string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", slices.Concat([]string{"-C", root}, unwatched(), args)...)
	cmd.Env = environment()
	inSession(cmd)
	cmd.WaitDelay = 3 * time.Second
	return cmd
}

// attended reports whether a user at a terminal called us: then git, and what it runs,
// may ask questions. An agent's hook has no terminal as standard input.
func attended() bool { return term.IsTerminal(int(os.Stdin.Fd())) }

// attend lets git, and what it runs, ask the user at the terminal. Their output is shown
// at once, because it may be a question.
func attend(cmd *exec.Cmd) *exec.Cmd {
	if !attended() {
		return cmd
	}
	cmd.SysProcAttr = nil
	inForeground(cmd)
	cmd.Stderr = os.Stderr
	return cmd
}

// literal returns a pathspec that matches only path.
func literal(path string) string { return ":(literal)" + path }

// reader returns a git command that only reads and never asks: without the repository's
// programs, the network and locks. Its messages are in English, and paths in args match
// nothing else.
func reader(ctx context.Context, root string, args []string) *exec.Cmd {
	var set []string
	for _, c := range slices.Concat(noPrograms, byDefault) {
		set = append(set, "-c", c)
	}
	cmd := command(ctx, root, slices.Concat([]string{"--literal-pathspecs"}, set, args))
	cmd.Env = append(cmd.Env, noNetwork...)
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_ASKPASS=", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "LC_ALL=C")
	return cmd
}

// run runs git as the user would.
func run(ctx context.Context, root string, args ...string) (string, error) {
	return output(command(ctx, root, args))
}

// withPaths returns a git command as the user would run it, with paths on its standard
// input, for --pathspec-from-file.
func withPaths(ctx context.Context, root string, paths []string, args ...string) *exec.Cmd {
	cmd := command(ctx, root, append(args, "--pathspec-from-file=-", "--pathspec-file-nul"))
	var list strings.Builder
	for _, path := range paths {
		list.WriteString(literal(path) + "\x00")
	}
	cmd.Stdin = strings.NewReader(list.String())
	return cmd
}

// read runs a read-only git command.
func read(ctx context.Context, root string, args ...string) (string, error) {
	return output(reader(ctx, root, args))
}

// output returns git's output; the error has git's message.
func output(cmd *exec.Cmd) (string, error) {
	var stderr strings.Builder
	shown := cmd.Stderr != nil
	if shown {
		cmd.Stderr = io.MultiWriter(cmd.Stderr, &stderr)
	} else {
		cmd.Stderr = &stderr
	}
	out, err := cmd.Output()
	err = said(err, stderr.String())
	if err != nil && shown && stderr.Len() > 0 {
		err = &ShownError{err}
	}
	return string(out), err
}

// A ShownError is an error whose message git has already shown to the user at the terminal.
type ShownError struct{ Err error }

func (e *ShownError) Error() string { return e.Err.Error() }
func (e *ShownError) Unwrap() error { return e.Err }

// said returns the error of a git command that printed text to standard error. It drops the
// word with which git marks an error, because cortext adds its own, and colours.
func said(err error, text string) error {
	if err != nil && strings.Contains(text, "\x1b") { // hooks set colours even if there is no terminal
		text = regexp.MustCompile(`\x1b\[[0-9;:]*m`).ReplaceAllString(text, "")
	}
	text = strings.ReplaceAll(text, "\r\n", "\n") // as ssh ends its lines
	text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "error: "), "fatal: ")
	switch {
	case err == nil || text == "":
		return err
	case Ended(err):
		return fmt.Errorf("%w: %s", err, text)
	case strings.Contains(text, "not a git repository"):
		return noRepositoryError(text)
	}
	return errors.New(text)
}

// ErrNoRepository is returned if a folder is not in a repository.
var ErrNoRepository = errors.New("not a git repository")

// A noRepositoryError is an ErrNoRepository with git's message.
type noRepositoryError string

func (e noRepositoryError) Error() string     { return string(e) }
func (e noRepositoryError) Is(err error) bool { return err == ErrNoRepository }

// noRepository returns the error for a folder outside of any repository.
func noRepository(root string) error {
	if isJujutsu(root) {
		return noRepositoryError("not a git repository: jj git colocation enable makes it one: " + root)
	}
	return noRepositoryError("not a git repository: " + root)
}
