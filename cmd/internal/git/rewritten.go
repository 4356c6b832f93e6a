package git

import (
	"context"
	"fmt"
	"strings"
)

// A RewrittenError reports that the upstream once had commits that the current branch has, and
// has them no longer. Somebody rewrote its history, perhaps to remove a secret from it, and a
// merge and the next push would bring it back.
type RewrittenError struct {
	Upstream string
	Commits  int
	Keep     string // the git command that keeps them
}

func (e *RewrittenError) Error() string {
	return fmt.Sprintf("the history of %s was rewritten, and lacks commits that it had and you still have (%d): git pull --rebase drops them here too, %s keeps them", e.Upstream, e.Commits, e.Keep)
}

// wantKept returns a [*RewrittenError] if the upstream does not have commits of the current
// branch that it had when it was fetched or pushed to earlier, unless the user has merged it
// since then.
func (x Exchange) wantKept(ctx context.Context, up upstream) error {
	if up.remote == "." { // the user rewrote it here
		return nil
	}
	had, err := read(ctx, x.Root, "-c", "log.showSignature=false", "log", "--walk-reflogs", "--format=%H", up.ref, "--")
	if err != nil { // it was never fetched
		return nil
	}
	ids := strings.Fields(had)
	// The oldest entry of the reflog also says what was there before. A clone writes none.
	if first, err := read(ctx, x.Root, "rev-parse", "--quiet", "--verify", fmt.Sprintf("%s@{%d}", up.ref, len(ids))); err == nil {
		ids = append(ids, strings.TrimSpace(first))
	}
	commits, err := revisions(ctx, x.Root, "HEAD", "^"+up.ref)
	if err != nil {
		return err
	}
	ahead := map[string]bool{}
	for _, id := range commits {
		ahead[id] = true
	}
	for _, id := range ids {
		if !ahead[id] {
			continue
		}
		bases, err := read(ctx, x.Root, "merge-base", "--all", "HEAD", up.ref)
		if err != nil {
			return err
		}
		merged, err := revisions(ctx, x.Root, append(strings.Fields(bases), "--max-count=1", "^"+id)...)
		if err != nil {
			return err
		}
		if len(merged) > 0 {
			continue
		}
		gone, err := revisions(ctx, x.Root, id, "^"+up.ref)
		if err != nil {
			return err
		}
		keep := "merge " + short(up.ref)
		if _, err := read(ctx, x.Root, "merge-base", "--is-ancestor", up.ref, "HEAD"); err == nil { // there is nothing to merge
			keep = "push " + up.there()
		}
		return &RewrittenError{short(up.ref), len(gone), "git " + keep}
	}
	return nil
}

// A DroppedError reports that the current branch once had commits that the upstream has, and has
// them no longer: the user amended, reset or rebased it after a push. A merge would bring them back.
type DroppedError struct {
	Branch, Upstream string
	Replace          string // the arguments of the git push that replaces the upstream
	Commits          int
}

func (e *DroppedError) Error() string {
	return fmt.Sprintf("branch %s was rewritten here, and lacks commits that it had and %s still has (%d): git push --force-with-lease %s drops them there too, git merge %[2]s brings them back", e.Branch, e.Upstream, e.Commits, e.Replace)
}

// wantDropped returns a [*DroppedError] if the upstream has commits that the current branch had
// and does not have now, unless the branch has nothing else.
func (x Exchange) wantDropped(ctx context.Context, up upstream) error {
	if up.remote == "." { // nobody pushes to it
		return nil
	}
	own, err := revisions(ctx, x.Root, "HEAD", "--max-count=1", "^"+up.ref)
	if err != nil || len(own) == 0 {
		return err
	}
	had, err := read(ctx, x.Root, "-c", "log.showSignature=false", "log", "--walk-reflogs", "--format=%H", "refs/heads/"+up.name, "--")
	if err != nil { // there is no reflog
		return nil
	}
	commits, err := revisions(ctx, x.Root, up.ref, "^HEAD")
	if err != nil {
		return err
	}
	news := map[string]bool{}
	for _, id := range commits {
		news[id] = true
	}
	for id := range strings.FieldsSeq(had) {
		if !news[id] {
			continue
		}
		dropped, err := revisions(ctx, x.Root, id, "^HEAD")
		if err != nil {
			return err
		}
		return &DroppedError{up.name, short(up.ref), up.there(), len(dropped)}
	}
	return nil
}

// there returns the arguments with which git pushes to the upstream.
func (up upstream) there() string {
	return up.remote + " HEAD:" + strings.TrimPrefix(up.branch, "refs/heads/")
}

// revisions returns the commits that git rev-list does.
func revisions(ctx context.Context, root string, args ...string) ([]string, error) {
	out, err := read(ctx, root, append(append([]string{"rev-list"}, args...), "--")...)
	return strings.Fields(out), err
}

// leased returns the option with which git pushes to the upstream only what it would push
// anyway, and only if the upstream is where it was when it was fetched last. Git takes a branch
// that was reset to an older commit for one that lacks what is pushed. Nothing is returned if the
// push goes elsewhere, or if there is something to merge first.
func (x Exchange) leased(ctx context.Context, up upstream, remote, branch string) (option []string, err error) {
	if remote != up.remote || branch != up.branch {
		return nil, nil
	}
	tip, err := read(ctx, x.Root, "rev-parse", "--quiet", "--verify", up.ref+"^{commit}")
	if err != nil { // it is not fetched
		return nil, nil
	}
	known := strings.TrimSpace(tip)
	if _, err := read(ctx, x.Root, "merge-base", "--is-ancestor", known, "HEAD"); err != nil {
		return nil, nil
	}
	return []string{"--force-with-lease=" + branch + ":" + known}, x.wantKept(ctx, up)
}
