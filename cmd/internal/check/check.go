// Package check finds what is missing from conversations, using their files, git and the
// checkpoints of capture.
package check

import (
	"context"
	"iter"
	"path"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// A Checker checks the conversations of one workspace.
type Checker struct {
	ws      *workspace.Workspace
	capture *capture.Capture
}

// New returns a Checker for a workspace.
func New(ws *workspace.Workspace, c *capture.Capture) Checker { return Checker{ws, c} }

// Damage is [workspace.Workspace.Check], but also reports conversations whose missing
// messages only a checkpoint shows.
func (c Checker) Damage(ctx context.Context, note func(string)) iter.Seq[store.Damage] {
	return func(yield func(store.Damage) bool) {
		named, damaged := map[string]bool{}, map[string]bool{}
		elsewhere := map[string]bool{} // folders in which something stands in for what git has
		for d := range c.ws.Check(ctx, note) {
			named[d.File] = true
			damaged[path.Dir(d.File)] = true
			damaged[d.File] = true
			if d.StandIn() {
				elsewhere[path.Dir(d.File)] = true
			} else if d.Kind == store.Missing && elsewhere[path.Dir(d.File)] {
				continue // it is not: it comes with the file
			}
			if !yield(d) {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		entries, err := c.ws.Store.Outlines()
		if err != nil {
			note("captured messages were not compared: " + err.Error())
		}
		outside := c.ws.Tree.LogsOutside()
		for _, e := range entries {
			if ctx.Err() != nil {
				return
			}
			file := path.Join(e.Path, store.MessagesLog)
			if gone, err := c.ws.Removed.Conversation(e.Session.ID); named[file] || outside(file) || err == nil && gone {
				continue
			}
			lost, err := c.shortened(ctx, e)
			if err != nil && !damaged[path.Dir(file)] {
				note(file + ": " + err.Error())
			}
			switch {
			case lost == nil:
			case lost.Staged(ctx, c.ws.Tree):
				note(lost.String())
			case !yield(lost.Damage()):
				return
			}
		}
	}
}

// shortened returns what is missing from a conversation according to a checkpoint, or nil.
func (c Checker) shortened(ctx context.Context, e store.Entry) (*workspace.Lost, error) {
	conv, err := c.ws.Open(e)
	if err != nil {
		return nil, err
	}
	defer conv.Close()
	n, is, err := c.capture.Shortened(conv, e.Session)
	if err != nil || !is {
		return nil, err
	}
	return c.ws.Tree.FindLost(ctx, conv, n)
}

// Lost returns what is missing from a conversation according to session.json, git's last
// commit or a checkpoint, or nil. Usually it only compares two lengths. The error is a
// [*store.StandInError] if git has its files, and the work tree does not.
func (c Checker) Lost(ctx context.Context, e store.Entry) (*workspace.Lost, error) {
	conv, err := c.ws.Open(e)
	if err != nil {
		return nil, err
	}
	defer conv.Close()
	if err := conv.StandIn(); err != nil {
		return nil, err
	}
	n, err := conv.Lost()
	if err != nil {
		return nil, err
	}
	noted, shortened, err := c.capture.Shortened(conv, e.Session)
	if err != nil {
		return nil, err
	}
	n = max(n, noted)
	if !shortened {
		if shortened, err = conv.LacksStart(e.Session); err != nil {
			return nil, err
		}
	}
	if n == 0 && !shortened && !c.ws.Tree.FewerThanHead(ctx, conv) {
		return nil, nil
	}
	lost, err := c.ws.Tree.FindLost(ctx, conv, n)
	if err != nil || lost.Messages == 0 && !shortened {
		return nil, err
	}
	return lost, nil
}
