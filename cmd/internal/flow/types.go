package flow

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

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
// What is there already is left as it is.
func Init(dir string) (created []string, err error) {
	st, created, err := store.Init(dir)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	files := map[string]string{ConfigFile: defaultConfig}
	order := []string{ConfigFile}
	for _, typ := range prompt.Types() {
		text, _ := prompt.BuiltIn(typ)
		files[commandFile(typ)] = text
		order = append(order, commandFile(typ))
	}
	for _, name := range order {
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
	_, c.Body = prompt.Split(text)
	return c, true, nil
}

// New begins a conversation: its folder with the type's markdown file, active
// from now on. paused are the titles of the conversations that are paused by it.
func (w *Workspace) New(typ, title string) (e store.Entry, paused []string, err error) {
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
	if err := w.describeCommand(s, "/workspace."+typ, title); err != nil {
		return e, nil, err
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
	e.Session, e.Damage, err = c.Session()
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
