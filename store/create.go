package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"cortext/schema"
)

// stageDir is where a conversation is made before it gets its place.
const stageDir = cacheDir + "/new"

// Stage begins to make a conversation, out of everybody's sight: a folder with its
// .session/, of which [Conversation.Publish] makes a conversation at once, so that a
// kill leaves none of it or all of it. Until then it can be written to as any other.
//
// The folder is conversations/<day>/<HHMM>-<typ>-<words>-<end of the id>, with the
// day and minute of sess.CreatedAt in UTC, so that one transcript has one path in
// every clone. words is the text that the name is made of. doc becomes <typ>.md,
// which people read; nil makes none. What is missing in sess is filled in: its ids,
// version, type, status and times. Secrets in the texts are replaced.
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
	sess.ConversationID = path.Base(c.path)
	if err := c.stage(typ, sess, doc != nil, []byte(text)); err != nil {
		c.discardStage()
		return nil, fmt.Errorf("create conversation: %w", explain(err))
	}
	return c, nil
}

// FolderName returns the path that a conversation has in every clone.
func FolderName(sess *schema.Session, typ, words string) string {
	at := sess.CreatedAt.Time().UTC()
	return fmt.Sprintf("%s/%s/%s-%s-%s-%s", conversationsDir, at.Format(time.DateOnly), at.Format("1504"), typ, Slug(words), idEnd(sess.ID))
}

// idEnd is the end of an id, which no two conversations of a minute share.
func idEnd(id string) string { return id[max(len(id)-4, 0):] }

// stage makes the files: all of them durable before the folder gets its name.
func (c *Conversation) stage(typ string, sess *schema.Session, withDoc bool, doc []byte) error {
	if err := c.s.makeLocal(c.base); err != nil {
		return err
	}
	if _, err := c.s.makeDirs(c.dir); err != nil {
		return err
	}
	if runtime.GOOS != "windows" {
		if err := c.s.root.Chmod(path.Dir(c.dir), 0o777&^c.s.umask()); err != nil {
			return err
		}
	}
	if withDoc {
		name := path.Dir(c.dir) + "/" + typ + ".md"
		if err := c.s.replace(name, doc, 0o666); err != nil {
			return err
		}
	}
	for _, name := range []string{toolsFile, messagesFile} {
		l, _, err := c.openLog(name)
		if err == nil {
			err = l.Close()
		}
		if err != nil {
			return err
		}
	}
	b, err := sess.Marshal()
	if err != nil {
		return err
	}
	return c.s.replace(c.file(sessionFile), b, privateFileMode)
}

// umask is what the user takes from the modes of new files: that of the folder that
// holds the workspace's settings tells, without changing anything.
func (s *Store) umask() fs.FileMode {
	info, err := s.root.Lstat(workspaceDir)
	if err != nil {
		return 0o022
	}
	return ^info.Mode().Perm() & 0o077
}

// Publish gives a staged conversation its place in the work tree, or, with
// waiting, below .workspace/local/kept, where it waits for it. If another process
// was faster with the same conversation, the staged one is discarded and the error
// is [ErrExist]; the conversation that is there is opened by its path. A folder of
// that name without .session/, as git leaves one, is completed; nothing in it is
// touched.
func (c *Conversation) Publish() error { return c.publish("") }

// PublishWaiting is Publish to where records wait while the work tree must not be
// written to.
func (c *Conversation) PublishWaiting() error { return c.publish(waitingDir) }

func (c *Conversation) publish(to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.s
	unlock, err := s.lockWorkspace()
	if err != nil {
		return fmt.Errorf("create conversation: %w", explain(err))
	}
	defer unlock()
	for tries := 0; tries < createTries; tries++ {
		err := c.moveTo(to)
		if err == nil || !errors.Is(err, errTaken) {
			if err != nil {
				c.discardStage()
				return fmt.Errorf("create conversation: %w", explain(err))
			}
			return nil
		}
		// Another conversation has that name, against all odds: more of the id tells
		// them apart.
		if err := c.rename(tries + 5); err != nil {
			c.discardStage()
			return fmt.Errorf("create conversation: %w", explain(err))
		}
	}
	return fmt.Errorf("a folder like %q: %w", c.path, ErrExist)
}

// createTries bounds how many names are tried.
const createTries = 20

// errTaken says that another conversation has the name.
var errTaken = errors.New("the name is taken")

// moveTo moves the staged folder below base, or only its .session/ if the folder is
// there already.
func (c *Conversation) moveTo(base string) error {
	s, from := c.s, path.Dir(c.dir)
	at := within(base, c.path)
	if base != "" {
		if err := s.makeLocal(base); err != nil {
			return err
		}
	}
	if _, err := s.makeDirs(path.Dir(at)); err != nil {
		return err
	}
	info, err := s.root.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := s.files.RenameIn(s.root, from, at); err != nil {
			return err
		}
	case err != nil:
		return err
	case !info.IsDir():
		return notFolder(at, info)
	default:
		if err := c.moveInto(at); err != nil {
			return err
		}
	}
	_ = s.root.RemoveAll(c.base)
	c.base, c.dir = base, at+"/"+sessionDir
	return s.files.SyncDir(s.root, path.Dir(at))
}

// moveInto puts .session/ into a folder that has none, and the document if there is
// none of its name.
func (c *Conversation) moveInto(at string) error {
	s := c.s
	if _, err := s.root.Lstat(at + "/" + sessionDir); err == nil {
		there := s.conversation(c.path)
		if at != c.path {
			there.dir = at + "/" + sessionDir
		}
		ours, _, err := c.Session()
		if err != nil {
			return err
		}
		theirs, _, err := there.Session()
		if err != nil || !schema.SameConversation(ours.ID, theirs.ID) {
			return errTaken
		}
		return ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	from := path.Dir(c.dir)
	entries, err := s.readDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := s.root.Lstat(at + "/" + e.Name()); err == nil {
			continue // a person's
		}
		if err := s.files.RenameIn(s.root, from+"/"+e.Name(), at+"/"+e.Name()); err != nil {
			return err
		}
	}
	return s.files.SyncDir(s.root, at)
}

// rename gives a staged conversation a name with more of its id.
func (c *Conversation) rename(end int) error {
	sess, _, err := c.Session()
	if err != nil {
		return err
	}
	day, old := path.Split(c.path)
	name := strings.TrimSuffix(old, old[strings.LastIndexByte(old, '-'):]) + "-" + sess.ID[max(len(sess.ID)-end, 0):]
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

// Discard takes a staged conversation back; it does nothing to a published one.
func (c *Conversation) Discard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.discardStage()
}

func (c *Conversation) discardStage() {
	if strings.HasPrefix(c.base, stageDir+"/") {
		_ = c.drop()
		_ = c.s.root.RemoveAll(c.base)
	}
}

// sweepStage removes what processes that were killed left half made a day ago.
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

// Create is [Store.Stage] and [Conversation.Publish] at once. If the conversation
// is there already, it is returned with [ErrExist].
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

func within(base, name string) string {
	if base == "" {
		return name
	}
	return base + "/" + name
}

// Delete removes the conversation with its folder, its document and all else that
// lies in it.
func (c *Conversation) Delete() error {
	tx, err := c.lock()
	if err != nil {
		return fmt.Errorf("remove %q: %w", c.path, err)
	}
	defer tx.release()
	if err := c.removeAll([]string{path.Dir(c.path)}); err != nil {
		return err
	}
	return c.s.files.SyncDir(c.s.root, conversationsDir)
}

// removeAll removes the folder, and those above that are empty then.
func (c *Conversation) removeAll(above []string) error {
	if err := c.s.root.RemoveAll(within(c.base, c.path)); err != nil {
		return fmt.Errorf("remove %q: %w", c.path, explain(err))
	}
	for _, dir := range c.more {
		if err := c.s.root.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove %q: %w", dir, explain(err))
		}
	}
	_ = c.s.root.RemoveAll(c.backupFile())
	for _, name := range slices.Backward(above) {
		_ = c.s.root.Remove(name)
	}
	return c.drop()
}

// fillIn completes a new session.
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
