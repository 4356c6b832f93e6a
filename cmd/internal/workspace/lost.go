package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/git"
	"cortext/schema/jsonl"
	"cortext/store"
)

// lostTime limits how long git is asked about missing messages.
const lostTime = 2 * time.Second

// A Lost says how many messages of a conversation are missing: session.json counted them
// or git has them, but no log does.
type Lost struct {
	Path     string
	Messages int      // 0: unknown
	Found    int      // how many of them the branches have
	Branches []string // branches with that many, newest first; none if git is too slow
	Show     string   // shell command that shows them
}

func (l *Lost) String() string { return l.Path + ": " + l.what() }

// Damage returns the loss as damage of the log.
func (l *Lost) Damage() store.Damage {
	return store.Damage{File: messagesOf(l.Path), Damage: jsonl.Damage{Kind: store.Missing, Detail: l.what()}}
}

// what describes what is missing, and which branches have it.
func (l *Lost) what() string {
	text := fmt.Sprintf("%d messages are missing", l.Messages)
	switch l.Messages {
	case 0:
		text = "captured messages are missing"
	case 1:
		text = "1 message is missing"
	}
	if len(l.Branches) == 0 {
		return text + "; cortext stop restores what the agent's transcript still has"
	}
	return fmt.Sprintf("%s; git has %d of them in %s: %s shows them", text, l.Found, strings.Join(l.Branches, ", "), l.Show)
}

// Staged reports whether the message log is, byte for byte, as in git's index: then it is
// not damaged, but belongs to another branch or time.
func (l *Lost) Staged(ctx context.Context, t *Tree) bool {
	file := messagesOf(l.Path)
	return git.Unchanged(ctx, t.store.Root(), []string{file})[file]
}

func messagesOf(path string) string { return path + "/" + store.MessagesLog }

// FewerThanHead reports whether the log of a conversation is shorter than in git's last
// commit. It reads neither.
func (t *Tree) FewerThanHead(ctx context.Context, c *store.Conversation) bool {
	here, err := t.store.Folders().LogSize(c.Path())
	if err != nil {
		return false // the folder or log is not in the work tree
	}
	ctx, cancel := context.WithTimeout(ctx, lostTime)
	defer cancel()
	size, err := git.HeadSize(ctx, t.store.Root(), messagesOf(c.Path()))
	return err == nil && size > here
}

// FindLost searches git for missing messages of a conversation; counted is the number
// that session.json has. It returns nil if none are missing.
func (t *Tree) FindLost(ctx context.Context, c *store.Conversation, counted int) (*Lost, error) {
	have, err := c.MessageIDs()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lostTime)
	defer cancel()
	lost := &Lost{Path: c.Path(), Messages: counted}
	note := func(log []byte, refs []string) {
		n := lostIn(log, have)
		switch {
		case n == 0 || n < lost.Found:
		case n > lost.Found:
			lost.Found, lost.Branches = n, slices.Clone(refs)
		default:
			lost.Branches = append(lost.Branches, refs...)
		}
	}
	// Leave out what git cannot find in time.
	_ = git.Versions(ctx, t.store.Root(), c.Path(), store.MessagesLog, func(v git.Version) error {
		note(v.Content, v.Refs)
		return nil
	})
	if lost.Found == 0 {
		if head, err := git.HeadBlob(ctx, t.store.Root(), messagesOf(c.Path())); err == nil {
			note(head, []string{"HEAD"})
		}
	}
	lost.Messages = max(lost.Messages, lost.Found)
	lost.Branches = lost.Branches[:min(len(lost.Branches), 3)]
	if len(lost.Branches) > 0 {
		lost.Show = git.ShowCommand(t.store.Root(), lost.Branches[0], messagesOf(c.Path()))
	}
	return lost, nil
}
