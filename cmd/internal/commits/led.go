package commits

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/history"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/store"
)

// A trace is what a conversation says about the origin of a commit that names it: the user's
// messages that may have led to it, by time.
type trace struct {
	commit git.Logged
	shown  *history.Shown
	turns  turns
	last   schema.Message // before the commit

	made  schema.Message   // what followed it made the commit; its id is empty if that is unknown
	wrote []schema.Message // what followed them changed files of the commit that were not committed before
	may   []schema.Message // what followed them may have changed them
	later []schema.Message // what followed them changed them before the commit was amended or rebased
	left  []string         // files of the commit that no message is known to have led to

	// If the user asked about a line: what followed the messages in might may have changed the
	// file before the commit was made, amended or rebased. What followed those in said also
	// contains the line.
	said, might []schema.Message

	latest bool // nothing that is here was said after the commit

	// The commit or the conversation comes from another clone, and what was said just before the
	// commit may not be here: the files of a conversation may be committed later than what it led to.
	behind bool
}

// trace finds what led to a commit that names a conversation. If the user asked about a file,
// only that file of the commit counts.
func (c Commits) trace(ctx context.Context, commit git.Logged, shown *history.Shown) *trace {
	t := &trace{commit: commit, shown: shown, turns: turnsOf(shown.Messages), last: PromptBefore(shown.Messages, commit.At)}
	files := slices.DeleteFunc(slices.Clone(commit.Asked()), func(p string) bool { return strings.HasPrefix(p, "conversations/") })
	t.latest = !slices.ContainsFunc(shown.Messages, func(m schema.Message) bool { return m.Timestamp.Time().After(commit.At) })
	root, path := c.ws.Store.Root(), shown.Entry.Path
	t.behind = len(files) > 0 &&
		!slices.ContainsFunc(commit.Paths, func(p string) bool { return strings.HasPrefix(p, path+"/") }) &&
		(c.ws.Store.Written(path).IsZero() || !git.MadeHere(ctx, root, commit.ID)) &&
		(t.latest || !git.Brought(ctx, root, path, commit.At)) // what was said later may have been said here
	before := c.changedBefore(ctx, commit, files, shown)
	t.left = slices.Clone(files)
	staged := "" // the message after which everything was staged last
	for _, call := range shown.Tools {
		when := call.Timestamp.Time()
		asked := t.turns.prompt(call.MessageID)
		if asked.ID == "" { // the records name no parents
			asked = PromptBefore(shown.Messages, when)
		}
		if asked.ID == "" {
			continue
		}
		changed, may := notes.Changed(call), notes.MayChange(call)
		made := madeBy(call, commit)
		if may && !made && madeCommits(call) {
			may = notes.MayLeave(call)
		}
		switch {
		case addsAll(call):
			staged = asked.ID
		case may && staged == asked.ID:
			staged = ""
		}
		if madeCommits(call) && !made && staged == asked.ID { // what this message led to so far, if only perhaps, is in that commit
			may = false
			t.may = slices.DeleteFunc(t.may, func(m schema.Message) bool { return m.ID == asked.ID })
		}
		if may || c.changes(shown, call, files) {
			t.noteCall(call, asked)
		}
		wrote, maybe, later := false, false, false
		for _, p := range files {
			names := slices.ContainsFunc(changed, func(name string) bool { return c.isFile(shown, name, p) })
			if when.Before(commit.At.Add(time.Second)) {
				fresh := !when.Before(before[p])
				if names && fresh {
					wrote, t.left = true, slices.DeleteFunc(t.left, func(l string) bool { return l == p })
				}
				maybe = maybe || names || may && fresh // a commit may have had only a part of what was changed
			} else {
				later = later || names && asked.ID != t.last.ID && when.Before(commit.Written.Add(time.Second))
			}
		}
		switch {
		case wrote:
			t.wrote = append(t.wrote, asked)
		case maybe:
			t.may = append(t.may, asked)
		case later:
			t.later = append(t.later, asked)
		}
		if made {
			t.made = asked
			t.wrote, t.later = append(t.wrote, t.later...), nil // an amended one has it, too
			break
		}
	}
	for _, list := range [][]schema.Message{t.wrote, t.may, t.later, t.said, t.might} {
		slices.SortStableFunc(list, func(a, b schema.Message) int { return a.Timestamp.Time().Compare(b.Timestamp.Time()) })
	}
	return t
}

// noteCall notes a call that may have changed the file of the requested line.
func (t *trace) noteCall(call schema.Tool, asked schema.Message) {
	if !t.hasLine() || !call.Timestamp.Time().Before(t.commit.Written.Add(time.Second)) {
		return
	}
	t.might = append(t.might, asked)
	if says(call, t.commit.Of.Line) {
		t.said = append(t.said, asked)
	}
}

// says reports whether the input of a call contains a line.
func says(call schema.Tool, line string) bool {
	var quoted bytes.Buffer // as in a string of the input
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	return enc.Encode(line) == nil && bytes.Contains(call.Input, quoted.Bytes()[1:quoted.Len()-2])
}

// hasLine reports whether the user asked about a line that is unlikely to be in a file
// twice.
func (t *trace) hasLine() bool { return len(t.commit.Of.Line) >= leastLine }

const leastLine = 4

// writer returns another conversation that changed files of a commit to which this one did not
// lead, or nil. A commit names the active conversation, but somebody may have continued the
// other one at the same time.
func (c Commits) writer(ctx context.Context, named *trace) (best *Reason, err error) {
	rest, unsaid := named.commit, named.hasLine() && len(named.said) == 0
	rest.Paths = named.left
	if len(rest.Paths) == 0 && !unsaid {
		return nil, nil
	}
	among, err := c.then(rest, uncommitted)
	if err != nil {
		return nil, err
	}
	for _, e := range among {
		if best != nil && e.Session.LastActive.Time().Before(best.Prompt.Timestamp.Time()) {
			break // it has nothing later
		}
		if e.Path == named.shown.Entry.Path {
			continue
		}
		recent := !rest.At.After(e.Session.LastActive.Time().Add(linger))
		if !recent && !c.mentions(e, rest.Asked()) {
			continue
		}
		shown, err := history.Show(c.ws.Conversations, e, history.ShowOptions{})
		if err != nil || !slices.ContainsFunc(shown.Tools, func(call schema.Tool) bool {
			return c.changes(shown, call, rest.Paths) || unsaid && says(call, rest.Of.Line) && (recent || c.changes(shown, call, rest.Asked()))
		}) {
			continue // an unreadable conversation is not a candidate
		}
		t := c.trace(ctx, rest, shown)
		if len(t.said) == 0 && (len(t.wrote) == 0 || len(named.left) == 0) {
			continue
		}
		prompt, doubt := t.ledTo()
		if best != nil && !prompt.Timestamp.Time().After(best.Prompt.Timestamp.Time()) {
			continue
		}
		does := "is known to have changed " + named.files()
		if len(t.said) > 0 {
			does = "contains the line"
		}
		best = &Reason{Commit: named.commit, Entry: e, Prompt: prompt, Guesses: []string{
			fmt.Sprintf("the commit names %s, but only this one %s", named.shown.Entry.Session.DisplayTitle(), does),
		}}
		if doubt != "" {
			best.Guesses = append(best.Guesses, doubt)
		}
	}
	return best, ctx.Err()
}

// mentions reports whether the calls of a conversation may contain the name of one of the files.
// It looks at bytes, which is many times faster than reading the conversation.
func (c Commits) mentions(e store.Entry, files []string) bool {
	var names [][]byte
	for _, file := range files {
		name := path.Base(file)
		if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r >= utf8.RuneSelf || r == '"' || r == '\\' }) {
			return true // JSON has several spellings of it
		}
		names = append(names, []byte(name))
	}
	conversation, err := c.ws.Open(e)
	if err != nil {
		return false
	}
	defer conversation.Close()
	logs, ok := conversation.OpenLogs()
	if !ok {
		return true
	}
	defer logs.Close()
	for block, err := range logs.Tools.Blocks(0, logs.Tools.Size()) {
		if err != nil || slices.ContainsFunc(names, func(name []byte) bool { return bytes.Contains(block.Text, name) }) {
			return true
		}
	}
	return false
}

// suspect returns the title of another conversation that may have changed files of a commit, if
// nothing in this one can have led to that commit; otherwise "".
func (c Commits) suspect(ctx context.Context, named *trace) (title string, err error) {
	if len(named.left) == 0 || len(named.may) > 0 {
		return "", nil
	}
	rest := named.commit
	rest.Paths = named.left
	among, err := c.then(rest, linger)
	for _, e := range among {
		if e.Path == named.shown.Entry.Path {
			continue
		}
		shown, err := history.Show(c.ws.Conversations, e, history.ShowOptions{})
		if err == nil && slices.ContainsFunc(shown.Tools, notes.MayChange) && len(c.trace(ctx, rest, shown).may) > 0 {
			return shown.Entry.Session.DisplayTitle(), ctx.Err()
		}
	}
	return "", cmp.Or(err, ctx.Err())
}

// changes reports whether a call changed one of the files.
func (c Commits) changes(shown *history.Shown, call schema.Tool, files []string) bool {
	return slices.ContainsFunc(notes.Changed(call), func(name string) bool {
		return slices.ContainsFunc(files, func(p string) bool { return c.isFile(shown, name, p) })
	})
}

// files says which files of the commit count.
func (t *trace) files() string {
	if t.commit.Of.File != "" {
		return "the file"
	}
	return "its files"
}

// changedBefore returns when the commits before one committed its files, as far back as the
// conversation goes. Earlier changes to a file are in those commits.
func (c Commits) changedBefore(ctx context.Context, commit git.Logged, files []string, shown *history.Shown) map[string]time.Time {
	before := map[string]time.Time{}
	if len(files) == 0 {
		return before
	}
	earlier, err := git.Before(ctx, c.ws.Store.Root(), commit.ID, shown.Entry.Session.CreatedAt.Time())
	if err != nil {
		return before // every change may be the one
	}
	for _, e := range earlier {
		if e.At.After(commit.At) { // the commit was moved onto it
			continue
		}
		at := e.At
		if e.Written.Before(commit.At) { // otherwise both were rebased
			at = e.Written
		}
		at = at.Add(time.Second) // a commit knows only the second
		for _, p := range e.Paths {
			if slices.Contains(files, p) && at.After(before[p]) {
				before[p] = at
			}
		}
	}
	return before
}

// isFile reports whether a path that a call names is a file, relative to the workspace. If
// the path is not below the workspace's current folder, nobody knows where the workspace
// was when the call was made.
func (c Commits) isFile(shown *history.Shown, name, file string) bool {
	if !strings.HasSuffix(name, path.Base(file)) {
		return false
	}
	if rel, ok := c.ws.Tree.Relative(name); ok && filepath.IsAbs(name) {
		return rel == file
	}
	whole := strings.ReplaceAll(name, `\`, "/")
	if !strings.HasPrefix(whole, "/") && !(len(whole) > 2 && whole[1] == ':') {
		return path.Join(shown.Entry.Session.WorkingDir, name) == file
	}
	folder, ok := strings.CutSuffix(whole, "/"+file)
	for ok && folder != "" { // a file of that name in a folder of the workspace is another one
		up, dir := path.Split(folder)
		folder, file = strings.TrimSuffix(up, "/"), dir+"/"+file
		if !filepath.IsLocal(file) {
			break
		}
		_, err := os.Lstat(filepath.Join(c.ws.Store.Root(), filepath.FromSlash(file)))
		ok = err != nil
	}
	return ok
}

// ledTo returns the user's message that led to the commit. doubt says why it may be another one;
// otherwise it is empty.
func (t *trace) ledTo() (prompt schema.Message, doubt string) {
	last := t.last
	if t.made.ID != "" {
		last = t.made
	}
	written := has(t.wrote, last)
	other, another := latestBut(t.wrote, last)
	maybe, anybody := latestBut(t.may, last)
	switch {
	case t.hasLine() && len(t.said) > 0 && !has(t.said, last):
		said := t.said[len(t.said)-1]
		return said, fmt.Sprintf("message %d came before the commit, but what followed message %d contains the line", last.Number, said.Number)
	case t.hasLine() && len(t.said) == 0 && written && !another:
		if might, some := latestBut(t.might, last); some {
			return last, fmt.Sprintf("no known message or call contains the line, and what followed message %d may have changed the file, too", might.Number)
		}
	}
	switch {
	case t.made.ID != "" && t.commit.Of.File == "":
		return t.made, ""
	case t.made.ID != "" && !another && !written && anybody && has(t.may, last):
		return last, fmt.Sprintf("what followed message %d may have changed the file, too", maybe.Number)
	case t.made.ID != "" && !another && !written && anybody:
		return maybe, fmt.Sprintf("the commit was made after message %d, but what followed message %d may have changed the file", last.Number, maybe.Number)
	case t.made.ID != "" && !another:
		return t.made, ""
	case t.made.ID != "" && !written:
		return other, fmt.Sprintf("the commit was made after message %d, but only what followed message %d changed the file", last.Number, other.Number)
	case another && !written:
		return other, fmt.Sprintf("message %d came later, but only what followed message %d changed its files", last.Number, other.Number)
	case t.commit.Joined && len(t.wrote) == 0 && len(t.later) > 0:
		return t.later[len(t.later)-1], joined
	case t.commit.Joined && t.asked(time.Time{}, t.commit.Written):
		return last, joined
	case len(t.later) > 0:
		return last, fmt.Sprintf("it was amended or rebased later, after message %d had changed its files, too", t.later[0].Number)
	case another:
		return last, fmt.Sprintf("what followed message %d changed its files, too", other.Number)
	case anybody && !written && has(t.may, last):
		return last, fmt.Sprintf("what followed message %d may have changed its files, too", maybe.Number)
	case anybody && !written:
		return maybe, fmt.Sprintf("message %d came later, but nothing that followed it changed files", last.Number)
	case anybody && len(t.left) > 0:
		return last, fmt.Sprintf("what followed message %d may have changed its other files", maybe.Number)
	case t.behind && last.ID == "":
		return last, "messages from before the commit may be missing in this clone"
	case t.behind && !written:
		return last, fmt.Sprintf("what followed message %d is not known to have changed its files, and later messages may be missing in this clone", last.Number)
	case !written && t.asked(t.commit.At.Add(time.Second), t.commit.Written):
		return last, "it was amended or rebased later, after other messages"
	}
	if other := t.turns.beside(last, t.shown.Messages); other.ID != "" {
		return last, fmt.Sprintf("the conversation continued in two places, and message %d came before it, too", other.Number)
	}
	return last, ""
}

const joined = "it joins other commits, which may have followed other messages"

// asked reports whether there is another message of the user's in a time.
func (t *trace) asked(after, before time.Time) bool {
	return slices.ContainsFunc(t.shown.Messages, func(m schema.Message) bool {
		when := m.Timestamp.Time()
		return isPrompt(m) && m.ID != t.last.ID && when.After(after) && when.Before(before.Add(time.Second))
	})
}

func has(list []schema.Message, m schema.Message) bool {
	return slices.ContainsFunc(list, func(o schema.Message) bool { return o.ID == m.ID })
}

// latestBut returns the last message of a list that is not m.
func latestBut(list []schema.Message, m schema.Message) (other schema.Message, found bool) {
	for _, o := range slices.Backward(list) {
		if o.ID != m.ID {
			return o, true
		}
	}
	return other, false
}
