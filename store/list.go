package store

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/store/parallel"
)

// An Entry is one conversation of a list.
type Entry struct {
	Path    string          // of its folder, relative to the workspace, with slashes
	Session *schema.Session // never nil: reconstructed as far as possible if unreadable
	Damage  []Damage        // of session.json; the logs are not examined

	Waiting bool     // its folder is not in the work tree: its known records wait
	Twins   []string // other folders of the same conversation; see [Store.Open]

	unread error // why the system did not let us read it
}

// List returns all conversations, most recently active first. Each folder below
// conversations/<day>/ is one, with or without a .session/. Damage in one does not hide
// others.
func (s *Store) List() ([]Entry, error) {
	return s.list(func(sess *schema.Session) *schema.Session { return sess })
}

// Outlines is [Store.List], but the sessions lack what takes most of their memory and says
// nothing about which conversation it is: plan, summary, notes, metadata, stamps and the like.
func (s *Store) Outlines() ([]Entry, error) { return s.list(outline) }

// outline copies what [Store.Outlines] keeps of a session.
func outline(s *schema.Session) *schema.Session {
	return &schema.Session{
		Version: s.Version, Title: s.Title, ConversationID: s.ConversationID, Status: s.Status, CreatedAt: s.CreatedAt,
		WorkingDir:  s.WorkingDir,
		AgentConfig: schema.AgentConfig{Agent: s.AgentConfig.Agent, Model: s.AgentConfig.Model},
		Tags:        s.Tags, ConversationType: s.ConversationType, Git: s.Git, Archived: s.Archived, ArchivedSet: s.ArchivedSet, Links: s.Links,
		LastActive: s.LastActive, MessageCount: s.MessageCount, Tokens: s.Tokens, CountedBytes: s.CountedBytes, Sources: s.Sources, ID: s.ID,
		Repair: s.Repair,
	}
}

// list lists all conversations, with what keep keeps of their sessions.
func (s *Store) list(keep func(*schema.Session) *schema.Session) ([]Entry, error) {
	folders, _, err := conversationFolders(s.Files, conversationsDir)
	if err != nil {
		return nil, explain(err)
	}
	entries := s.entries(folders, keep)
	at := make(map[string]time.Time, len(entries)) // parse each once
	for _, e := range entries {
		at[e.Path] = e.Session.LastActive.Time()
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(at[b.Path].Compare(at[a.Path]), strings.Compare(b.Path, a.Path))
	})
	return entries, nil
}

// ListOf is [Store.List] for the conversations in some folders, and for waiting ones
// that are in none of them. Folders that do not exist are left out.
func (s *Store) ListOf(folders []string) []Entry {
	there := slices.DeleteFunc(slices.Clone(folders), func(name string) bool {
		l, ok := s.lookAt(name)
		return !ok || l.kind != folderKind
	})
	entries := s.entries(there, func(sess *schema.Session) *schema.Session { return sess })
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return entries
}

// entries describes the conversations in some folders, and waiting ones.
func (s *Store) entries(folders []string, keep func(*schema.Session) *schema.Session) []Entry {
	entries := make([]Entry, len(folders))
	parallel.Each(len(folders), func(i int) {
		e, _, _, ok := s.Describe(folders[i])
		if !ok { // the system does not show it
			e = entryOf(s.at("", folders[i]))
		}
		e.Session = keep(e.Session)
		entries[i] = e
	})
	return s.withWaiting(withoutTwins(entries))
}

// conversationFolders returns the folders of the conversations below top, sorted by name.
// It returns anything else in their place as damage.
func conversationFolders(s *Files, top string) (folders []string, damage []Damage, err error) {
	days, err := s.readDir(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	keep := func(dir string, e fs.DirEntry) bool {
		if e.Type()&fs.ModeSymlink != 0 {
			damage = append(damage, damaged(dir+"/"+e.Name(), NotRegular, "a symlink is not followed"))
		}
		return e.IsDir() && !strings.HasPrefix(e.Name(), ".")
	}
	for _, day := range days {
		if !keep(top, day) {
			continue
		}
		dir := top + "/" + day.Name()
		entries, err := s.readDir(dir)
		if err != nil {
			damage = append(damage, damaged(dir, Unreadable, err.Error()))
			continue
		}
		for _, e := range entries {
			if keep(dir, e) {
				folders = append(folders, dir+"/"+e.Name())
			}
		}
	}
	return folders, damage, nil
}

// entryOf describes a conversation that is damaged or not counted yet.
func entryOf(c *Conversation) Entry {
	sess, damage, err := c.Session()
	if err == nil {
		return Entry{Path: c.path, Session: sess, Damage: damage}
	}
	e := Entry{Path: c.path, Session: fromName(c.path), Damage: []Damage{unreadable(c.sessionFolder, err)}}
	if e.Damage[0].Kind == Unreadable {
		e.unread = err
	}
	return e
}

// Folders returns all folders of the conversation: Path, then Twins.
func (e Entry) Folders() []string { return append([]string{e.Path}, e.Twins...) }

// Unread returns why the session could not be read although it may exist; Session is then
// derived from the folder's name. It is nil if the session could be read.
func (e Entry) Unread() error { return explain(e.unread) }

// LeftByMerge reports whether a session.json in the work tree has only the defects that
// git causes: it is missing, or holds conflict markers.
func (e Entry) LeftByMerge() bool {
	return !e.Waiting && len(e.Damage) > 0 && !slices.ContainsFunc(e.Damage, func(d Damage) bool { return d.Kind != Missing && d.Kind != jsonl.Conflict })
}

// withoutTwins lists a conversation that is in several folders once, with the path that
// sorts first, the same in every clone. A folder that a redaction renamed comes before the
// others, which may have the redacted text in their names.
func withoutTwins(entries []Entry) []Entry {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	at := map[string]int{}
	list := entries[:0]
	for _, e := range entries {
		key := schema.IDKey(e.Session.ID)
		if i, ok := at[key]; ok && e.KnowsID() {
			if redactedName(e.Path) && !redactedName(list[i].Path) {
				e, list[i] = list[i], e
				list[i].Twins, e.Twins = e.Twins, nil
			}
			list[i].Twins = append(list[i].Twins, e.Path)
			continue
		}
		if e.KnowsID() {
			at[key] = len(list)
		}
		list = append(list, e)
	}
	return list
}

// redactedName reports whether the words in a folder's name contain a redaction; see
// [FolderName].
func redactedName(folder string) bool { return strings.Contains(path.Base(folder), "-redacted-") }

// IsNewer reports whether a later cortext wrote the session.json of a conversation.
func (e Entry) IsNewer() bool { return e.has(Newer) }

// IsClosed reports whether this version can neither read nor change a conversation: its
// session.json is not a regular file, or a later cortext wrote it.
func (e Entry) IsClosed() bool { return e.has(Newer) || e.has(NotRegular) }

func (e Entry) has(kind jsonl.Kind) bool {
	return slices.ContainsFunc(e.Damage, func(d Damage) bool { return d.Kind == kind })
}

// KnowsID reports whether the id of a conversation comes from its session.json.
func (e Entry) KnowsID() bool {
	return !slices.ContainsFunc(e.Damage, func(d Damage) bool { return d.Kind != jsonl.Conflict })
}

// withWaiting takes the other folders of conversations into account, and adds
// conversations whose folder is not in the work tree.
func (s *Store) withWaiting(entries []Entry) []Entry {
	stale := map[int]bool{}
	at, byID := map[string]int{}, map[string]int{}
	for i, e := range entries {
		stale[i] = len(e.Twins) > 0
		if e.KnowsID() {
			byID[schema.IDKey(e.Session.ID)] = i
		}
		for _, name := range e.Folders() {
			at[name] = i
		}
	}
	for _, name := range s.Kept().WaitingPaths() {
		if i, ok := at[name]; ok && s.at("", name).isIn(s.at(waitingDir, name).sessionFolder) {
			stale[i] = true
			continue
		}
		c, err := s.Kept().Waiting(name, "")
		if err != nil {
			continue
		}
		sess, damage, err := c.Session()
		if err != nil {
			sess, damage = fromName(c.path), []Damage{unreadable(c.sessionFolder, err)}
		}
		if i, ok := byID[schema.IDKey(sess.ID)]; ok && len(damage) == 0 {
			if of, known := at[name]; !known || of != i { // otherwise it was written after waitsIn looked
				entries[i].Twins = append(entries[i].Twins, name)
			}
			stale[i] = true
			continue
		}
		entries = append(entries, Entry{Path: name, Session: sess, Damage: damage, Waiting: true})
	}
	for i := range entries {
		if !stale[i] {
			continue
		}
		c, err := s.Open(entries[i])
		if err != nil || len(c.others()) == 0 {
			continue
		}
		if sess, damage, err := c.Session(); err == nil {
			entries[i].Session, entries[i].Damage = sess, damage
		}
	}
	return entries
}

// Unread describes why the session.json of a conversation cannot be read at all, as the
// damage of an [Entry] does. err is the error of reading it.
func Unread(conversation string, err error) Damage {
	return unreadable(sessionFolder{dir: conversation + "/" + sessionDir}, err)
}

// unreadable describes why session.json cannot be read at all.
func unreadable(f sessionFolder, err error) Damage {
	kind := Unreadable
	if version := (*schema.VersionError)(nil); errors.As(err, &version) {
		kind = Newer
	}
	return damaged(f.file(sessionFile), kind, err.Error())
}

// Describe describes the conversation in a folder of the work tree as [Store.List] does,
// but without its twins and what waits for it. known reports that the description holds as
// long as [Folders.Look] returns the same look. ok is false if there is no such folder.
func (s *Store) Describe(folder string) (e Entry, l Look, known, ok bool) {
	now := time.Now()
	if l, ok = s.Folders().Look(folder); !ok {
		return e, l, false, false
	}
	c := s.at("", folder)
	if l.whole() {
		if raw, ok := readLooked(filepath.Join(s.dir, filepath.FromSlash(c.file(sessionFile))), l.session); ok {
			c.dropBackup(raw)
			if sess := c.plain(raw, l.messages.size); sess != nil && l.messages.kind == regularKind {
				return Entry{Path: folder, Session: sess}, l, l.Settled(now), true
			}
		}
	}
	e = entryOf(c)
	return e, l, len(e.Damage) == 0 && l.whole() && l.Settled(now), true
}

// readLooked reads the file that a look described.
func readLooked(name string, l fileLook) ([]byte, bool) {
	if l.inode == 0 || l.size > maxFile {
		return nil, false
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || inode(info) != l.inode || !info.Mode().IsRegular() {
		return nil, false
	}
	b := make([]byte, l.size)
	_, err = io.ReadFull(f, b)
	return b, err == nil && info.Size() == l.size
}

// plain returns what Session returns for a whole session.json that counts everything in a
// log of that size; otherwise nil.
func (l *Location) plain(raw []byte, size int64) *schema.Session {
	sess, err := schema.ParseSession(raw)
	if err != nil || sess.Repair != nil || sess.CountedBytes != size {
		return nil
	}
	complete(sess, l.path)
	return sess
}
