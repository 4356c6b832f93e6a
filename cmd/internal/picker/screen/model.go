package screen

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// A mode determines what the keys do.
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
	contents
	width, height int
	ruler         ruler
	dark          bool
	known         bool // whether dark is known

	mode    mode
	inList  bool // letters are commands, not words
	menu    menu
	topic   line
	pending picker.Action // to confirm, or to get a text for
	about   listing.Row   // the conversation of the pending action
	refused acted         // the last action that failed, whose text is offered again
	preview previews
	notice  notice
	click   click
	choice  picker.Choice

	undoable int // actions that were not undone
}

func newModel(ctx context.Context, o picker.Options) *model {
	m := &model{contents: contents{ctx: ctx, o: o, words: newLine(o.Query)}, preview: newPreviews()}
	m.asked = newQuery(o.Query).words
	m.rows, m.home = o.Rows, newIndex(o.Rows)
	m.finder = newFinder(m.home, m.selection())
	m.rest = m.filter()
	return m
}

// Messages to the model, besides those of keys and mouse.
type (
	found struct {
		of     *finder
		answer answer
	}
	prepared struct{ err error }
	reload   struct{}
	reloaded struct { // the current conversations, already filtered
		of     *finder // nil: nothing has changed
		answer answer
		took   time.Duration
		next   bool // whether to look again later
		err    error
	}
	elsewhere struct {
		rows picker.Rows
		err  error
	}
	acted struct {
		action picker.Action // zero for an undo
		id     string        // the action's conversation
		said   string
		err    error
		more   int // 1 for an action, which can be undone if it did not fail; -1 for an undo
	}
	prompted struct { // the user's prompts, for a fork
		row     listing.Row
		prompts []picker.Prompt
		err     error
	}
)

// firstFrame is how long to leave the processors to the first frame, before work in the
// background that may need all of them.
const firstFrame = 30 * time.Millisecond

func (m *model) Init() tea.Cmd {
	cmds := []tea.Cmd{tea.RequestBackgroundColor, m.makeIndex(), m.preview.rest(m.chosen()), m.rest, m.later(reloadEvery)}
	if m.o.Prepare != nil {
		m.busy++
		cmds = append(cmds, m.work.do(func() tea.Msg {
			time.Sleep(firstFrame)
			return prepared{m.o.Prepare(m.ctx)}
		}))
	}
	return tea.Batch(cmds...)
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
		if m.mode == browsing {
			m.list.move(msg.by)
		}
		return m.then(nil)
	case wheelLater:
		return tea.Tick(msg.after, func(time.Time) tea.Msg { return wheelDue{} })
	case found:
		if m.search.on || msg.of != m.finder || msg.answer.query.text != m.words.String() {
			return nil
		}
		m.finder.keep(msg.answer)
		m.complete(msg.answer)
		return m.then(nil)
	case prepared:
		m.busy--
		m.notice.fail(msg.err)
		return m.reload()
	case reload:
		return m.poll()
	case reloaded:
		m.notice.fail(msg.err)
		cmd := m.then(m.refresh(msg))
		if msg.next {
			cmd = tea.Batch(cmd, m.later(max(reloadEvery, reloadShare*msg.took)))
		}
		return cmd
	case elsewhere:
		m.busy--
		if msg.err != nil {
			m.notice.fail(msg.err)
			return nil
		}
		return m.then(m.listEverywhere(msg.rows))
	case rested:
		return m.preview.load(m, msg)
	case previewed:
		m.preview.keep(msg)
		if errors.Is(msg.err, picker.ErrGone) {
			m.list.gone(msg.row.ID)
		}
	case hitsFound:
		if msg.number == m.search.number {
			m.notice.fail(msg.err)
		}
		return m.then(m.search.add(&m.contents, msg))
	case acted:
		return m.report(msg)
	case prompted:
		m.busy--
		m.notice.fail(msg.err)
		if msg.err == nil && m.mode == browsing {
			m.askPoint(msg.row, msg.prompts)
		}
	}
	return nil
}

// report shows the result of an action or an undo, and lists the conversations again.
func (m *model) report(done acted) tea.Cmd {
	m.refused = acted{}
	if done.err == nil {
		m.notice.say(done.said)
	} else {
		m.refused = done
		m.notice.fail(done.err)
	}
	if done.err == nil || done.more < 0 {
		m.undoable = max(m.undoable+done.more, 0)
	}
	if m.everywhere {
		return m.loadEverywhere()
	}
	return m.reload()
}

// then adds the actions that follow each move of the cursor to a command.
func (m *model) then(cmd tea.Cmd) tea.Cmd {
	return tea.Batch(cmd, m.preview.rest(m.chosen()))
}

// leave ends the picker with a choice.
func (m *model) leave(c picker.Choice) tea.Cmd {
	m.choice = c
	return tea.Quit
}

// resume leaves with a conversation.
func (m *model) resume(row *listing.Row, agent string) tea.Cmd {
	if !m.exists(row) {
		return nil
	}
	return m.leave(picker.Choice{Kind: picker.Resume, Row: cloned(*row), Agent: agent})
}

// readOnly returns why the conversation at the cursor cannot be changed, or "".
func (m *model) readOnly() string {
	if m.o.ReadOnly == nil {
		return ""
	}
	var row listing.Row
	if chosen := m.chosen(); chosen != nil {
		row = *chosen
	}
	return m.o.ReadOnly(row)
}

// exists reports whether a conversation still exists; a nil row does not.
func (m *model) exists(row *listing.Row) bool {
	if row == nil {
		return false
	}
	if m.list.isGone(row.ID) || m.o.Exists != nil && !m.o.Exists(*row) {
		m.list.gone(row.ID)
		m.notice.fail(picker.ErrGone)
		return false
	}
	return true
}
