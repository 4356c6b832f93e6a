// Package redact replaces text that is found to be secret after it was stored, in
// everything that cortext keeps of conversations, and reports where else the text is.
package redact

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/workspace"
	"cortext/store"
	"cortext/store/secrets"
)

// A Request says what to redact.
type Request struct {
	Name      string         // name in the markers
	Pattern   *regexp.Regexp // matches the text after decoding
	text      string         // the literal text, if there is just one
	Documents bool           // also change documents that people wrote
	Rename    bool           // also rename folders that git knows
}

// An InputError reports a request that cannot be carried out.
type InputError struct{ Why, Hint string }

func (e *InputError) Error() string { return e.Why }

// DefaultName is the name in the markers if the user gives none.
const DefaultName = "by-user"

var names = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`) })

// maxName is the maximum length of a name.
const maxName = 40

// ForPattern returns the request to redact the matches of an RE2 expression.
func ForPattern(expr, name string) (r Request, err error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return r, &InputError{"the pattern is not a valid expression: " + syntax(err, expr), "the syntax is that of RE2"}
	}
	if re.MatchString("") {
		return r, &InputError{"the pattern matches the empty text", "make it match at least one character"}
	}
	return checked(Request{Name: name, Pattern: re})
}

// syntax describes a syntax error without repeating the expression.
func syntax(err error, expr string) string {
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), "error parsing regexp: "), expr, "…")
}

// minSecret is the minimum length of a text to redact, in bytes.
const minSecret = 4

// ForText returns the request to redact a literal text.
func ForText(text, name string) (r Request, err error) {
	text = strings.TrimRight(text, "\r\n")
	if len(text) < minSecret {
		return r, &InputError{fmt.Sprintf("the secret has %d bytes, but needs at least %d", len(text), minSecret), "use --pattern for a shorter text"}
	}
	return checked(Request{Name: name, Pattern: regexp.MustCompile(regexp.QuoteMeta(text)), text: text})
}

func checked(r Request) (Request, error) {
	if r.Name == "" {
		r.Name = DefaultName
	}
	switch {
	case len(r.Name) > maxName || !names().MatchString(r.Name):
		return r, &InputError{fmt.Sprintf("the name must have 1 to %d of the characters a-z and 0-9, with single hyphens between them", maxName), ""}
	case r.Pattern.MatchString(r.Name):
		return r, &InputError{"the name for the markers contains the text", "choose another with --name"}
	}
	return r, nil
}

// A File is a file with the number of replacements that were, or would be, made in it.
type File struct {
	Path   string `json:"path"` // relative to the workspace
	Places int    `json:"places"`
}

// A Left is a place that still has the text.
type Left struct {
	Path  string `json:"path"` // relative to the workspace, or absolute if outside
	Lines []int  `json:"lines,omitempty"`
	Why   string `json:"why"`
}

// A Report says what was, or would be, redacted, and what still has the text.
type Report struct {
	Files   []File
	Deleted []string // cache files, which are rebuilt when needed
	Left    []Left
}

// A Conversation is the report on one conversation.
type Conversation struct {
	Report
	Entry   store.Entry
	Named   bool // the folder's name has the text
	Renamed bool // the folder was renamed; Entry has the new name

	attached map[string]bool // hashes of attachments, before anything was redacted
}

// A Result is the report on several conversations.
type Result struct {
	Report        // on files that belong to no single conversation
	Conversations []*Conversation
}

// Anything reports whether there is anything to redact.
func (r *Result) Anything() bool {
	return len(r.Files)+len(r.Deleted) > 0 || slices.ContainsFunc(r.Conversations, func(c *Conversation) bool {
		return len(c.Files) > 0 || c.Named
	})
}

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

// texts returns a function that applies the request and adds what it replaces to found.
func (r *Redactor) texts(found *secrets.Found) *secrets.Redactor {
	return secrets.Matching(r.request.Pattern, r.request.Name, found)
}

// Find reports what Apply would redact in conversations, and changes nothing. It calls
// progress before each.
func (r *Redactor) Find(ctx context.Context, entries []store.Entry, progress func(i int)) (*Result, error) {
	result := new(Result)
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		progress(i)
		c, _, err := r.find(e)
		if err != nil {
			return nil, err
		}
		if c.Named {
			c.Left = append(c.Left, Left{Path: e.Path, Why: "the name of the folder, which is changed unless git knows it"})
		}
		result.Conversations = append(result.Conversations, c)
	}
	return result, r.shared(result, dry)
}

func (r *Redactor) find(e store.Entry) (*Conversation, *secrets.Found, error) {
	attached, err := r.ws.Attachments.Of(e)
	if err != nil {
		return nil, nil, err
	}
	c, found := &Conversation{Entry: e, attached: attached}, &secrets.Found{}
	by := store.Redaction{Name: r.request.Name, Texts: r.texts(found)}
	err = r.each(e, func(conv *store.Conversation) error {
		places, err := conv.Texts(by)
		c.add(places)
		return err
	})
	if err == nil {
		err = r.files(c, found, dry)
	}
	_, c.Named = r.named(e.Path, found)
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
			renamed = append(renamed, path.Base(e.Path))
		}
	}
	errs = append(errs, r.shared(result, r.changes(result, renamed)))
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
	if err != nil || len(c.Files) == 0 && !c.Named {
		return c, err
	}
	by := store.Redaction{Name: r.request.Name, Texts: r.texts(nil)}
	if found.Len() > 0 { // comes first, so that everything captured from now on is redacted
		known, err := r.ws.Registry.Redactions.Add(e.Session.ID, r.request.Name, found, r.ws.Env.Entropy())
		if err != nil {
			return nil, err
		}
		by.ID = known.ID
	}
	c = &Conversation{Entry: e, Named: c.Named, attached: c.attached}
	err = r.each(e, func(conv *store.Conversation) error {
		if why := r.ws.Tree.Away(conv); why != "" && !e.Waiting && !conv.IsWaiting() {
			return fmt.Errorf("%s: %s: run it again when its files are back", conv.Path(), why)
		}
		places, err := conv.Redact(by)
		c.add(places)
		return err
	})
	if err == nil {
		err = r.rename(ctx, c, found)
	}
	if err == nil {
		err = r.files(c, nil, writing(r))
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
	if err := r.eachIn(func() (*store.Conversation, error) { return r.ws.Store.Open(e) }, f); err != nil {
		return err
	}
	for _, name := range append([]string{e.Path}, e.Twins...) {
		if name != e.Path {
			if err := r.eachIn(func() (*store.Conversation, error) { return r.ws.Store.Conversation(name) }, f); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		if !slices.Contains(r.ws.Store.TakenPaths(), name) {
			continue
		}
		if err := r.eachIn(func() (*store.Conversation, error) { return r.ws.Store.Taken(name) }, f); err != nil {
			return err
		}
	}
	return nil
}

// eachIn calls f with a conversation and its sub-agents.
func (r *Redactor) eachIn(open func() (*store.Conversation, error), f func(*store.Conversation) error) error {
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
			err = r.eachIn(func() (*store.Conversation, error) { return c.Subagent(name) }, f)
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
		paths = append(append(paths, e.Path), e.Twins...)
	}
	if len(paths) > maxPaths {
		paths = []string{".workspace", "conversations"}
	}
	return git.FindHolders(ctx, r.ws.Store.Root(), paths, r.has)
}

// maxPaths limits the number of paths on a command line.
const maxPaths = 500
