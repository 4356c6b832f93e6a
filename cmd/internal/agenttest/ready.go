package agenttest

// Text that an agent's screen shows once it accepts input; anything typed earlier is
// lost. Gemini CLI's text disappears while something is typed or a turn runs, the others
// stay.
//
// To quit: "/exit" and Enter in Claude Code and OpenCode (Ctrl-C with nothing typed ends
// OpenCode at once), "/quit" and Enter in Gemini CLI; all end with exit code 0. To
// interrupt a turn: Esc, in OpenCode twice.
const (
	ClaudeReady   = "❯"
	OpenCodeReady = "ctrl+p commands"
	GeminiReady   = "Type your message"
)
