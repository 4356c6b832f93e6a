package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"cortext/schema"
	"cortext/store/internal/lines"
)

// A Conversation is the folder of a conversation, or of a sub-agent in one. Several
// goroutines may use it. It opens no file until the first write.
type Conversation struct {
	s    *Store
	path string // its folder in the work tree, or its name below that of its parent
	base string // folder that path is written below: "" for the workspace itself
	dir  string // folder of the session.json and logs that are written

	more atomic.Pointer[[]string] // other folders that hold its records; see others

	mu       sync.Mutex // guards the fields below
	messages *logFile   // nil before the first write
	tools    *logFile
	holder   *os.File // tells waiting writers who holds the lock
	written  *tally   // everything in the logs of a staged conversation; nil if unknown
}

// Conversation opens the conversation in a folder, named relative to the workspace:
// conversations/2025-11-22/1030-brainstorm-api-design-hv37. The error is [ErrNotFound] if
// there is none. It also opens a folder whose .session/ is missing. Records that wait
// below .workspace/local/kept are read as part of the conversation, and the next write
// moves them into its logs.
func (s *Store) Conversation(name string) (*Conversation, error) {
	return s.openFolders(name, nil)
}

// Open opens a conversation of a list, even if its folder is not in the work tree or if
// it is in several folders. Their records are read together. The next write moves them
// into the logs of the first folder and empties the logs of the others; documents stay
// where they are.
func (s *Store) Open(e Entry) (*Conversation, error) {
	if e.Waiting {
		return s.Waiting(e.Path, e.Session.ID)
	}
	return s.openFolders(e.Path, e.Twins)
}

func (s *Store) openFolders(name string, twins []string) (*Conversation, error) {
	if err := checkConversationPath(name); err != nil {
		return nil, err
	}
	if err := s.checkFolder(name); err != nil {
		return nil, err
	}
	c := s.conversation(name)
	if info, err := s.root.Lstat(c.dir); err == nil && !info.IsDir() {
		return nil, notFolder(c.dir, info)
	}
	c.findOthers(twins)
	return c, nil
}

// conversation returns the Conversation of a folder in the work tree without looking at
// it.
func (s *Store) conversation(name string) *Conversation {
	return &Conversation{s: s, path: name, dir: name + "/" + sessionDir}
}

// findOthers looks for the other folders of a conversation: non-empty twins in the work
// tree, then folders that wait for any of these.
func (c *Conversation) findOthers(twins []string) {
	var dirs []string
	for _, name := range twins {
		dir := name + "/" + sessionDir
		if name == c.path || slices.Contains(dirs, dir) { // possible if the index was made while folders were moved
			continue
		}
		if checkConversationPath(name) == nil && c.s.checkFolder(name) == nil && c.s.isFolder(dir) && !c.s.emptied(dir) {
			dirs = append(dirs, dir)
		}
	}
	if c.s.isFolder(waitingDir) { // usually there is none
		for _, name := range append([]string{c.path}, twins...) {
			if dir := waitingDir + "/" + name + "/" + sessionDir; !slices.Contains(dirs, dir) && c.waitsIn(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	c.setOthers(dirs)
}

// waitsIn reports whether a folder holds waiting records of this conversation, and not of
// one with the same name on another branch.
func (c *Conversation) waitsIn(dir string) bool {
	return c.s.isFolder(dir) && isSame(c.s.idIn(c.dir, c.path), c.s.idIn(dir, c.path))
}

// others returns the other folders with records of the conversation, which are read
// together with its own. A conversation in the work tree has its twins and waiting
// folders; a waiting conversation has its folder in the work tree.
func (c *Conversation) others() []string {
	if more := c.more.Load(); more != nil {
		return *more
	}
	return nil
}

func (c *Conversation) setOthers(dirs []string) { c.more.Store(&dirs) }

// dirs returns all folders with records of the conversation in reading order: the work
// tree before waiting folders.
func (c *Conversation) dirs() []string {
	if c.IsWaiting() {
		return append(slices.Clone(c.others()), c.dir)
	}
	return append([]string{c.dir}, c.others()...)
}

// isFolder reports whether a path of the workspace is a folder. It is only a hint, since
// the path may lead through a symlink.
func (s *Store) isFolder(name string) bool {
	info, err := os.Lstat(filepath.Join(s.dir, name))
	return err == nil && info.IsDir()
}

func checkConversationPath(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	if parts := strings.Split(name, "/"); len(parts) != 3 || parts[0] != conversationsDir {
		return fmt.Errorf("%q is not of the form %s/<day>/<folder>: %w", name, conversationsDir, ErrNotFound)
	}
	return nil
}

// checkFolder returns [ErrNotFound] unless name is the folder of a conversation. Neither
// it nor the day's folder may be a symlink.
func (s *Store) checkFolder(name string) error {
	for _, dir := range []string{conversationsDir, path.Dir(name), name} {
		info, err := s.root.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("conversation %q: %w", name, ErrNotFound)
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return notFolder(dir, info)
		}
	}
	return nil
}

func notFolder(name string, info fs.FileInfo) error {
	return fmt.Errorf("%q is %s where a folder is needed: move it away", name, lines.Kind(info.Mode()))
}

// Path returns the conversation's folder, relative to the workspace, with slashes.
func (c *Conversation) Path() string { return c.path }

// file returns the path of one of the conversation's own files.
func (c *Conversation) file(name string) string { return c.dir + "/" + name }

// conversation returns the folder of the conversation that c is or belongs to.
func (c *Conversation) conversation() string {
	return strings.Join(strings.SplitN(c.path, "/", 4)[:3], "/")
}

// isSub reports whether c is the conversation of a sub-agent.
func (c *Conversation) isSub() bool { return strings.Count(c.path, "/") > 2 }

// Subagent returns the conversation of a sub-agent by the agent's id for it. It need not
// exist: the first Append creates it.
func (c *Conversation) Subagent(nativeID string) (*Conversation, error) {
	dir := c.file(subagentsDir + "/" + schema.PathElement(nativeID))
	for _, dir := range []string{c.dir, path.Dir(dir), dir} {
		info, err := c.s.root.Lstat(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil && !info.IsDir() {
			return nil, notFolder(dir, info)
		}
	}
	sub := c.subagent(path.Base(dir))
	var more []string
	for _, other := range c.others() {
		if dir := other + "/" + subagentsDir + "/" + path.Base(dir); c.s.isFolder(dir) {
			more = append(more, dir)
		}
	}
	sub.setOthers(more)
	return sub, nil
}

// subagent returns the Conversation of a sub-agent's folder without looking at it.
func (c *Conversation) subagent(name string) *Conversation {
	dir := c.file(subagentsDir + "/" + name)
	return &Conversation{s: c.s, path: strings.TrimPrefix(dir, c.base+"/"), base: c.base, dir: dir}
}

// Subagents returns the names of the sub-agents' conversations, sorted. Each name is an
// id for [Conversation.Subagent].
func (c *Conversation) Subagents() (names []string, err error) {
	for _, dir := range c.dirs() {
		entries, err := c.s.readDir(dir + "/" + subagentsDir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return names, err
		}
		for _, e := range entries {
			if e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// readDir returns the entries of a folder of the workspace, sorted by name.
func (s *Store) readDir(name string) ([]fs.DirEntry, error) {
	info, err := s.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, notFolder(name, info)
	}
	return s.root.ReadDir(name)
}

// Close closes the files that writing opened. The conversation stays usable.
func (c *Conversation) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := errors.Join(c.drop(), closeFile(&c.holder))
	return err
}

// drop closes the logs and discards what is known about them.
func (c *Conversation) drop() error {
	var errs []error
	for _, l := range []**logFile{&c.messages, &c.tools} {
		if *l != nil {
			errs = append(errs, (*l).Close())
			*l = nil
		}
	}
	return errors.Join(errs...)
}

func closeFile(f **os.File) error {
	if *f == nil {
		return nil
	}
	err := (*f).Close()
	*f = nil
	return err
}
