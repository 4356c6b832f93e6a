// Package redact replaces text that turns out to be secret later, in everything that
// cortext keeps of conversations, and says where else it is.
package redact

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/workspace"
	"cortext/store"
	"cortext/store/secrets"
)

// A Request says what to redact.
type Request struct {
	Name      string         // in the markers
	Pattern   *regexp.Regexp // of the text, as it is after decoding
	text      string         // if it is one text
	Documents bool           // also change documents that people wrote
	Rename    bool           // also change the names of folders that git knows
}

// An InputError reports a request that cannot be carried out.
type InputError struct{ Why, Hint string }

func (e *InputError) Error() string { return e.Why }

// DefaultName names the markers if the user names none.
const DefaultName = "by-user"

var names = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// maxName is the length of the longest name.
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

// minSecret is the length in bytes of the shortest text that is redacted.
const minSecret = 4

// ForText returns the request to redact a text.
func ForText(text, name string) (r Request, err error) {
	text = strings.TrimRight(text, "\r\n")
	if len(text) < minSecret {
		return r, &InputError{fmt.Sprintf("the secret has %d bytes, at least %d are needed", len(text), minSecret), "use --pattern for a shorter text"}
	}
	return checked(Request{Name: name, Pattern: regexp.MustCompile(regexp.QuoteMeta(text)), text: text})
}

func checked(r Request) (Request, error) {
	if r.Name == "" {
		r.Name = DefaultName
	}
	switch {
	case len(r.Name) > maxName || !names.MatchString(r.Name):
		return r, &InputError{fmt.Sprintf("the name must have 1 to %d of the characters a-z and 0-9, with single hyphens between them", maxName), ""}
	case r.Pattern.MatchString(r.Name):
		return r, &InputError{"the name for the markers has the text itself", "choose another with --name"}
	}
	return r, nil
}

// A File is a file in which places were replaced, or would be.
type File struct {
	Path   string `json:"path"` // relative to the workspace
	Places int    `json:"places"`
}

// A Left is a place that still has the text.
type Left struct {
	Path  string `json:"path"` // relative to the workspace, or absolute outside of it
	Lines []int  `json:"lines,omitempty"`
	Why   string `json:"why"`
}

// A Report says what was redacted, or would be.
type Report struct {
	Entry   store.Entry
	Files   []File
	Deleted []string // cache files, which are made again
	Named   bool     // the folder's name has the text
	Renamed string   // the new path of the conversation, if its name had the text
	Left    []Left
}

// Places is the number of places in all files.
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

// texts returns the replacement of the request, and adds to found what it replaces.
func (r *Redactor) texts(found *secrets.Found) *secrets.Redactor {
	return secrets.Matching(r.request.Pattern, r.request.Name, found)
}

// Find reports what Apply would redact in a conversation, and changes nothing.
func (r *Redactor) Find(e store.Entry) (*Report, error) {
	report, found, err := r.find(e)
	if _, report.Named = r.named(e.Path, found); report.Named && err == nil {
		report.Left = append(report.Left, Left{Path: e.Path, Why: "the name of the folder, which is changed unless git knows it"})
	}
	return report, err
}

func (r *Redactor) find(e store.Entry) (*Report, *secrets.Found, error) {
	report, found := &Report{Entry: e}, &secrets.Found{}
	by := store.Redaction{Name: r.request.Name, Texts: r.texts(found)}
	err := r.each(e, func(c *store.Conversation) error {
		places, err := c.Texts(by)
		report.add(places)
		return err
	})
	if err == nil {
		err = r.files(e, report, dry)
	}
	return report, found, err
}

// Apply redacts a conversation. Nothing captures its sessions meanwhile. It can be run
// again after an error or a kill, and then finishes.
func (r *Redactor) Apply(ctx context.Context, e store.Entry) (*Report, error) {
	unlock, err := r.lock(e)
	if err != nil {
		return nil, err
	}
	defer unlock()
	report, found, err := r.find(e)
	_, has := r.named(e.Path, found)
	if err != nil || report.Places() == 0 && len(report.Deleted) == 0 && !has {
		return report, err
	}
	by := store.Redaction{Name: r.request.Name, Texts: r.texts(nil)}
	if found.Len() > 0 { // first: whatever is captured from now on is redacted
		known, err := r.ws.Registry.Redact(e.Session.ID, r.request.Name, found, r.ws.Env.Entropy())
		if err != nil {
			return nil, err
		}
		by.ID = known.ID
	}
	report = &Report{Entry: e}
	err = r.each(e, func(c *store.Conversation) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if why := r.ws.Tree.Away(c); why != "" && !e.Waiting && !c.IsWaiting() {
			return fmt.Errorf("%s: %s: run it again when its files are back", c.Path(), why)
		}
		places, err := c.Redact(by)
		report.add(places)
		return err
	})
	if err == nil {
		before := e
		if e, err = r.rename(ctx, e, found, report); err == nil {
			report.Entry = e
			for i := range report.Files {
				report.Files[i].Path = strings.ReplaceAll(report.Files[i].Path, before.Path, e.Path)
			}
			err = r.files(e, report, r.changes(before, e))
		}
	}
	return report, err
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

// each calls f with everything that has records of a conversation: the conversation with
// its waiting records and twins, its sub-agents, the twins' own files, and the records that
// git took from it.
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
	names, err := c.Subagents() // before their folders are emptied
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
