package capture

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// A catalog lists the conversations of a workspace. During a scan it answers from what
// existed when the scan began, so that processing many sessions does not read all
// conversations each time. Conversations that began later are found through their bindings.
type catalog struct {
	ws   *workspace.Workspace
	scan *scan // nil: nothing is cached
}

// A scan holds cached lookups.
type scan struct {
	all   func() ([]store.Entry, error)        // the conversations at the start
	named func() (map[sessionID]string, error) // conversations by session: see namedAmong
	seen  string
	roots map[string]map[string]bool // by agent: the first lines of our sessions
	inGit func() branches

	located map[string]located // by agent: all transcripts
	scanned map[string]scanned // by agent: sessions checked before

	unwanted map[string]unwanted // by agent
}

// start begins a scan of the conversations that list returns.
func (c *catalog) start(list func() ([]store.Entry, error)) {
	all := sync.OnceValues(list)
	c.scan = &scan{
		all: all, seen: c.ws.Index.Seen(), roots: map[string]map[string]bool{}, unwanted: map[string]unwanted{},
		located: map[string]located{}, scanned: map[string]scanned{},
		named: sync.OnceValues(func() (map[sessionID]string, error) {
			entries, err := all()
			return namedAmong(entries), err
		}),
	}
}

// entriesOf returns at least the conversations that list a native session as a source. of
// looks them up outside of a scan.
func (c *catalog) entriesOf(nativeID string, of func(nativeID string) ([]store.Entry, error)) ([]store.Entry, error) {
	if c.scan != nil {
		return c.scan.all()
	}
	return of(nativeID)
}

// entries returns the conversations. During a scan it returns those that existed at the
// start; later ones are in the cache.
func (c *catalog) entries() ([]store.Entry, error) {
	if c.scan != nil {
		return c.scan.all()
	}
	return c.ws.Index.All()
}

// seen is [workspace.Index.Seen]. During a scan it returns the value from the start
// of the scan.
func (c *catalog) seen() string {
	if c.scan != nil {
		return c.scan.seen
	}
	return c.ws.Index.Seen()
}

// noteRoots notes the lines that forks of a session may begin with, if the session was
// captured during a scan.
func (c *catalog) noteRoots(agent string, roots []string) {
	if c.scan == nil || c.scan.roots[agent] == nil {
		return // they are found when they are needed
	}
	for _, root := range roots {
		c.scan.roots[agent][root] = true
	}
}

// namedIn returns the conversations that list a session as a source, one per line, or ""
// if they are not known.
func (c *catalog) namedIn(agent, nativeID string) string {
	named, err := c.scan.named()
	if err != nil {
		return ""
	}
	return named[sessionID{agent, nativeID}]
}

// namedAmong maps the sources of conversations to the conversations' paths.
func namedAmong(all []store.Entry) map[sessionID]string {
	named := map[sessionID]string{}
	for _, e := range slices.SortedFunc(slices.Values(all), func(a, b store.Entry) int { return strings.Compare(a.Path, b.Path) }) {
		for _, src := range e.Session.Sources {
			named[sessionID{src.Agent, src.NativeID}] += e.Path + " " + src.From + " " + src.After + "\n"
		}
	}
	return named
}

// inGit returns the segment that a branch which is not checked out records for a session,
// so that the session is not captured into a second conversation.
func (c *catalog) inGit(agent, nativeID string) (binding.Segment, bool) {
	if c.scan == nil || c.scan.inGit == nil {
		return binding.Segment{}, false
	}
	e := c.scan.inGit().bySource[sessionID{agent, nativeID}]
	if e.session == nil {
		return binding.Segment{}, false
	}
	i := slices.IndexFunc(e.session.Sources, func(src schema.Source) bool { return src.Agent == agent && src.NativeID == nativeID })
	src := e.session.Sources[i]
	return binding.Segment{Segment: registry.Segment{Path: e.path, ID: e.session.ID, From: src.From, After: src.After}}, true
}

// branches holds what the branches record about conversations. If several record a
// conversation or a session, the newest branch counts.
type branches struct {
	bySource map[sessionID]inBranch
	byKey    map[string]*schema.Session // see [schema.IDKey]
}

// An inBranch is a conversation as recorded on a branch.
type inBranch struct {
	path    string
	session *schema.Session
}

// readBranches reads the session.json of each conversation below a folder on all branches.
// Whatever cannot be read in time is left out.
func (c *catalog) readBranches(ctx context.Context, folder string) branches {
	found := branches{map[sessionID]inBranch{}, map[string]*schema.Session{}}
	_ = git.Versions(ctx, c.ws.Store.Root(), folder, ".session/session.json", func(v git.Version) error {
		s, err := schema.ParseSession(v.Content)
		if err != nil {
			return nil // another version may be undamaged
		}
		if key := schema.IDKey(s.ID); key != "" && found.byKey[key] == nil {
			found.byKey[key] = s
		}
		for _, src := range s.Sources {
			of := sessionID{src.Agent, src.NativeID}
			if _, ok := found.bySource[of]; !ok {
				found.bySource[of] = inBranch{path.Dir(path.Dir(v.Path)), s}
			}
		}
		return nil
	})
	return found
}

// recorded returns the session.json that the newest branch has of a conversation, or nil if
// none is known. It looks only during a scan.
func (c *catalog) recorded(id string) *schema.Session {
	if c.scan == nil || c.scan.inGit == nil {
		return nil
	}
	return c.scan.inGit().byKey[schema.IDKey(id)]
}

// committed is recorded outside of a scan, for a conversation in a folder. During a scan,
// which may see many conversations, it returns nil.
func (c *catalog) committed(ctx context.Context, folder, id string) *schema.Session {
	if c.scan != nil {
		return nil
	}
	return c.readBranches(ctx, folder).byKey[schema.IDKey(id)]
}

// A sessionID identifies a native session.
type sessionID struct{ agent, id string }
