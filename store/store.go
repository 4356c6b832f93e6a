// Package store keeps conversations as plain files under one workspace.
package store

import (
	"errors"
	"io"
	"iter"
	"time"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/store/secrets"
)

// ErrNoWorkspace is returned when no folder above holds a .workspace folder.
var ErrNoWorkspace = errors.New("no workspace found")

// ErrNotFound is returned when there is no such conversation or file.
var ErrNotFound = errors.New("not found")

// ErrExist is returned when what is to be created is there already.
var ErrExist = errors.New("already exists")

var errStub = errors.New("store: not built yet")

// Options say where a store takes time, randomness and its name from.
type Options struct {
	Now      func() time.Time // default time.Now
	Rand     io.Reader        // default crypto/rand
	LockWait time.Duration    // how long a writer waits for another; default 5 s
	Holder   string           // what others are told while this one holds a lock: "cortext import, pid 123"
}

// A Store is a workspace that is open.
type Store struct{}

// Find returns the workspace that dir is in.
func Find(dir string) (root string, err error) { return "", errStub }

// Init makes a workspace of root; created names what it made or changed.
func Init(root string) (s *Store, created []string, err error) { return nil, nil, errStub }

// Open opens the workspace at root. It creates nothing.
func Open(root string, opts Options) (*Store, error) { return nil, errStub }

// Close releases the workspace.
func (s *Store) Close() error { return nil }

// Root returns the folder of the workspace, absolute.
func (s *Store) Root() string { return "" }

// ReadFile returns a file of the workspace.
func (s *Store) ReadFile(name string) ([]byte, error) { return nil, errStub }

// WriteFile replaces a file of the workspace, with the folders above it.
func (s *Store) WriteFile(name string, data []byte) error { return errStub }

// Exists reports whether there is a regular file of that name.
func (s *Store) Exists(name string) (bool, error) { return false, errStub }

// Slug makes a folder name of a title.
func Slug(title string) string { return "untitled" }

// Create makes the folder of a new conversation.
func (s *Store) Create(day, typ, slugOf string, sess *schema.Session, doc []byte) (*Conversation, error) {
	return nil, errStub
}

// An Entry is a conversation of a list.
type Entry struct {
	Path    string // slash path relative to the workspace
	Session *schema.Session
	Damage  []Damage
}

// List returns every conversation, newest first.
func (s *Store) List() ([]Entry, error) { return nil, errStub }

// Conversation opens the conversation at path, relative to the workspace.
func (s *Store) Conversation(path string) (*Conversation, error) { return nil, errStub }

// Check yields all damage of the workspace. It changes nothing.
func (s *Store) Check() iter.Seq2[Damage, error] { return func(func(Damage, error) bool) {} }

// Damage is a place in a file of the workspace that is not what it should be.
type Damage struct {
	File string // slash path relative to the workspace
	jsonl.Damage
}

func (d *Damage) Error() string { return d.File + ": " + d.Damage.Error() }

// A Conversation is one conversation's files.
type Conversation struct{}

// Path returns the folder, relative to the workspace, with slashes.
func (c *Conversation) Path() string { return "" }

// Close releases the files that appending keeps open.
func (c *Conversation) Close() error { return nil }

// Session returns the metadata with its counters up to date.
func (c *Conversation) Session() (*schema.Session, []Damage, error) { return nil, nil, errStub }

// Result says what an Append did.
type Result struct {
	Appended int // messages written
	Skipped  int // messages and tools that were there already
	Tools    int // tools written
	Redacted secrets.Counts
	SetAside []SetAside
}

// SetAside names bytes that were moved out of a log.
type SetAside struct {
	File   string // the log
	Offset int64
	Bytes  int64
	Kept   string // where they are now; both relative to the workspace
}

// Append adds what is new in b.
func (c *Conversation) Append(b schema.Batch) (Result, error) { return Result{}, errStub }

// Edit changes the metadata under the lock.
func (c *Conversation) Edit(f func(*schema.Session) error) error { return errStub }

// Settle writes the counters afresh.
func (c *Conversation) Settle() error { return errStub }

// Limit bounds what History reads; zero values do not.
type Limit struct {
	Messages int
	Tokens   int
}

// History returns the messages of the branch that is resumed.
func (c *Conversation) History(limit Limit) (schema.History, []Damage, error) {
	return schema.History{}, nil, errStub
}

// Messages yields every good line in file order, and damage between.
func (c *Conversation) Messages() iter.Seq2[schema.Message, error] {
	return func(func(schema.Message, error) bool) {}
}

// Tools yields every good line of the tool log in file order, and damage between.
func (c *Conversation) Tools() iter.Seq2[schema.Tool, error] {
	return func(func(schema.Tool, error) bool) {}
}

// Subagent returns the conversation of a sub-agent, which need not exist yet.
func (c *Conversation) Subagent(nativeID string) (*Conversation, error) { return nil, errStub }

// Subagents returns the names of the sub-agents' conversations.
func (c *Conversation) Subagents() ([]string, error) { return nil, errStub }

// A LockedError says that another process holds a conversation.
type LockedError struct{ Path, Holder string }

func (e *LockedError) Error() string { return e.Path + " is locked by " + e.Holder }
