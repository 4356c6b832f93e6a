package registry

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Known lists the existing workspace folders that bindings and notes of places name, sorted
// and without duplicates.
func (r Registry) Known(agents []string) (dirs []string) {
	add := func(dir string) {
		if !filepath.IsAbs(dir) || slices.Contains(dirs, dir) {
			return
		}
		if info, err := os.Stat(filepath.Join(dir, ".workspace")); err == nil && info.IsDir() {
			dirs = append(dirs, dir)
		}
	}
	for _, agent := range agents {
		_ = r.Sessions.Each(agent, func(_ string, s Session) { // skip what cannot be read
			for _, b := range s.Bindings {
				add(b.Workspace)
			}
		})
	}
	marks, _ := os.ReadDir(r.files.path("places"))
	for _, e := range marks {
		mark, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		for _, dir := range r.Workspaces.Places(mark) {
			add(RealDir(dir))
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
