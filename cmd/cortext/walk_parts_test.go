//go:build unix

package main

import "fmt"

// part starts the next part of a session, in a new conversation.
func (w *world) part(n *native) *native {
	next := *n
	next.name, next.chat, next.ids, next.parted = fmt.Sprintf("s%d", len(w.natives)), w.newChat(), nil, true
	n.left, n.parted = true, true
	w.natives, next.chat.natives = append(w.natives, &next), append(next.chat.natives, &next)
	return &next
}

// parts lists the parts of a session.
func (w *world) parts(n *native) (list []*native) {
	for _, p := range w.natives {
		if p.id == n.id {
			list = append(list, p)
		}
	}
	return list
}

// chatsOf lists the conversations that a session went into.
func (w *world) chatsOf(n *native) (list []*chat) {
	for _, p := range w.parts(n) {
		list = append(list, p.chat)
	}
	return list
}

// beginning returns a command that starts a conversation, sometimes without a topic.
func (w *world) beginning() string {
	command := "/workspace." + pick(w, []string{"plan", "brainstorm", "debug"})
	if w.r.IntN(4) == 0 {
		return command
	}
	return command + " " + w.phrase()
}

// beginOrdinary starts a session without a command. It is captured if the work tree
// captures all sessions.
func (w *world) beginOrdinary(t *workTree) {
	w.t.Helper()
	n := w.newNative(pick(w, []string{"claude", "gemini", "opencode"}), t, w.newChat())
	n.state = unsure
	w.does(n, turn{typed: "an ordinary question about " + w.phrase()})
}

// anotherCommand starts another conversation in a session, usually without a hook.
func (w *world) anotherCommand(*workTree) {
	w.t.Helper()
	n := w.some(func(n *native) bool { return n.state == kept && !n.killed })
	if n == nil || len(w.chats) > 30+w.step/50 {
		return
	}
	next, told := w.part(n), w.r.IntN(3) == 0
	if said := (turn{typed: w.beginning()}); told {
		w.does(next, said)
	} else {
		w.speak(next, said)
	}
}

// uncertain records that the user asked for a conversation that has a skipped or removed
// session. The walk does not decide whether that asks for the session, too.
func (w *world) uncertain(c *chat) {
	for _, n := range c.natives {
		for _, p := range w.parts(n) {
			if p.state == skipped || p.state == n.state && n.state != kept { // a session is skipped as a whole
				p.state = unsure
			}
		}
	}
}
