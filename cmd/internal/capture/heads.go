package capture

import (
	"encoding/json"
	"strings"

	"cortext/inject"
	"cortext/store"
)

// headsName is the cache file with the results of reading the beginnings of transcripts.
// Most transcripts are never ours, and this shows that they have not changed without
// opening them.
const headsName = "heads.json"

// A head is what was found in a file, together with the state of the file.
type head struct {
	Look  string `json:"look"`
	Found string `json:"found"`
}

// heads are the cached results, by what was looked for and the file.
type heads struct {
	known   map[string]head
	used    map[string]bool // by file
	changed bool
}

// readHeads returns the cached heads, which each command reads once.
func (c *Capture) readHeads() *heads {
	if c.heads == nil {
		c.heads = &heads{used: map[string]bool{}}
		if !c.readCached(headsName, &c.heads.known) || c.heads.known == nil {
			c.heads.known = map[string]head{}
		}
	}
	return c.heads
}

// find returns what read finds in a file. It does not call read while the file is
// unchanged.
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

// prune drops entries for files that were not used, after a complete scan.
func (h *heads) prune() {
	for key := range h.known {
		if _, file, _ := strings.Cut(key, " "); !h.used[file] {
			delete(h.known, key)
			h.changed = true
		}
	}
}

// writeHeads saves the heads.
func (c *Capture) writeHeads() {
	if c.heads == nil || !c.heads.changed {
		return
	}
	c.writeCached(headsName, c.heads.known)
	c.heads.changed = false
}

// sessions lists the sessions of an agent on this machine.
func (c *Capture) sessions(agent inject.Agent) ([]inject.SessionRef, error) {
	machine := c.ws.Env.Machine
	machine.Head = func(file string, read func() (string, error)) (string, error) {
		return c.readHeads().find("head", file, read)
	}
	return agent.Sessions(machine)
}

// rootsOf is [RootsOf] with cached results.
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

// located maps the session ids of an agent to transcripts.
type located map[string]string

// locate returns all transcripts of an agent. Asked about each of ten thousand sessions,
// the agent would search all its folders each time.
func (c *Capture) locate(agent inject.Agent) located {
	if c.scan != nil && c.scan.located[agent.Name()] != nil {
		return c.scan.located[agent.Name()]
	}
	natives, _ := c.sessions(agent) // an unreadable store may not exist
	at := locatedAmong(natives)
	if c.scan != nil {
		c.scan.located[agent.Name()] = at
	}
	return at
}

func locatedAmong(natives []inject.SessionRef) located {
	at := located{}
	for _, n := range natives {
		if _, twice := at[n.NativeID]; twice {
			at[n.NativeID] = "" // several: the agent knows which
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
