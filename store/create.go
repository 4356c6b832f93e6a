package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"cortext/schema"
	"cortext/store/atomicfile"
	"cortext/store/internal/lines"
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
	if Slug(typ) != typ {
		return nil, fmt.Errorf("create conversation: type %q may hold only a-z, 0-9 and single hyphens: try %q", typ, Slug(typ))
	}
	words, err := s.redactor.Text(words, nil)
	if err != nil {
		return nil, fmt.Errorf("create conversation: %w", err)
	}
	text, err := s.redactor.Text(string(doc), nil)
	if err != nil {
		return nil, fmt.Errorf("create conversation: %w", err)
	}
	if err := s.prepareSession(sess); err != nil {
		return nil, fmt.Errorf("create conversation: %w", err)
	}
	if err := s.fillIn(sess, typ); err != nil {
		return nil, fmt.Errorf("create conversation: %w", err)
	}
	s.sweepStage()
	var entropy [8]byte
	if _, err := io.ReadFull(s.opts.Rand, entropy[:]); err != nil {
		return nil, fmt.Errorf("create conversation: %w", err)
	}
	c := s.conversation(FolderName(sess, typ, words))
	c.base = fmt.Sprintf("%s/%d-%x", stageDir, os.Getpid(), entropy)
	c.dir = c.base + "/" + c.dir
	c.written = new(tally)
	sess.ConversationID = path.Base(c.path)
	if err := c.stage(typ, sess, doc != nil, []byte(text)); err != nil {
		c.discardStage()
		return nil, fmt.Errorf("create conversation: %w", explain(err))
	}
	return c, nil
}

// FolderName returns the path of a conversation, the same in every clone.
func FolderName(sess *schema.Session, typ, words string) string {
	at := sess.CreatedAt.Time().UTC()
	return fmt.Sprintf("%s/%s/%s-%s-%s-%s", conversationsDir, at.Format(time.DateOnly), at.Format("1504"), typ, Slug(words), idEnd(sess.ID, idEndLen))
}

// idEndLen is how many characters of an id go into the folder's name. They come from the
// end, since the beginning is a time. No two conversations of one minute share them.
const idEndLen = 4

func idEnd(id string, n int) string { return id[max(len(id)-n, 0):] }

// stage creates the files. Publish makes their names durable.
func (c *Conversation) stage(typ string, sess *schema.Session, withDoc bool, doc []byte) error {
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
	if withDoc {
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

// Publish moves a staged conversation to its place in the work tree. If another process
// published the same conversation first, Publish discards the staged one and returns
// [ErrExist]; open the existing one by its path. A folder of that name without .session/,
// as git leaves one, is completed; nothing in it is touched.
func (c *Conversation) Publish() error { return c.publish("") }

// PublishWaiting is Publish to .workspace/local/kept, where records wait while the work
// tree must not be written to.
func (c *Conversation) PublishWaiting() error { return c.publish(waitingDir) }

func (c *Conversation) publish(base string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.drop() // the logs are reopened under their new names
	err := c.place(base)
	if err != nil {
		c.discardStage()
		return fmt.Errorf("create conversation: %w", explain(err))
	}
	return nil
}

// place finds a free name below base for the staged folder.
func (c *Conversation) place(base string) error {
	unlock, err := c.s.lockWorkspace()
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.syncStage(); err != nil {
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

// staged reports whether the conversation is still unpublished. Writes to it need not be
// durable before then.
func (c *Conversation) staged() bool { return strings.HasPrefix(c.base, stageDir+"/") }

// files and logs return the calls that change the conversation's files.
func (c *Conversation) files() atomicfile.Calls {
	calls := c.s.files
	calls.NoSync = c.staged()
	return calls
}

func (c *Conversation) logs() lines.Calls {
	calls := c.s.logs
	if c.staged() {
		calls.Sync = func(*os.File) error { return nil }
	}
	return calls
}

// syncStage makes the conversation's files and their names durable. It does not sync the
// document, which has no content of its own yet.
func (c *Conversation) syncStage() error {
	if err := c.s.syncAll(c.dir); err != nil {
		return err
	}
	return c.s.files.SyncDir(c.s.root, path.Dir(c.dir))
}

// syncAll makes a folder and everything in it durable.
func (s *Store) syncAll(dir string) error {
	d, err := s.root.Open(dir)
	if err != nil {
		return err
	}
	entries, err := d.ReadDir(-1)
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if e.IsDir() {
			err = errors.Join(err, s.syncAll(name))
		} else if info, infoErr := e.Info(); infoErr != nil || info.Size() > 0 {
			err = errors.Join(err, infoErr, s.files.SyncFile(s.root, name))
		}
	}
	if err != nil {
		return errors.Join(err, d.Close())
	}
	return s.files.SyncOpenDir(d, dir)
}

// moveTo moves the staged folder below base, or only its .session/ if the folder already
// exists there.
func (c *Conversation) moveTo(base string) (err error) {
	s, from := c.s, path.Dir(c.dir)
	at := c.path
	if base != "" {
		at = base + "/" + c.path
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
	c.removeStage()
	s.sessions.move(c.file(sessionFile), at+"/"+sessionDir+"/"+sessionFile)
	c.base, c.dir = base, at+"/"+sessionDir
	return s.syncNames(path.Dir(at))
}

// removeStage removes the remains of the staging folder.
func (c *Conversation) removeStage() {
	day := path.Dir(path.Dir(c.dir))
	for _, dir := range []string{day, path.Dir(day), c.base} { // they are empty; faster than listing them
		if c.s.root.Remove(dir) != nil {
			_ = c.s.root.RemoveAll(c.base)
			return
		}
	}
}

// syncNames makes the names in a folder durable, now or at the end of a [Store.Batch].
func (s *Store) syncNames(dir string) error {
	s.batch.Lock()
	defer s.batch.Unlock()
	if s.unsynced == nil {
		return s.files.SyncDir(s.root, dir)
	}
	s.unsynced[dir] = true
	return nil
}

// Batch calls f and then makes the names of the conversations that f published durable,
// many of which share a folder. Do not report them as saved before Batch returns.
func (s *Store) Batch(f func() error) error {
	s.batch.Lock()
	s.unsynced = map[string]bool{}
	s.batch.Unlock()
	err := f()
	s.batch.Lock()
	defer s.batch.Unlock()
	for _, dir := range slices.Sorted(maps.Keys(s.unsynced)) {
		err = errors.Join(err, explain(s.files.SyncDir(s.root, dir)))
	}
	s.unsynced = nil
	return err
}

// moveInto puts .session/ into a folder that has none, and the document if no file has
// its name.
func (c *Conversation) moveInto(base, at string) error {
	s, from := c.s, path.Dir(c.dir)
	there := &Conversation{s: s, path: c.path, base: base, dir: at + "/" + sessionDir}
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
	return s.files.SyncDir(s.root, at)
}

// meet compares the staged conversation with the one that has its name. It returns
// [ErrExist] if they are the same. If that one lost its session.json, it gets the staged
// one.
func (c *Conversation) meet(there *Conversation) error {
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
func (c *Conversation) rename(end int) error {
	sess, _, err := c.Session()
	if err != nil {
		return err
	}
	day, old := path.Split(c.path)
	name := strings.TrimSuffix(old, old[strings.LastIndexByte(old, '-'):]) + "-" + idEnd(sess.ID, end)
	to := c.base + "/" + day + name
	if err := c.s.root.Rename(path.Dir(c.dir), to); err != nil {
		return err
	}
	c.path, c.dir = day+name, to+"/"+sessionDir
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
	c.discardStage()
}

func (c *Conversation) discardStage() {
	if c.staged() {
		_ = c.drop()
		_ = c.s.root.RemoveAll(c.base)
	}
}

// sweepStage removes the unfinished work of processes killed more than a day ago.
func (s *Store) sweepStage() {
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

// Delete removes the conversation with its folder, its document and everything else in
// it, even if it is in several folders or waiting.
func (c *Conversation) Delete() error {
	tx, err := c.Begin()
	if err != nil {
		return fmt.Errorf("remove %q: %w", c.path, err)
	}
	defer tx.Rollback()
	tx.made = nil
	if err := c.DeleteWaiting(); err != nil {
		return err
	}
	for _, dir := range slices.Backward(c.dirs()) {
		folder := path.Dir(dir)
		if !c.s.isFolder(folder) {
			continue // it was waiting, or git has it and the work tree does not
		}
		if err := c.s.deleteFolder(folder); err != nil {
			return fmt.Errorf("remove %q: %w", folder, explain(err))
		}
	}
	_ = c.s.root.Remove(c.backupFile())
	return c.drop()
}

// deleteFolder removes the folder of a conversation, and the day's folder if it is then
// empty.
func (s *Store) deleteFolder(folder string) error {
	s.known.forget(s, folder)
	if err := s.root.RemoveAll(folder); err != nil {
		return err
	}
	day := path.Dir(folder)
	if s.root.Remove(day) == nil {
		day = path.Dir(day)
	}
	return s.files.SyncDir(s.root, day)
}

// fillIn completes the fields of a new session.
func (s *Store) fillIn(sess *schema.Session, typ string) error {
	now := s.opts.Now()
	sess.Version = schema.Version
	if sess.ID == "" {
		var entropy [10]byte
		if _, err := io.ReadFull(s.opts.Rand, entropy[:]); err != nil {
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
