package store

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"cortext/schema"
)

// Kept are the records of conversations that are not in the work tree. They are in two
// folders below .workspace/local/kept, laid out like the workspace.
//
// Records wait in waiting/ while the work tree must not be written to: the checked-out
// branch lacks the folder, or git is in the middle of a merge. Readers treat them as part
// of their conversation, and the next write to it in the work tree moves them there.
//
// Records that git took from a conversation's logs are in taken/ until someone asks for
// them, so that they outlive the agent's transcript. Readers do not see them.
type Kept struct{ s *Store }

// Kept returns the records that the workspace keeps outside of the work tree.
func (s *Store) Kept() Kept { return Kept{s} }

// Waiting returns the place where the records of a conversation wait if they cannot be
// written to the work tree now. It need not exist; the first write creates it. If the
// folder is in the work tree, that is read too.
//
// Two branches may have two conversations with the same name. If records of another
// conversation wait under that name, those of id wait under a different one. An empty id
// matches whatever waits there.
func (k Kept) Waiting(name, id string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	c := k.s.at(waitingDir, nameFor(k.s, waitingDir, name, id))
	tree := k.s.at("", c.path).sessionFolder
	if k.s.checkConversation(c.path) == nil && tree.exists() {
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
func (k Kept) WaitingPaths() []string { return pathsBelow(k.s.Files, waitingDir) }

// WaitsFor reports whether the records waiting under a name belong to the conversation with
// the given id.
func (k Kept) WaitsFor(name, id string) bool { return isSame(id, k.s.at(waitingDir, name).idOf(name)) }

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
func (k Kept) WaitingCount(name string) (n int, err error) {
	have := map[string]bool{}
	if k.s.checkConversation(name) == nil {
		for m, err := range k.s.at("", name).Messages() {
			if err == nil {
				have[m.ID] = true
			}
		}
	}
	for m, err := range Undamaged(k.s.at(waitingDir, name).Messages()) {
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
func (k Kept) Taken(name string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	return k.s.at(takenDir, name), nil
}

// TakenPaths lists the conversations with records that git took, sorted.
func (k Kept) TakenPaths() []string { return pathsBelow(k.s.Files, takenDir) }

// PutBack moves the waiting records of a conversation into the work tree, recreating its
// folder if necessary. The error is [ErrNotFound] if there is neither.
func (k Kept) PutBack(name string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	open := k.s.Conversation
	if waiting := k.s.at(waitingDir, name); waiting.exists() {
		open = func(name string) (*Conversation, error) { return k.MakeFolder(name, waiting.idOf(name)) }
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
func (k Kept) MakeFolder(name, id string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	free := nameFor(k.s, "", name, id)
	if _, err := k.s.makeDirs(free); err != nil {
		return nil, fmt.Errorf("put %q back: %w", name, explain(err))
	}
	if from := waitingDir + "/" + name; free != name && k.s.isFolder(from) && k.WaitsFor(name, id) {
		if err := k.s.files.RenameIn(k.s.root, from, waitingDir+"/"+free); err != nil {
			return nil, fmt.Errorf("put %q back: %w", name, explain(err))
		}
	}
	return k.s.Conversation(free)
}

// Copies returns the records of a conversation that are kept aside: those that git took
// from it, and bytes that were set aside.
func (k Kept) Copies(c *Conversation) (f Copies) {
	taken := c.at(takenDir + "/" + c.path + "/" + sessionDir)
	if c.isIn(taken) {
		find := Copy{From: takenDir}
		find.Messages, _ = k.s.readBounded(taken.file(messagesFile), maxRepair)
		find.Tools, _ = k.s.readBounded(taken.file(toolsFile), maxRepair)
		f.Places = append(f.Places, find)
		names, _ := taken.subagents()
		for _, name := range names {
			sub := taken.subagent(name)
			find := Copy{From: takenDir}
			find.Messages, _ = k.s.readBounded(sub.file(messagesFile), maxRepair)
			find.Tools, _ = k.s.readBounded(sub.file(toolsFile), maxRepair)
			f.Add(name, find)
		}
	}
	for _, kind := range []string{"torn", "damaged"} {
		for _, name := range k.s.ListFiles(keptDir + "/" + kind + "/" + c.path) {
			content, err := k.s.readBounded(keptDir+"/"+kind+"/"+c.path+"/"+name, maxRepair)
			if err != nil {
				continue
			}
			find := Copy{From: keptDir + "/" + kind}
			switch base := path.Base(name); {
			case strings.HasPrefix(base, messagesFile):
				find.Messages = content
			case strings.HasPrefix(base, toolsFile):
				find.Tools = content
			}
			f.Places = append(f.Places, find)
		}
	}
	return f
}

// Delete deletes the records that wait for a conversation or were taken from it. The work
// tree is not changed.
func (k Kept) Delete(c *Conversation) error {
	for _, base := range []string{waitingDir, takenDir} {
		folder := base + "/" + c.path
		if !k.s.isFolder(folder) || !isSame(c.idOf(c.path), k.s.at(base, c.path).idOf(c.path)) {
			continue
		}
		if err := c.deleteFolder(folder); err != nil {
			return fmt.Errorf("remove %q: %w", folder, explain(err))
		}
	}
	return nil
}
