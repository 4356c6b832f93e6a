// Package store keeps conversations as plain files under one workspace, the
// folder that holds .workspace/ (schema/FORMAT.md has the tree and every field).
//
// # What holds
//
// A record counts once [Conversation.Append] has returned nil: its line ends in
// a newline and fsync has returned. tools.jsonl is written before messages.jsonl,
// and that before session.json, which can be rebuilt from the two. A reader takes
// no lock and sees every record that counts, whatever stands between them; no
// damage hides what is whole, and no byte is dropped: what must leave a log is
// kept below .workspace/local/kept first.
//
// Every text passes the secret rules before its first byte is written.
//
// # Where it does not work
//
// Writers keep each other off by flock, which some network file systems grant to
// two machines at once: a workspace belongs on a local disk. Clones on several
// machines meet through git.
package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"cortext/store/atomicfile"
	"cortext/store/internal/folders"
	"cortext/store/internal/lines"
	"cortext/store/secrets"
)

// ErrNoWorkspace is returned when neither the folder nor any above it holds
// .workspace/.
var ErrNoWorkspace = errors.New("no workspace here: run cortext init in the folder that is to hold it")

// ErrNotFound is returned when there is no conversation or file of that name.
var ErrNotFound = errors.New("not found")

// ErrExist is returned when what is to be made is there already.
var ErrExist = errors.New("exists already")

// Options are what a store takes from outside. The zero value is for use; only
// a test or a reproducible run has reason for others.
type Options struct {
	Now      func() time.Time // time.Now
	Rand     io.Reader        // crypto/rand
	LockWait time.Duration    // how long a writer waits for another: 5 s; negative: not at all
	Holder   string           // what others are told while this one writes: "cortext import, pid 123"
	Agents   []string         // names of agents, from which the ids of captured conversations are made
}

// A Store is an open workspace. It may be used by several goroutines.
type Store struct {
	root     *folders.Root
	dir      string
	opts     Options
	redactor *secrets.Redactor
	files    atomicfile.Calls
	logs     lines.Calls

	batch    sync.Mutex
	unsynced map[string]bool // folders; nil outside of a Batch

	ignored  atomic.Bool // .workspace/local has its .gitignore
	written  atomic.Bool // something was, below .workspace/local
	sessions fileCache   // session.json as it was read
	known    knownSessions
	branch   logCache[branch]
	calls    logCache[lookup]
	newer    logCache[bool] // [newerInSamples]
	borrowed sync.Map       // files that git has, by name: see [Conversation.Borrow]
}

// Find returns the workspace that dir is in: dir itself or the nearest folder
// above it that holds .workspace/. The error is [ErrNoWorkspace] if none does.
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
			return "", explain(err) // it may be the one: none above it is
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%q: %w", dir, ErrNoWorkspace)
		}
	}
}

// Open opens the workspace at root. It creates nothing.
func Open(root string, opts Options) (*Store, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	r, err := folders.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%q: %w", root, ErrNoWorkspace)
	}
	if err != nil {
		return nil, err
	}
	if info, err := r.Lstat(workspaceDir); err != nil || !info.IsDir() {
		_ = r.Close()
		if err == nil {
			err = fmt.Errorf("%q is %s, not a folder", workspaceDir, lines.Kind(info.Mode()))
		} else if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%q: %w", root, ErrNoWorkspace)
		}
		return nil, err
	}
	return newStore(r, dir, opts), nil
}

// OpenFolder opens a folder that need not be a workspace yet, to read files of
// it.
func OpenFolder(root string) (*Store, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	r, err := folders.Open(dir)
	if err != nil {
		return nil, explain(err)
	}
	return newStore(r, dir, Options{}), nil
}

func newStore(r *folders.Root, dir string, opts Options) *Store {
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
	return &Store{root: r, dir: dir, opts: opts, redactor: secrets.New()}
}

// Root returns the folder of the workspace, absolute.
func (s *Store) Root() string { return s.dir }

// Remember lets Close keep what was read for the next command, although nothing else was
// written: of commands that capture.
func (s *Store) Remember() { s.written.Store(true) }

// Close releases the workspace. Conversations are closed by themselves.
func (s *Store) Close() error {
	if s.written.Load() { // reading leaves nothing behind
		s.known.save(s)
	}
	return s.root.Close()
}
