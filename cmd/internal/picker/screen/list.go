package screen

import (
	"slices"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// A list holds the conversations shown and the cursor.
type list struct {
	items  []int // positions in the rows; vanished marks a conversation that no longer exists
	cursor int
	top    int // first item on the screen
	page   int // number of items that fit on the screen

	ghost   listing.Row     // the conversation that vanished under the cursor
	missing map[string]bool // ids of conversations that turned out to be gone
}

// vanished is the item of the ghost.
const vanished = -1

func (l *list) set(items []int) { l.items, l.cursor, l.top = items, 0, 0 }

// count returns the number of listed conversations.
func (l *list) count() int {
	if l.cursor < len(l.items) && l.items[l.cursor] == vanished {
		return len(l.items) - 1
	}
	return len(l.items)
}

// move moves the cursor.
func (l *list) move(by int) { l.moveTo(l.cursor + by) }

// moveTo moves the cursor to an item, or to the nearest one that exists.
func (l *list) moveTo(to int) {
	to = max(min(to, len(l.items)-1), 0)
	if to == l.cursor {
		return
	}
	if l.cursor < len(l.items) && l.items[l.cursor] == vanished {
		l.items = slices.Delete(slices.Clone(l.items), l.cursor, l.cursor+1)
		if to > l.cursor {
			to--
		}
	}
	l.cursor = to
}

// row returns the conversation at the cursor, or nil.
func (l *list) row(rows picker.Rows) *listing.Row {
	if l.cursor >= len(l.items) {
		return nil
	}
	row := l.at(rows, l.cursor)
	return &row
}

func (l *list) at(rows picker.Rows, item int) listing.Row {
	if l.items[item] == vanished {
		return l.ghost
	}
	return rows.Row(l.items[item])
}

// mostShown is more than the number of conversations that fit on a screen.
const mostShown = 256

// shown returns the folders of the conversations on the screen, and perhaps of some below.
func (l *list) shown(rows picker.Rows) (folders []string) {
	for item := l.top; item < min(l.top+mostShown, len(l.items)); item++ {
		if l.items[item] != vanished {
			folders = append(folders, rows.Row(l.items[item]).Path)
		}
	}
	return folders
}

// stay puts the cursor back on a conversation, if it is still listed after the rows were replaced.
func (l *list) stay(id string, rows picker.Rows) {
	if at, ok := rows.ByID(id); ok {
		if i := slices.Index(l.items, at); i >= 0 {
			l.cursor = i
		}
	}
}

// keep leaves a conversation that is gone from the rows in its place until the cursor moves
// away.
func (l *list) keep(gone listing.Row, was int) {
	l.ghost = gone
	l.gone(gone.ID)
	l.cursor = min(was, len(l.items))
	l.items = slices.Insert(slices.Clone(l.items), l.cursor, vanished)
}

// gone marks a conversation as vanished.
func (l *list) gone(id string) {
	if l.missing == nil {
		l.missing = map[string]bool{}
	}
	l.missing[id] = true
}

// back clears the mark of conversations that exist again.
func (l *list) back(rows picker.Rows) {
	for id := range l.missing {
		if _, ok := rows.ByID(id); ok {
			delete(l.missing, id)
		}
	}
}

func (l *list) isGone(id string) bool { return l.missing[id] }

// fit scrolls so that the cursor is visible: lines is the height of the list, and height
// the number of lines that an item takes below the one before it. The top item always has
// its heading.
func (l *list) fit(lines int, height func(item int, top bool) int) {
	if len(l.items) == 0 {
		l.top, l.page = 0, 0
		return
	}
	first, used := l.cursor, height(l.cursor, true)
	for first > 0 {
		// The item at the top gets a heading, and the next one may lose its own.
		used += height(first-1, true) - height(first, true) + height(first, false)
		if used > lines {
			break
		}
		first--
	}
	l.top = min(max(l.top, first), l.cursor)
	l.fill(lines, height)
	l.page = max(l.cursor-first, 1)
}

// fill scrolls back while the items from the top to the last one leave room for another, as
// on a screen that has grown.
func (l *list) fill(lines int, height func(item int, top bool) int) {
	used := height(l.top, true)
	for item := l.top + 1; item < len(l.items) && used <= lines; item++ {
		used += height(item, false)
	}
	for l.top > 0 {
		used += height(l.top-1, true) - height(l.top, true) + height(l.top, false)
		if used > lines {
			break
		}
		l.top--
	}
}

// key handles the keys that move the cursor, and reports whether a key is one of them.
func (l *list) key(stroke string) bool {
	switch stroke {
	case "up", "ctrl+p":
		l.move(-1)
	case "down", "ctrl+n":
		l.move(1)
	case "pgup":
		l.move(-l.page)
	case "pgdown":
		l.move(l.page)
	case "home":
		l.moveTo(0)
	case "end":
		l.moveTo(len(l.items) - 1)
	default:
		return false
	}
	return true
}

// letter is key for the letters that move the cursor while the list has the focus.
func (l *list) letter(stroke string) bool {
	switch stroke {
	case "j":
		l.move(1)
	case "k":
		l.move(-1)
	default:
		return false
	}
	return true
}
