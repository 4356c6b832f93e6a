package flow

import "strings"

func isPlanTool(name string) bool {
	n := strings.ToLower(name)
	return strings.Contains(n, "todo") || strings.HasPrefix(n, "task")
}
