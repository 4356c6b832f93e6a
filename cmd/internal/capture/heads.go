package capture

import (
	"encoding/json"
	"strings"

	"cortext/inject"
	"cortext/store"
)

// headsName is the file of the cache with what was found at the beginnings of transcripts.
// Most of these are never ours, and that they have not changed is seen without opening them.
const headsName = "heads.json"

// A head is what was found in a file, and how the file looked.
type head struct {
	Look  string `json:"look"`
	Found string `json:"found"`
}

// heads are what is known, by what was looked for and the file.
type heads struct {
	known   map[string]head
	used    map[string]bool // by the file
	changed bool
}

// readHeads returns what the cache knows, read once by each command.
func (c *Capture) readHeads() *heads {
	if c.heads == nil {
		c.heads = &heads{used: map[string]bool{}}
		if !c.readCached(headsName, &c.heads.known) || c.heads.known == nil {
			c.heads.known = map[string]head{}
		}
	}
	return c.heads
}

// find returns what read finds in a file, which it need not call while the file looks as
// it did.
func (h *heads) find(what, file string, read func() (string, error)) (string, error) {
	look, ok := store.LookAt(file)
	key := what + " " + file
	have, known := h.known[key]
	if h.used[file] = true; ok && known && have.Look == look {
		return have.Found, nil
	}
	found, err := read()
	if ok && err == nil {
		h.known[key], h.changed = head{look, found}, true
	}
	return found, err
}

// prune drops what is known of files that nobody asked for, after everything was looked at.
func (h *heads) prune() {
	for key := range h.known {
		if _, file, _ := strings.Cut(key, " "); !h.used[file] {
			delete(h.known, key)
			h.changed = true
		}
	}
}

// writeHeads keeps what was found.
func (c *Capture) writeHeads() {
	if c.heads == nil || !c.heads.changed {
		return
	}
	c.writeCached(headsName, c.heads.known)
	c.heads.changed = false
}

// sessions lists the sessions of an agent on this machine.
func (c *Capture) sessions(agent inject.Agent) ([]inject.Native, error) {
	machine := c.ws.Env.Machine
	machine.Head = func(file string, read func() (string, error)) (string, error) {
		return c.readHeads().find("head", file, read)
	}
	return agent.Sessions(machine)
}

// rootsOf is [RootsOf], or what it found before.
func (c *Capture) rootsOf(agent inject.Agent, transcript string) (roots []string) {
	text, err := c.readHeads().find("roots", transcript, func() (string, error) {
		var err error
		if roots, err = RootsOf(agent, transcript); err != nil {
			return "", err
		}
		text, err := json.Marshal(roots)
		return string(text), err
	})
	if err == nil && roots == nil {
		_ = json.Unmarshal([]byte(text), &roots)
	}
	return roots
}

// A located says where the transcripts of an agent are, by the ids of the sessions.
type located map[string]string

// locate returns them: asked for each of ten thousand sessions, the agent would look
// through all its folders each time.
func (c *Capture) locate(agent inject.Agent) located {
	if c.scan != nil && c.scan.located[agent.Name] != nil {
		return c.scan.located[agent.Name]
	}
	natives, _ := c.sessions(agent) // what cannot be read may not be there
	at := locatedAmong(natives)
	if c.scan != nil {
		c.scan.located[agent.Name] = at
	}
	return at
}

func locatedAmong(natives []inject.Native) located {
	at := located{}
	for _, n := range natives {
		if _, twice := at[n.NativeID]; twice {
			at[n.NativeID] = "" // the agent knows which
		} else {
			at[n.NativeID] = n.Path
		}
	}
	return at
}

// transcript is [inject.Agent.Locate] among the sessions that were listed.
func (c *Capture) transcript(agent inject.Agent, files located, nativeID string) (file string, ok bool) {
	file, ok = files[nativeID]
	if ok && file == "" {
		file, ok, _ = agent.Locate(c.ws.Env.Machine, nativeID)
	}
	return file, ok
}
