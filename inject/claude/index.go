package claude

import (
	"fmt"
	"hash/maphash"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/schema/rawjson"
)

// The first pass over a transcript records only where each line is and how it is linked
// to others. The second pass (build.go) reads the lines of one message after another.
// So memory use grows only with the number of lines, and a message comes out whole even
// if its blocks are spread over many lines.

type unitKind int

const (
	userUnit unitKind = iota
	assistantUnit
	eventUnit
	compactUnit // the summary of a compaction
)

// A unit is one message and its lines.
type unit struct {
	kind  unitKind
	id    string
	group *group
	node  *node  // of its first line
	stamp string // of its first line
	lines []inject.Span
	files []inject.Span // attachment records that belong to it
	calls []*call       // one for each block of a call with an id, in order
	loose []result      // that name no call, in order
}

// A group is one conversation: the main one, or a sub-agent's.
type group struct {
	key   string
	units []*unit
	byID  map[string]*unit
	lines map[lineKey]bool
	seed  maphash.Seed
	model string   // the last one that answered
	tools []string // names, in order of first use
}

type index struct {
	file    io.ReaderAt
	o       inject.Options
	tail    tail
	chain   chain
	lines   []line // in file order
	main    *group
	subs    map[string]*group
	order   []*group
	calls   callsByName
	counted []string          // ids of calls that a server may issue again, in file order
	orphans []string          // call ids of results before which no call was seen, in file order
	prompts map[string]string // prompt of a sub-agent -> name of the call
	agents  map[string]string // sub-agent -> name of the call
	losses  inject.Losses
	session map[string]int
	same    repeated
	t       *inject.Transcript

	line, result inject.SpanReader
}

func newGroup(key string) *group {
	return &group{key: key, byID: map[string]*unit{}, lines: map[lineKey]bool{}, seed: maphash.MakeSeed()}
}

// read makes the first pass over a transcript; name is the file's.
func read(f io.ReaderAt, size int64, name string, o inject.Options) (*inject.Transcript, error) {
	x := &index{
		file: f, o: o, chain: chain{}, main: newGroup(""), subs: map[string]*group{},
		calls: callsByName{}, prompts: map[string]string{}, agents: map[string]string{},
		session: map[string]int{}, same: repeated{},
		t: &inject.Transcript{Agent: Name},
	}
	if o.From.Offset > 0 {
		if err := x.seek(size); err != nil {
			return nil, err
		}
	}
	err := inject.ReadLines(f, size, o, &x.losses, func(rec jsonl.Record) {
		x.add(recordOf(rec, x.same), inject.Span{Offset: rec.Offset, Size: len(rec.Raw)})
	})
	if err != nil {
		return nil, err
	}
	x.finish(strings.TrimSuffix(name, filepath.Ext(name)))
	if x.isStale() {
		return nil, inject.ErrCursor
	}
	if x.t.LastReply, err = x.lastReply(); err != nil {
		return nil, err
	}
	x.t.Next, err = x.next(size)
	return x.t, err
}

// add adds one record to the index.
func (x *index) add(r record, at inject.Span) {
	x.describe(r)
	if r.Type == "progress" {
		x.addProgress(r, at)
	}
	if r.Subtype == "compact_boundary" {
		r.LogicalParent = x.beforeCompaction(r)
	}
	n := x.chain.link(r)
	x.note(r, at, n)
	g := x.groupOf(r, n)
	switch r.Type {
	case "user":
		x.addUser(r, at, n, g)
	case "assistant":
		x.addAssistant(r, at, n, g)
	case "attachment":
		x.addAttachment(r, at, n, g)
	case "system":
		if !isNoiseSystem(r.Subtype) {
			x.losses.Unknown("system/" + r.Subtype)
		} else if r.Subtype == "local_command" && !isEmptyOutput(rawjson.String(r.Content)) {
			x.put(g, n, unit{kind: eventUnit, id: idOf(r, at), stamp: r.Timestamp}, at)
		}
	default:
		if !isNoise(r.Type) {
			x.losses.Unknown(inject.KindName(r.Type))
		}
	}
}

// idOf returns the id for a record without a message id: its uuid, else its position,
// which is the same whenever the transcript is read.
func idOf(r record, at inject.Span) string {
	if r.UUID != "" {
		return r.UUID
	}
	return fmt.Sprintf("line-at-%d", at.Offset)
}

// put adds a line to a message of a group. It creates the message from first if this is
// the message's first line.
func (x *index) put(g *group, n *node, first unit, at inject.Span) {
	if x.tail.messages[first.id] {
		x.tail.stale = true // part of it was read before
	}
	u := g.byID[first.id]
	if u == nil {
		u = &unit{kind: first.kind, id: first.id, group: g, node: n, stamp: first.stamp}
		g.byID[first.id] = u
		g.units = append(g.units, u)
	}
	u.lines = append(u.lines, at)
	n.unit = u
}

func (x *index) addUser(r record, at inject.Span, n *node, g *group) {
	if g.seen(r) {
		return
	}
	content := r.message().content
	if len(content) == 0 || content[0] != '"' && content[0] != '[' {
		x.losses.Unknown("user without content")
		return
	}
	list := blocks(content)
	first, speaks := "", false
	for _, b := range list {
		switch b.Type {
		case "tool_result":
			x.addResult(r, b, at, n)
		case "text":
			if first == "" {
				first = b.Text()
			}
			speaks = true
		case "image", "document":
			speaks = true
		default:
			x.losses.Unknown("user block " + inject.KindName(b.Type))
		}
	}
	switch {
	case speaks && isOurs(x.o, r, first):
		n.ours = true
	case !speaks || r.Meta || isEmptyOutput(first) && isEvent(first):
		return
	case r.Compact:
		if len(g.units) > 0 || x.tail.on && x.o.From.Message != idOf(r, at) || x.o.Continues {
			return // this file, or that of the previous session, has the summarized messages
		}
		x.put(g, n, unit{kind: compactUnit, id: idOf(r, at), stamp: r.Timestamp}, at)
	case isEvent(first) || r.Origin == "task-notification" || r.PromptSource == "system":
		x.put(g, n, unit{kind: eventUnit, id: idOf(r, at), stamp: r.Timestamp}, at)
	default:
		x.put(g, n, unit{kind: userUnit, id: idOf(r, at), stamp: r.Timestamp}, at)
		if g == x.main {
			addPrompt(x.t, r, first, idOf(r, at))
		}
	}
}

// addResult records the outcome of a call.
func (x *index) addResult(r record, b block, at inject.Span, n *node) {
	got := r.result(at)
	if b.ToolUseID != "" {
		if x.calls[b.ToolUseID] == nil {
			x.orphans = append(x.orphans, b.ToolUseID)
		}
		c := x.answer(b.ToolUseID, got, n)
		id := got.report.agent
		if by := x.agents[id]; id != "" && (by == "" || strings.HasPrefix(by, c.id)) { // else the call resumed it
			x.agents[id] = c.name
		}
		return
	}
	caller := x.chain[r.SourceAssistant]
	if caller == nil {
		caller = n
	}
	for u := caller.unit; ; u = caller.unit {
		if u != nil {
			u.loose = append(u.loose, got)
			return
		}
		if caller = caller.parent; caller == nil {
			return
		}
	}
}

func (x *index) addAssistant(r record, at inject.Span, n *node, g *group) {
	if g.seen(r) {
		return
	}
	m := r.message()
	model := rawjson.String(m.model)
	if n.parent != nil && n.parent.ours && model == "<synthetic>" {
		return // the program's reply to a payload of ours
	}
	id := rawjson.String(m.id)
	if id == "" {
		id = idOf(r, at)
	}
	x.put(g, n, unit{kind: assistantUnit, id: id, stamp: r.Timestamp}, at)
	for _, b := range blocks(m.content) {
		switch b.Type {
		case "tool_use", "server_tool_use":
			c := x.addCall(b, n)
			if b.Name == "Task" || b.Name == "Agent" {
				if p := rawjson.String(rawjson.Get(b.Input, "prompt")); p != "" {
					x.prompts[p] = c.name
				}
			}
			if b.Name != "" && !slices.Contains(g.tools, b.Name) {
				g.tools = append(g.tools, b.Name)
			}
		case "text", "thinking", "redacted_thinking", "image", "document":
		default:
			if !strings.HasSuffix(b.Type, "_tool_result") {
				x.losses.Unknown("assistant block " + inject.KindName(b.Type))
			} else if b.ToolUseID != "" {
				x.answer(b.ToolUseID, r.result(at), n)
			}
		}
	}
	if model != "" && model != "<synthetic>" {
		g.model = model
	}
}

// addAttachment adds what users typed while the agent was working, and references to
// files that they named. The rest is noise.
func (x *index) addAttachment(r record, at inject.Span, n *node, g *group) {
	switch typ := rawjson.String(rawjson.Get(r.Attachment, "type")); typ {
	case "queued_command":
		if g.seen(r) || inject.IsTrue(rawjson.Get(r.Attachment, "isMeta")) {
			return
		}
		kind := userUnit
		if rawjson.String(rawjson.Get(r.Attachment, "commandMode")) == "task-notification" {
			kind = eventUnit
		}
		x.put(g, n, unit{kind: kind, id: idOf(r, at), stamp: r.Timestamp}, at)
	case "file", "mcp_resource":
		for p := range ancestors(n) {
			if p.unit != nil {
				p.unit.files = append(p.unit.files, at)
				break
			}
		}
	default:
		if !isNoiseAttachment(typ) {
			x.losses.Unknown("attachment/" + inject.KindName(typ))
		}
	}
}

// addProgress adds the messages of a sub-agent from the parent's progress records. If
// the sub-agent has no file of its own, this is the only copy.
func (x *index) addProgress(r record, at inject.Span) {
	if rawjson.String(rawjson.Get(r.Data, "type")) != "agent_progress" {
		return
	}
	x.tail.stale = true // the sub-agent's first messages come before the cursor
	id := rawjson.String(rawjson.Get(r.Data, "agentId"))
	message := rawjson.Get(r.Data, "message")
	if id == "" || len(message) == 0 || message[0] != '{' {
		return
	}
	inner := parseRecord(message, x.same)
	inner.line = r.line
	if r.ParentToolUse != "" {
		x.agents[id] = r.ParentToolUse
		if c := x.calls[r.ParentToolUse]; c != nil && c.last != nil {
			x.agents[id] = c.last.name
		}
	}
	g := x.sub(id)
	switch n := x.chain.link(inner); inner.Type {
	case "user":
		x.addUser(inner, at, n, g)
	case "assistant":
		x.addAssistant(inner, at, n, g)
	}
}

// finish resolves what is only known once the whole file is read.
func (x *index) finish(base string) {
	t := x.t
	t.NativeID = nativeID(base, x.session)
	if len(x.main.units) == 0 && len(x.order) > 0 {
		// A sub-agent's own file: its content is the conversation.
		x.main = x.order[0]
		x.order = x.order[1:]
		t.Parent, t.NativeID = t.NativeID, x.main.key
	}
	for _, g := range x.order {
		if call := x.prompts[x.promptOf(g)]; call != "" && x.agents[g.key] == "" {
			x.agents[g.key] = call
		}
	}
	t.Calls = x.agents
	t.Messages, t.Model, t.Tools = len(x.main.units), x.main.model, x.main.tools
	for _, u := range x.main.units {
		t.AddTime(schema.Time(u.stamp).Time())
	}
	x.losses.Report(t)
	t.Each = x.each
}

// read reads a record again; it is valid until the next one is read with from. For one
// inside a progress record, it returns the sub-agent's message.
func (x *index) read(from *inject.SpanReader, at inject.Span) (record, error) {
	raw, err := from.Read(x.file, at)
	if err != nil {
		return record{}, err
	}
	r := parseRecord(raw, x.same)
	if r.Type == "progress" {
		r = parseRecord(rawjson.Get(r.Data, "message"), x.same)
	}
	return r, nil
}
