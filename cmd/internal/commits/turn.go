package commits

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"cortext/cmd/internal/git"
	"cortext/resume/notes"
	"cortext/schema"
)

// madeBy reports whether a call made the commit: git prints its branch, id and subject.
func madeBy(t schema.Tool, commit git.Logged) bool {
	if schema.KindOf(t.Name) != schema.ShellTool {
		return false
	}
	for line := range strings.Lines(t.Output) {
		where, subject, ok := strings.Cut(line, "] ")
		_, id, named := cutLast(where, " ")
		if ok && named && len(id) >= minID && strings.Contains(where, "[") && strings.HasPrefix(commit.ID, id) && strings.TrimSpace(subject) == commit.Subject {
			return true
		}
	}
	return false
}

// madeCommits reports whether a call made any commits. The call fails if a hook refuses one.
func madeCommits(t schema.Tool) bool {
	_, after, found := bytes.Cut(t.Input, []byte("git "))
	return found && schema.KindOf(t.Name) == schema.ShellTool && bytes.Contains(after, []byte("commit ")) && notes.Outcome(t) == notes.OK
}

// addsAll reports whether a call stages whatever has changed.
func addsAll(t schema.Tool) bool {
	return schema.KindOf(t.Name) == schema.ShellTool && allAdded().Match(t.Input) && notes.Outcome(t) == notes.OK
}

var allAdded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bgit .*\badd (-A|--all|\.)(["\s;&\\]|$)`)
})

// minID is the least number of digits of an id that git prints.
const minID = 4

func isPrompt(m schema.Message) bool { return m.Role == schema.User && m.Content != "" }

// turns finds what a message answers.
type turns map[string]schema.Message

func turnsOf(messages []schema.Message) turns {
	t := turns{}
	for _, m := range messages {
		t[m.ID] = m
	}
	return t
}

// prompt returns the user's message that a message follows, or is itself. Its id is empty if
// there is none.
func (t turns) prompt(id string) (asked schema.Message) {
	for range t { // parents may form a circle
		m, known := t[id]
		if !known || isPrompt(m) {
			return m
		}
		id = m.ParentID
	}
	return asked
}

// above reports whether a message is, or comes before, another one on its branch.
func (t turns) above(id, other string) bool {
	for range t {
		if id == other {
			return true
		}
		m, known := t[other]
		if !known {
			return false
		}
		other = m.ParentID
	}
	return false
}

// beside returns a prompt that is earlier than the last one, but on another branch that
// continued after it, because two clones continued the conversation at the same time. Its
// id is empty if there is none.
func (t turns) beside(last schema.Message, messages []schema.Message) (none schema.Message) {
	newer := func(m schema.Message) bool { return m.Timestamp.Time().After(last.Timestamp.Time()) }
	for _, m := range messages {
		before, known := t[m.ParentID]
		if !newer(m) || !known || newer(before) {
			continue
		}
		if asked := t.prompt(before.ID); asked.ID != "" && !t.above(asked.ID, last.ID) {
			return asked
		}
	}
	return none
}
