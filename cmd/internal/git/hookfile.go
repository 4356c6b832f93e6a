package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// A HookPart is our part of a git hook, which may also contain the parts of other programs.
type HookPart struct {
	Hook    string // the name of the hook: prepare-commit-msg
	Mark    string // the comment that begins our part; a blank line ends it
	Command string // shell commands without a blank line
	Old     string // what marked a part with this command in earlier releases, and begins Mark
}

func (p HookPart) text() string { return p.Mark + "\n" + strings.TrimSpace(p.Command) + "\n\n" }

// hooksDir returns the folder whose hooks git runs in root's clone. With husky, git runs
// files that husky makes, and they run those that people write, one folder above.
func hooksDir(ctx context.Context, root string) (string, error) {
	out, err := run(ctx, root, "rev-parse", "--git-path", "hooks")
	if err != nil {
		return "", err
	}
	dir := filepath.FromSlash(strings.TrimSuffix(out, "\n"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	if filepath.Base(dir) == "_" && filepath.Base(filepath.Dir(dir)) == ".husky" {
		dir = filepath.Dir(dir)
	}
	return dir, nil
}

// Add puts our part into the hook, before other parts, and returns the hook's file. It
// reports whether that changed anything. A hook that is not a shell script, is a link, is
// not run by git, or is run in other repositories is an error.
func (p HookPart) Add(ctx context.Context, root string) (file string, changed bool, err error) {
	dir, err := hooksDir(ctx, root)
	if err != nil {
		return "", false, err
	}
	file = filepath.Join(dir, p.Hook)
	if isFile(dir) {
		return file, false, fmt.Errorf("git does not run %s, because core.hooksPath is %s, which is not a folder", p.Hook, dir)
	}
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return file, false, err
	}
	if st, err := os.Lstat(file); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		target, _ := filepath.EvalSymlinks(file)
		return file, false, fmt.Errorf("%s is a link to %s: add to it: %s", file, target, strings.TrimSpace(p.Command))
	} else if err == nil && runtime.GOOS != "windows" && filepath.Base(dir) != ".husky" && st.Mode()&0o111 == 0 {
		return file, false, fmt.Errorf("%s is not executable, so git does not run it: chmod +x %[1]s, or remove it", file)
	}
	first, rest := "#!/bin/sh\n", old
	switch end := bytes.IndexByte(old, '\n'); {
	case bytes.HasPrefix(old, []byte("#!")) && end > 0:
		first, rest = string(old[:end+1]), old[end+1:]
		if !isShell(first) {
			return file, false, fmt.Errorf("%s is not a shell script: add this line to it: %s", file, strings.TrimSpace(p.Command))
		}
	case len(old) > 0 && filepath.Base(dir) == ".husky":
		first = "" // husky runs it with sh
	case len(old) > 0:
		return file, false, fmt.Errorf("%s does not begin with #!/bin/sh: add to it: %s", file, strings.TrimSpace(p.Command))
	}
	text := first + p.text() + string(p.without(rest))
	if text == string(old) || p.isAmong(string(rest)) {
		return file, false, nil
	}
	if sharedHooks(ctx, root) {
		return file, false, fmt.Errorf("%s is a hook of all repositories, because core.hooksPath is set for all: add to it: %s", file, strings.TrimSpace(p.Command))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return file, false, err
	}
	return file, true, replaceHook(file, []byte(text))
}

// isAmong reports whether a hook contains our part, preceded only by our parts for other
// workspaces.
func (p HookPart) isAmong(hook string) bool {
	before, _, found := strings.Cut(hook, p.text())
	for part := range strings.SplitSeq(strings.TrimSuffix(before, "\n\n"), "\n\n") {
		found = found && (part == "" || strings.HasPrefix(part, cmp.Or(p.Old, p.Mark)))
	}
	return found
}

// replaced lists the suffixes of a hook that another program replaced with its own. pre-commit
// runs it, and puts it back when pre-commit is uninstalled. lefthook also puts it back, but
// does not run it.
var replaced = []string{".legacy", ".old"}

// Remove removes our part from the hook, and from a hook that another program replaced and kept,
// and removes a hook in which nothing else is left.
func (p HookPart) Remove(ctx context.Context, root string) (changed bool, err error) {
	dir, err := hooksDir(ctx, root)
	if err != nil || isFile(dir) {
		return false, err
	}
	for _, suffix := range append([]string{""}, replaced...) {
		done, failed := p.removeFrom(filepath.Join(dir, p.Hook+suffix))
		changed, err = changed || done, errors.Join(err, failed)
	}
	return changed, err
}

func (p HookPart) removeFrom(file string) (changed bool, err error) {
	old, err := os.ReadFile(file)
	rest := p.without(old)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(rest) == len(old):
		return false, nil
	case err != nil:
		return false, err
	case len(bytes.TrimSpace(rest)) == 0 || string(rest) == "#!/bin/sh\n":
		err = os.Remove(file)
	default:
		err = replaceHook(file, rest)
	}
	return err == nil, err
}

// sharedHooks reports whether git runs the hooks of root's clone in other repositories, too.
func sharedHooks(ctx context.Context, root string) bool {
	out, err := run(ctx, root, "config", "--show-scope", "--type=path", "--get", "core.hooksPath")
	if err != nil { // not set, or git before 2.26
		return false
	}
	scope, dir, _ := strings.Cut(strings.TrimSpace(out), "\t")
	return (scope == "global" || scope == "system") && filepath.IsAbs(dir)
}

// without returns a hook without our part.
func (p HookPart) without(text []byte) []byte {
	if p.Old != "" {
		text = bytes.Replace(text, []byte(p.Old+"\n"+strings.TrimSpace(p.Command)+"\n\n"), nil, 1)
	}
	before, part, found := bytes.Cut(text, []byte(p.Mark+"\n"))
	if !found {
		return text
	}
	_, after, _ := bytes.Cut(part, []byte("\n\n"))
	return append(bytes.Clone(before), after...)
}

// isFile reports whether what should be the folder of hooks is something else, such as /dev/null,
// with which users keep git from running hooks.
func isFile(dir string) bool {
	st, err := os.Stat(dir)
	return err == nil && !st.IsDir()
}

// isShell reports whether the first line of a script names a shell.
func isShell(first string) bool {
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	for i, word := range words {
		switch base := filepath.Base(word); {
		case base == "env" && i == 0:
		case base == "sh" || base == "bash" || base == "dash" || base == "ash" || base == "zsh" || base == "ksh":
			return true
		default:
			return false
		}
	}
	return false
}

// replaceHook replaces a hook, which git may be about to run.
func replaceHook(file string, text []byte) error {
	if err := replaceFile(file, text); err != nil {
		return err
	}
	return os.Chmod(file, 0o755)
}
