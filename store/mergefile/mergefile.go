// Package mergefile merges two versions of one file of a conversation, for git's merge
// driver: bytes in, bytes out.
//
// The result does not depend on which side is ours, holds every record of both sides, and
// does not change if it is merged with either side again.
package mergefile

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"cortext/schema"
)

// ErrUnsure is returned if the two sides are better merged by keeping the lines of both,
// as git does by the workspace's .gitattributes.
var ErrUnsure = errors.New("the sides cannot be merged for certain: keep the lines of both")

// Merge merges two versions of the file with a name, which is its path in the repository
// with slashes. base is their common ancestor, empty if there is none. On an error the
// caller must keep the lines of both sides.
func Merge(name string, base, ours, theirs []byte) ([]byte, error) {
	switch file := path.Base(name); {
	case file == "session.json":
		return schema.MergeSessionFiles(base, ours, theirs)
	case file == "messages.jsonl":
		return mergeLogs(messageLine, base, ours, theirs)
	case file == "tools.jsonl":
		return mergeLogs(toolLine, base, ours, theirs)
	case path.Base(path.Dir(name)) == "summaries" && strings.HasSuffix(file, ".json"):
		return schema.MergeSummaryFiles(ours, theirs)
	}
	return nil, fmt.Errorf("%q is no file of a conversation: %w", name, ErrUnsure)
}
