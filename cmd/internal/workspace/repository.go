package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"cortext/cmd/internal/cloneref"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/removal"
	"cortext/cmd/internal/settings"
	"cortext/schema"
	"cortext/store"
)

// A CommitError reports why a conversation could not be committed; it is saved anyway.
type CommitError struct {
	Path string
	Err  error
}

func (e *CommitError) Error() string {
	return fmt.Sprintf("%s is saved, but git did not commit it: %v", e.Path, e.Err)
}

func (e *CommitError) Unwrap() error { return e.Err }

// Ended reports whether git was ended by a signal.
func (e *CommitError) Ended() bool { return git.Ended(e.Err) }

// A Repository is git's side of a workspace: it commits conversations, to the branch or to
// the ref of the clone.
type Repository struct {
	store  *store.Store
	config *settings.Config
	now    func() time.Time
}

// Commit commits the folder of a conversation if the workspace is configured to: to the
// branch (commit: stop), or to the ref of the clone (commit: ref). It reports whether there
// was anything to commit.
func (r Repository) Commit(ctx context.Context, e store.Entry) (done bool, err error) {
	switch {
	case e.Waiting:
		return false, nil
	case r.config.Commit == settings.CommitStop:
		if err = r.Ref().Include(); err == nil {
			done, err = git.Commit(ctx, r.store.Root(), e.Path, r.message(ctx, e))
		}
	case r.config.Commit == settings.CommitRef:
		done, err = r.Ref().Commit(ctx, r.message(ctx, e), e.Path)
	}
	if err != nil {
		return false, &CommitError{e.Path, err}
	}
	return done, nil
}

// LeftOut returns an error that names what a commit of a conversation's folder lacks, if
// anything.
func (r Repository) LeftOut(e store.Entry) error {
	if r.config.Commit != settings.CommitRef {
		return nil
	}
	names, err := r.Ref().LeftOut(e.Path)
	if err != nil || len(names) == 0 {
		return err
	}
	const most = 3
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
	}
	return fmt.Errorf("with commit: ref, git keeps only regular files, under plain names: other clones will lack %s%s", strings.Join(names[:min(len(names), most)], ", "), more)
}

// Knows reports whether a file at or below a path is staged, in the last commit, or in
// the ref of the clone.
func (r Repository) Knows(ctx context.Context, path string) (bool, error) {
	known, err := git.Knows(ctx, r.store.Root(), path)
	if known || err != nil || r.config.Commit != settings.CommitRef {
		return known, err
	}
	return r.Ref().Has(ctx, path)
}

// fewFolders is the number of folders up to which git is asked about each.
const fewFolders = 20

// KnownAmong returns which of the folders of conversations [Repository.Knows].
func (r Repository) KnownAmong(ctx context.Context, folders []string) (known map[string]bool, err error) {
	if len(folders) > fewFolders && r.config.Commit != settings.CommitRef {
		return git.KnownAmong(ctx, r.store.Root(), "conversations", folders)
	}
	known = map[string]bool{}
	for _, f := range folders {
		if known[f], err = r.Knows(ctx, f); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// Ref returns the ref that holds the conversations of this clone with commit: ref.
func (r Repository) Ref() cloneref.Ref {
	return cloneref.Ref{Store: r.store, Removed: removal.Dir, Now: r.now}
}

// Exclude keeps the folders of conversations out of git status with commit: ref, and
// otherwise undoes that. The error says what git does instead.
func (r Repository) Exclude() error {
	if r.config.Commit == settings.CommitRef && git.CommonDir(r.store.Root()) != "" {
		if err := r.Ref().Exclude(); err != nil {
			return fmt.Errorf("git status lists conversations: %w", err)
		}
		return nil
	}
	if err := r.Ref().Include(); err != nil {
		return fmt.Errorf("git may still ignore conversations: %w", err)
	}
	return nil
}

// CommitChanged commits all conversations that changed since their last commit to the ref
// of the clone, but not active ones: they are committed when they are stopped.
func (r Repository) CommitChanged(ctx context.Context) error {
	all, err := r.store.Outlines()
	if err != nil {
		return err
	}
	entries := map[string]store.Entry{}
	var folders []string
	for _, e := range all {
		if !e.Waiting && e.Session.Status != schema.Active {
			entries[e.Path], folders = e, append(folders, e.Path)
		}
	}
	changed, err := r.Ref().Changed(ctx, folders)
	if err != nil {
		return err
	}
	var errs []error
	alone := changed
	if len(changed) > committedAlone {
		alone = nil
		for folders := range slices.Chunk(changed, committedTogether) {
			message := "[session] Save conversations\n"
			for _, folder := range folders {
				message += fmt.Sprintf("\n%s: %s", SessionTrailer, Plain(entries[folder].Session.ID))
			}
			if _, err := r.Ref().Commit(ctx, message, folders...); err != nil {
				alone = append(alone, folders...) // one of them must not hold back the others
			}
		}
	}
	for _, folder := range alone {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(errs, err)...)
		}
		_, err := r.Commit(ctx, entries[folder])
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Forget removes folders of a conversation from the ref of the clone, with commit: ref.
func (r Repository) Forget(ctx context.Context, e store.Entry, paths ...string) error {
	if r.config.Commit != settings.CommitRef || git.CommonDir(r.store.Root()) == "" {
		return nil
	}
	message := fmt.Sprintf("[session] Remove: %s\n\n%s: %s", Plain(e.Session.DisplayTitle()), SessionTrailer, Plain(e.Session.ID))
	if err := r.Ref().Remove(ctx, message, paths...); err != nil {
		return fmt.Errorf("%s was removed here, but git did not commit that: the next cortext pull brings it back: %w", strings.Join(paths, ", "), err)
	}
	return nil
}

// Up to committedAlone conversations get a commit each; more are committed in groups of
// committedTogether: when a clone begins to use commit: ref, there may be thousands.
const (
	committedAlone    = 16
	committedTogether = 64
)

// The trailers of a commit that is about a conversation.
const (
	SessionTrailer  = "Cortext-Session"  // the id of the conversation
	agentTrailer    = "Cortext-Agent"    // the agent that it was held with last
	messagesTrailer = "Cortext-Messages" // the messages that the commit adds, by their numbers
)

// message returns the message of a commit of a conversation's folder.
func (r Repository) message(ctx context.Context, e store.Entry) string {
	s := e.Session
	var b strings.Builder
	fmt.Fprintf(&b, "[session] Pause: %s\n", Plain(s.DisplayTitle()))
	trailer := func(name, value string) {
		if value = Plain(value); value != "" {
			fmt.Fprintf(&b, "\n%s: %s", name, value)
		}
	}
	trailer(SessionTrailer, s.ID)
	agent := s.AgentConfig.Agent
	if n := len(s.Sources); n > 0 {
		agent = s.Sources[n-1].Agent
	}
	trailer(agentTrailer, agent)
	before := 0
	if raw, err := r.committed(ctx, e.Path+"/.session/session.json"); err == nil {
		if old, err := schema.ParseSession(raw); err == nil {
			before = old.MessageCount
		}
	}
	if s.MessageCount > before {
		trailer(messagesTrailer, fmt.Sprintf("%d-%d", before+1, s.MessageCount))
	}
	return b.String()
}

// committed returns a file of the last commit that conversations go into.
func (r Repository) committed(ctx context.Context, name string) ([]byte, error) {
	if r.config.Commit == settings.CommitRef {
		return r.Ref().File(ctx, name), nil
	}
	return git.HeadBlob(ctx, r.store.Root(), name)
}

// Plain puts text on one line and removes control characters: titles and summaries are
// data.
func Plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
