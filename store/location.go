package store

import (
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"cortext/schema"
)

// A Location names the folders that hold the records of a conversation: its own, which is
// written to, and others, which are only read. These are folders that wait for the work
// tree, twins (a merge of two clones created two folders for one conversation), and git's
// copies of files outside a sparse checkout. All are read together, and the next write
// moves the records of the other folders into the current one.
//
// Several goroutines may use a Location.
type Location struct {
	sessionFolder
	path string // its folder in the work tree, or its name below that of its parent
	base string // folder that path is written below: "" for the workspace itself

	more atomic.Pointer[[]sessionFolder]
}

// Path returns the conversation's folder, relative to the workspace, with slashes.
func (l *Location) Path() string { return l.path }

// Dirs returns the folders, relative to the workspace, in which records of the conversation
// are or will wait. Not all of them exist.
func (l *Location) Dirs() (dirs []string) {
	for _, f := range append(l.folders(), l.at(waitingDir+"/"+l.path+"/"+sessionDir)) {
		if !strings.HasPrefix(f.dir, borrowedDir) && !slices.Contains(dirs, f.dir) {
			dirs = append(dirs, f.dir)
		}
	}
	return dirs
}

// move sets the current folder of a conversation.
func (l *Location) move(base, name string) {
	l.path, l.base = name, base
	l.dir = path.Join(base, name, sessionDir)
}

// isSub reports whether this is the conversation of a sub-agent.
func (l *Location) isSub() bool { return strings.Count(l.path, "/") > 2 }

// top returns the folder of the conversation itself, even for a sub-agent.
func (l *Location) top() string { return strings.Join(strings.SplitN(l.path, "/", 4)[:3], "/") }

// staged reports whether the conversation is still unpublished. Writes to it need not be
// durable before then.
func (l *Location) staged() bool { return strings.HasPrefix(l.base, stageDir+"/") }

// IsWaiting reports whether records written to the conversation wait for its folder in
// the work tree.
func (l *Location) IsWaiting() bool { return l.base == waitingDir }

// HasMore reports whether the next write moves records into the logs: waiting records,
// those that [Location.TakeBack] asked for, or those in a second folder.
func (l *Location) HasMore() bool { return len(l.others()) > 0 && l.base == "" }

// Waits reports whether the next write moves waiting records into the logs.
func (l *Location) Waits() bool {
	return l.base == "" && slices.ContainsFunc(l.others(), func(f sessionFolder) bool { return within(waitingDir, f.dir) })
}

// LogsAbsent reports whether session.json or messages.jsonl is missing: the folder is new
// to cortext, or git or a person removed them.
func (l *Location) LogsAbsent() bool { return l.lacks(sessionFile, messagesFile) }

// LogMissing reports whether any of session.json and the two logs is missing.
func (l *Location) LogMissing() bool { return l.lacks(toolsFile, sessionFile, messagesFile) }

func (l *Location) lacks(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		missing, err := l.s.missing(l.file(name))
		return missing || err != nil
	})
}

// others returns the other folders with records of the conversation. A conversation in
// the work tree has its twins and waiting folders; a waiting conversation has its folder
// in the work tree.
func (l *Location) others() []sessionFolder {
	if more := l.more.Load(); more != nil {
		return *more
	}
	return nil
}

func (l *Location) setOthers(folders []sessionFolder) { l.more.Store(&folders) }

// has reports whether a folder is one of the others.
func (l *Location) has(dir string) bool {
	return slices.ContainsFunc(l.others(), func(f sessionFolder) bool { return f.dir == dir })
}

// folders returns all folders with records of the conversation in reading order: the work
// tree before waiting folders.
func (l *Location) folders() []sessionFolder {
	if l.IsWaiting() {
		return append(slices.Clone(l.others()), l.sessionFolder)
	}
	return append([]sessionFolder{l.sessionFolder}, l.others()...)
}

// findOthers looks for the other folders of a conversation: non-empty twins in the work
// tree, then folders that wait for any of these.
func (l *Location) findOthers(twins []string) {
	var found []sessionFolder
	for _, name := range twins {
		f := l.at(name + "/" + sessionDir)
		if name == l.path || slices.Contains(found, f) { // possible if the index was made while folders were moved
			continue
		}
		if l.s.checkConversation(name) == nil && f.exists() && !f.emptied() {
			found = append(found, f)
		}
	}
	if l.s.isFolder(waitingDir) { // usually there is none
		for _, name := range append([]string{l.path}, twins...) {
			if f := l.at(waitingDir + "/" + name + "/" + sessionDir); !slices.Contains(found, f) && l.isIn(f) {
				found = append(found, f)
			}
		}
	}
	l.setOthers(found)
}

// isIn reports whether a folder below .workspace/local/kept holds records of this
// conversation, and not of another with the same name on another branch.
func (l *Location) isIn(f sessionFolder) bool {
	return f.exists() && isSame(l.idOf(l.path), f.idOf(l.path))
}

// isSame reports whether two ids belong to the same conversation, as far as both are
// known.
func isSame(a, b string) bool { return a == "" || b == "" || schema.SameConversation(a, b) }

// TakeBack makes the next write restore to the logs the records that git took while the
// conversation's folder had that name.
func (l *Location) TakeBack(name string) {
	f := l.at(takenDir + "/" + name + "/" + sessionDir)
	if l.base == "" && !l.has(f.dir) && l.isIn(f) {
		l.setOthers(append(slices.Clone(l.others()), f))
	}
}

// borrowedDir prefixes the names of borrowed files. No folder of the workspace has this
// name.
const borrowedDir = "git:"

// Borrow adds git's copies of the conversation's files, by name (messages.jsonl,
// tools.jsonl, session.json), to what is read: in a sparse checkout, git has logs that
// are not in the work tree. They are read from memory and never moved into a log. It is
// for readers, and for writers of a waiting conversation.
func (l *Location) Borrow(files map[string][]byte) {
	if len(files) == 0 {
		return
	}
	f := sessionFolder{l.s, borrowedDir + l.path + "/" + sessionDir, &files}
	others := slices.DeleteFunc(slices.Clone(l.others()), func(o sessionFolder) bool { return o.dir == f.dir })
	l.setOthers(append([]sessionFolder{f}, others...))
}

// Subagents returns the names of the sub-agents' conversations, sorted. Each name is an
// id for [Conversation.Subagent].
func (l *Location) Subagents() (names []string, err error) {
	for _, f := range l.folders() {
		more, err := f.subagents()
		names = append(names, more...)
		if err != nil {
			return names, err
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
