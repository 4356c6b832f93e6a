// Command cortext-serve serves conversations to browsers and other programs. cortext serve
// starts it. It is a program of its own, so that what only a server needs costs neither
// cortext nor cortext-web anything at their starts.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver for OpenCode's database

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/export/page"
	"cortext/cmd/internal/export/page/markdown"
	"cortext/cmd/internal/hook"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/serve"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
	"cortext/inject/opencode"
)

// tokenVariable may hold the token, so that a client needs none from the output.
const tokenVariable = "CORTEXT_SERVE_TOKEN"

// minToken is the fewest characters that such a token may have.
const minToken = 16

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", companion.Server, err)
		os.Exit(1)
	}
}

// run serves until the process gets a signal to stop.
func run(args []string) error {
	var o companion.Serving
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &o) != nil {
		return fmt.Errorf("does not know %q: cortext serve starts this program", args)
	}
	token := os.Getenv(tokenVariable)
	switch {
	case token == "":
		token = rand.Text()
	case len(token) < minToken:
		return fmt.Errorf("%s needs at least %d characters", tokenVariable, minToken)
	}
	_ = os.Unsetenv(tokenVariable) // the agents' programs need not know it
	listener, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	at := listener.Addr().(*net.TCPAddr)
	address := "http://" + shownAddress(o.Addr, at)
	s := serve.New(serve.Config{
		Root: o.Root, Workspaces: known, Open: spaces{agents()}.open, Token: token, Names: o.Hosts, Listen: at.IP,
		Environ: os.Environ(), Markdown: func() page.Markdown { return markdown.New().Append },
		Log:     func(text string) { fmt.Fprintln(os.Stderr, "cortext:", text) },
		KeyUsed: func(next string) { fmt.Fprintf(os.Stderr, "another browser: %s/?key=%s\n", address, next) },
	})
	now := addresses{Page: address + "/?key=" + s.Key(), API: address + "/api", Token: token, PID: os.Getpid()}
	if o.JSON {
		_ = json.NewEncoder(os.Stdout).Encode(now)
	} else {
		now.print()
	}
	if o.Open {
		if err := openBrowser(ctx, address+"/?key="+s.Key()); err != nil {
			fmt.Fprintln(os.Stderr, "cortext: no browser could be opened:", err)
		}
	}
	return s.Serve(ctx, listener)
}

// addresses are what serve prints; with --json, their names are stable.
type addresses struct {
	Page  string `json:"page"` // opens once
	API   string `json:"api"`
	Token string `json:"token"`
	PID   int    `json:"pid"`
}

func (a addresses) print() {
	fmt.Printf("page:  %s\napi:   %s (%s/openapi.json describes it)\ntoken: %s\n", a.Page, a.API, a.API, a.Token)
	fmt.Fprintln(os.Stderr, "serving; Ctrl-C ends it")
}

// shownAddress returns the host and the port under which this machine reaches the server.
func shownAddress(asked string, at *net.TCPAddr) string {
	host, _, err := net.SplitHostPort(asked)
	if err != nil || at.IP.IsUnspecified() || host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, fmt.Sprint(at.Port))
}

// machine describes the machine that the program runs on.
func machine() inject.Machine {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		home = hook.Nowhere
	}
	return inject.Machine{Home: home, Getenv: os.Getenv}
}

// known lists the workspaces that requests may name.
func known() []string { return registry.In(workspace.StateDir(machine())).Workspaces.Seen() }

func agents() []inject.Agent {
	return []inject.Agent{claude.Agent(), opencode.Agent(), gemini.Agent()}
}

// spaces opens workspaces.
type spaces struct{ agents []inject.Agent }

func (s spaces) open(root string) (*serve.Space, error) {
	w, err := workspace.Open(workspace.Env{
		Dir: root, Machine: machine(), Now: time.Now, Rand: rand.Reader, Agents: s.agents,
		Holder: fmt.Sprintf("cortext serve, pid %d", os.Getpid()),
	})
	if err != nil {
		return nil, err
	}
	c := capture.New(w)
	return &serve.Space{
		Workspace: w, Capture: c, Payloads: payload.New(w), Compact: compact.New(w, endpoint),
		Refresh: func() { _ = s.hooks().Later(w, "refresh") }, // the next list tries again
		End: func() {
			for _, text := range c.TakeWarnings() {
				fmt.Fprintln(os.Stderr, "cortext:", text)
			}
			s.hooks().LifecycleLater(w)
			_ = w.Close()
		},
	}, nil
}

func endpoint(url, model, key string) compact.Summarizer {
	return companion.Model{BaseURL: url, Model: model, Key: key}
}

// hooks describes this program as one that hooks call.
func (s spaces) hooks() hook.Program {
	return hook.Program{Name: string(companion.Server), Agents: s.agents, Machine: machine(), Now: time.Now, Cortext: hook.Beside}
}

// openBrowser opens an address in the user's browser.
func openBrowser(ctx context.Context, address string) error {
	var args []string
	switch runtime.GOOS {
	case "darwin":
		args = []string{"open"}
	case "windows":
		args = []string{"rundll32", "url.dll,FileProtocolHandler"}
	default:
		args = []string{"xdg-open"}
	}
	cmd := exec.CommandContext(ctx, args[0], append(args[1:], address)...)
	if err := cmd.Start(); err != nil {
		return errors.Join(err, errors.New("open the address by hand"))
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
