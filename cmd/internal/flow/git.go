package flow

import (
	"os"
	"path/filepath"
	"strings"

	"cortext/schema"
)

// gitState reads the commit and branch that dir's work tree stands at from the
// files of git; nil where there is no repository. Running git would cost more
// than the rest of a command, and git may not be installed.
func gitState(dir string) *schema.Git {
	gitDir := findGitDir(dir)
	if gitDir == "" {
		return nil
	}
	head, err := readLine(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return nil
	}
	ref, ok := strings.CutPrefix(head, "ref: ")
	if !ok {
		return commit(head, "")
	}
	branch := strings.TrimPrefix(ref, "refs/heads/")
	common := gitDir
	if s, err := readLine(filepath.Join(gitDir, "commondir")); err == nil {
		if common = s; !filepath.IsAbs(s) {
			common = filepath.Join(gitDir, s)
		}
	}
	if !filepath.IsLocal(ref) {
		return nil
	}
	if id, err := readLine(filepath.Join(common, filepath.FromSlash(ref))); err == nil {
		return commit(id, branch)
	}
	packed, err := os.ReadFile(filepath.Join(common, "packed-refs"))
	if err == nil {
		for line := range strings.Lines(string(packed)) {
			if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
				return commit(id, branch)
			}
		}
	}
	return &schema.Git{Branch: branch} // nothing is committed yet
}

// commit is the state at id, which is kept only if it is a commit's name.
func commit(id, branch string) *schema.Git {
	if len(id) != 40 && len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "" {
		return nil
	}
	return &schema.Git{Commit: id, Branch: branch}
}

func findGitDir(dir string) string {
	for {
		name := filepath.Join(dir, ".git")
		if st, err := os.Stat(name); err == nil {
			if st.IsDir() {
				return name
			}
			line, err := readLine(name) // of a worktree: "gitdir: <path>"
			target, ok := strings.CutPrefix(line, "gitdir: ")
			if err != nil || !ok {
				return ""
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(dir, target)
			}
			return target
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// readLine returns the first line of a small regular file.
func readLine(name string) (string, error) {
	st, err := os.Stat(name)
	if err != nil || !st.Mode().IsRegular() || st.Size() > 4096 {
		return "", os.ErrNotExist
	}
	b, err := os.ReadFile(name)
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line), err
}
