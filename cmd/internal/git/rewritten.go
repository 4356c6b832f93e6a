package git

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A RewrittenError reports that the upstream once had commits that the current branch has, and
// has them no longer. Somebody rewrote its history, perhaps to remove a secret from it, and a
// merge and the next push would bring it back.
type RewrittenError struct {
	Upstream   string
	Commits    int
	Drop, Keep string // the git commands that drop them here too, and that keep them
}

func (e *RewrittenError) Error() string {
	return fmt.Sprintf("the history of %s was rewritten, and lacks commits that it had and you still have (%d): %s drops them here too, %s keeps them", e.Upstream, e.Commits, e.Drop, e.Keep)
}

// wantKept returns a [*RewrittenError] if the upstream does not have commits of the current
// branch that it had when it was fetched or pushed to earlier, unless the user has merged it
// since then.
func (x Exchange) wantKept(ctx context.Context, up upstream) error {
	if up.remote == "." { // the user rewrote it here
		return nil
	}
	were := reflog(ctx, x.Root, up.ref)
	gone, err := lost(ctx, x.Root, up, were)
	if err == nil && len(gone) > 0 && replicated(ctx, x.Root, up.remote) {
		// What was pushed has not reached the copy that is fetched.
		were = slices.DeleteFunc(were, func(m moved) bool { return m.pushed })
		gone, err = lost(ctx, x.Root, up, were)
	}
	if err != nil || len(gone) == 0 {
		return err
	}
	for i, was := range were {
		commits, err := hadCommits(ctx, x.Root, up, was)
		if err != nil {
			return err
		}
		if len(both(gone, commits)) == 0 {
			continue
		}
		// The later tips of the branch, which lack these commits.
		for _, since := range were[:i] {
			if IsAncestor(ctx, x.Root, since.commit, "HEAD") && !IsAncestor(ctx, x.Root, since.commit, was.commit) &&
				!(up.elsewhere && IsAncestor(ctx, x.Root, since.commit, up.merged)) {
				return nil // the user has merged it, and not what comes from the other upstream
			}
		}
		return rewritten(ctx, x.Root, up, was, gone)
	}
	return nil
}

// rewritten returns the error for commits that the upstream had, and that are still in HEAD.
func rewritten(ctx context.Context, root string, up upstream, was moved, gone []string) error {
	drop, keep := "git pull --rebase", mergeCommand(ctx, root, up)
	if IsAncestor(ctx, root, up.ref, "HEAD") { // there is nothing to merge
		keep = "git push " + up.pushArguments()
	}
	// Git finds out what to drop only if the last of it was once the end of the upstream, and
	// nothing else has been merged since.
	point, _ := read(ctx, root, "merge-base", "--fork-point", up.ref, "HEAD")
	left, err := revisions(ctx, root, "HEAD", "^"+cmp.Or(strings.TrimSpace(point), up.ref))
	if err != nil {
		return err
	}
	if up.elsewhere || len(both(gone, left)) > 0 {
		drop = fmt.Sprintf("git rebase --onto %s %.12s", short(up.ref), MergeBase(ctx, root, "HEAD", was.commit))
	}
	return &RewrittenError{short(up.ref), len(gone), drop, keep}
}

// mergeCommand returns the git command that merges the upstream into the current branch.
func mergeCommand(ctx context.Context, root string, up upstream) string {
	if _, err := read(ctx, root, "merge-base", "HEAD", up.ref); err != nil {
		return "git merge --allow-unrelated-histories " + short(up.ref)
	}
	return "git merge " + short(up.ref)
}

// lost returns the commits of HEAD that the upstream had, and does not have now.
func lost(ctx context.Context, root string, up upstream, were []moved) ([]string, error) {
	commits, err := hadCommits(ctx, root, up, were...)
	if err != nil || len(commits) == 0 {
		return nil, err
	}
	ahead, err := revisions(ctx, root, "HEAD", "^"+up.ref)
	return both(ahead, commits), err
}

// hadCommits returns the commits that the upstream had when it was somewhere, and does not have now.
func hadCommits(ctx context.Context, root string, up upstream, were ...moved) ([]string, error) {
	list := "^" + up.ref + "\n"
	for _, was := range were {
		list += was.commit + "\n"
	}
	out, err := output(withInput(reader(ctx, root, []string{"rev-list", "--ignore-missing", "--stdin"}), []byte(list)))
	return strings.Fields(out), err
}

// both returns what is in both lists, in the order of the first.
func both(list, other []string) (common []string) {
	in := map[string]bool{}
	for _, s := range other {
		in[s] = true
	}
	for _, s := range list {
		if in[s] {
			common = append(common, s)
		}
	}
	return common
}

// moved says where a ref was moved to, and when, in seconds.
type moved struct {
	commit string
	at     int64
	pushed bool // from here
}

// reflog returns where a ref was, latest first. The last entry is where it was before its
// first line: a clone writes none for its refs. Nothing is returned if there is no such
// ref.
func reflog(ctx context.Context, root, ref string) (list []moved) {
	out, err := read(ctx, root, "log", "--walk-reflogs", "--date=unix", "--format=%H %gd %gs", ref, "--")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(out) { // the id, the time in ref@{TIME}, and what moved it
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(words) < 2 {
			continue
		}
		at, _ := strconv.ParseInt(strings.TrimSuffix(words[1][strings.LastIndex(words[1], "{")+1:], "}"), 10, 64)
		list = append(list, moved{words[0], at, len(words) == 3 && words[2] == "update by push"})
	}
	before := fmt.Sprintf("%s@{%d}", ref, len(list))
	if len(list) == 0 {
		before = ref
	}
	if first, err := read(ctx, root, "rev-parse", "--quiet", "--verify", before); err == nil {
		list = append(list, moved{commit: strings.TrimSpace(first)})
	}
	return list
}

// A DroppedError reports that the current branch once had commits that the upstream has, and has
// them no longer: the user amended, reset or rebased it after a push. A merge would bring them back.
type DroppedError struct {
	Branch, Upstream string
	Replace          string // the arguments of the git push that replaces the upstream
	Commits          int
	Others           int    // how many commits that are not here the push would drop, too
	Take             string // the git command that brings those
	Merge            string // the git command that brings all back
}

func (e *DroppedError) Error() string {
	first := ""
	if e.Others > 0 {
		first = fmt.Sprintf("first %s takes what others have added there since (%d), then ", e.Take, e.Others)
	}
	return fmt.Sprintf("branch %s was rewritten here, and lacks commits that it had and %s still has (%d): %sgit push --force-with-lease %s drops them there too, %s brings them back", e.Branch, e.Upstream, e.Commits, first, e.Replace, e.Merge)
}

// wantDropped returns a [*DroppedError] if the user took commits out of the current branch that
// the upstream had then and has now, unless the branch has nothing else. A commit that came to the
// upstream later, as from the branch to which the user moved it, belongs there.
func (x Exchange) wantDropped(ctx context.Context, up upstream) error {
	if up.remote == "." { // nobody pushes to it
		return nil
	}
	own, err := revisions(ctx, x.Root, "HEAD", "--max-count=1", "^"+up.ref)
	if err != nil || len(own) == 0 {
		return err
	}
	news, err := revisions(ctx, x.Root, up.ref, "^HEAD")
	if err != nil {
		return err
	}
	there, here := reflog(ctx, x.Root, up.ref), reflog(ctx, x.Root, "refs/heads/"+up.name)
	for i, was := range here {
		if !slices.Contains(news, was.commit) {
			continue
		}
		lost := i - 1 // the move after it that first led to a commit without it
		for lost > 0 && IsAncestor(ctx, x.Root, was.commit, here[lost].commit) {
			lost--
		}
		if lost < 0 {
			continue
		}
		then := slices.IndexFunc(there, func(m moved) bool { return m.at <= here[lost].at })
		if then < 0 || !IsAncestor(ctx, x.Root, was.commit, there[then].commit) {
			continue
		}
		dropped, err := revisions(ctx, x.Root, was.commit, "^HEAD")
		if err != nil {
			return err
		}
		// Those that the user has taken already have other ids here.
		theirs := []string{"--right-only", "--no-merges", "HEAD..." + up.ref, "^" + was.commit}
		others, err := revisions(ctx, x.Root, append([]string{"--cherry-pick"}, theirs...)...)
		if err != nil { // their contents are not fetched
			others, err = revisions(ctx, x.Root, theirs...)
		}
		if err != nil {
			return err
		}
		take := fmt.Sprintf("git cherry-pick %.12s..%s", was.commit, short(up.ref))
		replace := up.pushArguments()
		if setting(ctx, x.Root, "--type=bool", "--get", "push.useForceIfIncludes") == "true" {
			replace = "--no-force-if-includes " + replace // what is dropped is not included
		}
		return &DroppedError{up.name, short(up.ref), replace, len(dropped), len(others), take, mergeCommand(ctx, x.Root, up)}
	}
	return nil
}

// pushArguments returns the arguments that make git push to the upstream.
func (up upstream) pushArguments() string {
	return up.remote + " HEAD:" + strings.TrimPrefix(up.branch, "refs/heads/")
}

// revisions returns the commits that git rev-list prints for the arguments.
func revisions(ctx context.Context, root string, args ...string) ([]string, error) {
	out, err := read(ctx, root, append(append([]string{"rev-list"}, args...), "--")...)
	return strings.Fields(out), err
}

// lease returns the option that makes git push only if the upstream is where it was when it was
// last fetched. Without it, git would push over a branch that somebody reset to an older commit,
// as if that branch only lacked the new commits. The option is nil if the remote is fetched from
// a copy or pushed to several repositories, since any of these may be behind, or if there is
// something to merge first.
func (x Exchange) lease(ctx context.Context, up upstream) (option []string, err error) {
	if up.ref == "" {
		return nil, nil
	}
	tip, err := read(ctx, x.Root, "rev-parse", "--quiet", "--verify", up.ref+"^{commit}")
	if err != nil { // it is not fetched
		return nil, nil
	}
	known := strings.TrimSpace(tip)
	if !IsAncestor(ctx, x.Root, known, "HEAD") {
		return nil, nil
	}
	if err := x.wantKept(ctx, up); err != nil || replicated(ctx, x.Root, up.remote) {
		return nil, err
	}
	if strings.Count(pushURLs(ctx, x.Root, up.remote), "\n") > 0 {
		return nil, nil
	}
	return []string{"--force-with-lease=" + up.branch + ":" + known}, nil
}

// pushURLs returns the URLs that a remote is pushed to, each on its line, or "". It does not ask
// git remote get-url, which knows only remotes of the repository's own configuration.
func pushURLs(ctx context.Context, root, remote string) string {
	return cmp.Or(setting(ctx, root, "--get-all", "remote."+remote+".pushurl"), setting(ctx, root, "--get-all", "remote."+remote+".url"))
}
