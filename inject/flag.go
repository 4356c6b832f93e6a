package inject

import (
	"slices"
	"strings"
)

// Flag is the value that arguments give a flag by one of its names, such as
// "--model" and "-m": the last one counts. What follows "--" is no flag.
func Flag(args []string, names ...string) string {
	value := ""
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, after, joined := strings.Cut(arg, "=")
		switch {
		case !slices.Contains(names, name):
		case joined:
			value = after
		case i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			value = args[i+1]
		}
	}
	return value
}
