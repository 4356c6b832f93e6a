package cli

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
	"cortext/cmd/internal/settings"
	"cortext/store"
)

// fullScreen reports whether the terminal can show the picker.
func (a *app) fullScreen() bool {
	f, ok := a.Out.(*os.File)
	if !ok || !a.terminal.present() || os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "" {
		return false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return err == nil && width >= picker.MinWidth && height >= picker.MinHeight
}

// begin lets the user choose a conversation to resume. Outside a workspace, or without a
// terminal, it prints the help.
func (a *app) begin(cmd *cobra.Command) error {
	dir, err := a.folder()
	if err != nil {
		return err
	}
	if _, err := store.Find(dir); err != nil || !a.fullScreen() {
		return cmd.Help()
	}
	return runResume(a, cmd, "", resumeOptions{payloadFlags: payloadFlags{sinceThen: true}})
}

// choose shows the picker, in which the user chooses or starts a conversation.
func (a *app) choose(ctx context.Context, w *opened, query string, filter listing.Filter) (picked, error) {
	r, err := readingIn(w.Env, a.seen())
	if err != nil {
		return picked{}, err
	}
	defer r.close()
	var unread []error
	o := picker.Options{
		In: a.In, Out: a.Out, Environ: os.Environ(), Now: a.Now,
		Rows: r.rows, Filter: filter, Query: strings.TrimPrefix(query, "conversations/"),
		Agents: w.Env.AgentNames(), Types: w.Prompts.Types(),
		Reload: r.reload, Everywhere: r.everywhere, Preview: r.preview, Exists: r.exists, Search: r.search, Prompts: r.prompts,
		Act: r.act, Actions: pickerActions, Undo: r.undoLast, ReadOnly: r.readOnly(),
	}
	if query == "" && w.Config.Autosave != settings.AutosaveOff {
		o.Prepare = func(ctx context.Context) error {
			out, err := w.leftovers().Discover(ctx)
			if out != nil {
				unread = out.Errors
			}
			return err
		}
	}
	chosen, err := picker.Run(ctx, o)
	err = errors.Join(err, r.forgetRemoved())
	a.screen.warn(r.left...)
	if n := len(unread); n > 0 {
		a.screen.warn(strings.Join(messages(unread[:min(n, 3)]), "; "))
	}
	switch {
	case err != nil:
		return picked{}, err
	case chosen.Kind == picker.Interrupted:
		return picked{}, errInterrupted
	case chosen.Kind == picker.New:
		return picked{fresh: &newChat{chosen.Type, chosen.Topic}}, nil
	case chosen.Kind == picker.Left:
		return picked{}, errSilent
	}
	p := picked{agent: chosen.Agent}
	if chosen.Kind == picker.Fork {
		p.fork = &history.Choice{}
		if chosen.At > 0 {
			p.fork.At = strconv.Itoa(chosen.At)
		}
	}
	if dir := chosen.Row.Workspace; dir != "" && dir != w.Here.Workspace() {
		p.Entry, p.dir = chosen.Row.Entry(), dir
		return p, nil
	}
	p.Entry, err = w.Entry(chosen.Row.Path)
	return p, err
}
