package resume

import (
	"fmt"
	"strings"

	"cortext/resume/excerpt"
	"cortext/schema/clip"
	"cortext/schema/tokens"
)

// Changes are the changes git knows about since the last message of a conversation.
type Changes struct {
	Commits  int      // reachable from HEAD and committed since
	More     bool     // there are more commits than we looked at
	Subjects []string // of the most recent commits, newest first
	Changed  []string // files of the conversation that these commits touched, relative to the workspace
	Gone     []string // files of the conversation that are missing from the work tree
}

// changesShare is the largest share of a budget, in percent, that changes may take.
const changesShare = 3

// Limits on the subjects and on the files of each kind.
const (
	mostSubjects = 5
	mostFiles    = 20
)

// longestSubject is how many bytes of a subject are shown.
const longestSubject = 80

// text lists the changes for the block in at most limit tokens, dropping files and
// subjects if it has to. It returns "" if there are no changes.
func (c *Changes) text(limit int) string {
	if c == nil || c.Commits == 0 && len(c.Gone) == 0 {
		return ""
	}
	for subjects, files := mostSubjects, mostFiles; ; {
		text := c.render(subjects, files)
		switch {
		case tokens.Count(text) <= limit:
			return text
		case files > 1:
			files /= 2
		case subjects > 0:
			subjects--
		case files > 0:
			files = 0
		default:
			return ""
		}
	}
}

func (c *Changes) render(subjects, files int) string {
	var b strings.Builder
	b.WriteString("Since then:")
	if c.Commits > 0 {
		more := ""
		if c.More {
			more = " or more"
		}
		b.WriteString(" " + excerpt.Count(c.Commits, "commit") + more)
		var named []string
		for _, s := range c.Subjects[:min(subjects, len(c.Subjects))] {
			if s = oneLine(s); len(s) > longestSubject {
				s = clip.Head(s, longestSubject) + "…"
			}
			if s != "" {
				named = append(named, `"`+s+`"`)
			}
		}
		if len(named) > 0 {
			b.WriteString(", the latest first: " + strings.Join(named, ", "))
		}
	}
	b.WriteString("\n")
	for _, list := range []struct {
		what  string
		paths []string
	}{{"changed", c.Changed}, {"gone", c.Gone}} {
		if len(list.paths) == 0 {
			continue
		}
		var named []string
		for _, p := range list.paths[:min(files, len(list.paths))] {
			named = append(named, oneLine(p))
		}
		if n := len(list.paths) - len(named); n > 0 {
			named = append(named, fmt.Sprintf("%d more", n))
		}
		fmt.Fprintf(&b, "- %s: %s\n", list.what, strings.Join(named, ", "))
	}
	return b.String()
}
