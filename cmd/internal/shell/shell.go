// Package shell quotes commands for a user to paste into a shell.
package shell

import "strings"

// plain lists the characters that have no special meaning to any shell, in any position.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@"

// Quote returns words as a command for a POSIX shell. There each word stays one word,
// whatever it contains.
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
