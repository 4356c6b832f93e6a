package screen

import (
	"context"
	"errors"
	"strings"
)

// A hint explains a key in the last line. If there is not enough room, the least important
// hints are left out first.
type hint struct {
	key, does string
	rank      int  // 0 is the most important
	letter    bool // a command that needs Alt while the user types words
	off       bool
}

// hints returns the hints for the current mode.
func (f *frame) hints() (all []hint) {
	add := func(on bool, h hint) {
		if on {
			all = append(all, h)
		}
	}
	switch f.mode {
	case choosing:
		return []hint{{key: "enter", does: "choose"}, {key: "↑↓", does: "move", rank: 2}, {key: "esc", does: "back", rank: 1}}
	case naming:
		does := "begin"
		if f.pending.Input != "" {
			does = "done"
		}
		return []hint{{key: "enter", does: does}, {key: "esc", does: "back", rank: 1}}
	case confirming:
		return []hint{{key: "y", does: "yes"}, {key: "any other key", does: "no", rank: 1}}
	case helping:
		return []hint{{key: "any key", does: "back"}}
	}
	typing := !f.inList && !f.line().empty() // then / and ? are words
	add(len(f.list.items) > 0, hint{key: "enter", does: "resume"})
	add(len(f.o.Agents) > 0 && len(f.list.items) > 0, hint{key: "a", does: "agent", rank: 4, letter: true})
	add(len(f.o.Types) > 0, hint{key: "n", does: "new", rank: 5, letter: true})
	add(f.o.Prompts != nil && len(f.list.items) > 0, hint{key: "f", does: "fork", rank: 6, letter: true})
	off := f.readOnly() != ""
	for i, a := range f.o.Actions {
		add(len(f.list.items) > 0, hint{key: string(a.Key), does: a.Name, rank: 8 + i, letter: true, off: off})
	}
	add(f.o.Undo != nil && f.undoable > 0, hint{key: "u", does: "undo", rank: 19, letter: true})
	add(f.answer.hidden > 0 && !f.search.on, hint{key: "h", does: "hidden", rank: 20, letter: true})
	add(len(f.list.items) > 0, hint{key: "y", does: "copy id", rank: 21, letter: true})
	add(f.o.Search != nil && !f.search.on, hint{key: "/", does: "said", rank: 7, letter: typing})
	add(f.l.preview == instead, hint{key: "^o", does: "list", rank: 3})
	add(f.l.preview == nowhere, hint{key: "^o", does: "preview", rank: 3})
	add(f.o.Everywhere != nil && !f.everywhere, hint{key: "^a", does: "all workspaces", rank: 22})
	add(f.o.Everywhere != nil && f.everywhere, hint{key: "^a", does: "this workspace", rank: 22})
	add(!typing, hint{key: "?", does: "keys", rank: 2})
	add(typing, hint{key: "f1", does: "keys", rank: 2})
	back := "leave"
	switch {
	case f.search.on:
		back = "list"
	case !f.words.empty():
		back = "clear"
	case f.inList:
		back = "words"
	}
	return append(all, hint{key: "esc", does: back, rank: 1})
}

// bottom draws the last line.
func (f *frame) bottom() string {
	all := f.hints()
	line := f.hintLine(all)
	for f.ruler.width(line) > f.width && len(all) > 1 {
		least := 0
		for i, h := range all {
			if h.rank >= all[least].rank {
				least = i
			}
		}
		all = append(all[:least:least], all[least+1:]...)
		line = f.hintLine(all)
	}
	return line
}

// hintLine draws hints. It groups the letters that need Alt.
func (f *frame) hintLine(all []hint) string {
	var sb strings.Builder
	sb.WriteString(" ")
	alt := false
	for i, h := range all {
		needs := h.letter && !f.inList
		switch {
		case i == 0:
		case alt && needs:
			sb.WriteString(" ")
		default:
			sb.WriteString("  ")
		}
		if needs && !alt {
			sb.WriteString(faint.of("alt: "))
		}
		alt = needs
		look := strong
		if h.off {
			look = faint
		}
		sb.WriteString(look.of(h.key) + faint.of(" "+h.does))
	}
	return sb.String()
}

// help draws the list of all keys.
func (f *frame) help(width int) []string {
	lines := []string{" " + strong.of("Keys") + faint.of(f.ruler.fit("  letters are commands with Alt, or in the list", width-5))}
	add := func(on bool, key, does string) {
		if on {
			lines = append(lines, "  "+accent.of(f.ruler.fit(key, 18))+" "+f.ruler.fit(does, width-21))
		}
	}
	add(true, "words", "filter, in any order")
	add(true, "↑ ↓ ^p ^n wheel", "move; PgUp PgDn Home End")
	add(true, "enter", "resume; so does a double click")
	add(true, "tab", "to the list and back")
	add(len(f.o.Agents) > 0, "a", "resume in another agent")
	add(len(f.o.Types) > 0, "n", "begin a conversation")
	add(f.o.Prompts != nil, "f", "fork: begin a new conversation from a point in this one")
	var keys, names []string // on one line, so that all keys fit a small screen
	for _, a := range f.o.Actions {
		keys, names = append(keys, string(a.Key)), append(names, a.Name)
	}
	add(len(keys) > 0, strings.Join(keys, " "), strings.Join(names, ", "))
	add(f.o.Undo != nil, "u", "undo the last of these")
	add(true, "y", "copy the id")
	add(true, "h", "show or hide hidden conversations")
	add(f.o.Search != nil, "/", "search the messages")
	add(true, "^o", "show or hide the preview")
	add(f.o.Everywhere != nil, "^a", "all workspaces, or this one")
	add(true, "esc", "one step back; q in the list leaves")
	add(true, "^c", "leave with exit code 130")
	return lines
}

// A notice is shown above the keys, until the next key.
type notice struct {
	text   string
	failed bool // it is an error
}

// say shows a text.
func (n *notice) say(text string) { *n = notice{text: text} }

// fail shows an error.
func (n *notice) fail(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		*n = notice{err.Error(), true}
	}
}
