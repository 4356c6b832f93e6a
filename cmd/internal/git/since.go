package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A LoggedCommit is a commit reachable from HEAD.
type LoggedCommit struct {
	Subject string
	Paths   []string // of the files it changed, relative to the requested folder; none for a merge
}

// Since lists the commits reachable from HEAD that were committed after a given time,
// latest first, up to most of them. Their paths are those below root, relative to it.
func Since(ctx context.Context, root string, after time.Time, most int) ([]LoggedCommit, error) {
	const begin = "\x01"
	out, err := read(ctx, root, "-c", "core.quotePath=false", "log", "-z", "--name-only", "--relative", "--no-renames", "--no-ext-diff", "--no-textconv",
		fmt.Sprintf("--max-count=%d", most), fmt.Sprintf("--since=%d", after.Unix()), "--format="+begin+"%ct %s")
	if err != nil {
		return nil, err
	}
	var all []LoggedCommit
	later := false
	for record := range strings.SplitSeq(out, "\x00") {
		line, commit := strings.CutPrefix(record, begin)
		if !commit {
			if path := strings.TrimPrefix(record, "\n"); later && path != "" {
				all[len(all)-1].Paths = append(all[len(all)-1].Paths, path)
			}
			continue
		}
		at, subject, _ := strings.Cut(line, " ")
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git log in %s says %q", root, record)
		}
		if later = seconds > after.Unix(); later {
			all = append(all, LoggedCommit{Subject: subject})
		}
	}
	return all, nil
}

// Knowledge is what git knows about a path.
type Knowledge int

const (
	Unknown Knowledge = iota
	Tracked           // in the index
	Skipped           // in the index, but left out of the work tree by a sparse checkout
)

// Known returns what git knows about the paths.
func Known(ctx context.Context, root string, paths []string) (map[string]Knowledge, error) {
	known := map[string]Knowledge{}
	if len(paths) == 0 {
		return known, nil
	}
	out, err := read(ctx, root, append([]string{"--literal-pathspecs", "ls-files", "-t", "-z", "--"}, paths...)...)
	if err != nil {
		return nil, err
	}
	for record := range strings.SplitSeq(out, "\x00") {
		tag, path, _ := strings.Cut(record, " ")
		if known[path] = Tracked; tag == "S" {
			known[path] = Skipped
		}
	}
	return known, nil
}
