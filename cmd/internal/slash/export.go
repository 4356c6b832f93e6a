package slash

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"cortext/cmd/internal/export"
	"cortext/cmd/internal/export/portable"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
)

// export writes the conversation of the running session to a file in the workspace. name is
// that of a format; empty: that of import.
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
