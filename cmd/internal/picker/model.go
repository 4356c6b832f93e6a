package picker

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

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

	rows    Rows    // listed now
	home    *index  // of this workspace
	rest    tea.Cmd // of the first filtering
	ruler   ruler
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
	m.rows, m.home = o.Rows, newIndex(o.Rows)
	m.finder = newFinder(m.home, m.selection())
	m.rest = m.filter()
	return m
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
	indexed struct{ of *index }
	found   struct {
		of     *finder
		answer answer
	}
	prepared struct{ err error }
	reload   struct{}
	reloaded struct { // the conversations as they are now, filtered already
		of     *finder // nil: nothing has changed
		answer answer
		took   time.Duration
		next   bool // look again later
		err    error
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

// How long the picker waits before it makes the index and before it ranks all matches, so
// that drawing does not compete with it, and how often it looks for changes: at most a tenth
// of the time.
const (
	indexAfter  = 50 * time.Millisecond
	rankAfter   = 20 * time.Millisecond
	reloadEvery = time.Second
	reloadShare = 10
)

func (m *model) Init() tea.Cmd {
	cmds := []tea.Cmd{tea.RequestBackgroundColor, m.makeIndex(), m.preview.rest(m.chosen()), m.rest, m.later(reloadEvery)}
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

// reload looks for changes, once or from now on. Everything is filtered before it is shown,
// so that the list does not jump.
func (m *model) reload(next bool) tea.Cmd {
	if m.o.Reload == nil {
		return nil
	}
	if m.everywhere {
		if next {
			return m.later(reloadEvery)
		}
		return nil
	}
	q, selection := newQuery(m.words.String()), m.selection()
	return m.work.do(func() tea.Msg {
		began := m.o.Now()
		msg := reloaded{next: next}
		rows, err := m.o.Reload(m.ctx)
		if msg.err = err; err == nil && rows != nil {
			x := newIndex(rows)
			x.grow(rows.Len())
			msg.of = newFinder(x, selection)
			first, rest := msg.of.find(q)
			if msg.answer = first; rest != nil {
				msg.answer, _ = rest()
				msg.of.keep(msg.answer)
			}
		}
		msg.took = m.o.Now().Sub(began)
		return msg
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
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore && msg.Value != ansi.ModeNotRecognized && msg.Value != ansi.ModePermanentlyReset {
			m.ruler = ruler(ansi.GraphemeWidth)
		}
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
		if m.said.on || msg.of != m.finder || msg.answer.query.text != m.words.String() {
			return nil
		}
		m.finder.keep(msg.answer)
		m.show(msg.answer, m.list.cursor > 0)
		return m.then(nil)
	case prepared:
		m.busy--
		m.fail(msg.err)
		return m.reload(false)
	case reload:
		return m.reload(true)
	case reloaded:
		cmd := m.refresh(msg)
		if msg.next {
			cmd = tea.Batch(cmd, m.later(max(reloadEvery, reloadShare*msg.took)))
		}
		return cmd
	case elsewhere:
		m.busy--
		if msg.err != nil {
			m.fail(msg.err)
			return nil
		}
		m.everywhere = true
		return m.replace(newIndex(msg.rows))
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
		return m.reload(false)
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

// refresh lists the conversations as they are now. The cursor stays on its conversation; if
// that is gone, it is still shown, struck through.
func (m *model) refresh(now reloaded) tea.Cmd {
	m.fail(now.err)
	if now.of == nil || m.everywhere || now.of.filter.Archived != m.selection().Archived {
		return nil
	}
	m.home = now.of.index
	return m.use(now.of, func() tea.Cmd {
		if now.answer.query.text != m.words.String() {
			return m.filter()
		}
		m.show(now.answer, false)
		return nil
	})
}

// replace lists other conversations, or the same with another filter.
func (m *model) replace(x *index) tea.Cmd {
	return m.use(newFinder(x, m.selection()), func() tea.Cmd { return tea.Batch(m.makeIndex(), m.filter()) })
}

// use lists conversations of another finder, which find filters.
func (m *model) use(f *finder, find func() tea.Cmd) tea.Cmd {
	before := m.chosen()
	m.finder, m.rows = f, f.index.rows
	var cmd tea.Cmd
	if m.said.on {
		m.answer = answer{whole: true}
		m.said.show(m)
	} else {
		cmd = find()
	}
	if before != nil {
		m.list.keep(before, m.rows, m.said.on || m.words.empty())
	}
	return m.then(cmd)
}

// filter lists what the words match: at once what is quick to find, the rest by the
// command that it returns.
func (m *model) filter() tea.Cmd {
	f := m.finder
	first, rest := f.find(newQuery(m.words.String()))
	m.show(first, false)
	if rest == nil {
		return nil
	}
	return after(rankAfter, m.work.do(func() tea.Msg {
		if whole, current := rest(); current {
			return found{f, whole}
		}
		return nil
	}))
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
