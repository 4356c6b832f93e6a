package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A heard is what a server says on a WebSocket.
type heard struct {
	Type      string
	MessageID string
	Ref       string
	Status    int
	Detail    string
	Message   struct{ ID, Content string }
}

// A socket is the client's end of a WebSocket.
type socket struct {
	t    testing.TB
	conn *websocket.Conn
}

func (s *site) socket(id, since string) socket {
	s.t.Helper()
	conn, _, err := websocket.Dial(s.t.Context(), s.http.URL+"/api/sessions/"+id+"/live?since="+since, &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	conn.SetReadLimit(1 << 24)
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	return socket{s.t, conn}
}

func (s socket) say(v map[string]string) {
	s.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.conn.Write(s.t.Context(), websocket.MessageText, b); err != nil {
		s.t.Fatal(err)
	}
}

// next returns the next thing of a type.
func (s socket) next(typ string) (h heard) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	for {
		_, b, err := s.conn.Read(ctx)
		if err != nil {
			s.t.Fatalf("no %s: %v", typ, err)
		}
		h = heard{}
		if err := json.Unmarshal(b, &h); err != nil {
			s.t.Fatal(err)
		}
		if h.Type == typ {
			return h
		}
	}
}

// TestSocket: a message is acknowledged with its id once it is on disk, everybody hears of
// it, and a client that comes back hears what it missed.
func TestSocket(t *testing.T) {
	s := newSite(t)
	id := s.begin("Live", "one")
	a, b := s.socket(id, ""), s.socket(id, "")
	a.next("synced")
	b.next("synced")
	a.say(map[string]string{"type": "message", "content": "two", "ref": "r2"})
	ack := a.next("ack")
	if ack.Ref != "r2" || !strings.Contains(s.log(id), ack.MessageID) {
		t.Errorf("%+v; the log has\n%s", ack, s.log(id))
	}
	if m := b.next("message"); m.Message.ID != ack.MessageID || m.Message.Content != "two" {
		t.Errorf("%+v", m)
	}
	b.say(map[string]string{"type": "message", "content": "three", "ref": "r3", "id": "own-3", "role": "assistant"})
	if ack := b.next("ack"); ack.MessageID != "own-3" {
		t.Errorf("%+v", ack)
	}
	b.say(map[string]string{"type": "message", "content": "three", "ref": "r4", "id": "own-3", "role": "assistant"})
	if ack := b.next("ack"); ack.MessageID != "own-3" || strings.Count(s.log(id), "own-3") != 1 {
		t.Errorf("again: %+v\n%s", ack, s.log(id))
	}
	c := s.socket(id, ack.MessageID)
	if m := c.next("message"); m.Message.Content != "three" {
		t.Errorf("%+v", m)
	}
	if done := c.next("synced"); done.MessageID != "own-3" {
		t.Errorf("%+v", done)
	}
	c.say(map[string]string{"type": "sync", "lastMessageId": ack.MessageID})
	if m := c.next("message"); m.Message.Content != "three" {
		t.Errorf("sync: %+v", m)
	}
	c.say(map[string]string{"type": "message", "content": " ", "ref": "r5"})
	if e := c.next("error"); e.Ref != "r5" || e.Status != 400 {
		t.Errorf("%+v", e)
	}
	c.say(map[string]string{"type": "shell"})
	if e := c.next("error"); e.Status != 400 {
		t.Errorf("%+v", e)
	}
	c.say(map[string]string{"type": "message", "content": "with a call", "ref": "r6", "toolCalls": "unknown"})
	if e := c.next("error"); e.Ref != "r6" || e.Status != 400 || !strings.Contains(e.Detail, "toolCalls") {
		t.Errorf("a member that would be dropped: %+v", e)
	}
	if got := s.send("GET", "/api/sessions/"+id+"/live", nil); got.status != http.StatusUpgradeRequired {
		t.Errorf("without an upgrade: %d", got.status)
	}

	set := s.send("GET", "/?key="+s.server.Key(), nil, "Authorization", "").header.Get("Set-Cookie")
	cookie, _, _ := strings.Cut(set, ";")
	conn, _, err := websocket.Dial(t.Context(), s.http.URL+"/api/sessions/"+id+"/live", &websocket.DialOptions{HTTPHeader: http.Header{"Cookie": {cookie}}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	page := socket{t, conn}
	page.say(map[string]string{"type": "message", "content": "four"})
	if e := page.next("error"); e.Status != http.StatusForbidden {
		t.Errorf("writing with the cookie: %+v", e)
	}
}

// TestSocketGone: a client hears that a conversation was removed, and is not told to come back.
func TestSocketGone(t *testing.T) {
	s := newSite(t)
	id := s.begin("Removed", "one")
	a := s.socket(id, "")
	a.next("synced")
	s.want(http.StatusNoContent, "DELETE", "/api/sessions/"+id, nil, nil)
	a.next("gone")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, b, err := a.conn.Read(ctx)
	if websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("after gone: %s, %v", b, err)
	}
}

// log returns the log of messages of a conversation.
func (s *site) log(id string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.root, s.path(id), ".session/messages.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// path returns the folder of a conversation.
func (s *site) path(id string) string {
	s.t.Helper()
	var got struct{ Session struct{ Path string } }
	s.want(200, "GET", "/api/sessions/"+id, nil, &got)
	return filepath.FromSlash(got.Session.Path)
}

// TestManyFollowers: a hundred clients follow a conversation. Some never read: they are cut
// off, and the others hear everything. One that comes back hears what it missed.
func TestManyFollowers(t *testing.T) {
	s := newSite(t)
	id := s.begin("Live", "one")
	path := "/api/sessions/" + id + "/events"
	var streams []<-chan event
	for range 90 {
		streams = append(streams, s.follow(path))
	}
	var silent []net.Conn
	for range 10 { // they never read: what is sent to them fills their buffers
		conn, err := net.Dial("tcp", s.host())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		silent = append(silent, conn)
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, s.host(), token)
	}
	const writers, each = 10, 10
	large := strings.Repeat("text ", 4000)
	want := map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				said := s.say(id, "assistant", large)
				mu.Lock()
				want[said] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for i, stream := range streams {
		got := map[string]bool{}
		for len(got) < len(want) {
			e := next(t, stream, "message")
			got[e.data.Message.ID] = true
		}
		if !maps.Equal(got, want) {
			t.Errorf("client %d heard %d of %d messages", i, len(got), len(want))
		}
	}
	time.Sleep(2 * s.config.Patience)
	for i, conn := range silent {
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		got, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(got.Body) // it ends: they were cut off
		if errors.Is(err, os.ErrDeadlineExceeded) || bytes.Count(all, []byte("event: message")) >= len(want) {
			t.Errorf("a client that does not read, %d: %v after %d bytes", i, err, len(all))
		}
	}
}

// git runs git in a folder.
func git(t testing.TB, dir string, args ...string) error {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "gc.auto=0", "-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// TestGitPulls: while twenty writers add to conversations, ten of them in a clone, git pulls
// what is in the clone and replaces files. Followers hear of each message.
func TestGitPulls(t *testing.T) {
	a := newSite(t)
	here, there := a.begin("Here", "one", "two"), a.begin("There", "one", "two")
	origin := filepath.Join(t.TempDir(), "origin.git")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(git(t, a.root, "init", "-q", "-b", "main"))
	must(git(t, a.root, "add", "-A"))
	must(git(t, a.root, "commit", "-q", "-m", "one"))
	must(git(t, a.root, "init", "-q", "--bare", "-b", "main", origin))
	must(git(t, a.root, "remote", "add", "origin", origin))
	must(git(t, a.root, "push", "-q", "-u", "origin", "main"))
	b := newSite(t)
	must(os.RemoveAll(b.root))
	must(git(t, a.root, "clone", "-q", origin, b.root))
	must(os.MkdirAll(filepath.Join(b.root, ".workspace"), 0o777)) // git keeps no empty folder

	streams := map[string]<-chan event{}
	want := map[string]map[string]bool{here: {}, there: {}}
	for id := range want {
		streams[id] = a.follow("/api/sessions/" + id + "/events")
	}
	var writers sync.WaitGroup
	var mu sync.Mutex
	for w := range 20 {
		site, id := a, here
		if w%2 == 1 {
			site, id = b, there
		}
		writers.Go(func() {
			for range 5 {
				said := site.say(id, "user", "words")
				mu.Lock()
				want[id][said] = true
				mu.Unlock()
			}
		})
	}
	exchange := func() {
		t.Helper()
		must(git(t, b.root, "commit", "-q", "-a", "--allow-empty", "-m", "more"))
		must(git(t, b.root, "push", "-q", "origin", "main"))
		must(git(t, a.root, "pull", "-q", "--no-rebase", "--no-edit"))
	}
	for range 3 {
		exchange()
	}
	writers.Wait()
	exchange()
	for id, stream := range streams {
		got := map[string]bool{}
		late := time.After(30 * time.Second)
		for len(got) < len(want[id]) {
			select {
			case e, ok := <-stream:
				if !ok {
					t.Fatalf("%s: the stream ended after %d of %d", id, len(got), len(want[id]))
				}
				if e.kind == "message" {
					got[e.data.Message.ID] = true
				}
			case <-late:
				missing := slices.DeleteFunc(slices.Sorted(maps.Keys(want[id])), func(id string) bool { return got[id] })
				t.Fatalf("%s: nobody heard of %v", id, missing)
			}
		}
	}
	// Git removes a conversation with another branch, and brings it back.
	must(git(t, a.root, "commit", "-q", "-a", "-m", "all"))
	must(git(t, a.root, "rm", "-q", "-r", filepath.ToSlash(a.path(there))))
	next(t, streams[there], "gone")
	must(git(t, a.root, "reset", "-q", "--hard"))
	last := slices.Sorted(maps.Keys(want[there]))[0]
	again := a.follow("/api/sessions/"+there+"/events", "Last-Event-ID", last)
	said := a.say(there, "user", "after it came back")
	for e := next(t, again, "message"); e.data.Message.ID != said; e = next(t, again, "message") {
	}
}
