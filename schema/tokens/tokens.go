// Package tokens counts text in tokens of the o200k_base encoding.
package tokens

// Count x
func Count(text string) int {
	t := loaded()
	total := 0
	for i := 0; i < len(text); {
		n := t.piece(text[i:])
		total += t.count(text[i : i+n])
		i += n
	}
	return total
}
