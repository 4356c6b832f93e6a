package gemini

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/schema/rawjson"
)

// The first pass over a transcript records only where each message is and what its
// parent is. The second pass (build.go) reads one message after another.

// A unit is a message and its lines: the program writes a message again when it knows
// more of it (FACTS.md, "Ids and order"). Every message of the file has a unit, since
// a rewind may go back to any.
type unit struct {
	kind  unitKind
	id    string
	stamp string
	refs  []inject.Span
	above *unit // the last message in the context when it was added
	at    int   // its position in the file; -1 if it was read before
	depth int   // its position in the context
	loose []loose

	speaks bool // it has content
	ours   bool // it is a payload of cortext
	copied bool // it repeats another message, for a new context
	cut    bool // the user interrupted it, or it is the notice of that
	notice bool // it is a notice of the program
	asks   bool // it has a call without id and result
}

// loose is a result that names no call.
type loose struct {
	at inject.Span
	n  int // its index among those of its message
}

// kept reports whether the unit becomes a message.
func (u *unit) kept() bool { return u.speaks && !u.ours && !u.copied }

type index struct {
	file    source
	release func() error
	path    string
	o       inject.Options
	tail    tail

	units    []*unit
	byID     map[string]*unit
	stack    stack
	aliases  map[string]alias // ids of copies in a context
	contents contents
	run      []string               // ids of the messages since the last change
	burst    *unit                  // the first of a run of copies whose context has not come yet
	spoken   bool                   // some message had content
	summary  bool                   // the last message was the summary of a compression
	results  map[string]inject.Span // call, by resultName -> the message with its result
	orphans  []string               // calls with a result, in file order
	owners   owners
	latest   map[string]*unit  // call -> the last message with the call
	calls    []string          // the calls in owners, in order
	open     map[string]bool   // calls in owners without a result in the call itself
	agents   map[string]string // sub-agent -> call
	losses   inject.Losses

	native    string
	model     string
	subagent  bool // it is a sub-agent's transcript
	rewritten bool // it is a document
	t         *inject.Transcript
}

// An alias is a message under its id in a new context.
type alias struct {
	unit   *unit
	offset int64 // of the line that introduced it
}

func newIndex(f io.ReaderAt, path string, o inject.Options) *index {
	return &index{
		file: source{f}, path: path, o: o, byID: map[string]*unit{}, aliases: map[string]alias{}, contents: contents{},
		results: map[string]inject.Span{}, owners: owners{}, latest: map[string]*unit{}, open: map[string]bool{}, agents: map[string]string{},
		t: &inject.Transcript{Agent: Name},
	}
}

// lines reads a session with one record per line.
func (x *index) lines(size int64) error {
	if x.o.From.Offset > 0 {
		if err := x.seek(size); err != nil {
			return err
		}
	}
	return inject.ReadLines(x.file, size, x.o, &x.losses, func(rec jsonl.Record) {
		if r, err := parseRecord(rec.Raw); err == nil { // jsonl only yields valid objects
			x.add(r, inject.Span{Offset: rec.Offset, Size: len(rec.Raw)}, rec.Raw)
		}
	})
}

// add adds one record to the index. It checks the kinds of records in the program's own
// order (loadConversationRecord, 0.61.0).
func (x *index) add(r record, at inject.Span, raw []byte) {
	switch {
	case r.Rewind != "":
		x.rewind(r.Rewind)
	case r.ID != "":
		x.message(r, at)
	case r.Set != nil:
		if id := rawjson.String(rawjson.Get(r.Set, "sessionId")); id != "" {
			x.native = cmp.Or(x.native, id)
			x.run = nil
		}
		if list := rawjson.Get(r.Set, "messages"); list != nil {
			x.setContext(list, raw, at.Offset)
		}
	case r.Session != "" || r.Messages != nil || r.History != nil:
		x.native = cmp.Or(x.native, r.Session)
		x.subagent = x.subagent || r.Kind == "subagent"
		x.run = nil
		for _, list := range [][]byte{r.Messages, r.History} {
			elements, _ := rawjson.Array(list)
			for _, e := range elements {
				x.element(e, inject.Span{Offset: at.Offset + int64(cap(raw)-cap(e)), Size: len(e)})
			}
		}
	case r.unnamed:
		x.losses.Unknown("(no type)")
	default: // a message without an id, which the program ignores
		r.ID = fmt.Sprintf("line-at-%d", at.Offset)
		x.message(r, at)
	}
}

// derivedID makes an id for a message without one, from its position and text.
func derivedID(place int, raw []byte) string {
	return inject.SHA256(fmt.Appendf(nil, "%d\n%s", place, raw))[:32]
}

// environment is the id of the program's own first turn (deriveStableId of
// "environment-context", 0.61.0).
const environment = "d04923d38bb0f6017037e74183378ef4"

// message adds a message, or a new version of a known one.
func (x *index) message(r record, at inject.Span) {
	kind := kindOf(r)
	if kind == unknownUnit {
		x.losses.Unknown(inject.KindName(cmp.Or(r.Type, r.Role)))
		return
	}
	u := x.byID[r.ID]
	if u == nil {
		u = &unit{id: r.ID, stamp: r.Timestamp, at: len(x.units)}
		x.units = append(x.units, u)
		x.byID[r.ID] = u
		x.stack.push(u)
	}
	if u.at < 0 {
		x.tail.stale = true // it was read before
		return
	}
	u.kind, u.refs = kind, append(u.refs, at)
	if len(x.run) == 0 || x.run[len(x.run)-1] != u.id {
		x.run = append(x.run, u.id)
	}
	s := says(kind, r.Content)
	for _, kind := range s.unknown {
		x.losses.Unknown(kind)
	}
	afterSummary := x.summary
	x.summary = false
	switch kind {
	case userUnit:
		x.addUser(r, u, s, at)
	case modelUnit:
		x.addModel(r, u, s, afterSummary)
	case eventUnit:
		x.run, x.burst = nil, nil
		u.notice = true
		u.speaks = u.speaks || len(s.items) > 0
		if isCancelled(strings.Join(s.texts(), "")) {
			u.cut = true
			x.cancel(u)
		}
	}
	x.contents.add(u, s)
}

func (x *index) addUser(r record, u *unit, s spoken, at inject.Span) {
	x.addResults(s.results, u, at)
	if s.context && r.ID != environment && len(x.units) > 1 && !x.rewritten {
		x.burst = u
	}
	texts := s.texts()
	switch {
	case len(s.items) == 0:
		return
	case len(texts) > 0 && isSummary(texts[0]):
		x.summary = true
		if x.spoken || x.tail.on || x.o.Continues {
			return // this file, or that of the previous session, has the summarized messages
		}
		u.kind = eventUnit
	case isEvent(texts, r.Display):
		u.kind = eventUnit
	case isOurs(r, s, x.o):
		u.ours = true
	}
	u.speaks = true
	x.spoken = x.spoken || u.kind == userUnit
	if u.kind == userUnit && !u.ours && len(u.refs) == 1 {
		x.t.Prompted(typed(r, s, x.o), inject.Command{PromptID: u.id, Message: u.id, Time: schema.Time(u.stamp).Time()})
	}
	x.noteRoot(u)
}

func (x *index) addModel(r record, u *unit, s spoken, afterSummary bool) {
	list := calls(r, s)
	texts := s.texts()
	switch {
	case afterSummary && len(list) == 0 && slices.Equal(texts, []string{summaryAck}):
		return
	case r.Model != "" || len(r.Content) > 0 && r.Content[0] == '"':
		x.burst = nil // a copy has neither
	}
	if len(list) > 0 || len(s.items) > 0 || len(s.thoughts) > 0 || len(thoughts(r.Thoughts)) > 0 {
		u.speaks = true
	}
	for _, c := range list {
		if c.native != "" && x.owners[c.native] == nil {
			x.owners[c.native] = u
			x.calls = append(x.calls, c.native)
			if x.tail.on && x.o.From.Calls == nil && inject.IsCounted(c.native) {
				x.tail.stale = true // a call before the cursor may have that id
			}
		}
		isOpen := c.result == nil && c.status == ""
		if x.owners[c.native] == u {
			x.open[c.native] = isOpen
		}
		x.latest[c.native] = u
		u.asks = u.asks || c.native == "" && isOpen
		if c.agent != "" {
			x.agents[c.agent] = x.owners.callName(c.native, u)
		}
		x.t.AddTool(c.name)
	}
	if r.Model != "" {
		x.model = r.Model
	}
	if u.speaks {
		x.spoken = true
		x.noteRoot(u)
	}
}

// owners maps the id of a call to the first message with the call.
type owners map[string]*unit

// callName returns the name of the call with the given id by message u: the id, unless an
// earlier message has a call with it.
func (o owners) callName(id string, u *unit) string {
	if id == "" || o[id] == u {
		return id
	}
	return id + "@" + u.id
}

// resultName returns the name under which index.results has the result for that call. u is
// nil if the call is not known yet.
func (o owners) resultName(id string, u *unit) string {
	if u == nil || !inject.IsCounted(id) {
		return id
	}
	return o.callName(id, u)
}

// addResults records the tool results in a user's turn. toolCalls has them too,
// except in checkpoints.
func (x *index) addResults(results [][]byte, u *unit, at inject.Span) {
	n := 0
	for _, p := range results {
		if id := rawjson.String(rawjson.Get(p, "id")); id != "" {
			made := x.latest[id]
			name := x.owners.resultName(id, made)
			x.tail.stale = x.tail.stale || x.tail.on && made == nil && inject.IsCounted(id)
			if _, ok := x.results[name]; !ok { // keep the first: copies in a new context may be cut
				x.results[name] = at
				if name == id {
					x.orphans = append(x.orphans, id)
				}
			}
			continue
		}
		if v := u.above; v != nil && v.at < 0 {
			x.tail.stale = true
		} else if v != nil && v.kind == modelUnit {
			v.loose = append(v.loose, loose{at, n})
		}
		n++
	}
}

// cancel records that the user interrupted the model before the event u.
func (x *index) cancel(u *unit) {
	n := 0
	for v := u.above; v != nil && n < maxClimb; v = v.above {
		n++
		switch {
		case v.kind == eventUnit || !v.speaks || v.copied:
			continue
		case v.at < 0:
			x.tail.stale = true
		case v.kind == modelUnit:
			v.cut = true
		}
		return
	}
}

// maxClimb limits a walk over messages without content.
const maxClimb = 10_000

// noteRoot records u as a root if no message is above it: a copy of the session (0.61.0:
// --session-file keeps the ids of messages) begins with it.
func (x *index) noteRoot(u *unit) {
	n := 0
	for v := u.above; v != nil; v = v.above {
		if n++; v.speaks && v.kind != eventUnit || n == maxClimb {
			return
		}
	}
	x.addRoot(u.id)
}

func (x *index) addRoot(id string) {
	if !slices.Contains(x.t.Roots, id) {
		x.t.AddRoot(id)
	}
}

// close resolves what is only known once the whole file is read.
func (x *index) close(size int64) error {
	t := x.t
	if x.burst != nil { // copies whose context has not been written yet
		for _, u := range x.units[x.burst.at:] {
			u.copied = true
		}
	}
	t.NativeID = x.nativeID()
	if x.subagent {
		t.Parent = parentSession(x.path)
	}
	t.WorkingDir = heldIn(x.path)
	t.Calls, t.Model = x.agents, x.model
	for _, u := range x.units {
		if !u.kept() {
			continue
		}
		t.Messages++
		t.AddTime(schema.Time(u.stamp).Time())
	}
	if x.isStale() {
		return inject.ErrCursor
	}
	x.losses.Report(t)
	var err error
	if t.Next, err = x.next(size); err != nil {
		return err
	}
	t.Each = x.each
	t.LastReply, err = x.lastReply()
	return err
}

// nativeID returns the session's id: from the header, else from the file's name.
func (x *index) nativeID() string {
	if x.native == "" && x.tail.on {
		if h, err := peek(x.path); err == nil {
			x.native, x.subagent = h.id, h.kind == "subagent"
		}
	}
	base := filepath.Base(x.path)
	return cmp.Or(x.native, strings.TrimSuffix(base, filepath.Ext(base)))
}

// parentSession returns the session that a sub-agent's transcript belongs to: its
// folder has that session's id as its name.
func parentSession(file string) string {
	if name := filepath.Base(filepath.Dir(file)); name != chats { // older versions put everything into one folder
		return name
	}
	return ""
}
