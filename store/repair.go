package store

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// A RepairStep says what a repair does to one file.
type RepairStep struct {
	File  string // relative to the workspace
	Done  string // "rewritten", "3 records restored from the last commit of git"
	Lines []RepairedLine
}

// A Repair is a repair of one conversation, done or planned.
type Repair struct {
	Path  string // of the conversation
	Steps []RepairStep
	Lost  []Damage // what stays missing
	Kept  string   // the folder with the files as they were; empty: nothing was changed

	changes []change
}

// maxRepair is the size, in bytes, of the largest log that is repaired. It is read into
// memory.
const maxRepair = 1 << 30

// A planner plans the repair of one conversation.
type planner struct {
	s     *Store
	out   *Repair
	made  []string          // what taking the lock created counts as missing
	modes map[string]string // of logs, from before the lock
	id    string            // of the conversation

	known  *known // what the user redacted in it, once looked is set
	looked bool
	wholes map[string]string // attachments to keep, by name: what limits leave out of restored calls
}

// knows returns what the user redacted in the conversation, which other places may still
// have. It looks once, for the conversation that its sub-agents are in.
func (p *planner) knows(c *Conversation) (*known, error) {
	if p.looked {
		return p.known, nil
	}
	p.looked = true
	st, err := c.load()
	if err != nil || st.session == nil {
		return nil, nil // nothing is restored without it
	}
	p.known, err = p.s.policy.knownOf(st.session.ID)
	return p.known, err
}

// A folderPlan is the plan for one folder of a conversation.
type folderPlan struct {
	sessionFolder
	session  stored
	there    bool // the folder exists
	messages logPlan
	tools    logPlan
}

// A logPlan is the plan for one log.
type logPlan struct {
	before   fileState
	content  []byte // as it is
	salvaged        // what is kept of it
	added    []byte
	from     map[string]int // number of records added, by place
}

func (l *logPlan) final() []byte { return append(slices.Clip(l.salvaged.content), l.added...) }

// A conversationPlan is the plan for a conversation, or for one of its sub-agents.
type conversationPlan struct {
	*planner
	c       *Conversation
	copies  *Copies // what other places have; nil: they are not checked
	census  *census // of the logs as planned
	folders []*folderPlan
	lost    []Damage
}

// conversation plans a conversation and its sub-agents. If the system does not let us read
// some of it, the plan is only to change that.
func (p *planner) conversation(c *Conversation, f *Copies, above *census) error {
	if err := c.StandIn(); err != nil {
		return err
	}
	for _, folder := range c.folders() {
		if closed, err := p.unlock(folder); closed || err != nil {
			return err
		}
	}
	if _, err := p.knows(c); err != nil {
		return err
	}
	cp := &conversationPlan{planner: p, c: c, copies: f, census: newCensus(above)}
	var have records
	var own *folderPlan
	for _, folder := range c.folders() {
		fp, err := p.look(folder, cp.census, &have)
		if err != nil {
			return err
		}
		if cp.folders = append(cp.folders, fp); folder == c.sessionFolder {
			own = fp
		}
	}
	if err := p.restore(own, f, cp.census, &have); err != nil {
		return err
	}
	cp.lost = cp.census.missing()
	if len(cp.folders) == 1 && len(cp.lost) > 0 && cp.countersWrong(own) {
		cp.census.counted = 0
		cp.lost = cp.census.missing()
	}
	p.out.Lost = append(p.out.Lost, cp.lost...)
	for _, fp := range cp.folders {
		p.logChange(fp.file(toolsFile), &fp.tools)
		p.logChange(fp.file(messagesFile), &fp.messages)
		if err := cp.session(fp); err != nil {
			return err
		}
	}
	return cp.subagents()
}

// unlock plans to change the modes of a folder and of its files if they keep us from
// reading. closed reports whether any does.
func (p *planner) unlock(f sessionFolder) (closed bool, err error) {
	for _, name := range []string{f.dir, f.file(toolsFile), f.file(messagesFile), f.file(sessionFile)} {
		info, err := p.s.root.Lstat(name)
		if err != nil {
			continue // it is missing, or is examined once the folder is open
		}
		want := privateFileMode
		if info.IsDir() {
			want = privateDirMode
		}
		if runtime.GOOS == "windows" || !info.IsDir() && !info.Mode().IsRegular() || name == f.dir && !info.IsDir() || info.Mode()&want == want {
			continue
		}
		st, err := p.s.state(name)
		if err != nil {
			return closed, err
		}
		p.mode(name, st)
		closed = len(p.out.changes) > 0
	}
	return closed, nil
}

// subagents plans the sub-agents.
func (cp *conversationPlan) subagents() error {
	names, _ := cp.c.Subagents()
	if cp.copies != nil {
		for name := range cp.copies.Subagents {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		sub := cp.c.subagent(name)
		sub.setOthers(cp.c.othersOf(name))
		if err := cp.conversation(sub, cp.copies.Of(name), cp.census); err != nil {
			return err
		}
	}
	return nil
}

// countersWrong reports whether session.json counted too many messages, rather than the log
// having lost some. It did if no message follows a missing one and, besides, a line of the
// log still ends at the counted length or the transcripts have no more messages.
func (cp *conversationPlan) countersWrong(fp *folderPlan) bool {
	sess, n := fp.session.session, cp.census
	if sess == nil || n.blind {
		return false
	}
	if _, parents := n.absent(n.follows, n.holds); len(parents) > 0 {
		return false
	}
	log, at := fp.messages.final(), sess.CountedBytes
	whole := at > 0 && at <= int64(len(log)) && log[at-1] == '\n'
	return whole || cp.copies != nil && cp.copies.Whole
}

// look reads a folder, and plans to move away what is not a file in it.
func (p *planner) look(f sessionFolder, n *census, have *records) (*folderPlan, error) {
	fp := &folderPlan{sessionFolder: f}
	n.dirs = append(n.dirs, f.dir)
	var err error
	if fp.there, err = p.folder(f.dir); !fp.there {
		return fp, err
	}
	if fp.session, err = f.read(); err != nil {
		return nil, err
	}
	n.expect(f, fp.session.session)
	if fp.tools, err = readPlan(p, f, toolLog(), func(t schema.Tool, raw []byte, at heldAt) {
		_ = n.tool(jsonl.Record{Raw: raw}, place{f.file(toolsFile), at.line, 0})
		have.add("t"+t.ID, heldRecord{t.Rev, raw, at.mangled, len(t.Redacted) > 0})
	}); err != nil {
		return nil, err
	}
	if fp.messages, err = readPlan(p, f, messageLog(), func(m schema.Message, raw []byte, at heldAt) {
		_ = n.message(jsonl.Record{Raw: raw}, place{f.file(messagesFile), at.line, 0})
		have.add("m"+m.ID, heldRecord{m.Rev, raw, at.mangled, len(m.Redacted) > 0})
	}); err != nil {
		return nil, err
	}
	if err := p.summaries(f); err != nil {
		return nil, err
	}
	return fp, p.subagentFolders(f)
}

// readPlan reads a log and takes its whole records.
func readPlan[R any](p *planner, f sessionFolder, k logKind[R], each func(r R, raw []byte, at heldAt)) (l logPlan, err error) {
	name := f.file(k.file)
	if l.before, err = p.s.state(name); err != nil {
		return l, err
	}
	if mode, ok := p.modes[name]; ok {
		l.before.Mode = mode
	}
	switch {
	case slices.Contains(p.made, name) && l.before.Size == 0:
		l.before = fileState{}
		return l, nil
	case l.before.Kind == kindAbsent:
		return l, nil
	case !l.before.isFile():
		return l, nil
	}
	if l.content, err = p.s.readBounded(name, maxRepair); err != nil {
		return l, err
	}
	l.salvaged = salvage(l.content, k, each)
	return l, nil
}

// moveAway plans to move away whatever occupies the name of a file or folder.
func (p *planner) moveAway(name string, st fileState) {
	p.out.changes = append(p.out.changes, change{File: name, Before: st})
	p.step(name, movedAway(st))
}

func movedAway(st fileState) string { return "it is " + st.Kind + ": moved away" }

func (p *planner) step(name, done string, lines ...RepairedLine) {
	p.out.Steps = append(p.out.Steps, RepairStep{File: name, Done: done, Lines: lines})
}

// mode plans to give a file or folder the private mode, unless its file system has no modes.
func (p *planner) mode(name string, st fileState) {
	want := octal(privateFileMode)
	if st.Kind == kindFolder {
		want = octal(privateDirMode)
	}
	if st.Mode == want || !p.s.hasModes() {
		return
	}
	after := st
	after.Mode = want
	p.out.changes = append(p.out.changes, change{File: name, Before: st, After: after})
	p.step(name, fmt.Sprintf("mode %s instead of %s", want, st.Mode))
}

// folder plans to move away what is in the place of a folder, and to correct the folder's mode.
// there reports whether the folder exists.
func (p *planner) folder(dir string) (there bool, err error) {
	st, err := p.s.state(dir)
	switch {
	case err != nil || st.Kind == kindAbsent:
		return false, err
	case st.Kind != kindFolder:
		p.moveAway(dir, st)
		return false, nil
	}
	p.mode(dir, st)
	return true, nil
}

// summaries plans to set aside the summaries that cannot be read.
func (p *planner) summaries(f sessionFolder) error {
	dir := f.file(summariesDir)
	if there, err := p.folder(dir); !there {
		return err
	}
	_, damage := f.summaries()
	for _, d := range damage {
		if d.Kind == Newer {
			continue
		}
		st, err := p.s.state(d.File)
		if err != nil {
			return err
		}
		p.out.changes = append(p.out.changes, change{File: d.File, Before: st})
		p.step(d.File, "set aside; nothing is lost, cortext compact --apply makes it again")
	}
	return nil
}

// subagentFolders plans to move away what is not a folder among the sub-agents.
func (p *planner) subagentFolders(f sessionFolder) error {
	dir := f.file(subagentsDir)
	if there, err := p.folder(dir); !there {
		return err
	}
	entries, err := p.s.readDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		st, err := p.s.state(dir + "/" + e.Name())
		if err != nil {
			return err
		}
		p.moveAway(dir+"/"+e.Name(), st)
	}
	return err
}

// logChange plans the change of a log, if any.
func (p *planner) logChange(name string, l *logPlan) {
	restored := restoredText(l.from)
	c := change{File: name, Before: l.before}
	switch {
	case l.before.Kind != kindAbsent && !l.before.isFile():
		p.step(name, strings.TrimSuffix(movedAway(l.before)+"; "+restored, "; "))
		if c.content = l.added; len(l.added) == 0 {
			p.out.changes = append(p.out.changes, c)
			return
		}
	case l.changed():
		c.content = l.final()
		p.step(name, strings.TrimSuffix("rewritten; "+restored, "; "), l.done...)
	case len(l.added) > 0 && l.before.isFile() && len(l.content) > 0:
		c.Append, c.content = true, l.added
		p.step(name, restored)
	case len(l.added) > 0:
		c.content = l.added
		p.step(name, restored)
	case l.before.isFile():
		p.mode(name, l.before)
		return
	default:
		return
	}
	c.After = stateOf(l.final(), privateFileMode)
	p.out.changes = append(p.out.changes, c)
}

// restoredText says how many records come from where.
func restoredText(from map[string]int) string {
	var texts []string
	for place, n := range from {
		texts = append(texts, plural(n, "record", "records")+" restored from "+place)
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}
