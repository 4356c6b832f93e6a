//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A workTree is a clone or a linked work tree, with the walk's knowledge about it.
type workTree struct {
	name, dir string
	had       map[string]bool   // ids of messages that have been in its logs
	torn      map[string]bool   // ids of messages last written there by a killed command
	unasked   map[string]string // changed files -> the command that wrote them unasked; empty: the user asked for it
	parsed    map[string]parsed // by file
	oldCache  string            // copy of .workspace/local/cache
	oldChats  string            // copy of conversations/
}

// tree returns the work tree with a name, and registers it.
func (w *world) tree(name string) *workTree {
	for _, t := range w.trees {
		if t.name == name {
			return t
		}
	}
	t := &workTree{name: name, dir: filepath.Join(w.root, name), had: map[string]bool{}, torn: map[string]bool{}, unasked: map[string]string{}, parsed: map[string]parsed{}}
	w.trees = append(w.trees, t)
	return t
}

// A command is a program to run.
type command struct {
	dir   string
	env   []string
	input string
	args  []string
	kill  time.Duration // kill -9 after this time
}

// run returns a command's standard output, standard error and exit code.
func (w *world) run(c command) (out, errs string, code int) {
	w.t.Helper()
	path := c.args[0]
	if path == "cortext" {
		path = filepath.Join(w.root, "bin", path)
	}
	cmd := exec.Command(path, c.args[1:]...)
	stamp := w.clock.Format(time.RFC3339)
	cmd.Dir, cmd.Stdin = c.dir, strings.NewReader(c.input)
	cmd.Env = append(slices.Concat(w.env, c.env), "GIT_AUTHOR_DATE="+stamp, "GIT_COMMITTER_DATE="+stamp, "CORTEXT_CLOCK="+stamp)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	w.check(cmd.Start())
	if c.kill > 0 {
		time.Sleep(c.kill)
		_ = cmd.Process.Kill() // it may have ended already
	}
	_ = cmd.Wait() // the exit code reports it
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// must runs a command that must succeed and returns its standard output.
func (w *world) must(dir string, args ...string) string {
	w.t.Helper()
	out, errs, code := w.run(command{dir: dir, args: args})
	if code != 0 {
		w.t.Fatalf("in %s: %q: exit code %d\n%s%s", dir, args, code, out, errs)
	}
	return out
}

// ask runs git for the walk itself.
func (w *world) ask(t *workTree, args ...string) []string {
	w.t.Helper()
	out, _, _ := w.run(command{dir: t.dir, args: append([]string{"git"}, args...)})
	return strings.Fields(out)
}

// git runs git as the user would; it may refuse.
func (w *world) git(t *workTree, args ...string) bool {
	w.t.Helper()
	w.look(t)
	out, errs, code := w.run(command{dir: t.dir, args: append([]string{"git"}, args...)})
	w.note("(cd %s && git %s) # %d", t.name, strings.Join(quoted(args), " "), code)
	if code != 0 {
		w.refuse(t, args[0], errs+out)
	}
	w.conflicted(t, args[0])
	w.look(t)
	return code == 0
}

func quoted(args []string) []string {
	list := slices.Clone(args)
	for i, a := range list {
		if strings.ContainsAny(a, " !*") {
			list[i] = "'" + a + "'"
		}
	}
	return list
}

var (
	refusal     = regexp.MustCompile(`(?m)^(error|fatal|CONFLICT| ! \[|nothing to commit|no changes added).*`)
	variable    = regexp.MustCompile(`'[^']*'|"[^"]*"|\b[0-9a-f]{7,40}\b|[\w.-]*/\S+|\bof-\w+|\bb\d+\b|\d+`)
	overwritten = regexp.MustCompile(`(?m)(.*)(would be overwritten|would be removed|would be lost|would lose).*\n((?:\t.*\n)+)`)
)

// refuse counts git's reasons for refusing a command, and looks for files that cortext
// wrote without being asked. New messages captured by sync or another session's hook may
// block a checkout like any edit; so may the first call of a conversation, and the
// session.json beside a blocking log. A folder that the user did not ask for must not.
func (w *world) refuse(t *workTree, name, said string) {
	w.t.Helper()
	reason := refusal.FindString(said)
	if reason == "" {
		reason, _, _ = strings.Cut(said, "\n")
	}
	w.refused["git "+name+": "+variable.ReplaceAllString(reason, "…")]++
	for _, m := range overwritten.FindAllStringSubmatch(said, -1) {
		for line := range strings.Lines(m[3]) {
			path := strings.TrimSpace(line)
			by := t.unasked[path]
			if by == "" {
				continue
			}
			kind := "changes to a file"
			if strings.Contains(m[1], "untracked") {
				kind = "a new file"
			}
			w.ours[fmt.Sprintf("git %s: %s, by %s", name, kind, by)]++
			log := strings.TrimSuffix(strings.TrimSuffix(path, "tools.jsonl"), "session.json") + "messages.jsonl"
			caughtUp := log != path && t.unasked[log] == "" && (strings.HasSuffix(path, "/tools.jsonl") || strings.Contains(m[3], "\t"+log+"\n"))
			if kind == "a new file" && by != "sync" && !caughtUp {
				w.fail("git refused because of a file that "+by+" made", "%s\n%s", path, said)
			}
		}
	}
}

// conflicted counts the conflicted files. Below .session/ the attributes must prevent
// content conflicts, but git cannot merge a deletion with a change.
func (w *world) conflicted(t *workTree, name string) {
	w.t.Helper()
	out, _, _ := w.run(command{dir: t.dir, args: []string{"git", "status", "--porcelain", "--untracked-files=no"}})
	// If one side removed a conversation and started another, git sees a renamed folder,
	// and lets only the user decide where the other side's new files go.
	removed := regexp.MustCompile(`(?m)^(UD|DU) .*/\.session/`).MatchString(out)
	for line := range strings.Lines(out) {
		code, path := line[:2], strings.TrimSpace(line[3:])
		if !slices.Contains([]string{"UU", "AA", "UD", "DU", "AU", "UA", "DD"}, code) {
			continue
		}
		below := ""
		if strings.Contains(path, "/.session/") {
			below = " below .session/"
		}
		w.conflicts["git "+name+": "+code+below]++
		if below != "" && (code == "UU" || code == "AA" && !removed) {
			w.fail("conflict below .session/", "git %s: %s %s", name, code, path)
		}
	}
}

// underway names the git operation in progress, or returns "".
func (w *world) underway(t *workTree) string {
	w.t.Helper()
	dir := strings.Join(w.ask(t, "rev-parse", "--absolute-git-dir"), " ")
	for _, x := range [][2]string{{"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}, {"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"BISECT_LOG", "bisect"}} {
		if found, _ := filepath.Glob(filepath.Join(dir, x[0])); len(found) > 0 {
			return x[1]
		}
	}
	return ""
}

func (w *world) sparse(t *workTree) bool {
	return slices.Equal(w.ask(t, "config", "core.sparseCheckout"), []string{"true"})
}
