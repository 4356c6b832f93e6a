package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"cortext/inject"
)

// Running lists the open sessions: the program keeps a file for each in the folder
// sessions, named after its process (2.1.329).
func Running(m inject.Machine) (list []inject.Running) {
	dir := filepath.Join(configDir(m), "sessions")
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" || !e.Type().IsRegular() {
			continue
		}
		var s struct {
			PID       int
			SessionID string
			StartedAt int64
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil && json.Unmarshal(b, &s) == nil && s.PID > 0 && s.SessionID != "" {
			list = append(list, inject.Running{NativeID: s.SessionID, PID: s.PID, Since: time.UnixMilli(s.StartedAt)})
		}
	}
	return list
}
