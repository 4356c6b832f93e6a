package settings

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// describe describes a value for display. Anchors and aliases are rejected, because they
// let a short file expand to a huge one.
func describe(v *yaml.Node) string {
	switch {
	case v.Kind == yaml.AliasNode:
		return "an alias (" + quote("*"+v.Value) + ")"
	case v.Anchor != "":
		return "an anchor (" + quote("&"+v.Anchor) + ")"
	case v.Kind == yaml.SequenceNode:
		return "a list"
	case v.Kind == yaml.MappingNode:
		return "a mapping"
	}
	return quote(v.Value)
}

// quote shortens and quotes text from the file.
func quote(s string) string {
	const most = 40
	s = strings.TrimRight(s, " \t\r")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
