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
		since, err := Since(ctx, root, long, 10)
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
