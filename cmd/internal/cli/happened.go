package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/hook"
	"cortext/cmd/internal/workspace"
)

func happenedCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "happened -- [EVENT FOLDER MESSAGE ROLE COUNT]…",
		Short:   "Run the workspace's hooks for events (called by cortext)",
		Long:    "Runs the programs in .workspace/hooks for events that have happened. cortext runs this command itself.",
		Example: "  cortext happened -- session-message conversations/2025-11-22/1030-brainstorm-api-design-hv37 01kan assistant 2",
		Hidden:  true,
		RunE: a.quietlyWithin(func(cmd *cobra.Command, w *opened, list []string) error {
			return runHappened(cmd.Context(), a, w, list)
		}),
	}
}

func runHappened(ctx context.Context, a *app, w *opened, list []string) error {
	happened, err := events(list)
	if err != nil {
		return err
	}
	unlock, err := w.Store.LockCache("happened", turnWait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := errors.Join(a.programs(w).runFor(ctx, happened)...); err != nil {
		a.hooks().Failed(w.Workspace, "", "lifecycle", err)
	}
	return nil
}

// turnWait is how long the programs of one event wait for those of another.
const turnWait = time.Minute

// events parses the events that a hook passes on the command line.
func events(words []string) ([]workspace.Event, error) {
	size := hook.EventWords
	if len(words)%size != 0 {
		return nil, &usageError{fmt.Sprintf("%d arguments, not %d for each event", len(words), size), "cortext calls this command itself"}
	}
	var list []workspace.Event
	for h := range slices.Chunk(words, size) {
		count, err := strconv.Atoi(h[4])
		if err != nil {
			return nil, &usageError{fmt.Sprintf("%q is not a number of messages", h[4]), "cortext calls this command itself"}
		}
		list = append(list, workspace.Event{Name: h[0], Path: h[1], MessageID: h[2], Role: h[3], Count: count})
	}
	return list, nil
}
