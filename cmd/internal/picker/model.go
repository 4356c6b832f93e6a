package picker

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"cortext/cmd/internal/listing"
)

// A mode is what the keys are for.
type mode int

const (
	browsing   mode = iota
	choosing        // an agent or a type from a menu
	naming          // the topic of a new conversation
	confirming      // an action
	helping
)

// A model is the state of the picker.
type model struct {
	ctx    context.Context
	o      Options
	width  int
	height int
	dark   bool
	known  bool // dark is known

	mode    mode
	inList  bool // letters are commands, not words
	words   line
	said    search // what / finds, in place of the list
	menu    menu
	topic   line
	pending Action // to confirm

	rows    Rows
	finder  *finder
	answer  answer
	list    list
	preview previews
	everywhere,
	archived bool // what the list includes besides
	busy   int    // commands that will bring more conversations
	notice string // one line above the keys, until the next key
	failed bool   // the notice is an error
	click  click
	choice Choice
	work   work
}

func newModel(ctx context.Context, o Options) *model {
	m := &model{ctx: ctx, o: o, words: newLine(o.Query), preview: newPreviews()}
	m.use(o.Rows)
	m.filter()
	return m
}

// use lists other rows, with the cursor on the conversation it was on.
func (m *model) use(rows Rows) {
	m.rows = rows
	m.finder = newFinder(newIndex(rows), m.selection())
}

func (m *model) selection() listing.Filter {
	f := m.o.Filter
	if m.archived {
		f.Archived, f.All, f.Statuses = true, true, nil
	}
	return f
}

// Messages to the model, besides those of keys and mouse.
type (
	indexed  struct{ of *index }
	found    struct{ answer answer }
	prepared struct{ err error }
	reload   struct{}
	reloaded struct {
		rows Rows
		took time.Duration
		err  error
	}
	elsewhere struct {
		rows Rows
		err  error
	}
	acted struct {
		said string
		err  error
	}
)

// How long the picker waits before it makes the index, so that the first frame does not
// compete with it, and how often it looks for changes: at most a tenth of the time.
const (
	indexAfter  = 50 * time.Millisecond
	reloadEvery = time.Second
	reloadShare = 10
)

func (m *model) Init() tea.Cmd {
	cmds := []tea.Cmd{tea.RequestBackgroundColor, m.makeIndex(), m.preview.rest(m.chosen()), m.filter(), m.later(reloadEvery)}
	if m.o.Prepare != nil {
		m.busy++
		cmds = append(cmds, m.work.do(func() tea.Msg { return prepared{m.o.Prepare(m.ctx)} }))
	}
	return tea.Batch(cmds...)
}

func (m *model) makeIndex() tea.Cmd {
	x := m.finder.index
	return after(indexAfter, m.work.do(func() tea.Msg {
		x.grow(len(x.entries))
		return indexed{x}
	}))
}

// after returns a command that waits before it runs another.
func after(wait time.Duration, cmd tea.Cmd) tea.Cmd {
	return tea.Tick(wait, func(time.Time) tea.Msg { return cmd() })
}

func (m *model) later(wait time.Duration) tea.Cmd {
	if m.o.Reload == nil {
		return nil
	}
	return tea.Tick(wait, func(time.Time) tea.Msg { return reload{} })
}

func (m *model) reload() tea.Cmd {
	if m.o.Reload == nil || m.everywhere {
		return m.later(reloadEvery)
	}
	return m.work.do(func() tea.Msg {
		began := m.o.Now()
		rows, err := m.o.Reload(m.ctx)
		return reloaded{rows, m.o.Now().Sub(began), err}
	})
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	return m, m.update(msg)
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		m.dark, m.known = msg.IsDark(), true
	case tea.KeyPressMsg:
		return m.then(m.key(msg))
	case tea.PasteMsg:
		return m.then(m.paste(msg.Content))
	case tea.MouseClickMsg:
		return m.then(m.clicked(msg.Mouse()))
	case wheel:
		m.list.move(msg.by)
		return m.then(nil)
	case indexed:
		return nil
	case found:
		if m.said.on || msg.answer.query.text != m.words.String() {
			return nil
		}
		m.finder.keep(msg.answer)
		m.show(msg.answer, m.list.cursor > 0)
		return m.then(nil)
	case prepared:
		m.busy--
		m.fail(msg.err)
		return m.reload()
	case reload:
		return m.reload()
	case reloaded:
		return tea.Batch(m.refresh(msg), m.later(max(reloadEvery, reloadShare*msg.took)))
	case elsewhere:
		m.busy--
		if msg.err != nil {
			m.fail(msg.err)
			return nil
		}
		m.everywhere = true
		return m.replace(msg.rows)
	case rested:
		return m.preview.load(m, msg)
	case previewed:
		m.preview.keep(msg)
		if errors.Is(msg.err, ErrGone) {
			m.list.gone(msg.row.ID)
		}
	case heard:
		return m.then(m.said.add(m, msg))
	case acted:
		m.fail(msg.err)
		if msg.err == nil {
			m.notice = msg.said
		}
		return m.reload()
	}
	return nil
}

// then adds to a command what follows each change of the cursor.
func (m *model) then(cmd tea.Cmd) tea.Cmd {
	return tea.Batch(cmd, m.preview.rest(m.chosen()))
}

// fail shows an error until the next key.
func (m *model) fail(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		m.notice, m.failed = err.Error(), true
	}
}

// refresh lists the conversations as they are now.
func (m *model) refresh(now reloaded) tea.Cmd {
	m.fail(now.err)
	if now.err != nil || now.rows == nil || m.everywhere {
		return nil
	}
	return m.replace(now.rows)
}

// replace lists other rows. The cursor stays on its conversation; if that is gone, it is
// still shown, struck through.
func (m *model) replace(rows Rows) tea.Cmd {
	before := m.chosen()
	m.use(rows)
	cmds := []tea.Cmd{m.makeIndex()}
	if m.said.on {
		m.said.show(m)
	} else {
		cmds = append(cmds, m.filter())
	}
	if before != nil {
		m.list.keep(before, m.rows, m.said.on || m.words.empty())
	}
	return m.then(tea.Batch(cmds...))
}

// filter lists what the words match: at once what is quick to find, the rest by the
// command that it returns.
func (m *model) filter() tea.Cmd {
	first, rest := m.finder.find(newQuery(m.words.String()))
	m.show(first, false)
	if rest == nil {
		return nil
	}
	return m.work.do(func() tea.Msg {
		if whole, current := rest(); current {
			return found{whole}
		}
		return nil
	})
}

// show lists an answer. The cursor goes to the best match, or stays on its conversation.
func (m *model) show(a answer, stay bool) {
	m.answer = a
	if at := -1; stay && m.list.cursor < len(m.list.items) {
		if at = slices.Index(a.shown, m.list.items[m.list.cursor]); at >= 0 {
			m.list.items, m.list.cursor = a.shown, at
			return
		}
	}
	m.list.set(a.shown)
}

// chosen returns the conversation at the cursor, or nil.
func (m *model) chosen() *listing.Row { return m.list.row(m.rows) }

// leave ends the picker with a choice.
func (m *model) leave(c Choice) tea.Cmd {
	m.choice = c
	return tea.Quit
}

// resume leaves with the conversation at the cursor.
func (m *model) resume(agent string) tea.Cmd {
	row := m.chosen()
	switch {
	case row == nil:
		return nil
	case m.list.isGone(row.ID), m.o.Exists != nil && !m.o.Exists(*row):
		m.list.gone(row.ID)
		m.fail(ErrGone)
		return nil
	}
	return m.leave(Choice{Kind: Resume, Row: *row, Agent: agent})
}
