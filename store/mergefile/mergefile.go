// Package mergefile merges two versions of one file of a conversation, for git's merge
// driver: bytes in, bytes out.
//
// The result does not depend on which side is ours and holds every record of both sides.
// Merging it with either side again does not change it.
package mergefile

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"cortext/schema"
	"cortext/store"
)

// ErrUnsure is returned if it is safer to keep the lines of both sides, as the workspace's
// .gitattributes makes git do.
var ErrUnsure = errors.New("not sure how to merge the two sides: keep the lines of both")

// Merge merges two versions of a file. name is its slash-separated path in the repository.
// base is the common ancestor, or empty. On an error the caller must keep the lines of both
// sides.
func Merge(name string, base, ours, theirs []byte) ([]byte, error) {
	switch file := path.Base(name); {
	case file == "session.json":
		return schema.MergeSessionFiles(base, ours, theirs)
	case file == path.Base(store.MessagesLog):
		return mergeLogs(messageLine, base, ours, theirs)
	case file == path.Base(store.ToolsLog):
		return mergeLogs(toolLine, base, ours, theirs)
	case path.Base(path.Dir(name)) == "summaries" && strings.HasSuffix(file, ".json"):
		return schema.MergeSummaryFiles(ours, theirs)
	case path.Base(path.Dir(name)) == "attachments":
		return mergeAttachment(base, ours, theirs), nil
	}
	return nil, fmt.Errorf("%q is not a file of a conversation: %w", name, ErrUnsure)
}
