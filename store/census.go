package store

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// A census records what the logs of one conversation hold, in all of its folders, and
// what they and session.json say they should hold.
//
// A bad merge or a manual edit can lose lines of a log. Then a message follows a missing
// one, or the logs hold fewer messages than session.json counted. A call without its
// message may remain from an unfinished write, and an agent may name a call that it never
// made, so these count as lost only if messages or tokens are missing, too. Records that
// may have been in an unreadable line are reported with that line.
type census struct {
	above *census // census of the conversation that a sub-agent belongs to
	tally tally
	seen  map[string]bool // message ids
	calls map[string]bool

	follows map[string]place   // parent ids, with the first place that names them
	firsts  map[string]string  // parent of the first message of each native session
	after   map[string]bool    // messages that a session of the conversation follows, according to session.json
	madeBy  map[string][]place // message ids, by their calls
	makes   map[string]place   // call ids, by their messages

	dirs    []string
	counted int            // messages that session.json counted; the maximum of several
	tokens  int64          // tokens it counted at the present length of the log; 0 if it did not
	parts   int            // segments that begin in the middle of a native session
	unread  map[string]int // number of unreadable places, by log name
	blind   bool           // a log, or session.json, is entirely unreadable
}

// A place is a line of a log.
type place struct {
	file string
	line int
	at   int64
}

func (p place) damage(detail string, args ...any) Damage {
	return Damage{p.file, jsonl.Damage{Kind: Missing, Line: p.line, Offset: p.at, Detail: fmt.Sprintf(detail, args...)}}
}

func newCensus(above *census) *census {
	return &census{
		above: above, seen: map[string]bool{}, calls: map[string]bool{}, follows: map[string]place{},
		firsts: map[string]string{}, after: map[string]bool{}, madeBy: map[string][]place{}, makes: map[string]place{}, unread: map[string]int{},
	}
}

// read adds a folder of the conversation and yields what is wrong with its logs. sess is
// the folder's session.json, nil if there is none.
func (n *census) read(f sessionFolder, sess *schema.Session) iter.Seq[error] {
	return func(yield func(error) bool) {
		n.dirs = append(n.dirs, f.dir)
		n.expect(f, sess)
		for _, log := range []struct {
			name string
			take func(rec jsonl.Record, at place) error
		}{{toolsFile, n.tool}, {messagesFile, n.message}} {
			l := f.open(log.name)
			defer l.close()
			for rec, err := range l.records(0) {
				if err == nil {
					err = damageIn(l.name, log.take(rec, place{l.name, rec.Line, rec.Offset}))
				}
				if err == nil {
					continue
				}
				n.unread[log.name]++
				if d := (*Damage)(nil); !errors.As(err, &d) || d.Kind == NotRegular {
					n.blind = true
				}
				if !yield(err) {
					return
				}
			}
		}
	}
}

// expect records what session.json says about the logs.
func (n *census) expect(f sessionFolder, sess *schema.Session) {
	if sess == nil {
		return
	}
	for _, src := range sess.Sources {
		if src.After != "" {
			n.after[src.After] = true
		} else if src.From != "" {
			n.parts++
		}
	}
	if sess.CountedBytes == 0 {
		return // the counts of version 1.0 and of clones may be anything
	}
	n.counted = max(n.counted, sess.MessageCount)
	if info, err := f.s.root.Lstat(f.file(messagesFile)); err == nil && info.Size() == sess.CountedBytes {
		n.tokens = sess.Tokens
	}
}

func (n *census) tool(rec jsonl.Record, at place) error {
	t, err := parseRecord(rec, toolLog())
	if err != nil {
		return err
	}
	n.tally.tool(&t)
	if !n.calls[t.ID] && t.MessageID != "" {
		n.madeBy[t.MessageID] = append(n.madeBy[t.MessageID], at)
	}
	n.calls[t.ID] = true
	return nil
}

func (n *census) message(rec jsonl.Record, at place) error {
	m, err := parseRecord(rec, messageLog())
	if err != nil {
		return err
	}
	n.tally.message(&m)
	if m.ID != "" && n.seen[m.ID] {
		return nil // the first line already says which messages it follows
	}
	n.seen[m.ID] = true
	_, begun := n.firsts[m.Source]
	if !begun && !n.after[m.ParentID] {
		n.firsts[m.Source] = m.ParentID // may be in another conversation
	} else {
		if !begun {
			n.firsts[m.Source] = ""
		}
		if _, ok := n.follows[m.ParentID]; !ok && m.ParentID != "" {
			n.follows[m.ParentID] = at
		}
	}
	for _, call := range m.ToolCalls {
		if _, ok := n.makes[call.ID]; !ok {
			n.makes[call.ID] = at
		}
	}
	return nil
}

// holds reports whether the logs hold a message.
func (n *census) holds(id string) bool {
	return n.seen[id] || n.above != nil && n.above.holds(id)
}

// missing returns the records that the logs should hold and do not.
func (n *census) missing() (damage []Damage) {
	if n.blind {
		return nil
	}
	unread := n.unread[messagesFile]
	lost := n.counted - n.tally.messages - unread
	if lost > 0 {
		damage = append(damage, place{file: n.dirs[0] + "/" + messagesFile}.damage(
			"session.json counted %d messages, and the log holds %d: %s missing", n.counted, n.tally.messages, plural(n.counted-n.tally.messages, "message is", "messages are")))
	}
	elsewhere := n.parts
	for _, id := range n.firsts {
		if id != "" && !n.holds(id) {
			elsewhere--
		}
	}
	at, parents := n.absent(n.follows, n.holds)
	hole := len(parents) - max(elsewhere, 0) - unread
	if hole > 0 {
		damage = append(damage, at.damage("the message follows %q, which is missing; %s missing in all", parents[0], plural(hole, "such message is", "such messages are")))
	}
	if lost <= 0 && hole <= 0 {
		return append(damage, n.missingCalls()...)
	}
	var loose []place
	for id, calls := range n.madeBy {
		if !n.holds(id) {
			loose = append(loose, calls...)
		}
	}
	if len(loose) > 0 {
		first := slices.MinFunc(loose, place.compare)
		damage = append(damage, first.damage("the message that made the call is missing, as for %s in all", plural(len(loose), "call", "calls")))
	}
	return append(damage, n.missingCalls()...)
}

// missingCalls returns the calls that messages made and no log holds, if session.json
// counted their tokens.
func (n *census) missingCalls() []Damage {
	at, calls := n.absent(n.makes, func(id string) bool { return n.calls[id] })
	if len(calls) <= n.unread[toolsFile] || len(n.dirs) > 1 || n.tokens <= n.tally.tokens {
		return nil
	}
	return []Damage{place{file: n.dirs[0] + "/" + toolsFile}.damage(
		"%s missing; the first is %q, of the message in line %d of %s", plural(len(calls), "call is", "calls are"), calls[0], at.line, messagesFile)}
}

// absent returns the ids that holds does not know, in the order of the lines that name
// them, and the first of these lines.
func (n *census) absent(named map[string]place, holds func(id string) bool) (first place, ids []string) {
	for id := range named {
		if !holds(id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(named[a].compare(named[b]), cmp.Compare(a, b)) })
	if len(ids) > 0 {
		first = named[ids[0]]
	}
	return first, ids
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.file, o.file), cmp.Compare(p.at, o.at))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Lost returns how many of the messages that session.json counted are no longer in the
// logs of any of the conversation's folders; 0 if unknown. It does not read a log that
// has at least the counted length and a line that ends there.
func (r *Reader) Lost() (int, error) {
	folders := r.folders()
	counted := 0
	for _, f := range folders {
		st, err := f.read()
		if err != nil {
			return 0, err
		}
		if st.session != nil && st.session.CountedBytes > 0 {
			counted = max(counted, st.session.MessageCount)
			if whole, err := f.reaches(st.session.CountedBytes); err != nil || whole && len(folders) == 1 {
				return 0, err
			}
		}
	}
	if counted == 0 {
		return 0, nil
	}
	all, err := counter{r}.tally(folders)
	return max(counted-all.messages, 0), err
}

// reaches reports whether a line of messages.jsonl ends at an offset.
func (f sessionFolder) reaches(offset int64) (bool, error) {
	l := f.open(messagesFile)
	if isDamage(l.err) {
		return false, nil
	}
	return l.endsLine(offset), errors.Join(l.err, l.close())
}

// LacksStart reports whether a session of the conversation follows, according to s, a
// message that the logs do not hold. It reads only a conversation of several sessions.
func (r *Reader) LacksStart(s *schema.Session) (bool, error) {
	after := map[string]bool{}
	for _, src := range s.Sources {
		if src.After != "" {
			after[src.After] = true
		}
	}
	if len(after) == 0 {
		return false, nil
	}
	n, err := r.Snapshot()
	if err != nil {
		return false, err
	}
	for _, l := range n.messages {
		for id := range l.index {
			delete(after, id)
		}
	}
	return len(after) > 0, n.Close()
}
