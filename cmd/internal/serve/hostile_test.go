package serve_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestHostile sends requests that a hostile page, program or network may send. Each is
// refused with a problem, and changes nothing.
func TestHostile(t *testing.T) {
	s := newSite(t)
	id := s.begin("Private", "secret words", "an answer")
	one := "/api/sessions/" + id
	outside := filepath.Join(filepath.Dir(s.root), "outside")
	if err := os.WriteFile(outside, []byte("secret words"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, s.root)
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	large := strings.Repeat("x", 2<<20)
	json := []string{"Content-Type", "application/json"}
	for _, x := range []struct {
		what, method, path, body string
		header                   []string
		status                   int
	}{
		{"no token", "GET", "/api/sessions", "", []string{"Authorization", ""}, 401},
		{"a wrong token", "GET", "/api/sessions", "", []string{"Authorization", "Bearer 0123456789abcdee"}, 401},
		{"an empty token", "GET", "/api/sessions", "", []string{"Authorization", "Bearer "}, 401},
		{"a prefix of the token", "GET", "/api/sessions", "", []string{"Authorization", "Bearer 0123456789"}, 401},
		{"another scheme", "GET", "/api/sessions", "", []string{"Authorization", "Basic " + token}, 401},
		{"the token as a parameter", "GET", "/api/sessions?token=" + token, "", []string{"Authorization", ""}, 401},
		{"the token as a cookie", "GET", "/api/sessions", "", []string{"Authorization", "", "Cookie", "cortext-80=" + token + "; token=" + token}, 401},
		{"no token for the document", "GET", "/api/openapi.json", "", []string{"Authorization", ""}, 401},
		{"no token for the daemon", "POST", "/init", "{}", append([]string{"Authorization", ""}, json...), 401},
		{"no token for events", "GET", one + "/events", "", []string{"Authorization", ""}, 401},
		{"no token for a socket", "GET", one + "/live", "", []string{"Authorization", "", "Upgrade", "websocket", "Connection", "Upgrade"}, 401},
		{"no token, one slash more", "GET", "//api/sessions", "", []string{"Authorization", ""}, 401},
		{"no token, encoded", "GET", "/%61pi/sessions", "", []string{"Authorization", ""}, 401},
		{"the page without its cookie", "GET", "/", "", []string{"Authorization", ""}, 401},
		{"a guessed key of the page", "GET", "/?key=AAAAAAAAAAAAAAAAAAAAAAAAAA", "", []string{"Authorization", ""}, 401},

		{"another name (rebinding)", "GET", "/api/sessions", "", []string{"Host", "evil.example"}, 421},
		{"another name with our port", "GET", "/", "", []string{"Host", "evil.example:80"}, 421},
		{"a name that begins like ours", "GET", "/api/sessions", "", []string{"Host", "localhost.evil.example"}, 421},
		{"a name that looks like an address", "GET", "/api/sessions", "", []string{"Host", "127.0.0.1.evil.example"}, 421},
		{"an address elsewhere", "GET", "/api/sessions", "", []string{"Host", "192.0.2.1"}, 421},
		{"another origin", "GET", "/api/sessions", "", []string{"Origin", "http://evil.example"}, 403},
		{"the origin null", "POST", "/api/sessions", "{}", append([]string{"Origin", "null"}, json...), 403},
		{"our origin by another scheme", "GET", "/api/sessions", "", []string{"Origin", "https://" + s.host()}, 403},
		{"another port of this machine", "GET", "/api/sessions", "", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"a preflight", "OPTIONS", "/api/sessions", "", []string{"Authorization", "", "Origin", "http://evil.example", "Access-Control-Request-Method", "POST"}, 403},
		{"from another site", "GET", "/api/sessions", "", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"from another port", "POST", "/api/sessions", "{}", append([]string{"Sec-Fetch-Site", "same-site"}, json...), 403},
		{"a form of another site", "POST", "/api/sessions", "name=x", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Content-Type", "application/x-www-form-urlencoded"}, 403},
		{"a socket of another site", "GET", one + "/live", "", []string{"Origin", "http://evil.example", "Upgrade", "websocket", "Connection", "Upgrade"}, 403},

		{"a form", "POST", "/api/sessions", "name=x", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"JSON as plain text", "POST", "/api/sessions", "{}", []string{"Content-Type", "text/plain"}, 415},
		{"no JSON", "POST", "/api/sessions", "{", json, 400},
		{"an array", "POST", "/api/sessions", "[]", json, 400},
		{"two values", "POST", "/api/sessions", "{}{}", json, 400},
		{"unknown members", "PATCH", one, `{"__proto__":{"a":1}}`, json, 400},
		{"the id", "PATCH", one, `{"id":"x"}`, json, 400},
		{"wrong types", "PATCH", one, `{"tags":"a"}`, json, 400},
		{"deep JSON", "POST", "/api/sessions", deep, json, 400},
		{"a large body", "POST", "/api/sessions", `{"name":"` + large + `"}`, json, 413},
		{"a large message", "POST", one + "/messages", `{"content":"` + large + `"}`, json, 413},
		{"a status that there is not", "PATCH", one, `{"status":"hacked"}`, json, 400},
		{"a title of control characters", "PATCH", one, `{"name":"\u001b\u0000"}`, json, 422},
		{"a role that there is not", "POST", one + "/messages", `{"role":"tool","content":"x"}`, json, 400},
		{"a message without words", "POST", one + "/messages", `{"content":" "}`, json, 400},
		{"an id that reads backwards", "POST", one + "/messages", `{"id":"a\u202eb","content":"x"}`, json, 400},
		{"an id with a newline", "POST", one + "/messages", `{"id":"a\nb","content":"x"}`, json, 400},
		{"a type with a path", "POST", "/api/sessions", `{"type":"../../x"}`, json, 422},
		{"a turn without words", "POST", "/sessions/" + id + "/messages", `{}`, json, 400},
		{"an agent that there is not", "POST", "/sessions/" + id + "/messages", `{"content":"x","agent":"/bin/sh"}`, json, 422},

		{"a workspace elsewhere", "GET", "/api/sessions?workspace=/etc", "", nil, 404},
		{"a workspace by a path back", "GET", "/api/sessions?workspace=" + s.root + "/../..", "", nil, 404},
		{"a workspace with a NUL", "GET", "/api/sessions?workspace=%00", "", nil, 404},
		{"a folder elsewhere", "GET", "/workspaces/%2Fetc/sessions", "", nil, 404},
		{"a relative folder", "POST", "/init", `{"workspacePath":"../.."}`, json, 400},
		{"a path as an id", "GET", "/api/sessions/..%2F..%2Foutside", "", nil, 404},
		{"a folder as an id", "DELETE", "/api/sessions/%2E%2E", "", nil, 404},
		{"an id with a NUL", "GET", "/api/sessions/%00", "", nil, 404},
		{"a path back", "GET", "/assets/..%2f..%2fserver.go", "", nil, 404},
		{"a path back, encoded", "GET", "/assets/%2e%2e/%2e%2e/web.go", "", nil, 404},
		{"a backslash", "GET", `/assets/..%5c..%5cweb.go`, "", nil, 404},
		{"the folder of the page's files", "GET", "/assets/", "", nil, 404},
		{"another method", "PUT", "/api/sessions", "{}", json, 405},
		{"TRACE", "TRACE", "/", "", nil, 405},
		{"a page beyond the numbers", "GET", "/api/sessions?offset=99999999999999999999", "", nil, 400},
		{"a query that is cut at a semicolon", "GET", "/api/sessions?sort=;title", "", nil, 400},
		{"a query with a broken escape", "GET", "/api/sessions?q=%zz", "", nil, 400},
		{"a socket without a key", "GET", one + "/live", "", []string{"Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Version", "13"}, 400},
		{"a socket of another version", "GET", one + "/live", "", []string{"Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Version", "8", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}, 400},
		{"a socket that is none", "GET", one + "/live", "", []string{"Upgrade", "h2c"}, 426},
		{"a status that no conversation has", "GET", "/api/sessions?status=paused,hacked", "", nil, 400},
		{"an agent that no conversation has", "GET", "/api/sessions?agent=claud", "", nil, 400},
		{"the same in a search", "GET", "/api/search?q=words&agent=claud", "", nil, 400},
		{"the same of the daemon", "GET", "/workspaces/" + url.PathEscape(s.root) + "/sessions?agent=claud", "", nil, 400},
		{"a page too large", "GET", "/api/sessions?limit=1000000", "", nil, 400},
		{"a regular expression that is none", "GET", "/api/search?regexp=true&q=(", "", nil, 400},
		{"a range that ends before it begins", "GET", one + "/export?from=2&to=1", "", nil, 400},
		{"the same in a body", "POST", one + "/export", `{"from":"2","to":"1"}`, json, 400},
		{"a format with a path", "GET", one + "/export?format=../json", "", nil, 400},
		{"an import of nothing", "POST", "/api/sessions/import", `{"data":""}`, json, 422},
		{"an import of something else", "POST", "/api/sessions/import", `{"data":"{\"a\":1}"}`, json, 422},
		{"an import of a damaged export", "POST", "/api/sessions/import", `{"data":"{\"version\":\"1.0\",\"exportedAt\":1,\"session\":{\"messages\":[7]}}"}`, json, 422},
		{"an import of a later version", "POST", "/api/sessions/import", `{"data":"{\"version\":\"9.0\",\"exportedAt\":1,\"session\":{\"name\":\"x\",\"messages\":[]}}"}`, json, 422},
	} {
		t.Run(x.what, func(t *testing.T) {
			s := *s
			s.t = t
			var body any
			if x.body != "" {
				body = x.body
			}
			got := s.send(x.method, x.path, body, x.header...)
			if got.status != x.status {
				t.Errorf("%s %s: %d %.300s, want %d", x.method, x.path, got.status, got.body, x.status)
			}
			if media := got.header.Get("Content-Type"); media != "application/problem+json" && media != "text/html; charset=utf-8" {
				t.Errorf("the answer has the type %q: %.300s", media, got.body)
			}
			if bytes.Contains(got.body, []byte("secret words")) || bytes.Contains(got.body, []byte(token)) {
				t.Errorf("the answer tells: %.300s", got.body)
			}
			if cors := got.header.Get("Access-Control-Allow-Origin"); cors != "" {
				t.Errorf("CORS: %s", cors)
			}
		})
	}
	for what, text := range map[string]string{
		"no HTTP":              "hello\r\n\r\n",
		"no host":              "GET /api/sessions HTTP/1.1\r\n\r\n",
		"two hosts":            "GET /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
		"a large header":       "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\n",
		"two lengths":          "POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
		"a length below zero":  "POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
		"a newline in a value": "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\rb\r\n\r\n",
		"a proxy's request":    "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
		"an address elsewhere": "GET http://evil.example/api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token + "\r\n\r\n",
	} {
		if status := rawStatus(t, s.host(), text); status < 400 {
			t.Errorf("%s: %d", what, status)
		}
	}
	if after := tree(t, s.root); !slices.Equal(before, after) {
		t.Errorf("files changed:\n%v\n%v", before, after)
	}
	s.want(200, "GET", one, nil, nil)
}

// host returns the address of the server.
func (s *site) host() string { return strings.TrimPrefix(s.http.URL, "http://") }

// rawStatus sends bytes to the server and returns the status of its answer, 499 if it hangs
// up.
func rawStatus(t *testing.T, host, text string) int {
	t.Helper()
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	go func() { _, _ = conn.Write([]byte(text)) }()
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 499
	}
	defer got.Body.Close()
	return got.StatusCode
}

// tree lists the files of a workspace with their sizes, without its cache.
func tree(t *testing.T, root string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == "local" {
				return filepath.SkipDir
			}
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files = append(files, fmt.Sprintf("%s %d", path, info.Size()))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestPage: the address with the key opens the page once, for a browser that keeps its
// cookie. The cookie reads, and changes nothing.
func TestPage(t *testing.T) {
	s := newSite(t)
	key := s.server.Key()
	open := s.send("GET", "/?key="+key, nil, "Authorization", "", "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate")
	if open.status != http.StatusSeeOther || open.header.Get("Location") != "/" {
		t.Fatalf("open: %d %v", open.status, open.header)
	}
	set := open.header.Get("Set-Cookie")
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(set, want) {
			t.Errorf("cookie %s: no %s", set, want)
		}
	}
	if strings.Contains(set, token) {
		t.Error("the cookie holds the token")
	}
	cookie, _, _ := strings.Cut(set, ";")
	if again := s.send("GET", "/?key="+key, nil, "Authorization", ""); again.status != http.StatusUnauthorized {
		t.Errorf("the key again: %d", again.status)
	}
	page := s.send("GET", "/", nil, "Authorization", "", "Cookie", cookie)
	if page.status != 200 || !bytes.Contains(page.body, []byte(`content="`+token+`"`)) || !strings.Contains(page.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the page: %d %v %s", page.status, page.header, page.body)
	}
	if list := s.send("GET", "/api/sessions", nil, "Authorization", "", "Cookie", cookie); list.status != 200 {
		t.Errorf("reading with the cookie: %d %s", list.status, list.body)
	}
	if create := s.send("POST", "/api/sessions", map[string]string{"name": "x"}, "Authorization", "", "Cookie", cookie); create.status != http.StatusUnauthorized {
		t.Errorf("creating with the cookie: %d %s", create.status, create.body)
	}
	for _, name := range []string{"/assets/conversation.css", "/assets/main.js"} {
		if got := s.send("GET", name, nil, "Authorization", ""); got.status != 200 || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %v", name, got.status, got.header)
		}
	}
}

// TestSearchUnread: logs that cannot be read are named, each time, and do not hide what is in the
// others.
func TestSearchUnread(t *testing.T) {
	s := newSite(t)
	s.logged = func(string) {} // the server ends, and says what happened to the messages of the logs
	s.begin("Whole", "words")
	session := func(title string) string { return filepath.Join(s.root, s.path(s.begin(title, "others")), ".session") }
	pointer, folder := filepath.Join(session("Pointer"), "messages.jsonl"), filepath.Join(session("Folder"), "messages.jsonl")
	lfs := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 900\n"
	if err := errors.Join(os.WriteFile(pointer, []byte(lfs), 0o600), os.Remove(folder), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var found struct {
			Total  int
			Unread []string
		}
		s.want(200, "GET", "/api/search?q=words", nil, &found)
		if text := strings.Join(found.Unread, "\n"); found.Total != 1 || len(found.Unread) != 2 || !strings.Contains(text, "git-lfs") || !strings.Contains(text, "not a regular file") {
			t.Errorf("%+v", found)
		}
	}
}
