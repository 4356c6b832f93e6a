package screen

// A style is the parameters of an SGR sequence. All but the background of the chosen row
// use the 16 colours of the user's theme, which are readable on light and dark backgrounds.
type style string

const (
	plain   style = ""
	strong  style = "1"
	faint   style = "2"
	struck  style = "9;2"
	accent  style = "1;36"
	match   style = "4;35"
	kindOf  style = "36"
	running style = "32"
	resting style = "33"
	bad     style = "31"
)

// The background of the chosen row, used once the picker knows whether the screen is dark.
const (
	onDark  style = "48;5;236"
	onLight style = "48;5;254"
)

// and combines two styles.
func (s style) and(t style) style {
	if s == "" || t == "" {
		return s + t
	}
	return s + ";" + t
}

// of returns text drawn in the style.
func (s style) of(text string) string {
	if s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}
