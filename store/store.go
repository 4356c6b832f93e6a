// Package store keeps conversations as plain files under one workspace, the folder that
// holds .workspace/ (schema/FORMAT.md has the tree and every field).
//
// # Guarantees
//
// A record counts once [Conversation.Append] has returned nil: its line ends in a newline
// and fsync has returned. A writer writes tools.jsonl before messages.jsonl, and that
// before session.json, which can be rebuilt from the two. A reader takes no lock and sees
// every record that counts, whatever lies between them. Damage hides no whole record, and
// no byte is dropped: before bytes leave a log they are kept below .workspace/local/kept.
//
// Secret rules redact every text before its first byte is written.
//
// # Parts
//
// A [Store] has [Files], a [Cache] and conversations. [Folders] report what the file system
// shows of these without opening a file. A [ChangeList] tells which of them were written to.
// [Kept] has the records that are outside of the work tree, and [Backups] the last good
// session.json of each conversation. [Repairs] mend damage.
//
// A [Location] says in which folders the records of a conversation are, and a [Reader]
// reads them there. A [Conversation] can also be written to, in a transaction ([Tx]): it
// holds the lock, the document session.json, the writer of the logs, collected records, and
// a merge that brings in what other folders hold.
//
// # Limitations
//
// Writers exclude each other with flock, which some network file systems grant to two
// machines at once: keep a workspace on a local disk. Clones on several machines
// synchronise through git.
package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"cortext/schema"
	"cortext/store/internal/folders"
	"cortext/store/internal/lines"
	"cortext/store/secrets"
)

// ErrNoWorkspace means that neither the folder nor any of its parents holds .workspace/.
var ErrNoWorkspace = errors.New("no workspace here")

// ErrNotFound means that there is no conversation or file of that name.
var ErrNotFound = errors.New("not found")

// ErrExist means that the thing to create already exists.
var ErrExist = errors.New("exists already")

// Options are what a store takes from its environment. The zero value is the normal one;
// only tests and reproducible runs need others.
type Options struct {
	Now      func() time.Time // default: time.Now
	Rand     io.Reader        // default: crypto/rand
	LockWait time.Duration    // how long to wait for another writer; default: 5 s; negative: do not wait
	Holder   string           // how other processes see this writer: "cortext import, pid 123"
	Agents   []string         // names of agents, used in the ids of captured conversations

	// Identify returns the id and the sources of the conversation in a folder, if they
	// are known outside of the workspace. The store calls it if session.json is gone and
	// the id cannot be derived from the log, which holds messages of the given native
	// sessions. If it is nil, nothing is known.
	Identify func(folder string, nativeIDs []string) (id string, sources []schema.Source)

	// Redacted returns what the user redacted in the conversation with an id, so that it
	// is redacted again when it is captured again. If it is nil, nothing is known. After
	// an error nothing is written to the conversation.
	Redacted func(id string) ([]secrets.Known, error)

	// Limits says how much of tool calls and attachments the conversations' folders hold.
	// If it is nil, they hold complete calls and no attachments.
	Limits func() Limits
}

// A Store is an open workspace: its files, and the conversations in them. Several
// goroutines may use it.
type Store struct {
	*Files
	Cache
	policy
	opts Options

	sessions fileCache // session.json as last read
	locks    locks
	branch   logCache[branch]
	calls    logCache[lookup]
	newer    logCache[bool] // [newerInSamples]
	repairs  repairRun
}

// Find returns the workspace that contains dir: dir itself or its nearest parent that
// holds .workspace/. The error is [ErrNoWorkspace] if there is none.
func Find(dir string) (root string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(filepath.Join(at, workspaceDir))
		switch {
		case err == nil && info.IsDir():
			return at, nil
		case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
		default:
			return "", explain(err) // at may be the workspace, so none above it is
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%q: %w", dir, ErrNoWorkspace)
		}
	}
}

// Open opens the workspace at root. It creates nothing.
func Open(root string, opts Options) (*Store, error) {
	s, err := open(root, opts)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%q: %w", root, ErrNoWorkspace)
	}
	if err != nil {
		return nil, err
	}
	if info, err := s.root.Lstat(workspaceDir); err != nil || !info.IsDir() {
		_ = s.root.Close()
		if err == nil {
			err = fmt.Errorf("%q is %s, not a folder", workspaceDir, lines.Kind(info.Mode()))
		} else if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%q: %w", root, ErrNoWorkspace)
		}
		return nil, err
	}
	return s, nil
}

// OpenFolder opens a folder, which need not be a workspace yet, to read files in it.
func OpenFolder(root string) (*Store, error) {
	s, err := open(root, Options{})
	return s, explain(err)
}

func open(root string, opts Options) (*Store, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	r, err := folders.Open(dir)
	if err != nil {
		return nil, err
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Rand == nil {
		opts.Rand = rand.Reader
	}
	if opts.LockWait == 0 {
		opts.LockWait = 5 * time.Second
	}
	if opts.Holder == "" {
		opts.Holder = fmt.Sprintf("process %d", os.Getpid())
	}
	files := &Files{root: r, dir: dir}
	return &Store{
		Files: files, Cache: Cache{files}, opts: opts, policy: policy{secrets.New(), opts.Redacted},
		locks: locks{files, opts.Holder, opts.Now},
	}, nil
}

// sessionsOld is the cache file in which earlier versions kept each session.json: it has
// titles of conversations that may be removed or redacted later.
const sessionsOld = cacheDir + "/sessions"

// Close releases the workspace. It does not close conversations.
func (s *Store) Close() error {
	if s.written.Load() { // a command that only reads changes nothing
		_ = s.root.Remove(sessionsOld)
	}
	return s.root.Close()
}
