// Package shell spells commands for a person to paste into a shell.
package shell

import "strings"

// plain are the characters that mean nothing to any shell, wherever they stand.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@"

// Quote returns words as a command for a POSIX shell. Pasted there, each of them is
// one word, whatever is in it.
func Quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if w == "" || strings.Trim(w, plain) != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}
