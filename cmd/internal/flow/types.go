package flow

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/resume/find"
	"cortext/resume/prompt"
	"cortext/schema"
	"cortext/store"
)

const commandsDir = ".workspace/commands"

// commandFile is where the prompt of a type lies in a workspace.
func commandFile(typ string) string { return path.Join(commandsDir, typ+".md") }

// Init makes a workspace of dir and returns the files that it made or changed.
// What is there already is left as it is. commit is what its settings say about
// commits.
func Init(dir, commit string) (created []string, err error) {
	st, created, err := store.Init(dir)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	files := map[string]string{ConfigFile: workspace.ConfigText(commit)}
	for _, typ := range prompt.Types() {
		text, _ := prompt.BuiltIn(typ)
		files[commandFile(typ)] = text
	}
	for _, name := range initFiles() {
		if ok, err := st.Exists(name); err != nil || ok {
			if err != nil {
				return created, err
			}
			continue
		}
		if err := st.WriteFile(name, []byte(files[name])); err != nil {
			return created, err
		}
		created = append(created, name)
	}
	return created, nil
}

// validType reports whether typ can be the type of a conversation: it becomes
// part of a folder's and a file's name.
func validType(typ string) bool { return typ != "" && store.Slug(typ) == typ }

// checkType says why a new conversation cannot be of the type: it has no prompt,
// neither built in nor in the workspace.
func (w *Workspace) checkType(typ string) error {
	if validType(typ) {
		if _, ok := prompt.BuiltIn(typ); ok {
			return nil
		}
		ok, err := w.Store.Exists(commandFile(typ))
		if err != nil || ok {
			return err
		}
	}
	return &TypeError{Type: typ, Near: find.NearestWord(prompt.Types(), typ)}
}

// A TypeError says that there is no such type of conversation.
type TypeError struct{ Type, Near string }

func (e *TypeError) Error() string {
	return fmt.Sprintf("there is no conversation type %q: it is one of %s, or what %s/<type>.md describes",
		e.Type, strings.Join(prompt.Types(), ", "), commandsDir)
}

// command returns the prompt of a type as it stands now; ok is false where there
// is none.
func (w *Workspace) command(typ string) (c resume.Command, ok bool, err error) {
	if !validType(typ) {
		return c, false, nil
	}
	c = resume.Command{Name: "/workspace." + typ, File: commandFile(typ)}
	b, err := w.Store.ReadFile(c.File)
	text := string(b)
	if errors.Is(err, store.ErrNotFound) {
		c.BuiltIn = true
		text, ok = prompt.BuiltIn(typ)
		if !ok {
			return resume.Command{}, false, nil
		}
	} else if err != nil {
		return resume.Command{}, false, err
	}
	_, c.Body = prompt.Split(w.fillSettings(text))
	return c, true, nil
}

// remindTurns stands in a prompt for the setting remind_turns.
const remindTurns = "$REMIND_TURNS"

// fillSettings puts settings into a prompt. A line about reminders goes where
// there are to be none.
func (w *Workspace) fillSettings(text string) string {
	if w.Config.RemindTurns > 0 {
		return strings.ReplaceAll(text, remindTurns, strconv.Itoa(w.Config.RemindTurns))
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, remindTurns) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// New begins a conversation: its folder with the type's markdown file, active
// from now on. paused are the titles of the conversations that are paused by it.
func (w *Workspace) New(typ, title string) (e store.Entry, paused []string, err error) {
	agent, id, t := w.untied()
	e, paused, err = w.begun(typ, title, title, func(s *schema.Session) {
		if t != nil {
			s.Sources = []schema.Source{{Agent: agent, NativeID: id, Version: t.Version}}
			s.AgentConfig.Agent = agent
		}
	})
	if err == nil && t != nil {
		t.add(part{Path: e.Path})
		w.writeTie(agent, id, t)
	}
	return e, paused, err
}

// untied is the agent's session that the command was called from, if that belongs
// to no conversation yet: one that it begins is its.
func (w *Workspace) untied() (agent, nativeID string, t *tie) {
	for _, a := range w.env.Agents {
		id := a.Session(w.env.Machine)
		if id == "" {
			continue
		}
		file, _ := a.Locate(w.env.Machine, id)
		if t, err := w.tieOf(a, id, file); err == nil && len(t.Parts) == 0 {
			return a.Name, id, t
		}
	}
	return "", "", nil
}

// begun makes a conversation that begins now; describe, if any, adds what else is
// known of it. args are what was typed behind its command.
func (w *Workspace) begun(typ, title, args string, describe func(*schema.Session)) (e store.Entry, paused []string, err error) {
	if err := w.checkType(typ); err != nil {
		return e, nil, err
	}
	title, err = cleanTitle(title)
	if err != nil {
		return e, nil, err
	}
	var entropy [10]byte
	if _, err := io.ReadFull(w.random(), entropy[:]); err != nil {
		return e, nil, err
	}
	now := w.env.Now()
	s := &schema.Session{
		Version:          schema.Version,
		ID:               schema.NewID(now, entropy),
		ConversationType: typ,
		Title:            title,
		Status:           schema.Active,
		CreatedAt:        schema.NewTime(now),
		LastActive:       schema.NewTime(now),
	}
	if err := w.describeCommand(s, "/workspace."+typ, args); err != nil {
		return e, nil, err
	}
	if describe != nil {
		describe(s)
	}
	if rel, ok := w.relative(w.env.Dir); ok && rel != "." {
		s.WorkingDir = rel
	}
	s.Git = gitState(w.Store.Root())
	day := now.UTC().Format("2006-01-02")
	c, err := w.Store.Create(day, typ, title, s, []byte(prompt.Document(typ, title, day)))
	if err != nil {
		return e, nil, err
	}
	defer c.Close()
	if paused, err = w.pauseOthers(c.Path()); err != nil {
		return e, nil, err
	}
	e.Path = c.Path()
	if e.Session, e.Damage, err = c.Session(); err == nil {
		w.note(lifecycle.Start, e.Path)
	}
	return e, paused, err
}

func (w *Workspace) random() io.Reader {
	if w.env.Rand != nil {
		return w.env.Rand
	}
	return rand.Reader
}

// describeCommand notes the command that a conversation began with, and which
// wording of it.
func (w *Workspace) describeCommand(s *schema.Session, command, arguments string) error {
	c, ok, err := w.command(s.ConversationType)
	if err != nil || !ok {
		return err
	}
	s.AgentConfig.Command = command
	s.AgentConfig.Arguments = arguments
	s.AgentConfig.SystemPromptHash = prompt.Hash(c.Body)
	return nil
}

// Missing lists the files that Init would make in dir or add lines to.
func Missing(dir string) (names []string, err error) {
	for _, name := range initFiles() {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			names = append(names, name)
		} else if err != nil {
			return nil, err
		}
	}
	ok, err := store.HasAttributes(dir)
	if err == nil && !ok {
		names = append(names, ".gitattributes")
	}
	return names, err
}

// initFiles are the files that a workspace begins with, in their order.
func initFiles() []string {
	names := []string{ConfigFile}
	for _, typ := range prompt.Types() {
		names = append(names, commandFile(typ))
	}
	return names
}
