package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// An apiDoc is openapi.json. Every answer that a test gets is compared with it.
type apiDoc struct {
	doc      map[string]any
	routes   []docRoute
	compiler *jsonschema.Compiler

	mu   sync.Mutex
	seen map[string]bool // method, path and status of answers
}

type docRoute struct {
	path    string
	pattern *regexp.Regexp
	methods map[string]any
}

var described = sync.OnceValues(func() (*apiDoc, error) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	d := &apiDoc{doc: doc.(map[string]any), compiler: jsonschema.NewCompiler(), seen: map[string]bool{}}
	if err := d.compiler.AddResource("openapi.json", doc); err != nil {
		return nil, err
	}
	for path, methods := range d.doc["paths"].(map[string]any) {
		pattern := regexp.MustCompile("^" + regexp.MustCompile(`{\w+}`).ReplaceAllString(path, "[^/]+") + "$")
		d.routes = append(d.routes, docRoute{path, pattern, methods.(map[string]any)})
	}
	slices.SortFunc(d.routes, func(a, b docRoute) int { return strings.Count(a.path, "{") - strings.Count(b.path, "{") })
	return d, nil
})

// check compares an answer with the document.
func (d *apiDoc) check(t testing.TB, method, path string, got reply) {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	for _, rt := range d.routes {
		op, ok := rt.methods[strings.ToLower(method)].(map[string]any)
		if !ok || !rt.pattern.MatchString(path) {
			continue
		}
		status := strconv.Itoa(got.status)
		answer, ok := op["responses"].(map[string]any)[status].(map[string]any)
		if !ok {
			t.Errorf("%s %s: the status %s is not described: %s", method, rt.path, status, got.body)
			return
		}
		d.mu.Lock()
		d.seen[method+" "+rt.path+" "+status] = true
		d.mu.Unlock()
		if to, ok := answer["$ref"].(string); ok {
			answer = d.doc["components"].(map[string]any)["responses"].(map[string]any)[to[strings.LastIndexByte(to, '/')+1:]].(map[string]any)
		}
		d.body(t, method+" "+rt.path+" "+status, answer, got)
		return
	}
	if strings.HasPrefix(path, "/api/") && got.status < 300 {
		t.Errorf("%s %s: this route is not described", method, path)
	}
}

// body validates the body of an answer.
func (d *apiDoc) body(t testing.TB, what string, answer map[string]any, got reply) {
	t.Helper()
	content, _ := answer["content"].(map[string]any)
	if content == nil {
		if len(got.body) > 0 {
			t.Errorf("%s: has a body: %s", what, got.body)
		}
		return
	}
	media, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
	of, ok := content[media].(map[string]any)
	if !ok {
		t.Errorf("%s: the type %q is not described", what, media)
		return
	}
	to, _ := of["schema"].(map[string]any)["$ref"].(string)
	if to == "" || !strings.HasSuffix(media, "json") && media != "application/x-ndjson" {
		return
	}
	schema, err := d.compiler.Compile("openapi.json" + to)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(got.body) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			t.Errorf("%s: %v: %s", what, err, line)
		} else if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v\n%s", what, err, line)
		}
	}
}

// TestRoutes: each route of the document answers with its status of success, and with what
// the document says.
func TestRoutes(t *testing.T) {
	s := newSite(t)
	id := s.begin("API design", "REST or GraphQL?", "REST.", "Why?", "It is simple.")
	one := "/api/sessions/" + id
	var exported struct{ Data, Filename string }
	s.want(200, "POST", one+"/export", nil, &exported)
	if !regexp.MustCompile(`^session-api-design-\d{4}-\d\d-\d\d\.json$`).MatchString(exported.Filename) {
		t.Errorf("filename %q", exported.Filename)
	}
	for _, format := range []string{"json", "jsonl", "md", "html"} {
		file := s.want(200, "GET", one+"/export?format="+format, nil, nil)
		if !strings.Contains(file.header.Get("Content-Disposition"), "."+format) || !bytes.Contains(file.body, []byte("GraphQL")) {
			t.Errorf("%s: %v %.200s", format, file.header, file.body)
		}
	}
	for _, kept := range []bool{false, true} {
		var in struct {
			Session  session
			Imported []struct {
				ID      string
				Existed bool
			}
		}
		s.want(201, "POST", "/api/sessions/import", map[string]any{"data": exported.Data, "keepIds": kept}, &in)
		if (in.Session.ID == id) != kept || len(in.Imported) != 1 || in.Imported[0].Existed != kept || len(in.Session.ShortTermMemory) != 4 {
			t.Errorf("keepIds=%v: %+v", kept, in)
		}
	}
	var foreign struct{ Session session }
	s.want(201, "POST", "/api/sessions/import", map[string]string{"data": `{"version":"1.0","exportedAt":1,"session":{"name":"Seed","provider":"openai","modes":{"orchestrate":true},"messages":[{"id":"a","role":"user","content":"Hi","timestamp":1}],"longTermSummary":"","metrics":{}}}`}, &foreign)
	if foreign.Session.Provider != "openai" || !foreign.Session.Modes["orchestrate"] {
		t.Errorf("of another program: %+v", foreign.Session)
	}
	var added struct{ Message struct{ Timestamp int64 } }
	s.want(201, "POST", "/api/sessions/"+foreign.Session.ID+"/messages", map[string]any{"id": "b", "role": "user", "content": "Earlier", "timestamp": int64(1767600000123)}, &added)
	if added.Message.Timestamp != 1767600000123 {
		t.Errorf("a message with a time: %+v", added)
	}
	s.want(400, "POST", "/api/sessions/"+foreign.Session.ID+"/messages", map[string]any{"content": "Late", "timestamp": int64(1) << 60}, nil)
	file := s.send("POST", "/api/sessions/import", exported.Data, "Content-Type", "application/octet-stream")
	if file.status != 201 {
		t.Errorf("a file: %d %s", file.status, file.body)
	}
	var got struct {
		Session session
		Prompt  string
	}
	s.want(200, "PATCH", one, map[string]any{
		"name": "Orders API", "tags": []string{"api", "rest"}, "notes": "Ask Ada.", "archived": true, "values": map[string]string{"ticket": "7"},
		"modes": map[string]bool{"plan": true, "orchestrate": true}, "status": "completed",
	}, &got)
	x := got.Session
	if x.Name != "Orders API" || !slices.Equal(x.Tags, []string{"api", "rest"}) || x.Notes != "Ask Ada." || !x.Archived || x.Status != "completed" || x.Values["ticket"] != "7" ||
		!maps.Equal(x.Modes, map[string]bool{"plan": true, "orchestrate": true, "bypassPermissions": false}) {
		t.Errorf("%+v", x)
	}
	s.want(200, "PATCH", one, map[string]any{"tags": []string{"rest"}, "archived": false, "modes": map[string]bool{"orchestrate": false}, "status": "active"}, &got)
	if x := got.Session; !slices.Equal(x.Tags, []string{"rest"}) || x.Archived || x.Status != "active" || !x.Modes["plan"] || x.Modes["orchestrate"] || x.Name != "Orders API" {
		t.Errorf("%+v", x)
	}
	s.want(201, "POST", one+"/fork", map[string]any{"at": "3", "name": "Copy"}, &got)
	if got.Session.Name != "Copy" || got.Session.ID == id || got.Prompt != "Why?" {
		t.Errorf("fork: %+v", got)
	}
	s.want(201, "POST", "/api/sessions", map[string]any{"name": "Other", "provider": "openai"}, &got)
	if got.Session.Provider != "openai" || got.Session.Name != "Other" {
		t.Errorf("%+v", got.Session)
	}
	var said struct {
		Message struct {
			Content   string
			Timestamp int64
		}
	}
	for range 2 { // the second changes nothing, and tells what there is
		s.want(201, "POST", one+"/messages", map[string]string{"id": "own", "content": "Thanks."}, &said)
		if said.Message.Content != "Thanks." || said.Message.Timestamp == 0 {
			t.Errorf("%+v", said)
		}
	}
	s.want(201, "POST", one+"/messages", map[string]string{"id": "own", "content": "Other words."}, &said)
	if said.Message.Content != "Thanks." {
		t.Errorf("%+v", said)
	}
	s.want(200, "GET", one, nil, nil)
	s.want(200, "GET", one+"/messages", nil, nil)
	s.want(200, "GET", one+"/prompts", nil, nil)
	s.want(200, "GET", one+"/html", nil, nil)
	s.want(200, "GET", one+"/context?text=true&strategy=minimal-state", nil, nil)
	s.want(200, "POST", one+"/summarize", nil, nil)
	s.want(200, "GET", "/api/sessions?status=all&archived=true", nil, nil)
	s.want(200, "GET", "/api/search?q=simple", nil, nil)
	s.want(200, "GET", "/api/stats?by=type", nil, nil)
	s.want(200, "GET", "/api/workspaces", nil, nil)
	s.want(200, "GET", "/api/openapi.json", nil, nil)
	s.want(200, "POST", one+"/stop", nil, nil)

	var init struct{ Workspace struct{ Total int } }
	s.want(200, "POST", "/init", map[string]string{"workspacePath": s.root}, &init)
	var begun struct{ SessionID, Status string }
	s.want(201, "POST", "/sessions", map[string]string{"workspacePath": s.root, "title": "Daemon"}, &begun)
	s.want(204, "DELETE", "/sessions/"+begun.SessionID, nil, nil)
	var list []struct{ SessionID, Status string }
	s.want(200, "GET", "/workspaces/"+strings.ReplaceAll(s.root, "/", "%2F")+"/sessions", nil, &list)
	if len(list) != init.Workspace.Total+1 || list[0].SessionID != begun.SessionID || list[0].Status != "paused" {
		t.Errorf("%d before: %+v", init.Workspace.Total, list)
	}
	s.want(200, "POST", "/sessions", map[string]string{"sessionId": begun.SessionID}, &begun)
	if begun.Status != "active" {
		t.Errorf("resumed: %+v", begun)
	}
	tag := s.want(200, "GET", one, nil, nil).header.Get("ETag")
	s.want(200, "PATCH", one, map[string]string{"notes": "changed"}, nil)
	if got := s.send("PATCH", one, map[string]string{"notes": "lost"}, "If-Match", tag); got.status != http.StatusPreconditionFailed {
		t.Errorf("If-Match of before: %d %s", got.status, got.body)
	}
	if got := s.send("DELETE", one, nil, "If-Match", tag); got.status != http.StatusPreconditionFailed {
		t.Errorf("If-Match of before: %d %s", got.status, got.body)
	}
	s.want(204, "DELETE", one, nil, nil)
	s.want(404, "GET", one, nil, nil)

	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	for _, rt := range d.routes {
		for method, op := range rt.methods {
			ok := false
			for status, answer := range op.(map[string]any)["responses"].(map[string]any) {
				content, _ := json.Marshal(answer)
				streams := status == "101" || bytes.Contains(content, []byte("event-stream")) || bytes.Contains(content, []byte("ndjson"))
				ok = ok || streams || status < "300" && d.seen[fmt.Sprintf("%s %s %s", strings.ToUpper(method), rt.path, status)]
			}
			if !ok {
				t.Errorf("%s %s: no test sees it succeed", method, rt.path)
			}
		}
	}
}
