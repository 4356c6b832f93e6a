package slash

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/schema"
	"cortext/schema/clip"
	"cortext/store"
)

// lists writes the lists of conversations for an agent.
type lists struct{ ws *workspace.Workspace }

// shownFirst is how many conversations a page of a list has.
const shownFirst = 20

// An item is a conversation in a list.
type item struct {
	id, typ, title, status, agent, summary string
	active                                 time.Time
}

// items describes conversations that a query found.
func items(entries []store.Entry) []item {
	list := make([]item, len(entries))
	for i, e := range entries {
		s := e.Session
		list[i] = item{s.ID, s.ConversationType, s.DisplayTitle(), workspace.ShownStatus(e), s.LastAgent(), s.ContextSummary, s.LastActive.Time()}
	}
	return list
}

// listed describes the conversations of a workspace that a filter selects, most recently
// active first. rest is the number of the others.
func listed(ws *workspace.Workspace, f listing.Filter) (list []item, rest int, err error) {
	l, err := ws.Listing(nil)
	if err != nil {
		return nil, 0, err
	}
	defer l.Close()
	at := l.Select(f)
	list = make([]item, len(at))
	for i, n := range at {
		r := l.Row(n)
		list[i] = item{strings.Clone(r.ID), strings.Clone(r.Type), strings.Clone(r.Title), strings.Clone(r.Status), strings.Clone(r.LastAgent()), strings.Clone(r.Summary), r.LastActive}
	}
	return list, l.Len() - len(at), nil
}

const noneYet = Prefix + "there are no conversations yet. One begins with /workspace.brainstorm, /workspace.plan and the like."

// page lists a page of the active and paused conversations with numbers to choose from, as
// many as fit into limit bytes. Pages count from 1.
func (l lists) page(limit, page int) (string, error) {
	list, rest, err := listed(l.ws, listing.Filter{})
	switch {
	case err != nil:
		return "", err
	case len(list)+rest == 0:
		return noneYet, nil
	case len(list) == 0:
		return Prefix + "no conversation is active or paused. /workspace.sessions all lists the others.", nil
	}
	if page > 1 {
		list = l.inOrder(list)
	}
	pages := (len(list) + shownFirst - 1) / shownFirst
	if page > pages {
		return fmt.Sprintf("%sthere is no page %d: the last one is %d.", Prefix, page, pages), nil
	}
	part := numbered{head: "the conversations, most recently active first:", list: list, from: (page - 1) * shownFirst}
	if page > 1 {
		part.head = fmt.Sprintf("page %d of %d of the conversations:", page, pages)
	}
	part.to = min(part.from+shownFirst, len(list))
	part.more = fmt.Sprintf("/workspace.resume page %d, or /workspace.resume with words", page+1)
	if rest > 0 {
		part.after = fmt.Sprintf("\n%d completed or archived: /workspace.sessions all", rest)
	}
	return l.write(part, limit), nil
}

// everywhere lists all conversations of this workspace, and then those of the user's other
// workspaces on this machine.
func (l lists) everywhere(limit int) (string, error) {
	others := l.ws.Registry.Workspaces.Others(l.ws.Here.Workspace())
	list, _, err := listed(l.ws, listing.Filter{All: true, Archived: true})
	if err != nil {
		return "", err
	}
	completedLast(list)
	here := limit
	if len(others) > 0 {
		here = limit / 2
	}
	text := noneYet
	if len(list) > 0 {
		text = l.write(numbered{head: "all conversations of this workspace, most recently active first, completed ones last:", list: list, to: len(list), more: "/workspace.resume with words"}, here)
	}
	for i, dir := range others {
		block := l.other(dir)
		if len(text)+len(block)+100 > limit {
			return text + fmt.Sprintf("\n\n… and %d more workspaces: cortext list --all in a terminal lists them", len(others)-i), nil
		}
		text += block
	}
	return text, nil
}

// completedLast moves the completed conversations to the end.
func completedLast(list []item) {
	completed := func(it item) int {
		if it.status == string(schema.Completed) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b item) int { return completed(a) - completed(b) })
}

// mostElsewhere is how many conversations of another workspace are listed.
const mostElsewhere = 10

// other lists conversations of another workspace, by the id that resumes each in a
// terminal. It is empty if there are none.
func (l lists) other(dir string) string {
	env := l.ws.Env
	env.Dir = dir
	ws, err := workspace.Open(env)
	if err != nil {
		return ""
	}
	defer ws.Close()
	list, _, err := listed(ws, listing.Filter{})
	if err != nil || len(list) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n\nIn %s, to be resumed in a terminal with cortext resume and the id:", workspace.Plain(dir))
	for _, it := range list[:min(len(list), mostElsewhere)] {
		b.WriteString("\n- " + l.line(it) + ": " + it.id)
	}
	if rest := len(list) - mostElsewhere; rest > 0 {
		fmt.Fprintf(&b, "\n… and %d more", rest)
	}
	return b.String()
}

// nearest says that no conversation matches a query, and lists the nearest.
func (l lists) nearest(limit int, e *workspace.NotFoundError) (string, error) {
	head := fmt.Sprintf("no conversation matches %.100q.", workspace.Plain(e.Query))
	if len(e.Near) == 0 {
		return Prefix + head + " /workspace.resume without words lists them.", nil
	}
	return l.write(numbered{head: head + " The nearest are:", list: items(e.Near), to: len(e.Near), more: "/workspace.sessions all"}, limit), nil
}

// candidates lists the conversations that match a query.
func (l lists) candidates(limit int, query string, found []store.Entry) string {
	return l.write(numbered{
		head: fmt.Sprintf("%q matches %d conversations:", workspace.Plain(query), len(found)),
		list: items(found), to: min(len(found), shownFirst), more: "/workspace.sessions all, or /workspace.resume with words",
	}, limit)
}

// numbered is a part of a numbered list.
type numbered struct {
	head     string
	list     []item
	from, to int    // the part
	more     string // how to see what comes after it
	after    string // what else there is
}

// line describes a conversation on a line.
func (l lists) line(it item) string {
	about := workspace.Plain(it.status)
	if it.agent != "" {
		about += ", " + workspace.Plain(it.agent)
	}
	return fmt.Sprintf("%s / %s (%s, %s)", workspace.Plain(it.typ), workspace.Plain(it.title), about, resume.Ago(l.ws.Env.Now(), it.active))
}

// write writes a numbered list, and remembers its order, so that a number keeps its meaning
// after the list was shown. If it does not fit, it leaves out the summaries, then ends of
// titles, and only then conversations, since the next page would not have them.
func (l lists) write(part numbered, limit int) string {
	text, all := l.lines(part, limit)
	if !all {
		for i := range part.list {
			part.list[i].summary = ""
		}
		text, all = l.lines(part, limit)
	}
	if !all {
		for i := range part.list {
			part.list[i].title = clip.Characters(part.list[i].title, 80)
		}
		text, _ = l.lines(part, limit)
	}
	ids := make([]string, min(len(part.list), mostNumbers))
	for i := range ids {
		ids[i] = part.list[i].id
	}
	if raw, err := json.Marshal(ids); err == nil {
		_ = l.ws.Store.WriteCache(listedName, raw)
	}
	return text
}

// lines writes as much of a numbered list as fits; all is false if that is not the whole
// part.
func (l lists) lines(part numbered, limit int) (text string, all bool) {
	const how = "\n\nTo resume one, type /workspace.resume and its number, or words of its title."
	tail := func(n int) string {
		if n == 0 {
			return part.after
		}
		return fmt.Sprintf("\n… and %d more: %s%s", n, part.more, part.after)
	}
	var b strings.Builder
	b.WriteString(Prefix + part.head + "\n")
	i := part.from
	for ; i < part.to; i++ {
		line := fmt.Sprintf("\n%d. %s", i+1, l.line(part.list[i]))
		if summary := part.list[i].summary; summary != "" {
			line += "\n   " + workspace.Plain(summary)
		}
		if b.Len()+len(line)+len(tail(len(part.list)))+len(how) > limit {
			break
		}
		b.WriteString(line)
	}
	return b.String() + tail(len(part.list)-i) + how, i == part.to
}

// listedName is the cache file with the ids of the conversations listed last, up to
// mostNumbers.
const (
	listedName  = "listed.json"
	mostNumbers = 1000
)

// numbers returns the ids in the order in which they were listed last.
func (l lists) numbers() (ids []string) {
	if raw, ok := l.ws.Store.ReadCache(listedName); ok {
		_ = json.Unmarshal(raw, &ids)
	}
	return ids
}

// inOrder sorts conversations as they were listed last, so that a page continues the one
// before it. Those that were not listed come last.
func (l lists) inOrder(list []item) []item {
	ids := l.numbers()
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	place := func(it item) int {
		if i, ok := at[it.id]; ok {
			return i
		}
		return len(ids)
	}
	slices.SortStableFunc(list, func(a, b item) int { return place(a) - place(b) })
	return list
}

// matching is [workspace.Conversations.Matching], except that a number selects from the list
// that was shown.
func (l lists) matching(query string) ([]store.Entry, error) {
	n, err := strconv.Atoi(query)
	if err != nil || n < 1 || strconv.Itoa(n) != query {
		return l.ws.Matching(query, nil)
	}
	if ids := l.numbers(); n <= len(ids) && ids[n-1] != "" {
		if found, err := l.ws.Matching(ids[n-1], nil); err == nil && len(found) == 1 {
			return found, nil
		}
	}
	list, _, err := listed(l.ws, listing.Filter{All: true})
	if err != nil {
		return nil, err
	}
	completedLast(list)
	if n > len(list) || list[n-1].id == "" {
		return l.ws.Matching(query, nil)
	}
	return l.ws.Matching(list[n-1].id, nil)
}

// sessions answers /workspace.sessions.
func (l lists) sessions(limit int, args string) (string, error) {
	_ = l.ws.Registry.Workspaces.See(l.ws.Here)
	if args == "all" {
		return l.everywhere(limit)
	}
	page, ok := capture.ListPage(args)
	if !ok {
		page = 1
	}
	return l.page(limit, page)
}
