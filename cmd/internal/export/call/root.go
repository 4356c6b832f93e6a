package call

import (
	"path"
	"strings"

	"cortext/schema"
)

// Root returns the folder that contains most files of the calls, or "". It is usually the
// project's folder on the machine where the conversation took place.
func Root(tools map[string]schema.Tool) string {
	below := map[string]int{} // number of files below each folder
	files := 0
	for _, t := range tools {
		file := fields(t.Input).text("filepath", "absolutepath", "notebookpath", "path", "file")
		if !path.IsAbs(file) {
			continue
		}
		files++
		for dir := path.Dir(path.Clean(file)); dir != "/"; dir = path.Dir(dir) {
			below[dir]++
		}
	}
	root := ""
	for dir, n := range below {
		if n*10 < files*8 || strings.Count(dir, "/") < 2 {
			continue
		}
		if len(dir) > len(root) || len(dir) == len(root) && dir < root {
			root = dir
		}
	}
	return root
}
