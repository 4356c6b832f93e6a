package git

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLogSettings checks that what is read of the history does not depend on the user's
// settings, or on a file that has the name of a ref.
func TestLogSettings(t *testing.T) {
	r := newRepo(t)
	r.write("d/f", "1\n")
	r.write("d/HEAD", "1\n")
	r.write("other", "1\n")
	r.git("add", "-A")
	r.git("commit", "-qm", "größe\n\nId: a")
	r.write("d/f", "2\n")
	r.git("commit", "-qam", "two\n\nId: b")
	r.git("checkout", "-qb", "side", "HEAD~")
	r.write("d/g", "1\n")
	r.git("add", "-A")
	r.git("commit", "-qm", "side")
	r.git("checkout", "-q", "-")
	r.git("merge", "-q", "--no-commit", "side")
	r.write("d/f", "merged\n")
	r.git("commit", "-qam", "merge")
	long := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	root, ctx := filepath.Join(r.root, "d"), t.Context()
	seen := func() (all []string) {
		note := func(what string, got any, err error) {
			all = append(all, fmt.Sprintf("%s: %v, %v", what, got, err))
		}
		note("first", len(FirstCommits(ctx, root)), nil)
		for _, rev := range []string{"HEAD", "HEAD~", "HEAD~2"} {
			c, err := CommitNamed(ctx, root, rev, "Id")
			note(rev, c, err)
		}
		named, err := CommitsWith(ctx, root, "Id", "a")
		note("with", named, err)
		since, err := Since(ctx, root, long, 10, "conversations")
		note("since", since, err)
		for line := range 2 {
			id, was, err := LastChange(ctx, root, "f", line)
			note("last", id+" "+was.File, err)
		}
		note("history", nil, History(ctx, root, "f", 1000, func(f File, commit string) error {
			note("version", f, nil)
			return nil
		}))
		had, err := Had(ctx, root, "f", long)
		note("had", had, err)
		for _, text := range []string{"1\n", "merged\n"} {
			holders, err := FindHolders(ctx, root, []string{"f"}, func(b []byte) bool { return string(b) == text })
			note("holders", holders, err)
		}
		return all
	}
	want := seen()
	for _, set := range [][2]string{
		{"log.showRoot", "false"}, {"diff.relative", "true"}, {"log.diffMerges", "off"}, {"log.diffMerges", "combined"}, {"log.diffMerges", "remerge"}, {"log.date", "relative"}, {"log.follow", "true"}, {"log.decorate", "full"},
		{"color.ui", "always"}, {"diff.renames", "copies"}, {"diff.noprefix", "true"}, {"format.pretty", "oneline"}, {"grep.patternType", "perl"}, {"blame.date", "human"},
		{"i18n.logOutputEncoding", "latin1"}, {"trailer.separators", "="},
	} {
		r.git("config", set[0], set[1])
		for i, got := range seen() {
			if i >= len(want) || got != want[i] {
				t.Errorf("with %s=%s: %s, want %q", set[0], set[1], got, want[min(i, len(want)-1)])
			}
		}
		r.git("config", "--unset", set[0])
	}
	if want[0] != "first: 1, <nil>" || !slices.Contains(want, "had: true, <nil>") || !strings.Contains(want[1], "[f g]") {
		t.Errorf("read: %q", want)
	}
}

// TestSince: of a workspace in a folder of the repository, a commit that changed only the excepted
// folder counts as nothing, and one that changed files beside the workspace does not.
func TestSince(t *testing.T) {
	r := newRepo(t)
	for _, names := range []string{"d/conversations/a", "d/f", "beside", "d/conversations/b d/g", "conversations/c", ""} {
		for _, name := range strings.Fields(names) {
			r.write(name, name)
		}
		r.git("add", "-A")
		r.git("commit", "-q", "--allow-empty", "-m", "<"+names+">")
	}
	r.git("checkout", "-q", "-b", "side", "HEAD~")
	r.git("commit", "-q", "--allow-empty", "-m", "side")
	r.git("checkout", "-q", "-")
	r.git("merge", "-q", "-m", "merge", "side")
	for dir, want := range map[string]string{
		"":  "merge [] false, <> [] true, side [] true, <conversations/c> [] true, <d/conversations/b d/g> [d/conversations/b d/g] false, <beside> [beside] false, <d/f> [d/f] false, <d/conversations/a> [d/conversations/a] false",
		"d": "merge [] false, <> [] true, side [] true, <conversations/c> [] false, <d/conversations/b d/g> [g] false, <beside> [] false, <d/f> [f] false, <d/conversations/a> [] true",
	} {
		all, err := Since(t.Context(), filepath.Join(r.root, dir), time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), 100, "conversations")
		var got []string
		for _, c := range all {
			got = append(got, fmt.Sprint(c.Subject, " ", c.Paths, " ", c.Nothing))
		}
		slices.Sort(got)
		sorted := strings.Split(want, ", ")
		slices.Sort(sorted)
		if err != nil || !slices.Equal(got, sorted) {
			t.Errorf("in %q: %q, %v, want %q", dir, got, err, sorted)
		}
	}
}

// TestKnownInHead: it says the same as Known of files that are committed, from a folder, too.
func TestKnownInHead(t *testing.T) {
	r := newRepo(t)
	r.write("d/f", "1\n")
	r.write("d/*", "1\n")
	r.write("f", "1\n")
	r.git("add", "-A")
	r.git("commit", "-qm", "one")
	for _, dir := range []string{"", "d"} {
		for _, paths := range [][]string{nil, {"f", "g", "d/f"}, {"*"}} {
			want, err := Known(t.Context(), filepath.Join(r.root, dir), paths)
			got, inHead := KnownInHead(t.Context(), filepath.Join(r.root, dir), paths)
			for _, path := range paths {
				if err != nil || inHead != nil || got[path] != want[path] {
					t.Errorf("%s in %q: %v, %v; in the index %v, %v", path, dir, got[path], inHead, want[path], err)
				}
			}
		}
	}
}
