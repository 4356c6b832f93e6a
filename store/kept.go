package store

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"cortext/schema"
	"cortext/store/internal/lines"
)

// Two folders below .workspace/local/kept are laid out like the workspace.
//
// Records wait in waiting/ while the work tree must not be written to: the checked-out
// branch lacks the folder, or git is in the middle of a merge. Readers treat them as part
// of their conversation, and the next write to it in the work tree moves them there.
//
// Records that git took from a conversation's logs are in taken/ until someone asks for
// them, so that they outlive the agent's transcript. Readers do not see them.

// Waiting returns the place where the records of a conversation wait if they cannot be
// written to the work tree now. It need not exist; the first write creates it. If the
// folder is in the work tree, that is read too.
//
// Two branches may have two conversations with the same name. If records of another
// conversation wait under that name, those of id wait under a different one. An empty id
// matches whatever waits there.
func (s *Store) Waiting(name, id string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	c := s.at(waitingDir, nameFor(s, waitingDir, name, id))
	tree := s.at("", c.path).sessionFolder
	if s.checkConversation(c.path) == nil && tree.exists() {
		if id == "" {
			id = c.idOf(c.path)
		}
		if isSame(id, tree.idOf(c.path)) {
			c.setOthers([]sessionFolder{tree})
		}
	}
	return c, nil
}

// nameFor returns the name of a conversation's folder below base. It is a different name
// if another conversation has the folder.
func nameFor(s *Store, base, name, id string) string {
	key := schema.IDKey(id)
	for _, n := range []int{0, 4, 8, len(key)} {
		is := name
		if n > 0 && len(key) >= n {
			is += "-" + key[len(key)-n:]
		}
		if isSame(id, s.at(base, is).idOf(is)) {
			return is
		}
	}
	return name
}

// WaitingPaths lists the conversations with waiting records, sorted.
func (s *Store) WaitingPaths() []string { return pathsBelow(s.Files, waitingDir) }

// WaitsFor reports whether the records waiting under a name belong to the conversation
// with an id.
func (s *Store) WaitsFor(name, id string) bool { return isSame(id, s.at(waitingDir, name).idOf(name)) }

// pathsBelow lists the conversations with a folder below base, sorted.
func pathsBelow(s *Files, base string) (names []string) {
	folders, _, err := conversationFolders(s, base+"/"+conversationsDir)
	if err != nil {
		return nil
	}
	for _, name := range folders {
		if info, err := s.root.Lstat(name + "/" + sessionDir); err == nil && info.IsDir() {
			names = append(names, strings.TrimPrefix(name, base+"/"))
		}
	}
	return names
}

// WaitingCount counts the messages that wait for a conversation and that its logs in the
// work tree lack.
func (s *Store) WaitingCount(name string) (n int, err error) {
	have := map[string]bool{}
	if s.checkConversation(name) == nil {
		for m, err := range s.at("", name).Messages() {
			if err == nil {
				have[m.ID] = true
			}
		}
	}
	for m, err := range undamaged(s.at(waitingDir, name).Messages()) {
		if err != nil {
			return n, err
		}
		if !have[m.ID] {
			have[m.ID] = m.ID != ""
			n++
		}
	}
	return n, nil
}

// Taken returns the place where the records that git took from a conversation are kept.
// It need not exist; the first write creates it.
func (s *Store) Taken(name string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	return s.at(takenDir, name), nil
}

// TakenPaths lists the conversations with records that git took, sorted.
func (s *Store) TakenPaths() []string { return pathsBelow(s.Files, takenDir) }

// PutBack moves the waiting records of a conversation into the work tree, recreating its
// folder if necessary. The error is [ErrNotFound] if there is neither.
func (s *Store) PutBack(name string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	open := s.Conversation
	if waiting := s.at(waitingDir, name); waiting.exists() {
		open = func(name string) (*Conversation, error) { return s.MakeFolder(name, waiting.idOf(name)) }
	}
	c, err := open(name)
	if err != nil {
		return nil, err
	}
	return c, errors.Join(c.moveOthers(), c.Close())
}

// MakeFolder recreates the folder of a conversation that git took from the work tree,
// with its waiting records. The caller may then deliver records to it. If another
// conversation now has that folder name, it creates a folder with another name.
func (s *Store) MakeFolder(name, id string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	free := nameFor(s, "", name, id)
	if _, err := s.makeDirs(free); err != nil {
		return nil, fmt.Errorf("put %q back: %w", name, explain(err))
	}
	if from := waitingDir + "/" + name; free != name && s.isFolder(from) && s.WaitsFor(name, id) {
		if err := s.files.RenameIn(s.root, from, waitingDir+"/"+free); err != nil {
			return nil, fmt.Errorf("put %q back: %w", name, explain(err))
		}
	}
	return s.Conversation(free)
}

// kept keeps files below .workspace/local/kept. It never overwrites one.
type kept struct{ *Files }

// copy durably copies r to a new file below .workspace/local/kept, so that its bytes may
// be removed from their original place. The file's name begins with prefix.
func (k kept) copy(prefix string, r io.Reader) (kept string, err error) {
	if kept, err = k.freeName(prefix); err != nil {
		return "", err
	}
	f, created, err := lines.OpenAppend(k.root, kept, privateFileMode, k.logs)
	if err != nil {
		return "", err
	}
	if !created {
		return "", errors.Join(fmt.Errorf("%q: %w", kept, ErrExist), f.Close())
	}
	_, err = io.Copy(appender{f}, r)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = k.files.SyncDir(k.root, path.Dir(kept))
	}
	if err != nil {
		return "", errors.Join(err, k.root.Remove(kept))
	}
	return kept, nil
}

// move moves the file at name to kept/damaged, under a name that begins with as.
func (k kept) move(name, as string) error {
	to, err := k.freeName("damaged/" + as)
	if err != nil {
		return err
	}
	if err := k.files.RenameIn(k.root, name, to); err != nil {
		return err
	}
	return k.files.SyncDir(k.root, path.Dir(to))
}

// freeName returns the name of a new file below .workspace/local/kept, so that no file
// there is ever overwritten.
func (k kept) freeName(prefix string) (string, error) {
	prefix = keptDir + "/" + prefix
	if err := k.makeLocal(path.Dir(prefix)); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-%d", prefix, n)
		if free, err := k.missing(name); free || err != nil {
			return name, err
		}
	}
}

// An appender appends what is written to it.
type appender struct{ *lines.File }

func (a appender) Write(b []byte) (int, error) { return len(b), a.Append(b) }
