package slash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"cortext/cmd/internal/export"
	"cortext/cmd/internal/export/portable"
	"cortext/cmd/internal/organise"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/store"
)

// sessionUsage lists the subcommands of /workspace.session.
const sessionUsage = "/workspace.session knows: info, title TEXT, tag TAG, untag TAG, note TEXT, archive, unarchive, export FORMAT."

// session describes or changes the conversation of the running session. args are a
// subcommand and its text.
func (c *Commands) session(ctx context.Context, agent inject.Agent, e inject.Event, args string) (string, error) {
	word, text, _ := strings.Cut(args, " ")
	text = strings.TrimSpace(text)
	if word == "" || word == "info" && text == "" {
		return c.describe(ctx, agent, e)
	}
	if word == "export" {
		return c.export(ctx, agent, e, text)
	}
	change, done, why := changeIn(word, text)
	if why != "" {
		return Prefix + why, nil
	}
	entry, said, err := c.current(ctx, agent, e)
	if said != "" || err != nil {
		return said, err
	}
	switch err := change(c.ws, entry); {
	case errors.As(err, new(*organise.InputError)), errors.As(err, new(*workspace.TitleError)):
		return Prefix + err.Error() + ". Nothing was changed.", nil
	case err != nil:
		return "", err
	}
	return Prefix + done, nil
}

// changeIn parses a subcommand that changes a conversation. why says what is wrong with
// it, and which subcommands exist.
func changeIn(word, text string) (change func(*workspace.Workspace, store.Entry) error, done, why string) {
	shown := workspace.Plain(text)
	apply := func(f organise.Change) func(*workspace.Workspace, store.Entry) error {
		return func(w *workspace.Workspace, e store.Entry) error {
			_, _, err := organise.Apply(w, e, f)
			return err
		}
	}
	needsText := word == "title" || word == "tag" || word == "untag" || word == "note"
	switch {
	case needsText && text == "":
		return nil, "", fmt.Sprintf("%s needs a text. %s", word, sessionUsage)
	case (word == "archive" || word == "unarchive") && text != "":
		return nil, "", fmt.Sprintf("%s takes no text. %s", word, sessionUsage)
	case word == "title" && text == "--auto": // may ask a model, which takes longer than a hook may
		return nil, "", "title --auto works in a terminal: cortext title --auto. Nothing was changed."
	}
	switch word {
	case "title":
		return func(w *workspace.Workspace, e store.Entry) error {
			_, err := w.SetTitle(e, text)
			return err
		}, "the conversation is now called " + shown + ".", ""
	case "tag", "untag":
		tags, err := organise.ParseTags(text)
		if err != nil {
			return nil, "", err.Error() + ". Nothing was changed."
		}
		if word == "tag" {
			return apply(organise.Tag(tags)), "the conversation is tagged " + shown + ".", ""
		}
		return apply(organise.Untag(tags)), "the conversation is no longer tagged " + shown + ".", ""
	case "note":
		return apply(organise.Note(text)), "the note is added.", ""
	case "archive":
		return apply(organise.SetArchived(true)), "the conversation is archived: lists leave it out. /workspace.session unarchive undoes it.", ""
	case "unarchive":
		return apply(organise.SetArchived(false)), "the conversation is in lists again.", ""
	}
	return nil, "", fmt.Sprintf("there is no subcommand %q. %s", workspace.Plain(word), sessionUsage)
}

// export writes the conversation of the running session to a file in the workspace. name is
// that of a format; empty: the default.
func (c *Commands) export(ctx context.Context, agent inject.Agent, e inject.Event, name string) (string, error) {
	format := export.Formats()[0]
	if name != "" {
		var ok bool
		if format, ok = export.FormatNamed(name); !ok {
			var names []string
			for _, f := range export.Formats() {
				names = append(names, f.Name)
			}
			return fmt.Sprintf("%sthere is no format %q: /workspace.session export knows %s.", Prefix, workspace.Plain(name), strings.Join(names, ", ")), nil
		}
	}
	entry, said, err := c.current(ctx, agent, e)
	if said != "" || err != nil {
		return said, err
	}
	g, err := format.Gather(c.ws, entry, export.Options{Attachments: format.Name == "html"})
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := format.Write(ctx, &out, g); err != nil {
		return "", err
	}
	file := portable.FileName(g.Title(), g.At(), format.Name)
	if err := export.WriteFile(filepath.Join(c.ws.Store.Root(), file), out.Bytes()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%sthe conversation is exported to %s in the folder of the workspace, with %d messages.", Prefix, file, g.MessageCount()), nil
}
