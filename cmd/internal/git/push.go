package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cortext/cmd/internal/shell"
)

// Push pushes the current branch to where git push would push it. If another clone pushed
// first, it pulls and tries again. races is how often that happened.
func (x Exchange) Push(ctx context.Context) (races int, err error) {
	up, follow, err := x.pushUpstream(ctx)
	if err != nil {
		return 0, err
	}
	remote, branch, err := destination(ctx, x.Root, up)
	if err != nil {
		return 0, err
	}
	there := tracked(ctx, x.Root, up, remote, branch)
	pace, err := x.waitForOthers(ctx)
	if err != nil {
		return 0, err
	}
	for began := x.Now(); ; {
		pushing, before := x.Now(), heads(ctx, x.Root, there)
		option, err := x.lease(ctx, there)
		if err != nil {
			return races, err
		}
		err = call(x.asking(ctx, slices.Concat([]string{"push", "--quiet"}, follow, option, []string{remote, "refs/heads/" + up.name + ":" + branch})...))
		if err == nil {
			x.noteOwnPush(pace, x.Now().Sub(pushing))
		}
		if err == nil || !lostRace().MatchString(err.Error()) || races >= mostRaces {
			return races, err
		}
		rejected := err
		if there.elsewhere && outdated().MatchString(rejected.Error()) {
			if there.ref != "" { // it may have moved to what is here, too
				if there, err = x.refetch(ctx, there); err != nil {
					return races, err
				}
				if there.ref == "" || heads(ctx, x.Root, there) != before {
					races++
					continue
				}
				if err := cmp.Or(x.wantKept(ctx, there), x.wantDropped(ctx, there)); err != nil {
					return races, err
				}
			}
			return races, fmt.Errorf("%w\nmerge what %s has in %s with git, then push", rejected, anonymous(remote), strings.TrimPrefix(branch, "refs/heads/"))
		}
		races++
		// Wait before the pull, not after it: what it merges must be new when it is pushed.
		if err := sleep(ctx, x.Jitter(pace.lost(x.Now().Sub(began)))); err != nil {
			return races, err
		}
		began = x.Now()
		if there.elsewhere {
			continue
		}
		err = x.alone(ctx, func() error {
			_, err := x.merge(ctx)
			return err
		})
		if err != nil {
			return races, err
		}
		if outdated().MatchString(rejected.Error()) && heads(ctx, x.Root, there) == before {
			return races, fmt.Errorf("%w\ngit fetch brings nothing new from %s: merge what %s has with git, then push", rejected, up.remote, remote)
		}
	}
}

// tracked returns the branch to push to as if it were the upstream. Its ref is empty if nothing
// is fetched from it.
func tracked(ctx context.Context, root string, up upstream, remote, branch string) upstream {
	if remote == up.remote && branch == up.branch {
		return up
	}
	there := upstream{name: up.name, remote: remote, branch: branch, pushRemote: remote, elsewhere: true, merged: up.ref}
	specs, _ := read(ctx, root, "config", "--get-all", "remote."+remote+".fetch")
	for _, spec := range strings.Fields(specs) { // such as +refs/heads/*:refs/remotes/origin/*
		from, to, _ := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		before, after, several := strings.Cut(from, "*")
		switch name, begins := strings.CutPrefix(branch, before); {
		case to == "":
		case from == branch:
			there.ref = to
		case several && begins && strings.HasSuffix(name, after):
			there.ref = strings.Replace(to, "*", strings.TrimSuffix(name, after), 1)
		}
	}
	return there
}

// refetch fetches the branch to push to once more. It returns the upstream without a ref
// if somebody deleted the branch.
func (x Exchange) refetch(ctx context.Context, there upstream) (upstream, error) {
	err := call(x.asking(ctx, "fetch", "--quiet", there.remote, there.branch))
	if err != nil && noBranch().MatchString(err.Error()) {
		there.ref, err = "", nil
	}
	return there, err
}

// heads returns the commits of HEAD and of the fetched upstream.
func heads(ctx context.Context, root string, up upstream) string {
	out, _ := read(ctx, root, "rev-parse", "HEAD", up.ref)
	return out
}

// lostRace matches what git says if another clone pushed first. Git gives a reason
// in parentheses. A line of what the remote itself says begins otherwise; one of git's may have
// colours.
var lostRace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:\x1b\[[0-9;]*m| )*! (?:\[rejected\]|\[remote rejected\].*\([^()]*(lock ref|failed to lock|already exists|failed to update|incorrect old value))`)
})

// outdated matches what git says if a ref at the remote is not where we last saw it.
var outdated = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:\x1b\[[0-9;]*m| )*! \[rejected\]`)
})

// An upstream is what a branch is merged with, and where it is pushed to.
type upstream struct {
	name, remote, branch, ref string // the local branch; its upstream there, and the ref that is fetched
	pushRemote                string
	elsewhere                 bool   // it is only pushed to, and what is merged comes from another
	merged                    string // the ref of that other one
}

func (x Exchange) upstream(ctx context.Context) (up upstream, err error) {
	at, ok := Head(x.Root)
	if op := Operation(x.Root); ok && at.Branch == "" && op != "" { // as a rebase, which leaves the branch
		return up, &UnfinishedError{Operation: op}
	}
	if Dir(x.Root) == "" {
		return up, noRepository(x.Root)
	}
	if (!ok || at.Branch == "") && isJujutsu(x.Root) {
		return up, errors.New("no branch is checked out, as is usual with jj: exchange commits with jj git fetch and jj git push, or set commit: ref to use this command")
	}
	if !ok || at.Branch == "" {
		return up, errors.New("no branch is checked out: git switch to one first")
	}
	if at.Commit == "" {
		return up, fmt.Errorf("branch %s has no commit yet: git commit first, or git pull if the remote has some", at.Branch)
	}
	out, err := read(ctx, x.Root, "for-each-ref", "--format=%(upstream:remotename)%00%(upstream:remoteref)%00%(upstream)%00%(push:remotename)", "refs/heads/"+at.Branch)
	if err != nil {
		return up, err
	}
	words := strings.Split(strings.TrimSuffix(out, "\n"), "\x00")
	if len(words) != 4 || words[0] == "" || words[1] == "" || words[2] == "" {
		return upstream{name: at.Branch, pushRemote: words[len(words)-1]}, noUpstream(ctx, x.Root, at.Branch)
	}
	return upstream{name: at.Branch, remote: words[0], branch: words[1], ref: words[2], pushRemote: cmp.Or(words[3], words[0])}, nil
}

// A noUpstreamError says why a branch has no upstream, and how to give it one.
type noUpstreamError string

func (e noUpstreamError) Error() string { return string(e) }

// noUpstream returns the error for a branch without an upstream. Git itself can push and pull a
// branch whose upstream has no remote-tracking ref, as in a bare clone or a clone of a single
// branch. But then nothing records what the upstream had before.
func noUpstream(ctx context.Context, root, branch string) error {
	remote, merge := setting(ctx, root, "--get", "branch."+branch+".remote"), setting(ctx, root, "--get", "branch."+branch+".merge")
	followed, isBranch := strings.CutPrefix(merge, "refs/heads/")
	names, err := remotes(ctx, root)
	if err != nil {
		return err
	}
	push := func(to string) string { return shell.Quote("git", "push", "-u", to, branch) }
	switch {
	case isBranch && slices.Contains(names, remote):
		return noUpstreamError(fmt.Sprintf("branch %s follows %s of %s, which this clone keeps no copy of: %s", branch, followed, remote, shell.Quote("git", "remote", "set-branches", "--add", remote, followed)))
	case isBranch && strings.ContainsAny(remote, `/:\`): // it may have a password in it
		return noUpstreamError(fmt.Sprintf("branch %s follows %s of a URL, which has no name here: git remote add -f NAME URL, then %s", branch, followed, shell.Quote("git", "branch", "-u", "NAME/"+followed)))
	case isBranch && remote != "":
		return noUpstreamError(fmt.Sprintf("branch %s follows %s of %s, which is not among the remotes: %s URL", branch, followed, remote, shell.Quote("git", "remote", "add", "-f", remote)))
	case len(names) == 0:
		return noUpstreamError(fmt.Sprintf("branch %s has no upstream, and there is no remote: git remote add origin URL, then %s", branch, push("origin")))
	}
	return noUpstreamError(fmt.Sprintf("branch %s has no upstream: %s", branch, push(cmp.Or(usual(names), "REMOTE"))))
}

// remotes returns the names of the remotes.
func remotes(ctx context.Context, root string) ([]string, error) {
	out, err := read(ctx, root, "remote")
	return strings.Fields(out), err
}

// usual returns the remote that git takes if none is set: origin, or the only one; or "".
func usual(remotes []string) string {
	switch {
	case slices.Contains(remotes, "origin"):
		return "origin"
	case len(remotes) == 1:
		return remotes[0]
	}
	return ""
}

// setting returns what git config prints for some arguments, or "".
func setting(ctx context.Context, root string, args ...string) string {
	out, _ := read(ctx, root, append([]string{"config"}, args...)...)
	return strings.TrimSpace(out)
}

// pushUpstream returns the upstream to push the current branch to. If there is none, but git push knows
// where to push the branch, only the remote is known, and follow is the option that makes git push
// do so.
func (x Exchange) pushUpstream(ctx context.Context) (up upstream, follow []string, err error) {
	up, err = x.upstream(ctx)
	if !errors.As(err, new(noUpstreamError)) {
		return up, nil, err
	}
	set := func(args ...string) string { return setting(ctx, x.Root, args...) }
	names, _ := remotes(ctx, x.Root)
	pulled := cmp.Or(set("--get", "branch."+up.name+".remote"), usual(names), "origin")
	up.pushRemote = cmp.Or(up.pushRemote, pulled)
	if set("--type=bool", "--get", "push.autoSetupRemote") == "true" && set("--get", "branch."+up.name+".merge") == "" {
		follow = []string{"--set-upstream"}
	}
	known := follow != nil
	switch set("--get", "push.default") {
	case "current":
		known = true
	case "", "simple":
		known = known || up.pushRemote != pulled
	case "upstream", "tracking":
		known = known && up.pushRemote == pulled
	default:
		known = false
	}
	if known {
		err = nil
	}
	return up, follow, err
}

// destination returns the remote and the branch that git push would push to. Like git, it does
// not push to a branch of another name unless the user has said so: a new branch that begins at
// that of a remote has it as its upstream.
func destination(ctx context.Context, root string, up upstream) (remote, branch string, err error) {
	same := "refs/heads/" + up.name
	if up.remote == "." {
		names, err := remotes(ctx, root)
		if err == nil {
			err = fmt.Errorf("branch %s follows the local branch %s: %s", up.name, strings.TrimPrefix(up.branch, "refs/heads/"), shell.Quote("git", "push", "-u", cmp.Or(usual(names), "REMOTE"), up.name))
		}
		return "", "", err
	}
	if specs, _ := read(ctx, root, "config", "--get-all", "remote."+up.pushRemote+".push"); specs != "" {
		// Reviews, for example, are pushed to refs of their own.
		out, err := read(ctx, root, "for-each-ref", "--format=%(push:remoteref)", same)
		if ref := strings.TrimSpace(out); err != nil || ref != "" {
			return up.pushRemote, ref, err
		}
		return "", "", fmt.Errorf("remote.%s.push says where git push sends branch %s (%s): run git push", up.pushRemote, up.name, strings.Join(strings.Fields(specs), ", "))
	}
	if up.pushRemote != up.remote {
		return up.pushRemote, same, nil
	}
	if up.branch != same {
		switch setting(ctx, root, "--get", "push.default") {
		case "upstream", "tracking":
		case "current":
			return up.remote, same, nil
		default:
			return "", "", fmt.Errorf("branch %s follows %s of %s, which has another name: %s", up.name, strings.TrimPrefix(up.branch, "refs/heads/"), up.remote, shell.Quote("git", "push", "-u", up.remote, up.name))
		}
	}
	return up.remote, up.branch, nil
}
