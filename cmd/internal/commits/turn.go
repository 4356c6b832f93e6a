package commits

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/history"
	"cortext/resume/notes"
	"cortext/schema"
)

// ledTo returns the user's message that led to a commit which names the conversation. doubt says
// why it may be another one; otherwise it is empty.
func ledTo(commit git.Logged, shown *history.Shown) (prompt schema.Message, doubt string) {
	turns := turnsOf(shown.Messages)
	last := promptBefore(shown.Messages, commit.At)
	var wrote, later []schema.Message // the prompts whose turns wrote files of the commit, by time
	for _, t := range shown.Tools {
		made := madeBy(t, commit)
		if !made && !writes(t, commit) {
			continue
		}
		when := t.Timestamp.Time()
		asked := turns.prompt(t.MessageID)
		if asked.ID == "" { // the records name no parents
			asked = promptBefore(shown.Messages, when)
		}
		switch {
		case asked.ID == "":
		case made:
			return asked, ""
		case when.Before(commit.At.Add(time.Second)):
			wrote = append(wrote, asked)
		case when.Before(commit.Written.Add(time.Second)) && asked.ID != last.ID:
			later = append(later, asked)
		}
	}
	byTime := func(a, b schema.Message) int { return a.Timestamp.Time().Compare(b.Timestamp.Time()) }
	slices.SortStableFunc(wrote, byTime)
	written := slices.ContainsFunc(wrote, func(m schema.Message) bool { return m.ID == last.ID })
	asked := func(after, before time.Time) (other schema.Message) {
		for _, m := range shown.Messages {
			if when := m.Timestamp.Time(); isPrompt(m) && m.ID != last.ID && when.After(after) && when.Before(before.Add(time.Second)) {
				other = m
			}
		}
		return other
	}
	switch {
	case len(wrote) > 0 && !written:
		prompt = wrote[len(wrote)-1]
		return prompt, fmt.Sprintf("message %d came later, but only what followed message %d changed its files", last.Number, prompt.Number)
	case commit.Joined && asked(time.Time{}, commit.At).ID != "":
		return last, "it joins other commits, which may have followed other messages"
	case len(later) > 0:
		return last, fmt.Sprintf("it was amended or rebased later, after message %d had changed its files, too", later[0].Number)
	case !written && asked(commit.At.Add(time.Second), commit.Written).ID != "":
		return last, "it was amended or rebased later, after other messages"
	}
	if other := turns.beside(last, shown.Messages); other.ID != "" {
		return last, fmt.Sprintf("the conversation went on in two places, and message %d came before it, too", other.Number)
	}
	return last, ""
}

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

// minID is the least number of digits of an id that git prints.
const minID = 4

// writes reports whether a call changed a file of a commit.
func writes(t schema.Tool, commit git.Logged) bool {
	return slices.ContainsFunc(notes.Written(t), func(name string) bool {
		return slices.ContainsFunc(commit.Paths, func(p string) bool { return name == p || strings.HasSuffix(name, "/"+p) })
	})
}

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

// beside returns a prompt from before the last one, on another branch that went on after it: two
// clones went on with the conversation at once. Its id is empty if there is none.
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
