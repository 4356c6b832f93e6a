package schema

import "strings"

// A ToolKind is what a tool does, whatever its agent calls it.
type ToolKind int

// The kinds of the tools of Claude Code, OpenCode and Gemini CLI.
const (
	OtherTool   ToolKind = iota
	WriteTool            // writes a file
	EditTool             // changes a file
	PatchTool            // applies a patch to files
	ShellTool            // runs a command
	ReadTool             // reads files
	LookupTool           // searches, lists, fetches
	TodoTool             // keeps the agent's todo list
	AskTool              // asks the user
	ApproveTool          // has the user approve a plan
)

// KindOf returns the kind of a tool from its name.
func KindOf(tool string) ToolKind {
	switch ToolName(tool) {
	case "write", "writefile":
		return WriteTool
	case "edit", "multiedit", "notebookedit", "replace":
		return EditTool
	case "patch", "applypatch":
		return PatchTool
	case "bash", "runshellcommand", "shell":
		return ShellTool
	case "read", "notebookread", "readfile", "readmanyfiles":
		return ReadTool
	case "todowrite", "writetodos", "taskcreate", "taskupdate":
		return TodoTool
	case "grep", "glob", "ls", "list", "listdirectory", "searchfilecontent", "grepsearch", "webfetch", "websearch", "googlewebsearch", "codesearch", "lsp",
		"bashoutput", "taskoutput", "tasklist", "taskget", "todoread", "toolsearch", "skill", "activateskill":
		return LookupTool
	}
	// Results of these count as the user's words, so another program's tool must not
	// match by a similar name.
	switch tool {
	case "AskUserQuestion", "question", "ask_user":
		return AskTool
	case "ExitPlanMode", "exit_plan_mode", "plan_exit":
		return ApproveTool
	}
	return OtherTool
}

// ToolName normalizes the name of a tool, so that names that differ only in case and
// underscores are equal.
func ToolName(tool string) string { return strings.ReplaceAll(strings.ToLower(tool), "_", "") }
