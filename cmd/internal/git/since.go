package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A LoggedCommit is a commit reachable from HEAD.
type LoggedCommit struct {
	Subject string
	Paths   []string // of the files it changed, relative to the requested folder; none for a merge
	Nothing bool     // it is not a merge, and changed nothing or only what was not asked for
}

// Since lists the commits reachable from HEAD that were committed after a given time,
// latest first, up to most of them. Their paths are those below root, relative to it, without
// those below its folder except, whose trees git does not even look into.
func Since(ctx context.Context, root string, after time.Time, most int, except string) ([]LoggedCommit, error) {
	prefix := ""
	if !exists(filepath.Join(root, ".git")) {
		var err error
		if prefix, err = Prefix(ctx, root); err != nil {
			return nil, err
		}
	}
	const begin = "\x01"
	out, err := read(ctx, root, "--no-literal-pathspecs", "-c", "core.quotePath=false", "log", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--full-history", "--sparse", // list a commit even if all of its files are excepted
		fmt.Sprintf("--max-count=%d", most), fmt.Sprintf("--since=%d", after.Unix()), "--format="+begin+"%ct,%P,%s", "--", ":/", ":(exclude,literal)"+except)
	if err != nil {
		return nil, err
	}
	var all []LoggedCommit
	later := false
	for record := range strings.SplitSeq(out, "\x00") {
		line, commit := strings.CutPrefix(record, begin)
		if !commit {
			if path := strings.TrimPrefix(record, "\n"); later && path != "" {
				last := &all[len(all)-1]
				last.Nothing = false
				if path, below := strings.CutPrefix(path, prefix); below {
					last.Paths = append(last.Paths, path)
				}
			}
			continue
		}
		at, rest, _ := strings.Cut(line, ",")
		parents, subject, _ := strings.Cut(rest, ",")
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git log in %s says %q", root, record)
		}
		if later = seconds > after.Unix(); later {
			all = append(all, LoggedCommit{Subject: subject, Nothing: !strings.Contains(parents, " ")})
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

// KnownInHead is Known for a work tree that is not sparse: it says that what the last commit has is
// tracked. Unlike Known, it does not read the whole index.
func KnownInHead(ctx context.Context, root string, paths []string) (map[string]Knowledge, error) {
	known := map[string]Knowledge{}
	if len(paths) == 0 {
		return known, nil
	}
	tracked, err := namedPaths(ctx, root, "ls-tree", append([]string{"HEAD", "--"}, paths...)...)
	for _, path := range tracked {
		known[path] = Tracked
	}
	return known, err
}

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
