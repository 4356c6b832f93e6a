module cortext

// 1.26.5 mends an escape from os.Root (CVE-2026-39822).
go 1.26.5

require (
	charm.land/bubbletea/v2 v2.1.1 // the picker: raw mode, keys, mouse, and drawing only what changed
	github.com/charmbracelet/colorprofile v0.4.3 // which colours the terminal has, for bubbletea: by the environment alone, else it runs tmux
	github.com/charmbracelet/x/ansi v0.11.9 // text of the picker: cutting what has colours
	github.com/clipperhouse/displaywidth v0.11.0 // how wide text is on a terminal; nothing runs at start-up
	github.com/coder/websocket v1.8.15 // WebSockets, for live updates of the server
	github.com/fsnotify/fsnotify v1.10.1 // what changes in the agents' stores, for watch
	github.com/google/renameio/v2 v2.0.2 // temp file and rename of session.json
	github.com/klauspost/compress v1.20.4 // zstd, for bundles of exports; nothing runs at start-up
	github.com/mattn/go-runewidth v0.0.31 // indirect; with bubbletea come 0.0.26 and 0.0.27, which add 25 to 60 ms to every start
	github.com/mozillazg/go-unidecode v0.2.0 // folder names of titles in any script; its table adds 0.05 ms to a start
	github.com/pkoukk/tiktoken-go-loader v0.0.2 // the o200k_base table as data: nothing runs at start-up
	github.com/sahilm/fuzzy v0.1.3 // the last tier of resume's query, and the picker's marks and ranks
	github.com/spf13/cobra v1.10.2 // the command line
	github.com/spf13/pflag v1.0.9 // with cobra: flags with optional values
	github.com/yuin/goldmark v1.8.7 // Markdown of messages, for exported pages
	go.yaml.in/yaml/v3 v3.0.6 // .workspace/config.yaml; gopkg.in/yaml.v3 under its maintained name
	golang.org/x/sys v0.49.0 // flock and fdatasync on files that os.Root opened
	golang.org/x/term v0.47.0 // whether the output is a terminal
	golang.org/x/text v0.44.0 // composed and decomposed letters, which are equal in searches; it adds 0.01 ms to a start
	modernc.org/sqlite v1.60.1 // OpenCode's database, read only by cortext-opencode and cortext-serve; pure Go, so that there is one binary for each system
	mvdan.cc/sh/v3 v3.14.1 // what a command for the shell does to files: only the parser
)

// Test dependencies.
require (
	github.com/charmbracelet/ultraviolet v0.0.0-20261008173134-6b8d4baf91b4 // the attributes of the cells of x/vt
	github.com/charmbracelet/x/vt v0.0.0-20260823001701-96af6d2cb5f6 // what a terminal shows of the picker and of the agents, with wide characters; it has no release
	github.com/creack/pty v1.1.24 // a terminal for the agents to run in
	github.com/dlclark/regexp2/v2 v2.5.1 // o200k_base's own pattern, to compare the splitter with
	github.com/rogpeppe/go-internal v1.16.0 // testscript: scripts that drive the program
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // validates what tests produce against the JSON Schemas
	github.com/tiktoken-go/tokenizer v0.10.0 // the counts that ours are compared with
)

require (
	github.com/aymanbagabas/go-udiff v0.4.1 // indirect
	github.com/charmbracelet/x/exp/golden v0.0.0-20250806222409-83e3a29d542f // indirect
	github.com/charmbracelet/x/exp/ordered v0.1.0 // indirect
	github.com/charmbracelet/x/term v0.2.2 // indirect
	github.com/charmbracelet/x/termios v0.1.1 // indirect
	github.com/charmbracelet/x/windows v0.2.2 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/lucasb-eyer/go-colorful v1.4.1 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/muesli/cancelreader v0.2.2 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/xo/terminfo v1.0.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
