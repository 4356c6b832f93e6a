package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// request FILE METHOD PATH [BODY] sends a request to the server whose addresses are in FILE,
// as serve --json prints them, and prints the status and the body of the answer. A path that
// begins with ? has no token, and is that of the page.
func request(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 || len(args) > 4 || neg {
		ts.Fatalf("usage: request file method path [body]")
	}
	var at struct{ Page, API, Token string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &at))
	var body io.Reader
	if len(args) == 4 {
		body = strings.NewReader(args[3])
	}
	r, err := http.NewRequest(args[1], strings.TrimSuffix(at.API, "/api")+strings.TrimPrefix(args[2], "?"), body)
	ts.Check(err)
	if !strings.HasPrefix(args[2], "?") {
		r.Header.Set("Authorization", "Bearer "+at.Token)
	}
	got, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d %s", got.StatusCode, text)
}

// turn FILE WORDS TEXT has the server run a turn in the conversation that WORDS select.
func turnOver(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 || neg {
		ts.Fatalf("usage: turn file words text")
	}
	ts.Check(ts.Exec("cortext", "list", "--search", args[1], "--format", "{{.ID}}"))
	id := strings.TrimSpace(ts.ReadFile("stdout"))
	body, err := json.Marshal(map[string]string{"content": args[2]})
	ts.Check(err)
	request(ts, false, []string{args[0], http.MethodPost, "/sessions/" + id + "/messages", string(body)})
}
