package capture

import (
	"time"

	"cortext/inject"
)

// The hook counts the turns since the last stop in the cache. If the cache is lost, the
// count starts over.

// CountTurn counts an answered turn of a session.
func (c *Capture) CountTurn(agent inject.Agent, nativeID string) {
	if c.ws.Config.RemindTurns <= 0 {
		return
	}
	if b, ok := c.cached(agent.Name(), nativeID); ok && b.Bound() && !b.Reminded {
		b.Turns++
		c.saveCursor(agent.Name(), nativeID, b)
	}
}

// remindWait is how long a reminder waits for another hook of the session. If that takes
// longer, the next prompt reminds.
const remindWait = 50 * time.Millisecond

// TakeReminder reports, once after each stop, that remind_turns turns were answered
// since. Usually it reads one small file.
func (c *Capture) TakeReminder(agent inject.Agent, nativeID string) bool {
	if b, ok := c.cached(agent.Name(), nativeID); !ok || !c.due(b) || c.ws.Removed.Skipped(agent.Name(), nativeID) {
		return false
	}
	unlock, err := c.Lock(agent.Name(), nativeID, remindWait)
	if err != nil {
		return false
	}
	defer unlock()
	b, ok := c.cached(agent.Name(), nativeID)
	if !ok || !c.due(b) {
		return false
	}
	b.Reminded = true
	c.saveCursor(agent.Name(), nativeID, b)
	return true
}

func (c *Capture) due(b *Binding) bool {
	return c.ws.Config.RemindTurns > 0 && b.Bound() && !b.Reminded && !b.Ordinary && b.Turns >= c.ws.Config.RemindTurns
}
