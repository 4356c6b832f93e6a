// Package git reads what git knows of a work tree and commits a folder of it, with
// the user's own git.
//
// Reading runs no program that the repository's configuration names and asks no
// other machine for anything. Only [Commit] and [Fetch] work as the user's own
// command would: with hooks, filters, signing and the network.
package git

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"
)

// elsewhere lists variables that point git at another repository than the one at
// root. git sets them for its hooks, which may call us.
var elsewhere = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX",
	"GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE",
	"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_CONFIG",
}

// pathspecs lists variables that change what the paths of a command mean.
var pathspecs = []string{"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"}

// hidden are the variables with which Gemini CLI hides the user's configuration of
// git from the commands that its shell tool runs (0.61.0): with them nobody could
// commit, and the user's own hooks of git would not run.
var hidden = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT"}

// environment is ours without what would lead git astray.
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

// noPrograms is configuration that keeps git from running what the repository's
// own configuration names. Filters, textconv, external diffs and signatures have no
// such switch: the commands that read compare no contents and show no diffs, so they
// never reach them. A built-in command cannot be an alias.
var noPrograms = []string{
	"safe.bareRepository=explicit", // a folder of files that git takes for a repository may come with another
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

// noNetwork is the environment in which git fetches nothing, in a partial clone
// either. Git before 2.45 (2.39.4 of the old releases) does not know
// GIT_NO_LAZY_FETCH; it tries to fetch and finds that it may use no protocol. A list
// of allowed protocols beats any configuration, and no protocol has a slash in its
// name.
var noNetwork = []string{"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=/"}

// command is a call of git at root, which ends when ctx does. Its settings are the
// user's: the hooks and filters that it runs see them. A path among args is a
// [literal].
func command(ctx context.Context, root string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...)
	cmd.Env = environment()
	inSession(cmd)
	cmd.WaitDelay = 3 * time.Second
	return cmd
}

// attended reports whether a person at a terminal called us: then git, and what it
// runs, may ask. An agent's hook has no terminal as its standard input.
func attended() bool { return term.IsTerminal(int(os.Stdin.Fd())) }

// attend lets git, and what it runs, ask the person at the terminal. What they say is
// shown there at once: it may be a question.
func attend(cmd *exec.Cmd) *exec.Cmd {
	if !attended() {
		return cmd
	}
	cmd.SysProcAttr = nil
	inForeground(cmd)
	cmd.Stderr = os.Stderr
	return cmd
}

// literal is a path as a pathspec that matches nothing else.
func literal(path string) string { return ":(literal)" + path }

// reader is a call of git that only reads and never asks: without the repository's
// programs, the network and the locks. Its messages are in English, and paths among
// args match nothing else.
func reader(ctx context.Context, root string, args []string) *exec.Cmd {
	var set []string
	for _, c := range noPrograms {
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

// withPaths is a call of git as the user would call it, with paths on its standard
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

// read runs a command of git that only reads.
func read(ctx context.Context, root string, args ...string) (string, error) {
	return output(reader(ctx, root, args))
}

// output returns what git prints; the error is what git says.
func output(cmd *exec.Cmd) (string, error) {
	var stderr strings.Builder
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	} else {
		cmd.Stderr = io.MultiWriter(cmd.Stderr, &stderr)
	}
	out, err := cmd.Output()
	return string(out), said(err, stderr.String())
}

// said is the error of a call of git that printed text on standard error.
func said(err error, text string) error {
	text = strings.TrimSpace(text)
	switch {
	case err == nil || text == "":
		return err
	case strings.Contains(text, "not a git repository"):
		return noRepositoryError(text)
	}
	return errors.New(text)
}

// ErrNoRepository says that a folder is in no repository.
var ErrNoRepository = errors.New("not a git repository")

// A noRepositoryError is an ErrNoRepository in git's words.
type noRepositoryError string

func (e noRepositoryError) Error() string     { return string(e) }
func (e noRepositoryError) Is(err error) bool { return err == ErrNoRepository }
