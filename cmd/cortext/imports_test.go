package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rule lists what one of our packages may import: our own packages, and modules outside
// the standard library.
type rule struct {
	ours    []string
	modules []string
	why     string
}

// The rules point one way: cli → {hook, launch, slash} → {payload, stop, compact, caller,
// check} → capture → workspace → {store, registry, git, lifecycle, resume, inject} →
// schema. store, resume and inject are siblings and do not know each other.
var rules = map[string]rule{
	"cortext/schema/rawjson": {why: "the bytes of JSON, below everything"},
	"cortext/schema/clip":    {why: "shortens any text, below everything"},
	"cortext/schema/jsonl":   {ours: []string{"cortext/schema/rawjson"}, why: "reads any file of records, whatever they mean"},
	"cortext/schema/tokens":  {modules: []string{"github.com/pkoukk/tiktoken-go-loader/assets"}, why: "the only module that ships the o200k_base table as data, not as code that runs at start"},
	"cortext/schema":         {ours: []string{"cortext/schema/jsonl", "cortext/schema/rawjson"}, why: "records and their bytes: pure, the ground that all else builds on"},

	"cortext/store/atomicfile":       {modules: []string{"github.com/google/renameio/v2", "golang.org/x/sys/unix", "golang.org/x/sys/windows"}, why: "makes or replaces one file; knows no record"},
	"cortext/store/filelock":         {modules: []string{"golang.org/x/sys/unix", "golang.org/x/sys/windows"}, why: "locks a file that is open; knows no record"},
	"cortext/store/internal/folders": {modules: []string{"golang.org/x/sys/unix"}, why: "an os.Root that keeps folders open; knows no record"},
	"cortext/store/internal/lines":   {ours: []string{"cortext/store/atomicfile"}, modules: []string{"golang.org/x/sys/unix"}, why: "appends lines; knows no record"},
	"cortext/store/secrets":          {ours: []string{"cortext/schema/clip", "cortext/schema/rawjson"}, why: "replaces secrets in text and JSON; knows no record"},
	"cortext/store/parallel":         {why: "calls functions"},
	"cortext/store/mergefile":        {ours: []string{"cortext/schema", "cortext/schema/jsonl", "cortext/store"}, why: "merges the bytes of two versions of a file: opens none, the store names them"},
	"cortext/store": {
		ours: []string{"cortext/schema", "cortext/schema/clip", "cortext/schema/jsonl", "cortext/schema/rawjson", "cortext/schema/tokens", "cortext/store/atomicfile",
			"cortext/store/filelock", "cortext/store/internal/folders", "cortext/store/internal/lines", "cortext/store/parallel", "cortext/store/secrets"},
		modules: []string{"github.com/mozillazg/go-unidecode", "golang.org/x/sys/unix"},
		why:     "files only: no agent, no payload, no command line",
	},

	"cortext/schema/prompt":     {why: "texts: no file, no clock"},
	"cortext/cmd/internal/find": {modules: []string{"github.com/sahilm/fuzzy", "golang.org/x/text/unicode/norm"}, why: "picks from a list that it is given"},
	"cortext/resume/notes":      {ours: []string{"cortext/schema", "cortext/schema/clip", "cortext/schema/rawjson", "cortext/schema/prompt"}, modules: []string{"mvdan.cc/sh/v3/syntax"}, why: "reads records, writes words"},
	"cortext/resume/model":      {why: "a table of names: no record"},
	"cortext/resume/tildes":     {why: "counts tildes"},
	"cortext/resume/excerpt":    {ours: []string{"cortext/schema/tokens"}, why: "chooses from texts, whatever they are of"},
	"cortext/resume/summary": {
		ours: []string{"cortext/schema", "cortext/schema/clip", "cortext/schema/rawjson", "cortext/schema/tokens", "cortext/resume/excerpt", "cortext/schema/prompt", "cortext/resume/tildes"},
		why:  "what is summed up, and what of an answer is kept: asks no model",
	},
	"cortext/resume": {
		ours: []string{"cortext/schema", "cortext/schema/clip", "cortext/schema/rawjson", "cortext/schema/tokens", "cortext/resume/notes", "cortext/resume/model", "cortext/schema/prompt",
			"cortext/resume/excerpt", "cortext/resume/summary", "cortext/resume/tildes"},
		why: "decides what an agent receives: pure, so that the same input gives the same bytes",
	},

	"cortext/inject":       {ours: []string{"cortext/schema", "cortext/schema/clip", "cortext/schema/jsonl", "cortext/schema/prompt", "cortext/schema/rawjson"}, why: "what an agent is, and what adapters share: no store, no payload"},
	"cortext/inject/setup": {ours: []string{"cortext/inject", "cortext/schema/prompt", "cortext/schema/rawjson"}, why: "the files that an agent needs in a project: texts in, texts out"},
	"cortext/inject/claude": {
		ours: []string{"cortext/inject", "cortext/inject/setup", "cortext/schema", "cortext/schema/jsonl", "cortext/schema/rawjson"},
		why:  "one agent; adapters do not know each other",
	},
	"cortext/inject/gemini": {
		ours: []string{"cortext/inject", "cortext/inject/setup", "cortext/schema", "cortext/schema/jsonl", "cortext/schema/rawjson"},
		why:  "one agent; adapters do not know each other",
	},
	"cortext/inject/opencode": {
		ours: []string{"cortext/inject", "cortext/inject/setup", "cortext/schema", "cortext/schema/clip", "cortext/schema/prompt", "cortext/schema/rawjson", "cortext/schema/tokens"},
		why:  "one agent; adapters do not know each other",
	},

	"cortext/cmd/internal/shell":     {why: "words and quotes"},
	"cortext/cmd/internal/git":       {ours: []string{"cortext/cmd/internal/shell", "cortext/store/filelock"}, modules: []string{"golang.org/x/term"}, why: "runs git; knows no conversation"},
	"cortext/cmd/internal/shown":     {ours: []string{"cortext/schema", "cortext/schema/clip"}, why: "text for a terminal, and for a page"},
	"cortext/cmd/internal/remotesql": {why: "carries rows between two processes: knows no database"},
	"cortext/cmd/internal/companion": {ours: []string{"cortext/cmd/internal/summarize"}, why: "starts a program: links nothing of what is in it"},
	"cortext/cmd/internal/openai":    {ours: []string{"cortext/cmd/internal/companion", "cortext/cmd/internal/summarize", "cortext/schema"}, why: "asks a model over HTTP: a package of its own, which only cortext-web imports"},
	"cortext/cmd/internal/children":  {why: "ends programs and keeps the end of what they print: knows none"},
	"cortext/cmd/internal/summarize": {ours: []string{"cortext/cmd/internal/children", "cortext/inject", "cortext/resume/summary", "cortext/resume/tildes", "cortext/schema", "cortext/schema/clip", "cortext/schema/rawjson"}, why: "asks a model for a summary, and judges its answer"},
	"cortext/cmd/internal/lifecycle": {ours: []string{"cortext/cmd/internal/children", "cortext/store/atomicfile", "cortext/store/filelock"}, why: "runs the workspace's own programs; knows no conversation"},
	"cortext/cmd/internal/registry": {
		ours: []string{"cortext/cmd/internal/git", "cortext/schema", "cortext/store/atomicfile", "cortext/store/filelock", "cortext/store/secrets"},
		why:  "what holds for the user in every work tree and clone, which git relates: ids, paths and hashes of redacted texts, no content, so no workspace and no log",
	},
	"cortext/cmd/internal/removal": {
		ours: []string{"cortext/cmd/internal/registry", "cortext/schema", "cortext/store"},
		why:  "what the user does not want saved: no transcript, no settings",
	},
	"cortext/cmd/internal/listing": {
		ours: []string{"cortext/cmd/internal/find", "cortext/schema", "cortext/schema/rawjson", "cortext/store", "cortext/store/parallel"},
		why:  "what a list shows, filters, sorts and ranks: no settings, no printing",
	},
	"cortext/cmd/internal/search/needle": {ours: []string{"cortext/cmd/internal/find", "cortext/schema/jsonl"}, modules: []string{"golang.org/x/sys/cpu"}, why: "bytes and letters; knows no fields of records"},
	"cortext/cmd/internal/search/grams":  {why: "an index of bytes: knows no record"},
	"cortext/cmd/internal/search": {
		ours:    []string{"cortext/cmd/internal/find", "cortext/cmd/internal/listing", "cortext/cmd/internal/search/grams", "cortext/cmd/internal/search/needle", "cortext/schema", "cortext/schema/jsonl", "cortext/schema/rawjson", "cortext/store", "cortext/store/parallel"},
		modules: []string{"golang.org/x/text/unicode/norm"},
		why:     "finds text in conversations that it is given: no workspace, no printing",
	},
	"cortext/cmd/internal/settings": {
		ours:    []string{"cortext/inject", "cortext/store", "cortext/store/atomicfile", "cortext/store/filelock"},
		modules: []string{"go.yaml.in/yaml/v3"},
		why:     "reads and changes settings: no conversation, and it acts on none of them",
	},
	"cortext/cmd/internal/cloneref": {
		ours: []string{"cortext/cmd/internal/git", "cortext/store", "cortext/store/filelock", "cortext/store/mergefile"},
		why:  "conversations in a ref of git's: what is in their files, the merge of files knows",
	},
	"cortext/cmd/internal/workspace": {
		ours: []string{"cortext/cmd/internal/cloneref", "cortext/cmd/internal/find", "cortext/cmd/internal/git", "cortext/cmd/internal/lifecycle", "cortext/cmd/internal/listing",
			"cortext/cmd/internal/registry", "cortext/cmd/internal/removal", "cortext/cmd/internal/settings", "cortext/cmd/internal/shell", "cortext/inject",
			"cortext/resume", "cortext/resume/notes", "cortext/schema", "cortext/schema/prompt",
			"cortext/schema/clip", "cortext/schema/jsonl", "cortext/store"},
		why: "a workspace and what the user decides about it: no transcript, no capture, no command line",
	},
	"cortext/cmd/internal/commits": {
		ours: []string{"cortext/cmd/internal/git", "cortext/cmd/internal/history", "cortext/cmd/internal/registry", "cortext/cmd/internal/shell",
			"cortext/cmd/internal/workspace", "cortext/resume/notes", "cortext/schema", "cortext/store"},
		why: "which conversation a commit came from: no transcript, no printing",
	},
	"cortext/cmd/internal/organise": {
		ours: []string{"cortext/cmd/internal/git", "cortext/cmd/internal/workspace", "cortext/schema", "cortext/schema/rawjson", "cortext/store"},
		why:  "what people say about conversations: no transcript, no printing",
	},
	"cortext/cmd/internal/worktrees": {
		ours: []string{"cortext/cmd/internal/git", "cortext/cmd/internal/registry", "cortext/inject"},
		why:  "where a session was held: no transcript, no conversation",
	},
	"cortext/cmd/internal/binding": {
		ours: []string{"cortext/cmd/internal/registry", "cortext/inject", "cortext/schema", "cortext/store"},
		why:  "which conversations a native session goes into: the workspace's cache and the user's registry, no settings",
	},
	"cortext/cmd/internal/capture": {
		ours: []string{"cortext/cmd/internal/binding", "cortext/cmd/internal/fork", "cortext/cmd/internal/git", "cortext/cmd/internal/lifecycle", "cortext/cmd/internal/registry",
			"cortext/cmd/internal/workspace", "cortext/cmd/internal/worktrees", "cortext/inject", "cortext/resume/notes", "cortext/schema/prompt", "cortext/schema", "cortext/store"},
		why: "brings transcripts into conversations: no payload, no launch, no single agent, no command line",
	},
	"cortext/cmd/internal/redact": {
		ours: []string{"cortext/cmd/internal/binding", "cortext/cmd/internal/capture", "cortext/cmd/internal/export/bundle", "cortext/cmd/internal/git",
			"cortext/cmd/internal/registry", "cortext/cmd/internal/workspace", "cortext/schema", "cortext/store", "cortext/store/secrets"},
		why: "redacts what was stored before: no printing, no log of its own; it tells bundles by their suffix",
	},
	"cortext/cmd/internal/watch": {
		ours:    []string{"cortext/cmd/internal/settings", "cortext/cmd/internal/capture", "cortext/cmd/internal/workspace", "cortext/inject", "cortext/store"},
		modules: []string{"github.com/fsnotify/fsnotify"},
		why:     "runs a sync after each change of a store: a package of its own, which only the command line imports",
	},
	"cortext/cmd/internal/interrupt": {why: "signals and the time they leave: knows no command"},
	"cortext/cmd/internal/history": {
		ours: []string{"cortext/cmd/internal/workspace", "cortext/schema", "cortext/schema/clip", "cortext/store"},
		why:  "reads conversations: no agent, no payload, and it writes nothing",
	},
	"cortext/cmd/internal/statusline": {
		ours: []string{"cortext/cmd/internal/binding", "cortext/cmd/internal/capture", "cortext/cmd/internal/shown", "cortext/cmd/internal/workspace", "cortext/inject"},
		why:  "a line about a session: no single agent, no printing",
	},
	"cortext/cmd/internal/stats": {
		ours: []string{"cortext/cmd/internal/history", "cortext/cmd/internal/workspace", "cortext/resume/notes", "cortext/schema", "cortext/store"},
		why:  "counts records: no agent, no payload, no printing",
	},
	"cortext/cmd/internal/fork": {
		ours: []string{"cortext/cmd/internal/history", "cortext/cmd/internal/workspace", "cortext/schema", "cortext/schema/clip", "cortext/store"},
		why:  "copies conversations: no agent, no payload, no printing",
	},
	"cortext/cmd/internal/export/portable": {
		ours: []string{"cortext/schema", "cortext/schema/jsonl", "cortext/schema/rawjson", "cortext/store"},
		why:  "bytes of documents: no workspace; of the store it uses only how folders are named",
	},
	"cortext/cmd/internal/export/bundle":      {ours: []string{"cortext/schema"}, why: "files in a file: knows no conversation"},
	"cortext/cmd/internal/export/bundle/zstd": {modules: []string{"github.com/klauspost/compress/zstd"}, why: "bytes in, bytes out: only cortext-zstd imports it"},
	"cortext/cmd/internal/export/highlight":   {why: "words of programming languages"},
	"cortext/cmd/internal/export/call": {
		ours: []string{"cortext/resume/notes", "cortext/schema", "cortext/schema/clip", "cortext/schema/rawjson"},
		why:  "what a call did, in words: no notation",
	},
	"cortext/cmd/internal/export/forge": {
		ours: []string{"cortext/cmd/internal/export/call", "cortext/cmd/internal/export/portable", "cortext/cmd/internal/shown", "cortext/schema", "cortext/schema/clip"},
		why:  "records in, Markdown out, and back: no file, no workspace",
	},
	"cortext/cmd/internal/export/page": {
		ours: []string{"cortext/cmd/internal/export/call", "cortext/cmd/internal/export/highlight", "cortext/cmd/internal/shown", "cortext/schema", "cortext/schema/clip"},
		why:  "records in, HTML out: no file, no workspace",
	},
	"cortext/cmd/internal/export/page/markdown": {
		ours: []string{"cortext/cmd/internal/export/page"},
		modules: []string{"github.com/yuin/goldmark", "github.com/yuin/goldmark/ast", "github.com/yuin/goldmark/extension", "github.com/yuin/goldmark/extension/ast",
			"github.com/yuin/goldmark/renderer", "github.com/yuin/goldmark/renderer/html", "github.com/yuin/goldmark/text", "github.com/yuin/goldmark/util"},
		why: "Markdown in, HTML out: a package of its own, which cortext does not import",
	},
	"cortext/cmd/internal/export": {
		ours: []string{"cortext/cmd/internal/companion", "cortext/cmd/internal/export/bundle", "cortext/cmd/internal/export/forge", "cortext/cmd/internal/export/page", "cortext/cmd/internal/export/portable", "cortext/cmd/internal/history", "cortext/cmd/internal/registry", "cortext/cmd/internal/workspace",
			"cortext/inject", "cortext/resume/notes", "cortext/schema", "cortext/store", "cortext/store/atomicfile"},
		why: "conversations out of a workspace and into one: no format of its own, no agent, no printing",
	},
	"cortext/cmd/internal/repair": {
		ours: []string{"cortext/cmd/internal/capture", "cortext/cmd/internal/check", "cortext/cmd/internal/fork", "cortext/cmd/internal/git", "cortext/cmd/internal/registry", "cortext/cmd/internal/workspace", "cortext/schema", "cortext/store"},
		why:  "where the records of a damaged conversation still are: writes nothing itself, no printing",
	},
	"cortext/cmd/internal/check": {
		ours: []string{"cortext/cmd/internal/capture", "cortext/cmd/internal/workspace", "cortext/store"},
		why:  "what is missing, as the log, git and the checkpoints of capture say",
	},
	"cortext/cmd/internal/install": {
		ours: []string{"cortext/cmd/internal/settings", "cortext/cmd/internal/capture", "cortext/cmd/internal/workspace", "cortext/inject", "cortext/schema/prompt", "cortext/store",
			"cortext/store/atomicfile"},
		why: "writes what a workspace and the agents need in a project: no conversation",
	},
	"cortext/cmd/internal/caller": {
		ours: []string{"cortext/cmd/internal/binding", "cortext/cmd/internal/capture", "cortext/cmd/internal/registry", "cortext/cmd/internal/workspace", "cortext/inject",
			"cortext/schema", "cortext/store"},
		why: "which session calls, and what it is in: no payload, no launch",
	},
	"cortext/cmd/internal/payload": {
		ours: []string{"cortext/cmd/internal/capture", "cortext/cmd/internal/history", "cortext/cmd/internal/workspace", "cortext/inject",
			"cortext/resume", "cortext/resume/notes", "cortext/schema", "cortext/store"},
		why: "gathers what package resume builds from: no launch, no printing",
	},
	"cortext/cmd/internal/compact": {
		ours: []string{"cortext/cmd/internal/settings", "cortext/cmd/internal/summarize", "cortext/cmd/internal/workspace", "cortext/resume/notes", "cortext/resume/summary",
			"cortext/schema", "cortext/schema/clip", "cortext/store"},
		why: "makes summaries and titles: no transcript, no agent session",
	},
	"cortext/cmd/internal/stop": {
		ours: []string{"cortext/cmd/internal/binding", "cortext/cmd/internal/capture", "cortext/cmd/internal/compact", "cortext/cmd/internal/shell", "cortext/cmd/internal/workspace",
			"cortext/schema", "cortext/store"},
		why: "ends conversations: no payload, no launch",
	},
	"cortext/cmd/internal/slash": {
		ours: []string{"cortext/cmd/internal/binding", "cortext/cmd/internal/caller", "cortext/cmd/internal/capture", "cortext/cmd/internal/check",
			"cortext/cmd/internal/compact", "cortext/cmd/internal/export", "cortext/cmd/internal/export/portable", "cortext/cmd/internal/history",
			"cortext/cmd/internal/listing", "cortext/cmd/internal/organise", "cortext/cmd/internal/payload", "cortext/cmd/internal/settings", "cortext/cmd/internal/shell", "cortext/cmd/internal/stop",
			"cortext/cmd/internal/workspace", "cortext/inject", "cortext/inject/setup", "cortext/resume", "cortext/resume/notes", "cortext/schema", "cortext/schema/clip",
			"cortext/store"},
		why: "answers the commands typed in any agent: no single agent, no launch, no printing",
	},
	"cortext/cmd/internal/launch": {
		ours: []string{"cortext/cmd/internal/binding", "cortext/cmd/internal/capture", "cortext/cmd/internal/history", "cortext/cmd/internal/interrupt", "cortext/cmd/internal/payload",
			"cortext/cmd/internal/registry", "cortext/cmd/internal/shell", "cortext/cmd/internal/shown", "cortext/cmd/internal/workspace", "cortext/inject",
			"cortext/resume", "cortext/schema", "cortext/schema/clip", "cortext/schema/prompt", "cortext/store"},
		modules: []string{"golang.org/x/term"},
		why:     "starts agents and cleans up after them: no cobra, no questions, no single agent",
	},
	"cortext/cmd/internal/hook": {
		ours: []string{"cortext/cmd/internal/binding", "cortext/cmd/internal/capture", "cortext/cmd/internal/companion", "cortext/cmd/internal/compact", "cortext/cmd/internal/lifecycle",
			"cortext/cmd/internal/organise", "cortext/cmd/internal/payload", "cortext/cmd/internal/settings", "cortext/cmd/internal/shown",
			"cortext/cmd/internal/slash", "cortext/cmd/internal/statusline", "cortext/cmd/internal/workspace", "cortext/inject", "cortext/schema",
			"cortext/store"},
		modules: []string{"golang.org/x/sys/windows"},
		why:     "what an agent waits for: no cobra, no HTTP, no single agent, no launch",
	},
	"cortext/cmd/internal/picker": {
		ours: []string{"cortext/cmd/internal/listing"},
		why:  "what the picker shows and returns, without what draws it",
	},
	"cortext/cmd/internal/picker/screen": {
		ours: []string{"cortext/cmd/internal/listing", "cortext/cmd/internal/picker", "cortext/cmd/internal/shown"},
		modules: []string{"charm.land/bubbletea/v2", "github.com/charmbracelet/colorprofile", "github.com/charmbracelet/x/ansi", "github.com/sahilm/fuzzy",
			"golang.org/x/term", "golang.org/x/text/unicode/norm"},
		why: "a screen to choose on, which only cortext-picker imports: it reads no files, and what it needs is passed in",
	},
	"cortext/cmd/internal/cli": {
		ours: []string{"cortext/cmd/internal/caller", "cortext/cmd/internal/capture", "cortext/cmd/internal/check", "cortext/cmd/internal/commits", "cortext/cmd/internal/compact", "cortext/cmd/internal/companion",
			"cortext/cmd/internal/export", "cortext/cmd/internal/export/bundle", "cortext/cmd/internal/export/portable",
			"cortext/cmd/internal/fork", "cortext/cmd/internal/organise", "cortext/cmd/internal/registry", "cortext/cmd/internal/repair",
			"cortext/cmd/internal/settings", "cortext/cmd/internal/stats",
			"cortext/cmd/internal/git", "cortext/cmd/internal/history", "cortext/cmd/internal/hook", "cortext/cmd/internal/install",
			"cortext/cmd/internal/find", "cortext/cmd/internal/interrupt", "cortext/cmd/internal/launch", "cortext/cmd/internal/lifecycle",
			"cortext/cmd/internal/listing", "cortext/cmd/internal/payload", "cortext/cmd/internal/picker",
			"cortext/cmd/internal/redact", "cortext/cmd/internal/registry", "cortext/cmd/internal/removal", "cortext/cmd/internal/search", "cortext/cmd/internal/shell",
			"cortext/cmd/internal/shown", "cortext/cmd/internal/slash", "cortext/cmd/internal/stop", "cortext/cmd/internal/summarize", "cortext/cmd/internal/watch",
			"cortext/cmd/internal/workspace", "cortext/inject", "cortext/resume", "cortext/resume/notes", "cortext/schema", "cortext/schema/prompt", "cortext/schema/rawjson",
			"cortext/store", "cortext/store/mergefile"},
		modules: []string{"github.com/clipperhouse/displaywidth", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"},
		why:     "arguments and printing; which agents there are, main says",
	},
	"cortext/cmd/internal/agenttest": {
		modules: []string{"github.com/charmbracelet/ultraviolet", "github.com/charmbracelet/x/ansi", "github.com/charmbracelet/x/vt", "github.com/creack/pty"},
		why:     "drives agents in tests: knows nothing of cortext",
	},
	"cortext/scripts/kill9": {ours: []string{"cortext/schema", "cortext/store"}, why: "tests the store's write path from outside"},
	"cortext/cmd/internal/serve/web": {
		why: "the files of the page",
	},
	"cortext/cmd/internal/serve/live": {
		ours:    []string{"cortext/cmd/internal/history", "cortext/schema", "cortext/store"},
		modules: []string{"github.com/fsnotify/fsnotify"},
		why:     "what is new in a conversation: no HTTP",
	},
	"cortext/cmd/internal/serve": {
		ours:    []string{"cortext/cmd/internal/caller", "cortext/cmd/internal/capture", "cortext/cmd/internal/children", "cortext/cmd/internal/compact", "cortext/cmd/internal/companion", "cortext/cmd/internal/export", "cortext/cmd/internal/export/bundle", "cortext/cmd/internal/export/call", "cortext/cmd/internal/export/page", "cortext/cmd/internal/export/portable", "cortext/cmd/internal/fork", "cortext/cmd/internal/git", "cortext/cmd/internal/history", "cortext/cmd/internal/interrupt", "cortext/cmd/internal/launch", "cortext/cmd/internal/listing", "cortext/cmd/internal/organise", "cortext/cmd/internal/payload", "cortext/cmd/internal/search", "cortext/cmd/internal/serve/live", "cortext/cmd/internal/serve/web", "cortext/cmd/internal/stats", "cortext/cmd/internal/stop", "cortext/cmd/internal/workspace", "cortext/inject", "cortext/resume", "cortext/schema", "cortext/schema/clip", "cortext/schema/rawjson", "cortext/store"},
		modules: []string{"github.com/coder/websocket"},
		why:     "HTTP for what commands do, which only cortext-serve imports: no logic of its own about conversations, no printing",
	},
	"cortext/cmd/cortext-web": {
		ours: []string{"cortext/cmd/internal/companion", "cortext/cmd/internal/export", "cortext/cmd/internal/export/page/markdown", "cortext/cmd/internal/openai"},
		why:  "what would make cortext start slower",
	},
	"cortext/cmd/cortext-zstd": {
		ours: []string{"cortext/cmd/internal/companion", "cortext/cmd/internal/export/bundle/zstd"},
		why:  "the library that compresses bundles, which would make cortext start slower, and nothing else: an export waits for its start",
	},
	"cortext/cmd/cortext-serve": {
		ours:    []string{"cortext/cmd/internal/capture", "cortext/cmd/internal/compact", "cortext/cmd/internal/companion", "cortext/cmd/internal/export/page", "cortext/cmd/internal/export/page/markdown", "cortext/cmd/internal/hook", "cortext/cmd/internal/payload", "cortext/cmd/internal/registry", "cortext/cmd/internal/serve", "cortext/cmd/internal/workspace", "cortext/inject", "cortext/inject/claude", "cortext/inject/gemini", "cortext/inject/opencode"},
		modules: []string{"modernc.org/sqlite"},
		why:     "what would make cortext and cortext-web start slower",
	},
	"cortext/cmd/cortext-opencode": {
		ours:    []string{"cortext/cmd/internal/companion", "cortext/cmd/internal/hook", "cortext/cmd/internal/remotesql", "cortext/inject", "cortext/inject/opencode"},
		modules: []string{"modernc.org/sqlite"},
		why:     "what needs OpenCode's database",
	},
	"cortext/cmd/cortext-hook": {
		ours: []string{"cortext/cmd/internal/hook", "cortext/inject", "cortext/inject/claude", "cortext/inject/gemini"},
		why:  "the part of cortext that an agent waits for",
	},
	"cortext/cmd/internal/process": {
		ours: []string{"cortext/cmd/internal/cli", "cortext/cmd/internal/companion", "cortext/cmd/internal/hook", "cortext/cmd/internal/interrupt", "cortext/cmd/internal/picker", "cortext/cmd/internal/remotesql", "cortext/inject", "cortext/inject/claude", "cortext/inject/gemini", "cortext/inject/opencode"},
		why:  "puts the parts together",
	},
	"cortext/cmd/cortext":        {ours: []string{"cortext/cmd/internal/process"}, why: "all but the picker"},
	"cortext/cmd/cortext-picker": {ours: []string{"cortext/cmd/internal/picker/screen", "cortext/cmd/internal/process"}, why: "what only the picker needs would make cortext start slower"},
}

// forbidden lists standard library packages that a package must not import.
var forbidden = map[string]map[string]string{
	"cortext/schema":            recordBytes,
	"cortext/schema/rawjson":    recordBytes,
	"cortext/schema/clip":       pure,
	"cortext/schema/jsonl":      recordBytes,
	"cortext/resume":            pure,
	"cortext/cmd/internal/find": pure,
	"cortext/resume/notes":      recordBytes,
	"cortext/resume/model":      pure,
	"cortext/schema/prompt":     pure,
	"cortext/resume/summary":    pure,
	"cortext/resume/excerpt":    pure,
	"cortext/store": {
		"os/exec":       "nothing in a workspace is executed",
		"net/http":      "conversations stay on the machine",
		"encoding/json": "it accepts what must be refused (schema/rawjson)",
	},
	"cortext/inject/claude":          adapterReads,
	"cortext/inject/gemini":          adapterReads,
	"cortext/inject/opencode":        adapterReads,
	"cortext/cmd/internal/registry":  programsElsewhere,
	"cortext/cmd/internal/workspace": programsElsewhere,
	"cortext/cmd/internal/binding":   programsElsewhere,
	"cortext/cmd/internal/capture":   programsElsewhere,
	"cortext/cmd/internal/caller":    programsElsewhere,
	"cortext/cmd/internal/check":     programsElsewhere,
	"cortext/cmd/internal/repair":    programsElsewhere,
	"cortext/cmd/internal/compact":   programsElsewhere,
	"cortext/cmd/internal/history":   programsElsewhere,
	"cortext/cmd/internal/install":   programsElsewhere,
	"cortext/cmd/internal/payload":   programsElsewhere,
	"cortext/cmd/internal/slash":     programsElsewhere,
	"cortext/cmd/internal/stop":      programsElsewhere,
	"cortext/cmd/internal/watch":     programsElsewhere,
	"cortext/cmd/internal/worktrees": programsElsewhere,
}

var programsElsewhere = map[string]string{"os/exec": "programs are run by packages git, launch, hook and lifecycle"}

var adapterReads = map[string]string{
	"encoding/json": "it loses lone surrogates: transcripts are read with schema/rawjson, settings with inject.ReadJSON",
	"os/exec":       "programs are run by inject.Program",
}

var pure = map[string]string{
	"os":           "pure: what it needs is passed in",
	"os/exec":      "pure: what it needs is passed in",
	"net":          "pure: what it needs is passed in",
	"math/rand":    "the same input gives the same bytes",
	"math/rand/v2": "the same input gives the same bytes",
}

// recordBytes lists the imports forbidden for code that reads or writes records.
var recordBytes = map[string]string{
	"os":            "pure: what it needs is passed in",
	"encoding/json": "it accepts what must be refused and loses lone surrogates (schema/rawjson)",
}

type listed struct {
	ImportPath, Dir string
	Imports         []string
	GoFiles         []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "cortext/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		r, ok := rules[p.ImportPath]
		if !ok {
			if len(p.GoFiles) > 0 {
				t.Errorf("%s has no rule: say in this test what it may import, and why", p.ImportPath)
			}
			continue
		}
		for _, dep := range p.Imports {
			switch first, _, _ := strings.Cut(dep, "/"); {
			case first == "cortext":
				if !slices.Contains(r.ours, dep) {
					t.Errorf("%s must not import %s: %s", p.ImportPath, dep, r.why)
				}
			case strings.Contains(first, "."):
				if !slices.Contains(r.modules, dep) {
					t.Errorf("%s must not import %s: %s", p.ImportPath, dep, r.why)
				}
			default:
				if why, ok := forbidden[p.ImportPath][dep]; ok {
					t.Errorf("%s must not import %s: %s", p.ImportPath, dep, why)
				}
			}
		}
	}
}

// asksGit lists the files that name logs only to ask git, or the store for a size; they
// open none.
var asksGit = []string{
	"cortext/cmd/internal/git/commit.go",
	"cortext/cmd/internal/workspace/check.go",
	"cortext/cmd/internal/workspace/lost.go",
}

// TestLogsAreTheStores: only the store opens a log, so that one place maintains its
// locks, order and guarantees. Other code does not even name a log, except to ask git
// about it.
func TestLogsAreTheStores(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath == "cortext/store" || strings.HasPrefix(p.ImportPath, "cortext/scripts/") {
			continue
		}
		for _, name := range p.GoFiles {
			if slices.Contains(asksGit, p.ImportPath+"/"+name) {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && (strings.Contains(lit.Value, "messages.jsonl") || strings.Contains(lit.Value, "tools.jsonl")) {
					t.Errorf("%s/%s names a log: %s", p.ImportPath, name, lit.Value)
				}
				return true
			})
		}
	}
}

// TestPackageComments requires one package comment in each package, in one file.
func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		var with []string
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil {
				with = append(with, name)
			}
		}
		if len(p.GoFiles) > 0 && len(with) != 1 {
			t.Errorf("%s has a package comment in %v, want one", p.ImportPath, with)
		}
	}
}
