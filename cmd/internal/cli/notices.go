package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cortext/cmd/internal/check"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// Notices are messages about conversations that a command prints in addition to its result.
type notices struct {
	screen screen
	w      *opened
}

func (a *app) notices(w *opened) notices { return notices{a.screen, w} }

// waiting prints a line for each conversation with messages that wait to be moved into the
// work tree, and returns what it printed.
func (n notices) waiting(entries ...store.Entry) []workspace.Waiting {
	list, err := n.w.Waiting(entries...)
	for _, v := range list {
		fmt.Fprintf(n.screen.errw, "cortext: waiting: %s\n", oneLine(v.String()))
	}
	if err != nil {
		n.screen.warn(err.Error())
	}
	return list
}

// allWaiting is waiting for all conversations.
func (n notices) allWaiting() error {
	if len(n.w.Store.Kept().WaitingPaths()) == 0 {
		return nil
	}
	all, err := n.w.Store.Outlines()
	if err == nil {
		n.waiting(all...)
	}
	return err
}

// oneSided prints which conversations git left to the user in a merge because one side
// removed them: the one in the folder at path, or all of them if path is empty.
func (n notices) oneSided(ctx context.Context, path string) {
	texts, err := n.w.Tree.OneSided(ctx, path)
	n.screen.warn(texts...)
	if err != nil {
		n.screen.warn(err.Error())
	}
}

// twins lists conversations with records in several folders.
func (n notices) twins(entries ...store.Entry) {
	for _, e := range entries {
		if full := n.w.FullTwins(e); len(full) > 0 {
			n.screen.warn(fmt.Sprintf("one conversation is in several folders, %s and %s: the next stop merges their logs into the first", e.Path, strings.Join(full, ", ")))
		}
	}
}

// removed prints which conversations were removed in another clone or on another machine,
// or why that is unknown.
func (n notices) removed(list []store.Entry, err error) {
	if err != nil {
		n.screen.warn(err.Error())
	}
	for _, e := range list {
		n.screen.warn(fmt.Sprintf("%s was removed elsewhere and is no longer captured; its folder stays: cortext rm removes it here, cortext import captures it again", visible(e.Path)))
	}
}

// lost prints how many messages of a conversation are missing, and where to find them.
func (n notices) lost(ctx context.Context, e store.Entry) {
	lost, err := check.New(n.w.Workspace, n.w.capture).Lost(ctx, e)
	switch {
	case err != nil:
		n.screen.warn(err.Error())
	case lost != nil:
		n.screen.warn(lost.String())
	}
}

// damage prints the damage in conversations.
func (n notices) damage(entries []store.Entry) {
	for _, e := range entries {
		for _, d := range e.Damage {
			n.screen.warn(d.Error())
		}
	}
}

// remade prints which session.json could not be read before a command wrote it again.
func (n notices) remade(e store.Entry) {
	for _, d := range e.Damage {
		if d.Kind == store.Unreadable {
			n.screen.warn(d.Error() + ": written again from what is left; the original is in .workspace/local/kept/damaged")
		}
	}
}

// built prints warnings about a payload.
func (n notices) built(b *payload.Built) {
	for _, d := range b.Damage {
		n.screen.warn(d.Error())
	}
	for _, warning := range b.Payload.Warnings {
		n.screen.warn(warning.Text)
	}
	n.screen.warn(b.Warnings...)
}

// captured prints the warnings from a capture, except those in said.
func (n notices) captured(said []string) {
	for _, text := range n.w.capture.TakeWarnings() {
		if !slices.ContainsFunc(said, func(part string) bool { return strings.Contains(text, part) }) {
			n.screen.warn(text)
		}
	}
}

// listed prints notices about listed conversations, and returns the number of messages that
// wait for each, by path.
func (n notices) listed(shown []store.Entry) map[string]int {
	n.damage(shown)
	waiting := map[string]int{}
	for _, v := range n.waiting(shown...) {
		waiting[v.Entry.Path] += v.Messages
	}
	n.twins(shown...)
	n.removed(n.w.Removed.LeftoversAmong(shown...))
	return waiting
}
