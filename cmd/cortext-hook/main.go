// Command cortext-hook is a small version of cortext hook, because agents wait for their
// hooks. It starts without what only other commands need, handles the turns of the agents
// it knows, and hands everything else to cortext, which is installed beside it.
package main

import (
	"os"

	"cortext/cmd/internal/hook"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
)

func main() {
	hook.RunSmall("cortext-hook", os.Args[1:], claude.Agent(), inject.Elsewhere("opencode"), gemini.Agent())
}
