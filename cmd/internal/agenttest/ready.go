package agenttest

// What stands on an agent's screen once it takes input; what is typed before is
// lost. Gemini CLI's is gone while something is typed or a turn runs, the others
// stay.
//
// To leave: "/exit" and Enter in Claude Code and OpenCode (Ctrl-C with nothing
// typed ends OpenCode at once), "/quit" and Enter in Gemini CLI; all end with
// exit code 0. To interrupt a turn: Esc, in OpenCode twice.
const (
	ClaudeReady   = "❯"
	OpenCodeReady = "ctrl+p commands"
	GeminiReady   = "Type your message"
)
