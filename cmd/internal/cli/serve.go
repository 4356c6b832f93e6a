package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/registry"
)

func serveCommand(a *app) *cobra.Command {
	o := companion.Serving{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve conversations to browsers and programs on this machine",
		Long: `Serves a page for browsers, and an API for programs, until you press Ctrl-C. It prints the
address of the page, which works only once, and the token that programs send as
"Authorization: Bearer TOKEN". CORTEXT_SERVE_TOKEN sets the token instead. The address
/api/openapi.json describes the API.

It listens on this machine only. With --addr it can listen elsewhere, but it does not
encrypt: whoever sees the traffic can read the conversations and the token.`,
		Example: "  cortext serve --open\n  cortext serve --addr 127.0.0.1:8090 --json",
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return runServe(a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Addr, "addr", "127.0.0.1:0", "listen on this `HOST:PORT`; port 0 is any free one")
	f.StringSliceVar(&o.Hosts, "host", nil, "a `NAME` by which clients may reach the server, besides localhost")
	f.BoolVar(&o.Open, "open", false, "open the page in a browser")
	f.BoolVar(&o.JSON, "json", false, "print the addresses and the token as a JSON object")
	return cmd
}

// runServe hands over to the program that serves.
func runServe(a *app, o companion.Serving) error {
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return &usageError{fmt.Sprintf("--addr %q is not HOST:PORT", o.Addr), "for example 127.0.0.1:8090"}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		a.screen.warn("other machines can reach " + visible(o.Addr) + ", and nothing is encrypted: whoever sees the traffic has the token")
	}
	root, err := a.root()
	if err != nil {
		return err
	}
	o.Root = registry.RealDir(root)
	program, err := companion.Server.Find()
	if err != nil {
		return err
	}
	about, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return replaceProgram(program, []string{program, string(about)}, os.Environ())
}
