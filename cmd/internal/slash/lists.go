package slash

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/store"
)

// lists write lists of conversations for an agent.
type lists struct{ ws *workspace.Workspace }

// shownFirst is how many conversations a list in an agent shows unless all are asked for.
const shownFirst = 20

// recent lists up to most conversations with numbers to choose from, and counts those that
// do not fit into limit bytes.
func (l lists) recent(limit, most int) (string, error) {
	entries, err := history.Listed(l.ws.Store)
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return Prefix + "there are no conversations yet. One begins with /workspace.brainstorm, /workspace.plan and the like.", nil
	}
	return l.entries("the conversations, the last active first:", entries, limit, most)
}

// nearest says that no conversation matches a query, and lists the nearest.
func (l lists) nearest(limit int, e *workspace.NotFoundError) (string, error) {
	head := fmt.Sprintf("no conversation matches %q.", workspace.Plain(e.Query))
	if len(e.Near) == 0 {
		return Prefix + head + " /workspace.resume without words lists them.", nil
	}
	return l.entries(head+" The nearest are:", e.Near, limit, len(e.Near))
}

// candidates lists the conversations that match a query.
func (l lists) candidates(limit int, e *workspace.AmbiguousError) (string, error) {
	return l.entries(fmt.Sprintf("%q matches %d conversations:", workspace.Plain(e.Query), len(e.Candidates)), e.Candidates, limit, shownFirst)
}

// entries writes a numbered list and remembers it, so that a number keeps its meaning
// after the list was shown.
func (l lists) entries(head string, list []store.Entry, limit, most int) (string, error) {
	const tail = "\n… and %d more: /workspace.sessions all, or /workspace.resume with words"
	const how = "\n\nTo resume one, type /workspace.resume and its number, or words of its title."
	var b strings.Builder
	b.WriteString(Prefix + head + "\n")
	var ids []string
	for i, e := range list {
		s := e.Session
		line := fmt.Sprintf("\n%d. %s / %s (%s, %s)", i+1, workspace.Plain(s.ConversationType), workspace.Plain(s.DisplayTitle()), workspace.ShownStatus(e), resume.Ago(l.ws.Env.Now(), s.LastActive.Time()))
		if s.ContextSummary != "" {
			line += "\n   " + workspace.Plain(s.ContextSummary)
		}
		if i == most || b.Len()+len(line)+len(tail)+len(how)+10 > limit {
			fmt.Fprintf(&b, tail, len(list)-i)
			break
		}
		b.WriteString(line)
		ids = append(ids, s.ID)
	}
	b.WriteString(how)
	if raw, err := json.Marshal(ids); err == nil {
		_ = l.ws.Store.WriteCache(listedName, raw)
	}
	return b.String(), nil
}

// listedName is the cache file with the ids of the conversations listed last.
const listedName = "listed.json"

// pick is [workspace.Conversations.Pick], except that a number selects from the list that
// was shown.
func (l lists) pick(query string) (store.Entry, error) {
	n, err := strconv.Atoi(query)
	if err != nil || n < 1 || strconv.Itoa(n) != query {
		return l.ws.Pick(query)
	}
	var ids []string
	if raw, ok := l.ws.Store.ReadCache(listedName); ok {
		_ = json.Unmarshal(raw, &ids)
	}
	if n <= len(ids) && ids[n-1] != "" {
		if e, err := l.ws.Pick(ids[n-1]); err == nil {
			return e, nil
		}
	}
	entries, err := history.Listed(l.ws.Store)
	if err != nil {
		return store.Entry{}, err
	}
	if n > len(entries) {
		return l.ws.Pick(query)
	}
	return entries[n-1], nil
}
