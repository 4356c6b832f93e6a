package capture

import (
	"time"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
)

// reminders counts the answered turns of sessions since their conversations were stopped,
// and reminds once after each stop.
type reminders struct {
	ws       *workspace.Workspace
	bindings *binding.Bindings
}

// CountTurn counts an answered turn of a session, in the cache. If the cache is lost, the
// count starts over.
func (r *reminders) CountTurn(agent inject.Agent, nativeID string) {
	if r.ws.Config.RemindTurns <= 0 {
		return
	}
	if b, ok := r.bindings.Cached(agent.Name(), nativeID); ok && b.Bound() && !b.Reminded {
		b.Turns++
		r.bindings.SaveCursor(agent.Name(), nativeID, b)
	}
}

// remindWait is how long a reminder waits for another hook of the session. If that takes
// longer, the reminder comes with the next prompt.
const remindWait = 50 * time.Millisecond

// TakeReminder reports, once after each stop, that the user should be reminded because
// remind_turns turns were answered since. Usually it reads one small file.
func (r *reminders) TakeReminder(agent inject.Agent, nativeID string) bool {
	if b, ok := r.bindings.Cached(agent.Name(), nativeID); !ok || !r.due(b) || r.ws.Removed.Skipped(agent.Name(), nativeID) {
		return false
	}
	unlock, err := r.bindings.Lock(agent.Name(), nativeID, remindWait)
	if err != nil {
		return false
	}
	defer unlock()
	b, ok := r.bindings.Cached(agent.Name(), nativeID)
	if !ok || !r.due(b) {
		return false
	}
	b.Reminded = true
	r.bindings.SaveCursor(agent.Name(), nativeID, b)
	return true
}

func (r *reminders) due(b *binding.Binding) bool {
	return r.ws.Config.RemindTurns > 0 && b.Bound() && !b.Reminded && !b.Ordinary && b.Turns >= r.ws.Config.RemindTurns
}
