package flow

import (
	"context"
	"errors"
	"strings"
	"testing"

	"cortext/cmd/internal/registry"
	"cortext/inject"
)

// A remover is an agent that can remove sessions.
type remover struct {
	inject.Agent
	remove func(nativeID string) error
}

func (r remover) Remove(_ context.Context, _ inject.Machine, nativeID string) error {
	return r.remove(nativeID)
}

// TestRemoveUnused: the session of a launch without messages is removed as soon as its
// agent can remove it. After some failures it is given up, and reported once.
func TestRemoveUnused(t *testing.T) {
	for _, failures := range []int{0, mostTries - 1, mostTries} {
		world := newWorld(t, 1)
		asked := 0
		world.agent = remover{world.agent, func(nativeID string) error {
			if asked++; nativeID != "ses" {
				t.Errorf("asked to remove %s", nativeID)
			}
			if asked <= failures {
				return errors.New("database is locked")
			}
			return nil
		}}
		w := world.open()
		defer w.Close()
		if err := errors.Join(
			w.Launches().Put("running", registry.Launch{Agent: world.agent.Name(), NativeID: "other", Path: "conversations/x/y"}),
			w.Launches().Put("ended", registry.Launch{Agent: world.agent.Name(), NativeID: "ses", Path: "conversations/x/y", Unused: true}),
		); err != nil {
			t.Fatal(err)
		}
		var told []error
		tries := 0
		for ; w.HasUnused(); tries++ {
			if told != nil || tries == 10 {
				t.Fatalf("%d failures: told of %v, and goes on", failures, told)
			}
			told = w.RemoveUnused(t.Context())
		}
		if gaveUp := failures == mostTries; tries != asked || asked != min(failures+1, mostTries) || (len(told) == 1) != gaveUp || gaveUp && !strings.Contains(told[0].Error(), "session ses, in which nothing was said, is still there: database is locked") {
			t.Errorf("%d failures: asked %d times, told of %v", failures, asked, told)
		}
		if ids := w.Launches().IDs(); len(ids) != 1 || ids[0] != "running" {
			t.Errorf("%d failures: noted are %q", failures, ids)
		}
	}
}
