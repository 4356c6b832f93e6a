package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/redact"
	"cortext/store"
)

// withLinked adds linked conversations that contain the text to entries, if the user agrees.
// Otherwise it returns them as places that still contain the text. elsewhere holds the
// ids of linked conversations that are not in the workspace.
func (d *redaction) withLinked(ctx context.Context, r *redact.Redactor, entries []store.Entry) (all []store.Entry, left []redact.Left, elsewhere []string, err error) {
	on, o := d.app.screen, d.options
	list, err := d.w.Store.Outlines()
	if err != nil {
		return nil, nil, nil, err
	}
	linked, elsewhere := redact.Linked(list, entries)
	having, err := r.Having(ctx, linked, func(i int) {
		on.progress("searching %d of %d linked conversations", i+1, len(linked))
	})
	on.clearLine()
	if err != nil || len(having) == 0 {
		return entries, nil, elsewhere, err
	}
	yes := o.linked
	if !yes && !o.yes && !o.dryRun && d.app.terminal.present() {
		for _, e := range having[:min(len(having), listedFirst)] {
			fmt.Fprintf(on.out, "  %s (%s)\n", oneLine(e.Session.DisplayTitle()), visible(e.Path))
		}
		if n := len(having) - listedFirst; n > 0 {
			fmt.Fprintf(on.out, "  and %d more\n", n)
		}
		if yes, err = d.app.terminal.ask(ctx, fmt.Sprintf("the text is also in %s linked by a fork or a copy: redact it there too?", count(len(having), "conversation"))); err != nil {
			return nil, nil, nil, err
		}
	}
	if yes {
		return slices.Concat(entries, having), nil, elsewhere, nil
	}
	for _, e := range having {
		left = append(left, redact.Left{Path: e.Path, Why: "a linked conversation: --linked also redacts it"})
	}
	return entries, left, elsewhere, nil
}

// linkedElsewhere returns the conversations with the given ids in other workspaces on this
// machine that contain the text. It skips workspaces that cannot be read.
func (d *redaction) linkedElsewhere(cmd *cobra.Command, request redact.Request, ids []string) (left []redact.Left) {
	if len(ids) == 0 {
		return nil
	}
	for _, dir := range d.app.seen() {
		w, err := d.app.openAt(cmd, dir)
		if err != nil {
			continue
		}
		list, _ := w.Store.Outlines()
		list = slices.DeleteFunc(list, func(e store.Entry) bool { return !slices.Contains(ids, e.Session.ID) })
		having, _ := redact.New(w.Workspace, w.capture, request).Having(cmd.Context(), list, func(int) {})
		for _, e := range having {
			left = append(left, redact.Left{
				Path: filepath.Join(dir, filepath.FromSlash(e.Path)),
				Why:  "a linked conversation of another workspace: run cortext redact " + e.Session.ID + " there",
			})
		}
		_ = w.Close()
	}
	return left
}
