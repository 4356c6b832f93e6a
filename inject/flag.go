package inject

import (
	"slices"
	"strings"
)

// Flag returns the value of a flag in args under any of its names, such as "--model"
// and "-m". The last one wins. Arguments after "--" are not flags.
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
