// Command cortext-picker is cortext with the picker. cortext starts it in its own place when
// the user has to choose a conversation on a full screen, with the same arguments. It is a
// program of its own, so that what only the picker needs costs no other command anything at
// its start.
package main

import (
	"cortext/cmd/internal/picker/screen"
	"cortext/cmd/internal/process"
)

func main() { process.Main(screen.Run) }
