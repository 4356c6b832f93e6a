// Package redact replaces text that is found to be secret after it was stored, in
// everything that cortext keeps of conversations, and reports where else the text is.
package redact

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/workspace"
	"cortext/store"
	"cortext/store/secrets"
)

// A File is a file with the number of replacements that were, or would be, made in it.
type File struct {
	Path   string `json:"path"` // relative to the workspace
	Places int    `json:"places"`
}

// A Left is a place that still contains the text.
type Left struct {
	Path  string `json:"path"` // relative to the workspace, or absolute if outside
	Lines []int  `json:"lines,omitempty"`
	Why   string `json:"why"`
}

// A Report says what was, or would be, redacted, and what still contains the text.
type Report struct {
	Files   []File
	Deleted []string // cache files, which are rebuilt when needed
	Left    []Left
}

// A Conversation is the report on one conversation.
type Conversation struct {
	Report
	Entry   store.Entry
	Renamed bool // the folder was renamed; Entry has the new name

	named bool // the folder's name contains the text

	was      string          // the old path, if it was renamed
	attached map[string]bool // hashes of attachments, before anything was redacted
}

// A Result is the report on several conversations.
type Result struct {
	Report        // on files that belong to no single conversation
	Conversations []*Conversation
}

// Anything reports whether there is anything to redact.
func (r *Result) Anything() bool {
	return len(r.Files)+len(r.Deleted) > 0 || slices.ContainsFunc(r.Conversations, (*Conversation).anything)
}

func (c *Conversation) anything() bool { return len(c.Files) > 0 || c.named }

// Places returns the number of replacements in all files, and the number of files.
func (r *Result) Places() (places, files int) {
	places, files = r.Report.Places(), len(r.Files)
	for _, c := range r.Conversations {
		places, files = places+c.Report.Places(), files+len(c.Files)
	}
	return places, files
}

// Places is the number of replacements in all files.
func (r *Report) Places() (n int) {
	for _, f := range r.Files {
		n += f.Places
	}
	return n
}

func (r *Report) add(places store.Places) {
	for name, n := range places {
		i := slices.IndexFunc(r.Files, func(f File) bool { return f.Path == name })
		if i < 0 {
			i, r.Files = len(r.Files), append(r.Files, File{Path: name})
		}
		r.Files[i].Places += n
	}
	slices.SortFunc(r.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}

// A Redactor redacts in one workspace.
type Redactor struct {
	ws      *workspace.Workspace
	capture *capture.Capture
	request Request
}

// New returns a Redactor for a request.
func New(ws *workspace.Workspace, c *capture.Capture, r Request) *Redactor {
	return &Redactor{ws, c, r}
}

// files returns the workspace's files, with the request and the functions that change them.
func (r *Redactor) files(c changes) files { return files{r.ws.Store, &r.request, c} }

// shared redacts the files that conversations share, and reports matches in those that are the
// user's own, and in the user's state.
func (r *Redactor) shared(result *Result, c changes) error {
	err := r.files(c).shared(result)
	r.state(result)
	return errors.Join(err, r.own(result))
}

// Find reports what Apply would redact in conversations, and changes nothing. It calls
// progress before each.
func (r *Redactor) Find(ctx context.Context, entries []store.Entry, progress func(i int)) (*Result, error) {
	result := new(Result)
	err := r.findEach(ctx, entries, progress, func(c *Conversation) {
		if c.named {
			c.Left = append(c.Left, Left{Path: c.Entry.Path, Why: "the name of the folder, which is changed unless git knows it"})
		}
		result.Conversations = append(result.Conversations, c)
	})
	if err != nil {
		return nil, err
	}
	return result, r.shared(result, dry)
}

// findEach calls f with what is found in each conversation, and progress before each.
func (r *Redactor) findEach(ctx context.Context, entries []store.Entry, progress func(i int), f func(*Conversation)) error {
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		progress(i)
		c, _, err := r.find(e)
		if err != nil {
			return err
		}
		f(c)
	}
	return nil
}

func (r *Redactor) find(e store.Entry) (*Conversation, *secrets.Found, error) {
	attached, err := r.ws.Attachments.Of(e)
	if err != nil {
		return nil, nil, err
	}
	c, found := &Conversation{Entry: e, attached: attached}, &secrets.Found{}
	by := store.Redaction{Name: r.request.name, Texts: r.request.texts(found)}
	err = r.each(e, func(conv *store.Conversation) error {
		places, err := conv.Texts(by)
		c.add(places)
		return err
	})
	r.request.known.Merge(found)
	if err == nil {
		err = r.files(dry).conversation(c, found)
	}
	_, named := r.request.named(e.Path, found)
	c.named = named || r.oldPath(e, found) != ""
	r.twins(c, found)
	return c, found, err
}

// Apply redacts conversations. An error in one does not stop the others. If Apply fails or
// is killed, run it again to finish.
func (r *Redactor) Apply(ctx context.Context, entries []store.Entry, progress func(i int)) (*Result, error) {
	result := new(Result)
	var errs []error
	var renamed []string // old names
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return result, errors.Join(append(errs, err)...)
		}
		progress(i)
		c, err := r.apply(ctx, e)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		result.Conversations = append(result.Conversations, c)
		if c.Renamed {
			renamed = append(renamed, path.Base(c.was))
		}
	}
	errs = append(errs, r.shared(result, following(r.ws.Store, result, renamed)))
	return result, errors.Join(errs...)
}

// apply redacts a conversation. Meanwhile, nothing captures its sessions.
func (r *Redactor) apply(ctx context.Context, e store.Entry) (*Conversation, error) {
	unlock, err := r.lock(e)
	if err != nil {
		return nil, err
	}
	defer unlock()
	c, found, err := r.find(e)
	if err != nil || !c.anything() {
		return c, err
	}
	by := store.Redaction{Name: r.request.name, Texts: r.request.texts(nil)}
	if found.Len() > 0 { // comes first, so that everything captured from now on is redacted
		known, err := r.ws.Registry.Redactions.Add(e.Session.ID, r.request.name, found, r.ws.Env.Entropy())
		if err != nil {
			return nil, err
		}
		by.ID = known.ID
	}
	c = &Conversation{Entry: e, named: c.named, attached: c.attached}
	err = r.each(e, func(conv *store.Conversation) error {
		if why := r.ws.Tree.Away(conv); why != "" && !e.Waiting && !conv.IsWaiting() {
			return fmt.Errorf("%s: %s: run it again when its files are back", conv.Path(), why)
		}
		places, err := conv.Redact(by)
		c.add(places)
		return err
	})
	r.twins(c, found)
	if err == nil {
		err = r.rename(ctx, c, found)
	}
	if err == nil {
		err = r.files(writing(r.ws.Store)).conversation(c, nil)
	}
	if err == nil {
		err = r.remaining(c)
	}
	return c, err
}

// lock waits for the locks of the conversation's native sessions.
func (r *Redactor) lock(e store.Entry) (unlock func(), err error) {
	var held []func()
	unlock = func() {
		for _, f := range held {
			f()
		}
	}
	var keys []string
	for _, src := range e.Session.Sources {
		keys = append(keys, src.Agent+"\n"+src.NativeID)
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		agent, nativeID, _ := strings.Cut(key, "\n")
		f, err := r.capture.Lock(agent, nativeID, binding.LockWait)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, f)
	}
	return unlock, nil
}

// each calls f for everything that has records of a conversation: the conversation with its
// waiting records and twins, its sub-agents, the twins' own files, and the records that git
// removed.
func (r *Redactor) each(e store.Entry, f func(*store.Conversation) error) error {
	if err := eachIn(func() (*store.Conversation, error) { return r.ws.Store.Open(e) }, f); err != nil {
		return err
	}
	for _, name := range e.Folders() {
		if name != e.Path {
			if err := eachIn(func() (*store.Conversation, error) { return r.ws.Store.Conversation(name) }, f); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		if !slices.Contains(r.ws.Store.Kept().TakenPaths(), name) {
			continue
		}
		if err := eachIn(func() (*store.Conversation, error) { return r.ws.Store.Kept().Taken(name) }, f); err != nil {
			return err
		}
	}
	return nil
}

// eachIn calls f with a conversation and its sub-agents.
func eachIn(open func() (*store.Conversation, error), f func(*store.Conversation) error) error {
	c, err := open()
	if err != nil {
		return err
	}
	defer c.Close()
	names, err := c.Subagents() // list them before their folders are emptied
	if err == nil {
		err = f(c)
	}
	for _, name := range names {
		if err == nil {
			err = eachIn(func() (*store.Conversation, error) { return c.Subagent(name) }, f)
		}
	}
	return err
}

// InGit finds the text in git's versions of conversation files, and stops when the given
// time is up. Outside a repository the error is [git.ErrNoRepository].
func (r *Redactor) InGit(ctx context.Context, entries []store.Entry, most time.Duration) (git.Holders, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	paths := []string{".workspace"}
	for _, e := range entries {
		paths = append(paths, e.Folders()...)
	}
	if len(paths) > maxPaths {
		paths = []string{".workspace", "conversations"}
	}
	return git.FindHolders(ctx, r.ws.Store.Root(), paths, r.request.has)
}

// maxPaths limits the number of paths on a command line.
const maxPaths = 500
