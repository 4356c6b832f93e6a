package screen

// Where the preview is shown.
type place int

const (
	nowhere place = iota
	beside
	below
	instead // of the list
)

// A layout divides the screen: a line for the words, the list and the preview, lines for a
// notice if there is one, and a line for the keys.
type layout struct {
	width, height int // size of the list and the preview together
	preview       place
	listWidth     int
	listHeight    int
	headings      bool
	tags          bool
}

// The sizes at which the layout changes.
const (
	wide        = 100 // the preview is beside the list
	veryWide    = 160 // there is room for tags
	medium      = 80  // the preview is below the list, and days have headings
	tall        = 46  // the preview is shown below the list by default
	listShare   = 55  // percent of the width
	belowHeight = 9
)

func (m *model) layout() layout {
	l := layout{width: m.width, height: m.height - 2, listWidth: m.width, headings: m.width >= medium && (m.search.on || m.words.empty()), tags: m.width >= veryWide}
	l.height -= len(m.status())
	l.listHeight = l.height
	show := m.preview.shown
	switch {
	case m.width >= wide:
		if show == nil || *show {
			l.preview, l.listWidth = beside, m.width*listShare/100-1
		}
	case m.height >= tall && (show == nil || *show):
		l.preview, l.listHeight = below, l.height*2/3
	case show == nil || !*show:
	case (m.width >= medium || m.height >= 3*belowHeight) && m.height >= 2*belowHeight:
		l.preview, l.listHeight = below, l.height-belowHeight
	default:
		l.preview = instead
	}
	return l
}

// status returns the lines of the question or notice above the keys, if there is one. An error
// may take up to a quarter of the screen, because its reason comes last.
func (m *model) status() []string {
	text := ""
	switch {
	case m.mode == confirming:
		text = m.pending.Ask + " [y/N]"
	case m.notice.failed:
		return m.ruler.wrap(clean(m.notice.text), m.width-1, m.height/4)
	case m.notice.text != "":
		text = m.notice.text
	case len(m.o.Actions) > 0:
		text = m.readOnly()
	}
	return m.ruler.wrap(clean(text), m.width-1, 1)
}
