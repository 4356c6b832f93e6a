package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"cortext/schema"
)

// stageDir is where a conversation is assembled before it is published.
const stageDir = cacheDir + "/new"

// Stage starts a new conversation where no other process sees it: a folder with its
// .session/. [Conversation.Publish] makes it visible in one step, so a kill leaves either
// none of it or all of it. Until then it can be written to like any other.
//
// The folder is conversations/<day>/<HHMM>-<typ>-<words>-<end of the id>, with the day
// and minute of sess.CreatedAt in UTC, so that a transcript has the same path in every
// clone. The name is made from the text in words. doc becomes <typ>.md, which people
// read; nil creates none. Stage fills in what sess lacks: its ids, version, type, status
// and times. It redacts secrets in the texts.
func (s *Store) Stage(typ, words string, sess *schema.Session, doc []byte) (*Conversation, error) {
	c, err := newStage(s, typ, words, sess, doc)
	if err != nil {
		return nil, fmt.Errorf("create conversation: %w", err)
	}
	return c, nil
}

func newStage(s *Store, typ, words string, sess *schema.Session, doc []byte) (*Conversation, error) {
	if Slug(typ) != typ {
		return nil, fmt.Errorf("type %q may hold only a-z, 0-9 and single hyphens: try %q", typ, Slug(typ))
	}
	known, err := s.policy.knownOf(sess.ID)
	if err != nil {
		return nil, err
	}
	redact, text := s.policy.redactor(nil).knowing(known), string(doc)
	redact.text(&words)
	redact.text(&text)
	if doc != nil {
		doc = []byte(text)
	}
	if err = redact.err; err == nil {
		err = redact.session(sess)
	}
	if err == nil {
		err = fillIn(sess, typ, s.opts)
	}
	if err != nil {
		return nil, err
	}
	sweepStage(s)
	var entropy [8]byte
	if _, err := io.ReadFull(s.opts.Rand, entropy[:]); err != nil {
		return nil, err
	}
	c := s.at(fmt.Sprintf("%s/%d-%x", stageDir, os.Getpid(), entropy), FolderName(sess, typ, words))
	c.written = newWritten(c)
	sess.ConversationID = path.Base(c.path)
	if err := (stage{c}).create(typ, sess, doc); err != nil {
		stage{c}.discard()
		return nil, explain(err)
	}
	return c, nil
}

// FolderName returns the path of a conversation, the same in every clone.
func FolderName(sess *schema.Session, typ, words string) string {
	at := sess.CreatedAt.Time().UTC()
	return fmt.Sprintf("%s/%s/%s-%s-%s-%s", conversationsDir, at.Format(time.DateOnly), at.Format("1504"), typ, Slug(words), idEnd(sess.ID, idEndLen))
}

// idEndLen is how many characters of an id go into the folder's name. They come from the
// end, since the beginning is a time. No two conversations from the same minute share
// them.
const idEndLen = 4

func idEnd(id string, n int) string { return id[max(len(id)-n, 0):] }

// NamedAfter reports whether the name of a conversation's folder ends as an id does. It
// does for the conversation that the folder was made for (FORMAT.md, "Files"), unless an
// earlier version made it.
func NamedAfter(folder, id string) bool {
	end := folder[strings.LastIndexByte(folder, '-')+1:]
	return len(end) >= idEndLen && strings.HasSuffix(id, end)
}

// A stage is a conversation that is being assembled where no other process sees it.
// Nothing in it is synced before it is published, and then all of it is, names included.
type stage struct{ *Conversation }

// create creates the files, without a document if doc is nil. publish makes their names
// durable.
func (c stage) create(typ string, sess *schema.Session, doc []byte) error {
	if err := c.s.makeLocal(c.base); err != nil {
		return err
	}
	folder := path.Dir(c.dir)
	if _, err := c.s.makeDirs(path.Dir(folder)); err != nil {
		return err
	}
	if err := c.s.root.Mkdir(folder, 0o777); err != nil { // the same mode as in the work tree
		return err
	}
	if _, err := c.s.makeDirs(c.dir); err != nil {
		return err
	}
	if doc != nil {
		if err := c.writeNew(folder+"/"+typ+".md", doc, 0o666); err != nil {
			return err
		}
	}
	for _, name := range []string{toolsFile, messagesFile} {
		if err := c.writeNew(c.file(name), nil, privateFileMode); err != nil {
			return err
		}
	}
	b, err := sess.Marshal()
	if err != nil {
		return err
	}
	if err := c.writeNew(c.file(sessionFile), b, privateFileMode); err != nil {
		return err
	}
	info, err := c.s.root.Lstat(c.file(sessionFile))
	if err == nil {
		c.s.sessions.keep(c.file(sessionFile), info, b)
	}
	return err
}

// written is what was written to the logs of a staged conversation, so that finishing it
// need not read it all again.
type written struct {
	tally
	held map[string][]record // by the name of the log, as they are read; nil if unknown
	size int                 // of their lines in bytes
}

// mostHeld is the size up to which written holds records.
const mostHeld = 4 << 20

func newWritten(of *Conversation) *written {
	w := &written{}
	if !of.isSub() { // of those, only the counters are needed
		w.held = map[string][]record{}
	}
	return w
}

// isHeld reports whether the records are in memory. w may be nil.
func (w *written) isHeld() bool { return w != nil && w.held != nil }

// add adds a record that was written to a log as a line of the given size.
func (w *written) add(log string, r record, size int) {
	w.tally.record(r)
	w.size += size
	if w.size > mostHeld {
		w.held = nil
	}
	if w.held != nil {
		w.held[log] = append(w.held[log], r)
	}
}

// Publish moves a staged conversation to its place in the work tree. If another process
// published the same conversation first, Publish discards the staged one and returns
// [ErrExist]; open the existing one by its path. A folder of that name without .session/,
// as git leaves one, is completed; nothing in it is touched.
func (c *Conversation) Publish() error { return stage{c}.publish("") }

// PublishWaiting is Publish to .workspace/local/kept, where records wait while the work
// tree must not be written to.
func (c *Conversation) PublishWaiting() error { return stage{c}.publish(waitingDir) }

func (c stage) publish(base string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.drop() // the logs are reopened under their new names
	c.written = nil
	err := c.place(base)
	if err != nil {
		c.discard()
		return fmt.Errorf("create conversation: %w", explain(err))
	}
	return nil
}

// place finds a free name below base for the staged folder.
func (c stage) place(base string) error {
	unlock, err := c.s.locks.workspace(c.s.opts.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.sync(); err != nil { // a folder that appears must be complete after a power cut
		return err
	}
	for more := range createTries {
		if err := c.moveTo(base); !errors.Is(err, errTaken) {
			return err
		}
		// Against all odds, another conversation has that name: more characters of the id
		// distinguish them.
		if err := c.rename(idEndLen + 1 + more); err != nil {
			return err
		}
	}
	return fmt.Errorf("a folder like %q: %w", c.path, ErrExist)
}

// createTries bounds how many names are tried.
const createTries = 20

// errTaken means that another conversation has the name.
var errTaken = errors.New("the name is taken")

// sync makes the conversation's files and their names durable. It does not sync the
// document, which has no content of its own yet.
func (c stage) sync() error {
	if err := c.syncAll(c.dir); err != nil {
		return err
	}
	return c.s.files.SyncDir(c.s.root, path.Dir(c.dir))
}

// syncAll makes a folder and everything in it durable.
func (c stage) syncAll(dir string) error {
	d, err := c.s.root.Open(dir)
	if err != nil {
		return err
	}
	entries, err := d.ReadDir(-1)
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if e.IsDir() {
			err = errors.Join(err, c.syncAll(name))
		} else if info, infoErr := e.Info(); infoErr != nil || info.Size() > 0 {
			err = errors.Join(err, infoErr, c.s.files.SyncFile(c.s.root, name))
		}
	}
	if err != nil {
		return errors.Join(err, d.Close())
	}
	return c.s.files.SyncOpenDir(d, dir)
}

// moveTo moves the staged folder below base, or only its .session/ if the folder already
// exists there.
func (c stage) moveTo(base string) (err error) {
	s, from := c.s, path.Dir(c.dir)
	at := path.Join(base, c.path)
	if base != "" {
		if err := s.makeLocal(base); err != nil {
			return err
		}
	}
	made, err := s.makeDirs(path.Dir(at))
	defer func() {
		if err != nil {
			for _, dir := range slices.Backward(made) {
				_ = s.root.Remove(dir) // if it is empty
			}
		}
	}()
	if err != nil {
		return err
	}
	info, err := s.root.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = s.files.RenameIn(s.root, from, at)
	case err == nil && !info.IsDir():
		err = notFolder(at, info)
	case err == nil:
		err = c.moveInto(base, at)
	}
	if err != nil {
		return err
	}
	c.remove()
	old := c.file(sessionFile)
	c.move(base, c.path)
	s.sessions.move(old, c.file(sessionFile))
	if base == "" {
		s.ChangeList().note(c.path)
		s.locks.sayHolder(&c.holder, c.path)
	}
	return s.syncNames(path.Dir(at))
}

// remove removes the remains of the staging folder.
func (c stage) remove() {
	day := path.Dir(path.Dir(c.dir))
	for _, dir := range []string{day, path.Dir(day), c.base} { // they are empty; faster than listing them
		if c.s.root.Remove(dir) != nil {
			_ = c.s.root.RemoveAll(c.base)
			return
		}
	}
}

// moveInto puts .session/ into a folder that has none, and also the document, unless a
// file already has its name.
func (c stage) moveInto(base, at string) error {
	s, from := c.s, path.Dir(c.dir)
	there := s.at(base, c.path)
	if gone, err := s.missing(there.dir); err != nil {
		return err
	} else if !gone {
		return c.meet(there)
	}
	entries, err := s.readDir(from)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(entries) { // .session/ last: it turns the folder into a conversation
		if free, err := s.missing(at + "/" + e.Name()); err != nil {
			return err
		} else if !free {
			continue // it belongs to a person
		}
		err := s.files.RenameIn(s.root, from+"/"+e.Name(), at+"/"+e.Name())
		if errors.Is(err, fs.ErrExist) && e.IsDir() { // a write to the folder just created it
			return c.meet(there)
		}
		if err != nil {
			return err
		}
	}
	return s.files.SyncDir(s.root, at) // a power cut must not leave the folder without .session/
}

// meet compares the staged conversation with the one that has its name. It returns
// [ErrExist] if they are the same. If that one lost its session.json, it gets the staged
// one.
func (c stage) meet(there *Conversation) error {
	ours, _, err := c.Session()
	if err != nil {
		return err
	}
	theirs, damage, err := there.Session()
	if err != nil {
		return err
	}
	if schema.SameConversation(ours.ID, theirs.ID) {
		return ErrExist
	}
	if len(damage) == 0 {
		return errTaken
	}
	err = there.Edit(func(sess *schema.Session) error {
		*sess = *ours
		return nil
	})
	return cmp.Or(errors.Join(err, there.Close()), ErrExist)
}

// rename gives a staged conversation a name with more characters of its id.
func (c stage) rename(end int) error {
	sess, _, err := c.Session()
	if err != nil {
		return err
	}
	day, old := path.Split(c.path)
	name := strings.TrimSuffix(old, old[strings.LastIndexByte(old, '-'):]) + "-" + idEnd(sess.ID, end)
	if err := c.s.root.Rename(path.Dir(c.dir), c.base+"/"+day+name); err != nil {
		return err
	}
	c.move(c.base, day+name)
	sess.ConversationID = name
	b, err := sess.Marshal()
	if err != nil {
		return err
	}
	return c.s.replace(c.file(sessionFile), b, privateFileMode)
}

// Discard removes a staged conversation. It does nothing to a published one.
func (c *Conversation) Discard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	stage{c}.discard()
}

// discard removes the conversation unless it is published.
func (c stage) discard() {
	if c.staged() {
		_ = c.drop()
		_ = c.s.root.RemoveAll(c.base)
	}
}

// sweepStage removes the unfinished work of processes killed more than a day ago.
func sweepStage(s *Store) {
	entries, err := s.readDir(stageDir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && s.opts.Now().Sub(info.ModTime()) > 24*time.Hour {
			_ = s.root.RemoveAll(stageDir + "/" + e.Name())
		}
	}
}

// Create is [Store.Stage] followed by [Conversation.Publish]. If the conversation already
// exists, Create returns it with [ErrExist].
func (s *Store) Create(typ, words string, sess *schema.Session, doc []byte) (*Conversation, error) {
	c, err := s.Stage(typ, words, sess, doc)
	if err != nil {
		return nil, err
	}
	if err := c.Publish(); errors.Is(err, ErrExist) {
		there, openErr := s.Conversation(c.path)
		return there, errors.Join(err, openErr)
	} else if err != nil {
		return nil, err
	}
	return c, nil
}

// fillIn completes the fields of a new session.
func fillIn(sess *schema.Session, typ string, opts Options) error {
	now := opts.Now()
	sess.Version = schema.Version
	if sess.ID == "" {
		var entropy [10]byte
		if _, err := io.ReadFull(opts.Rand, entropy[:]); err != nil {
			return fmt.Errorf("make an id: %w", err)
		}
		sess.ID = schema.NewID(now, entropy)
	}
	if sess.ConversationType == "" {
		sess.ConversationType = typ
	}
	if sess.Status == "" {
		sess.Status = schema.Active
	}
	if sess.CreatedAt == "" {
		sess.CreatedAt = schema.NewTime(now)
	}
	if sess.LastActive == "" {
		sess.LastActive = sess.CreatedAt
	}
	return nil
}

// unanswered is the content of .session/.gitignore from the prompt that starts a
// conversation until its first answer, so that no commit has a session.json without
// content (FORMAT.md, section 2).
const unanswered = "# Written by cortext, which removes it with the first answer.\n*\n"

const unansweredFile = ".gitignore"

// HoldFromGit makes git ignore the files in .session/ of a staged conversation until
// [Tx.ReleaseToGit].
func (c *Conversation) HoldFromGit() error {
	return explain(c.writeNew(c.file(unansweredFile), []byte(unanswered), privateFileMode))
}

// HeldFromGit reports whether git ignores the files in .session/ because of
// [Conversation.HoldFromGit].
func (l *Location) HeldFromGit() bool {
	b, err := l.s.readRegular(l.file(unansweredFile))
	return err == nil && bytes.Equal(b, []byte(unanswered))
}
