//go:build unix

package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A chat is a conversation that a user started with a command and resumed in other
// sessions.
type chat struct {
	name    string
	natives []*native
}

// A state says which messages of a session cortext must have.
type state int

const (
	kept    state = iota
	skipped       // nothing from the message at index from on, until the user asks for it
	removed       // nothing new
	unsure        // the user did things that allow either
)

// A native is an agent's session.
type native struct {
	name, agent, id, file string

	at    *workTree
	chat  *chat
	ids   []string // of its messages, as cortext derives them
	last  string   // the agent's id of its last record
	turns int

	state  state
	from   int
	killed bool // the hook of its first prompt was killed
	spoke  bool // it had a turn that no hook reported: the next look finds it

	silent bool // its agent calls no hooks
	left   bool // a later command started another part of the session, in another conversation
	parted bool // it is one of several parts
}

// forbidden reports whether cortext must not write a message.
func (n *native) forbidden(id string) bool {
	switch n.state {
	case removed:
		return true
	case skipped:
		for _, one := range n.ids[min(n.from, len(n.ids)):] {
			if one == id {
				return true
			}
		}
	}
	return false
}

// newNative starts a session in a work tree. Its store is still empty.
func (w *world) newNative(agent string, t *workTree, c *chat) *native {
	w.t.Helper()
	n := &native{name: fmt.Sprintf("s%d", len(w.natives)), agent: agent, at: t, chat: c}
	x := fmt.Sprintf("%016x%016x", w.r.Uint64(), w.r.Uint64())
	n.id = fmt.Sprintf("%s-%s-4%s-8%s-%s", x[:8], x[8:12], x[13:16], x[17:20], x[20:])
	slug := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(t.dir, "-")
	switch agent {
	case "claude":
		n.file = filepath.Join(w.home, ".claude/projects", slug, n.id+".jsonl")
	case "gemini":
		dir := filepath.Join(w.home, ".gemini/tmp", t.name)
		w.write(filepath.Join(dir, ".project_root"), t.dir)
		n.file = filepath.Join(dir, "chats", "session-"+w.clock.Format("2006-01-02T15-04")+"-"+n.id[:8]+".jsonl")
	case "opencode":
		n.id = "ses_" + x[:26]
		n.file = filepath.Join(w.home, ".local/share/opencode/opencode.db")
		w.openCode(fmt.Sprintf(`insert into session (id, project_id, slug, directory, title, version, time_created, time_updated)
			values ('%s', 'global', '%s', '%s', 'New session', '1.18.33', %d, %[4]d)`, n.id, n.name, t.dir, w.clock.UnixMilli()))
	}
	w.natives, c.natives = append(w.natives, n), append(c.natives, n)
	return n
}

// said adds the ids that cortext gives to the messages of a turn.
func (w *world) said(n *native, ids ...string) {
	n.ids = append(n.ids, ids...)
	for _, id := range ids {
		w.owner[id] = n
	}
}

// A turn is a prompt of the user, and whether the agent calls a tool for it.
type turn struct {
	typed string
	tool  bool
}

// speak writes a turn into the store of the session's agent, as the agent does.
func (w *world) speak(n *native, t turn) {
	w.t.Helper()
	n.turns++
	n.spoke = !hasHooks(n)
	w.tick(time.Duration(1+w.r.IntN(30)) * time.Second)
	w.note("# turn %d of %s (%s %s in %s): %s", n.turns, n.name, n.agent, n.id, n.at.name, t.typed)
	switch n.agent {
	case "claude":
		w.speakClaude(n, t)
	case "gemini":
		w.speakGemini(n, t)
	case "opencode":
		w.speakOpenCode(n, t)
	}
}

// next returns a time slightly later than all before.
func (w *world) next() string {
	w.tick(137 * time.Millisecond)
	return w.clock.Format("2006-01-02T15:04:05.000Z")
}

type object = map[string]any

// appendTo adds records to a transcript.
func (w *world) appendTo(n *native, records ...object) {
	w.t.Helper()
	w.check(os.MkdirAll(filepath.Dir(n.file), 0o700))
	f, err := os.OpenFile(n.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	w.check(err)
	for _, r := range records {
		b, err := json.Marshal(r)
		w.check(err)
		_, err = f.Write(append(b, '\n'))
		w.check(err)
	}
	w.check(f.Close())
}

func (w *world) speakClaude(n *native, t turn) {
	w.t.Helper()
	uuid := func(what string) string { return fmt.Sprintf("%s%s%04d", n.id[:len(n.id)-5], what, n.turns) }
	put := func(kind, id string, message object) {
		r := object{
			"type": kind, "uuid": id, "parentUuid": nil, "timestamp": w.next(), "sessionId": n.id, "cwd": n.at.dir, "version": "2.1.329",
			"isSidechain": false, "userType": "external", "gitBranch": "main", "message": message,
		}
		if n.last != "" {
			r["parentUuid"] = n.last
		}
		if kind == "user" {
			r["promptId"] = uuid("e")
		}
		n.last = id
		w.appendTo(n, r)
	}
	assistant := func(id, stop string, content object) object {
		return object{
			"id": id, "role": "assistant", "model": "claude-sonnet-4-5-20250929", "content": []object{content}, "stop_reason": stop,
			"usage": object{"input_tokens": 1000, "output_tokens": 50, "cache_read_input_tokens": 0},
		}
	}
	content := t.typed
	if name, args, ok := slashCommand(t.typed); ok {
		content = fmt.Sprintf("<command-message>%s</command-message>\n<command-name>/%[1]s</command-name>\n<command-args>%s</command-args>", name, args)
	}
	user := uuid("a")
	put("user", user, object{"role": "user", "content": content})
	w.said(n, user)
	if t.tool {
		call, id := "toolu_"+uuid("c"), "msg_"+uuid("c")
		put("assistant", uuid("c"), assistant(id, "tool_use", object{"type": "tool_use", "id": call, "name": "Bash", "input": object{"command": "ls"}}))
		put("user", uuid("d"), object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": call, "content": "0.txt"}}})
		w.said(n, id)
	}
	id := "msg_" + uuid("b")
	put("assistant", uuid("b"), assistant(id, "end_turn", object{"type": "text", "text": fmt.Sprintf("answer %d of %s", n.turns, n.name)}))
	w.said(n, id)
}

// slashCommand parses a slash command.
func slashCommand(typed string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(typed, "/")
	name, args, _ = strings.Cut(rest, " ")
	return name, args, ok
}

// expanded returns the text that our command files produce for a command in Gemini CLI.
func expanded(typed string) string {
	if name, _, ok := slashCommand(typed); ok {
		return "<!-- cortext: /" + name + " -->\n# " + name + "\n\nDo it.\n\n" + typed
	}
	return typed
}

func (w *world) speakGemini(n *native, t turn) {
	w.t.Helper()
	uuid := func(what string) string { return fmt.Sprintf("%s%s%04d", n.id[:len(n.id)-5], what, n.turns) }
	set := func() object { return object{"$set": object{"lastUpdated": w.clock.Format(time.RFC3339Nano)}} }
	if n.turns == 1 {
		w.appendTo(n, object{"sessionId": n.id, "projectHash": fmt.Sprintf("%x", sha256.Sum256([]byte(n.at.dir))), "startTime": w.next(), "lastUpdated": w.next(), "kind": "main"})
	}
	user := object{"id": uuid("a"), "timestamp": w.next(), "type": "user", "content": []object{{"text": expanded(t.typed)}}}
	if strings.HasPrefix(t.typed, "/") {
		user["displayContent"] = []object{{"text": t.typed}}
	}
	w.appendTo(n, user, set())
	w.said(n, uuid("a"))
	gemini := func(id, text string) object {
		return object{
			"id": id, "timestamp": w.next(), "type": "gemini", "content": text, "thoughts": []object{}, "model": "gemini-2.5-pro",
			"tokens": object{"input": 191, "output": 11, "cached": 0, "thoughts": 0, "tool": 0, "total": 202},
		}
	}
	if t.tool {
		call := "read_file-" + uuid("c")
		result := []object{{"functionResponse": object{"id": call, "name": "read_file", "response": object{"output": "a line"}}}}
		first := gemini(uuid("c"), "Let me look.")
		w.appendTo(n, first, set())
		first["toolCalls"] = []object{{"id": call, "name": "read_file", "args": object{"file_path": "0.txt"}, "status": "success", "timestamp": w.next(), "result": result}}
		w.appendTo(n, first, object{"id": uuid("d"), "timestamp": w.next(), "type": "user", "content": result}, set())
		w.said(n, uuid("c"))
	}
	w.appendTo(n, gemini(uuid("b"), fmt.Sprintf("answer %d of %s", n.turns, n.name)), set())
	w.said(n, uuid("b"))
}

// openCode changes OpenCode's database as OpenCode does.
func (w *world) openCode(statements ...string) {
	w.t.Helper()
	file := filepath.Join(w.home, ".local/share/opencode/opencode.db")
	if _, err := os.Stat(file); err != nil {
		raw, err := os.ReadFile("../../testdata/agents/opencode/1.18.33/store/transcript.db")
		w.check(err)
		w.check(os.MkdirAll(filepath.Dir(file), 0o700))
		w.check(os.WriteFile(file, raw, 0o600))
		statements = append([]string{"delete from part", "delete from message", "delete from session"}, statements...)
	}
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	w.check(err)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			w.t.Fatalf("%s: %v", s, err)
		}
	}
}

func (w *world) speakOpenCode(n *native, t turn) {
	w.t.Helper()
	text := t.typed
	if name, args, ok := slashCommand(t.typed); ok {
		text = "<!-- cortext: /" + name + " -->\n# " + name + "\n\nDo it.\n\n<!-- cortext: typed: -->\n" + args
	}
	var all []string
	first := ""
	put := func(what string, message, part object) {
		w.next()
		at := w.clock.UnixMilli()
		id := fmt.Sprintf("%012x%s%s", at*16, what, n.id[len(n.id)-10:])
		message["time"] = object{"created": at, "completed": at}
		if what != "u" {
			message["parentID"] = first
		} else {
			first = "msg_" + id
		}
		m, err := json.Marshal(message)
		w.check(err)
		p, err := json.Marshal(part)
		w.check(err)
		all = append(all,
			fmt.Sprintf(`insert into message values ('msg_%s', '%s', %d, %[3]d, '%s')`, id, n.id, at, m),
			fmt.Sprintf(`insert into part values ('prt_%s', 'msg_%[1]s', '%s', %d, %[3]d, '%s')`, id, n.id, at, p))
		w.said(n, "msg_"+id)
	}
	assistant := func() object {
		return object{"role": "assistant", "mode": "build", "agent": "build", "modelID": "m", "providerID": "p", "finish": "stop", "path": object{"cwd": n.at.dir, "root": n.at.dir}}
	}
	put("u", object{"role": "user", "agent": "build"}, object{"type": "text", "text": text})
	if t.tool {
		put("c", assistant(), object{"type": "tool", "tool": "bash", "callID": "call_" + n.name + fmt.Sprint(n.turns), "state": object{
			"status": "completed", "input": object{"command": "ls"}, "output": "0.txt", "title": "ls", "metadata": object{"exit": 0}, "time": object{"start": w.clock.UnixMilli(), "end": w.clock.UnixMilli()},
		}})
	}
	put("z", assistant(), object{"type": "text", "text": fmt.Sprintf("answer %d of %s", n.turns, n.name)})
	w.openCode(append(all, fmt.Sprintf(`update session set time_updated = %d where id = '%s'`, w.clock.UnixMilli(), n.id))...)
}
