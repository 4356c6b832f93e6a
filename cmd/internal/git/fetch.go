package git

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"cortext/cmd/internal/shell"
)

// A ConflictError reports files that both sides changed and git could not merge. Documents
// belong to people: no driver merges them.
type ConflictError struct {
	Upstream string
	Paths    []string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: changed here and in %s: merge it yourself, with git merge %[2]s", strings.Join(e.Paths[:min(len(e.Paths), 3)], ", "), e.Upstream)
}

// fetch fetches the upstream. It names the branch, because git reports a branch that the
// remote lacks only if it was asked for by name.
func (x Exchange) fetch(ctx context.Context, up upstream) error {
	err := call(x.asking(ctx, "fetch", "--quiet", up.remote, up.branch))
	if err != nil && noBranch().MatchString(err.Error()) {
		return fmt.Errorf("%s has no branch %s: %s makes it; if it was renamed, git branch -m NAME, git fetch %[1]s and git branch -u %[1]s/NAME follow it", up.remote, strings.TrimPrefix(up.branch, "refs/heads/"), shell.Quote("git", "push", "-u", up.remote, up.name))
	}
	return err
}

// noBranch matches what git says if a remote does not have what is to be fetched.
var noBranch = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)couldn't find remote ref`)
})

// usualStrategy returns configuration that makes git merge with its usual strategy, if the user
// has set another one: "ours" would drop what the upstream has, and others ignore attributes.
func usualStrategy(ctx context.Context, root string, up upstream) (set []string) {
	if setting(ctx, root, "--get", "pull.twohead") != "" {
		set = append(set, "-c", "pull.twohead=ort")
	}
	key := "branch." + up.name + ".mergeOptions"
	for _, word := range strings.Fields(setting(ctx, root, "--get", key)) {
		name, _, _ := strings.Cut(word, "=")
		if name == "--strategy" || strings.HasPrefix(word, "-s") {
			return append(set, "-c", key+"=")
		}
	}
	return set
}

// unrelated returns the reason why HEAD and the upstream have no common commit, which git
// does not say: err is its own.
func (x Exchange) unrelated(ctx context.Context, up upstream, err error) error {
	if _, known := read(ctx, x.Root, "rev-parse", "--quiet", "--verify", up.ref+"^{commit}"); known != nil {
		return err
	}
	if out, _ := read(ctx, x.Root, "rev-parse", "--is-shallow-repository"); strings.TrimSpace(out) == "true" {
		return fmt.Errorf("this clone is shallow, and lacks the commit that HEAD and %s have in common: git fetch --unshallow %s", short(up.ref), up.remote)
	}
	// All of the history was rewritten, there or here.
	if err := cmp.Or(x.wantKept(ctx, up), x.wantDropped(ctx, up)); err != nil {
		return err
	}
	return fmt.Errorf("HEAD and %s have no commit in common: git merge --allow-unrelated-histories %[1]s merges them", short(up.ref))
}

// short returns the name that users give to the ref of a branch at a remote.
func short(ref string) string { return strings.TrimPrefix(ref, "refs/remotes/") }

// Clone clones a repository into a folder, as the user's git does. The url may be a path
// relative to the folder from.
func Clone(ctx context.Context, from, url, dir string) error {
	return call(Exchange{Root: from}.asking(ctx, "clone", "--quiet", "--", url, dir))
}

// Origin returns the URL of the usual remote of dir's repository, or else of the first
// remote by name, or "" if there is none. The remotes of the user's configuration do not
// count: all repositories have them.
func Origin(ctx context.Context, dir string) string {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	names, _ := remotes(ctx, dir)
	if first := usual(names); first != "" {
		names = append([]string{first}, names...)
	}
	for _, name := range names {
		if out, err := read(ctx, dir, "remote", "get-url", name); err == nil { // it knows no others
			return strings.TrimSpace(out)
		}
	}
	return ""
}

// fetchURL returns the URL that git fetches a remote from, as the user's settings rewrite it, or
// "". It also takes a URL.
func fetchURL(ctx context.Context, dir, remote string) string {
	out, _ := read(ctx, dir, "ls-remote", "--get-url", "--", remote)
	return strings.TrimSpace(out)
}

// replicated reports whether a remote is fetched from one repository and pushed to another: the
// former is a copy, which may be behind. The ways to reach one repository may differ.
func replicated(ctx context.Context, root, remote string) bool {
	from := fetchURL(ctx, root, remote)
	to, err := read(ctx, root, "remote", "get-url", "--push", remote)
	if err != nil {
		first, _, _ := strings.Cut(pushURLs(ctx, root, remote), "\n")
		to = fetchURL(ctx, root, first)
	}
	return from != "" && to != "" && Spelled(from) != Spelled(strings.TrimSpace(to))
}

// anonymous returns a remote without the user and the password that its URL may have.
func anonymous(remote string) string {
	scheme, rest, isURL := strings.Cut(remote, "://")
	host, path, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(host, '@')
	if !isURL || at < 0 {
		return remote
	}
	return scheme + "://" + host[at+1:] + "/" + path
}

// Spelled returns the host and path of a remote, because the same repository has several
// URLs.
func Spelled(remote string) string {
	host, at := "", ""
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		host, at = u.Hostname(), u.Path
	} else {
		host, at, _ = strings.Cut(remote, ":")
		host = host[strings.LastIndexByte(host, '@')+1:]
	}
	at = strings.TrimSuffix(strings.Trim(at, "/"), ".git")
	return strings.ToLower(host) + "/" + strings.TrimSuffix(at, "/")
}
