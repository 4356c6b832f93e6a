//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A walkStep is one thing that can happen in a random work tree or to a random session.
type walkStep struct {
	name   string
	weight int
	do     func(*world, *workTree)
}

var walkable = []walkStep{
	{"begin a session", 14, (*world).begin},
	{"begin an ordinary session", 3, (*world).beginOrdinary},
	{"another command", 14, (*world).anotherCommand},
	{"turn", 60, (*world).aTurn},
	{"turn with a tool call", 20, (*world).toolTurn},
	{"/workspace.resume", 14, (*world).resumeIn},
	{"/workspace.stop-conversation", 6, (*world).stopIn},
	{"cortext stop", 8, (*world).stop},
	{"cortext sync", 12, (*world).sync},
	{"cortext current", 6, (*world).current},
	{"cortext resume --print", 6, (*world).read},
	{"cortext import", 5, (*world).importFile},
	{"cortext skip", 2, (*world).skip},
	{"cortext rm", 2, (*world).remove},
	{"session starts again", 6, (*world).startAgain},
	{"session ends", 6, (*world).end},
	{"two hooks at once", 8, (*world).together},
	{"kill -9 of a hook", 6, (*world).kill},
	{"delete local/cache", 5, (*world).deleteCache},
	{"an older local/cache", 6, (*world).olderCache},
	{"rm -rf .session", 3, (*world).removeSession},
	{"rm -rf a conversation", 3, (*world).removeFolder},
	{"an older conversations/", 5, (*world).olderChats},
	{"edit a file", 12, (*world).edit},
	{"git commit", 30, (*world).commit},
	{"git checkout", 20, (*world).checkout},
	{"git checkout -b", 6, (*world).branch},
	{"git checkout --detach", 4, (*world).detach},
	{"git reset --hard", 4, (*world).reset},
	{"git reset --hard HEAD~1", 4, (*world).resetBack},
	{"git stash -u", 6, (*world).stash},
	{"git stash pop", 7, (*world).pop},
	{"git clean -fd", 4, (*world).clean},
	{"git clean -fdx", 2, (*world).cleanAll},
	{"git merge", 12, (*world).merge},
	{"git merge --no-commit", 4, (*world).mergeOpen},
	{"git pull", 14, (*world).pull},
	{"git push", 14, (*world).push},
	{"git rebase", 4, (*world).rebase},
	{"git rebase -i, stopped", 2, (*world).rebaseOpen},
	{"git cherry-pick", 5, (*world).cherryPick},
	{"git revert", 4, (*world).revert},
	{"git bisect", 3, (*world).bisect},
	{"git sparse-checkout set", 3, (*world).sparseOn},
	{"git sparse-checkout disable", 4, (*world).sparseOff},
	{"end git's operation", 12, (*world).conclude},
}

// cortext runs cortext in a work tree.
func (w *world) cortext(t *workTree, c command) (out, errs string, code int) {
	w.t.Helper()
	c.dir = t.dir
	out, errs, code = w.run(c)
	line := strings.Join(quoted(c.args), " ")
	if c.input != "" {
		line = "echo '" + c.input + "' | " + line
	}
	if c.kill > 0 {
		line += " # kill -9 after " + c.kill.String()
	}
	w.note("(cd %s && %s%s) # %d", t.name, strings.Join(append(slices.Clone(c.env), ""), " "), line, code)
	return out, errs, code
}

// events maps the agents' names for the same hook events.
var events = map[string]map[string]string{
	"claude": {"prompt": "UserPromptSubmit", "answer": "Stop", "start": "SessionStart", "end": "SessionEnd"},
	"gemini": {"prompt": "BeforeAgent", "answer": "AfterAgent", "start": "SessionStart", "end": "SessionEnd"},
}

// hookCommand returns the hook call of a session's agent.
func (w *world) hookCommand(n *native, moment string, more object) command {
	w.t.Helper()
	event := events[n.agent][moment]
	in := object{"session_id": n.id, "transcript_path": n.file, "cwd": n.at.dir, "hook_event_name": event}
	for k, v := range more {
		in[k] = v
	}
	b, err := json.Marshal(in)
	w.check(err)
	env := map[string][]string{"claude": {"CLAUDE_PROJECT_DIR=" + n.at.dir}, "gemini": {"GEMINI_PROJECT_DIR=" + n.at.dir, "GEMINI_SESSION_ID=" + n.id}}
	return command{env: env[n.agent], input: string(b), args: []string{"cortext", "hook", n.agent, event}}
}

// hook calls a hook of the session's agent. It must not make the agent fail.
func (w *world) hook(n *native, moment string, more object) (before *snapshot) {
	w.t.Helper()
	typed := fmt.Sprint(more["prompt"])
	asked := strings.Contains(typed, "/workspace.stop-conversation") || strings.Contains(typed, "/workspace.resume")
	before, _ = w.watch(n.at, act{who: "hook", asked: asked, chats: w.chatsOf(n)}, func() {
		if _, errs, code := w.cortext(n.at, w.hookCommand(n, moment, more)); code != 0 {
			w.fail("a hook failed", "%s of %s: exit code %d: %s", moment, n.name, code, errs)
		}
	})
	return before
}

// does runs a whole turn of a session, with its hooks, and checks the result.
func (w *world) does(n *native, t turn) {
	w.t.Helper()
	if !hasHooks(n) {
		w.speak(n, t)
		return
	}
	typed := t.typed
	if n.agent == "gemini" {
		typed = expanded(typed)
	}
	w.hook(n, "prompt", object{"prompt": typed, "prompt_id": fmt.Sprintf("%se%04d", n.id[:len(n.id)-5], n.turns+1)})
	w.speak(n, t)
	mayWait := w.mayWait(n)
	w.hook(n, "answer", nil)
	w.checkTurn(n, mayWait)
}

// mayWait reports whether a session's messages may wait for its folder.
func (w *world) mayWait(n *native) bool {
	w.t.Helper()
	return len(w.look(n.at).where(n.chat)) == 0 || w.underway(n.at) != "" || w.sparse(n.at)
}

var words = []string{"the", "api", "move", "release", "tests", "of", "orders", "stock", "slow", "query", "new"}

func (w *world) phrase() string {
	return strings.Join([]string{pick(w, words), pick(w, words), pick(w, words)}, " ")
}

func (w *world) newChat() *chat {
	c := &chat{name: fmt.Sprintf("c%d", len(w.chats))}
	w.chats = append(w.chats, c)
	return c
}

// begin starts a conversation with a command in a new session.
func (w *world) begin(t *workTree) {
	w.t.Helper()
	if len(w.chats) > 25+w.step/50 {
		w.aTurn(t)
		return
	}
	n := w.newNative(pick(w, []string{"claude", "claude", "gemini", "opencode"}), t, w.newChat())
	n.silent = w.r.IntN(5) == 0
	if hasHooks(n) && w.r.IntN(2) == 0 {
		w.hook(n, "start", object{"source": "startup"})
	}
	w.does(n, turn{typed: w.beginning()})
}

// some returns a random session that fits, or nil.
func (w *world) some(fits func(*native) bool) *native {
	var list []*native
	for _, n := range w.natives {
		if !n.left && fits(n) {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		return nil
	}
	if len(list) > 20 && w.r.IntN(4) > 0 { // usually one of the latest
		list = list[len(list)-20:]
	}
	return pick(w, list)
}

func hasHooks(n *native) bool { return n.agent != "opencode" && !n.silent }

func (w *world) goOn(tool bool) {
	w.t.Helper()
	if n := w.some(func(*native) bool { return true }); n != nil {
		w.does(n, turn{fmt.Sprintf("say %d of %s, %s", n.turns+1, n.name, w.phrase()), tool})
	}
}

func (w *world) aTurn(*workTree)    { w.t.Helper(); w.goOn(false) }
func (w *world) toolTurn(*workTree) { w.t.Helper(); w.goOn(true) }

// here returns a conversation in a work tree, with its id there.
func (w *world) here(t *workTree, fits func(*chat) bool) (c *chat, id string) {
	w.t.Helper()
	now := w.look(t)
	var list []*chat
	ids := map[*chat]string{}
	for _, c := range w.chats {
		if in := now.where(c); len(in) == 1 && in[0].id != "" && fits(c) {
			list, ids[c] = append(list, c), in[0].id
		}
	}
	if len(list) == 0 {
		return nil, ""
	}
	c = pick(w, list)
	return c, ids[c]
}

// all reports whether every session of a conversation is in a state.
func (c *chat) all(s state) bool {
	return !slices.ContainsFunc(c.natives, func(n *native) bool { return n.state != s })
}

func (c *chat) isKept() bool { return c.all(kept) }

// resumeIn continues a conversation in a new session.
func (w *world) resumeIn(t *workTree) {
	w.t.Helper()
	c, id := w.here(t, (*chat).isKept)
	if c == nil {
		return
	}
	n := w.newNative(pick(w, []string{"claude", "gemini"}), t, c)
	w.does(n, turn{typed: "/workspace.resume " + id})
}

func (w *world) stopIn(*workTree) {
	w.t.Helper()
	if n := w.some(func(n *native) bool { return hasHooks(n) && n.state != removed }); n != nil {
		for _, p := range w.parts(n) {
			if p.state == skipped {
				p.state, p.from = kept, 0
			}
		}
		w.does(n, turn{typed: "/workspace.stop-conversation"})
	}
}

// stop stops a conversation that is in the work tree.
func (w *world) stop(t *workTree) {
	w.t.Helper()
	c, id := w.here(t, func(c *chat) bool { return !c.all(removed) })
	if c == nil {
		return
	}
	w.uncertain(c)
	busy := w.underway(t) != "" || w.sparse(t)
	w.watch(t, act{who: "stop", asked: true, chats: []*chat{c}}, func() {
		_, _, code := w.cortext(t, command{args: []string{"cortext", "stop", id}})
		if code != 0 || !c.isKept() {
			return
		}
		now := w.look(t)
		for _, n := range c.natives {
			for _, one := range n.ids {
				if n.at == t && len(now.lines()[one]) == 0 && !(busy && now.waiting[one]) {
					w.fail("missing after a stop that succeeded", "%s in %s\n%s", n.name, t.name, w.named(one))
				}
			}
		}
	})
}

func (w *world) sync(t *workTree) {
	w.t.Helper()
	w.watch(t, act{who: "sync", all: true}, func() { w.cortext(t, command{args: []string{"cortext", "sync"}}) })
}

func (w *world) current(t *workTree) {
	w.t.Helper()
	w.watch(t, act{who: "current", all: true}, func() { w.cortext(t, command{args: []string{"cortext", "current"}}) })
}

func (w *world) read(t *workTree) {
	w.t.Helper()
	if c, id := w.here(t, func(*chat) bool { return true }); c != nil {
		w.watch(t, act{who: "resume --print", quiet: true}, func() {
			w.cortext(t, command{args: []string{"cortext", "resume", id, "--print", "--budget", "20000"}})
		})
		w.watch(t, act{who: "list", quiet: true}, func() { w.cortext(t, command{args: []string{"cortext", "list"}}) })
	}
}

// importFile imports a session's transcript by name, which brings back a skipped or
// removed session.
func (w *world) importFile(*workTree) {
	w.t.Helper()
	n := w.some(func(n *native) bool { return hasHooks(n) && n.turns > 0 })
	if n == nil {
		return
	}
	for _, p := range w.parts(n) {
		if p.state == skipped && len(w.look(n.at).where(p.chat)) > 0 {
			p.state, p.from = kept, 0
		} else if p.state != kept {
			w.uncertain(p.chat)
		}
	}
	w.watch(n.at, act{who: "import", asked: true, chats: w.chatsOf(n)}, func() {
		w.cortext(n.at, command{args: []string{"cortext", "import", n.file}})
	})
}

func (w *world) skip(*workTree) {
	w.t.Helper()
	n := w.some(func(n *native) bool { return hasHooks(n) && n.state == kept })
	if n == nil {
		return
	}
	variable := map[string]string{"claude": "CLAUDE_CODE_SESSION_ID=", "gemini": "GEMINI_SESSION_ID="}[n.agent]
	w.watch(n.at, act{who: "skip", chats: w.chatsOf(n)}, func() {
		if _, _, code := w.cortext(n.at, command{env: []string{variable + n.id}, args: []string{"cortext", "skip"}}); code == 0 {
			for _, p := range w.parts(n) {
				if p.state == kept {
					p.state, p.from = skipped, len(p.ids)
				}
			}
		}
	})
}

func (w *world) remove(t *workTree) {
	w.t.Helper()
	c, id := w.here(t, (*chat).isKept)
	if c == nil {
		return
	}
	w.watch(t, act{who: "rm", asked: true, chats: []*chat{c}}, func() {
		if _, _, code := w.cortext(t, command{args: []string{"cortext", "rm", id, "--yes"}}); code == 0 {
			for _, n := range c.natives {
				n.state = removed
			}
		}
	})
}

func (w *world) startAgain(*workTree) {
	w.t.Helper()
	if n := w.some(hasHooks); n != nil {
		w.hook(n, "start", object{"source": "resume"})
	}
}

func (w *world) end(*workTree) {
	w.t.Helper()
	if n := w.some(hasHooks); n != nil {
		w.hook(n, "end", object{"reason": "prompt_input_exit"})
	}
}

// together runs hooks of two sessions in one work tree, or of one session twice, or a
// hook and sync, at the same time.
func (w *world) together(*workTree) {
	w.t.Helper()
	one := w.some(hasHooks)
	if one == nil {
		return
	}
	other := w.some(func(n *native) bool { return hasHooks(n) && n.at == one.at })
	for _, n := range []*native{one, other} {
		w.speak(n, turn{fmt.Sprintf("say %d of %s, %s", n.turns+1, n.name, w.phrase()), true})
	}
	who, second := "hook", w.hookCommand(other, "answer", nil)
	chats := append(w.chatsOf(one), w.chatsOf(other)...)
	withSync := w.r.IntN(3) == 0
	if withSync {
		other, who, second = one, "sync", command{args: []string{"cortext", "sync"}} // blame sync for a new file
	}
	waits := map[*native]bool{one: w.mayWait(one), other: w.mayWait(other)}
	w.watch(one.at, act{who: who, chats: chats, all: withSync}, func() {
		w.note("# both at once:")
		commands := []command{w.hookCommand(one, "answer", nil), second}
		var group sync.WaitGroup
		for _, c := range commands {
			group.Go(func() { c.dir = one.at.dir; w.run(c) })
			w.note("(cd %s && echo '%s' | %s) &", one.at.name, c.input, strings.Join(c.args, " "))
		}
		group.Wait()
	})
	w.checkTurn(one, waits[one])
	w.checkTurn(other, waits[other])
}

// kill kills a hook in the middle: one that starts a conversation, or one at the end of a
// turn.
func (w *world) kill(t *workTree) {
	w.t.Helper()
	n := w.some(hasHooks)
	moment, said := "answer", turn{"a turn that is killed", true}
	var more object
	if n == nil || w.r.IntN(4) == 0 {
		n, moment, said = w.newNative("claude", t, w.newChat()), "prompt", turn{typed: "/workspace.plan " + w.phrase()}
		more = object{"prompt": said.typed}
	} else {
		w.speak(n, said)
	}
	w.watch(n.at, act{who: "hook", chats: w.chatsOf(n), torn: true}, func() {
		c := w.hookCommand(n, moment, more)
		c.kill = time.Duration(1+w.r.IntN(20)) * time.Millisecond
		w.cortext(n.at, c)
	})
	if moment == "prompt" {
		n.killed = true
		w.speak(n, said)
		mayWait := w.mayWait(n)
		w.hook(n, "answer", nil)
		w.checkTurn(n, mayWait)
	}
}

// shell runs a command line as the user would.
func (w *world) shell(t *workTree, args ...string) {
	w.t.Helper()
	w.look(t)
	w.must(t.dir, args...)
	w.note("(cd %s && %s)", t.name, strings.Join(args, " "))
}

func (w *world) deleteCache(t *workTree) {
	w.t.Helper()
	w.shell(t, "rm", "-rf", ".workspace/local/cache")
}

// swap replaces a folder with its older copy, and keeps a copy of the current one.
func (w *world) swap(t *workTree, dir, older string) (copied string) {
	w.t.Helper()
	at := filepath.Join(t.dir, dir)
	copied = filepath.Join(w.root, "copies", fmt.Sprintf("%s-%d-%s", t.name, w.step, filepath.Base(dir)))
	w.check(os.MkdirAll(filepath.Dir(copied), 0o755))
	if _, err := os.Stat(at); err == nil {
		w.must(t.dir, "cp", "-a", at, copied)
	} else {
		copied = ""
	}
	if older != "" {
		w.shell(t, "rm", "-rf", dir)
		w.check(os.MkdirAll(filepath.Dir(at), 0o755))
		w.must(t.dir, "cp", "-a", older, at)
		w.note("(cd %s && cp -a %s %s) # an older copy", t.name, filepath.Base(older), dir)
		w.check(os.RemoveAll(older))
	}
	return copied
}

func (w *world) olderCache(t *workTree) {
	w.t.Helper()
	if _, err := os.Stat(filepath.Join(t.dir, ".workspace/local/.gitignore")); err != nil {
		return // git clean removed all of it, so nothing ignores what the user puts there
	}
	t.oldCache = w.swap(t, ".workspace/local/cache", t.oldCache)
}

func (w *world) olderChats(t *workTree) {
	w.t.Helper()
	t.oldChats = w.swap(t, "conversations", t.oldChats)
}

func (w *world) oneFolder(t *workTree) *folder {
	w.t.Helper()
	if now := w.look(t); len(now.folders) > 0 {
		return pick(w, now.folders)
	}
	return nil
}

func (w *world) removeSession(t *workTree) {
	w.t.Helper()
	if f := w.oneFolder(t); f != nil {
		w.shell(t, "rm", "-rf", f.path+"/.session")
	}
}

func (w *world) removeFolder(t *workTree) {
	w.t.Helper()
	if f := w.oneFolder(t); f != nil {
		w.shell(t, "rm", "-rf", f.path)
	}
}
