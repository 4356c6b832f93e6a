package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A browser is a page in a real headless Chromium, which is driven through the DevTools
// protocol (chromedevtools.github.io/devtools-protocol).
type browser struct {
	t       *testing.T
	conn    *websocket.Conn
	session string // of the page
	id      int
	errors  []string // exceptions of the page
}

// newBrowser starts Chromium. Without it, the test is skipped, or fails if everything is
// required.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	program := installed(t, "chromium", "chromium-browser", "google-chrome")
	home, err := os.MkdirTemp("", "chromium")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) }) // its processes may still write for a moment
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0", "--user-data-dir="+home, "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+home)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address := regexp.MustCompile(`DevTools listening on (ws://\S+)`)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := address.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() { // Chromium must not wait for a reader
				}
			}()
			return connect(t, m[1])
		}
	}
	t.Fatalf("%s ended without an address: %v", program, lines.Err())
	return nil
}

// installed returns the first of some programs that is installed. Without any, the test is
// skipped, or fails if everything is required.
func installed(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	why := "NOT RUN: " + names[0] + " is not installed: scripts/install-tools.sh"
	if os.Getenv("CORTEXT_REQUIRE_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}

func connect(t *testing.T, address string) *browser {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(256 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	b := &browser{t: t, conn: conn}
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "DOM"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
	return b
}

// call calls a method of the protocol.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	b.id++
	sent, err := json.Marshal(map[string]any{"id": b.id, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" {
		sent, err = json.Marshal(map[string]any{"id": b.id, "method": method, "params": params})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.conn.Write(ctx, websocket.MessageText, sent); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		_, text, err := b.conn.Read(ctx)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var got struct {
			ID     int
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text, &got); err != nil {
			b.t.Fatal(err)
		}
		if got.Method == "Runtime.exceptionThrown" {
			b.errors = append(b.errors, string(got.Params))
		}
		if got.ID != b.id {
			continue
		}
		if got.Error != nil {
			b.t.Fatalf("%s: %s", method, got.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(got.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

// eval evaluates JavaScript, waits for a promise, and stores the value in out.
func (b *browser) eval(code string, out any) {
	b.t.Helper()
	var got struct {
		Result struct{ Value json.RawMessage }
		Error  *struct {
			Exception struct{ Description string }
		} `json:"exceptionDetails"`
	}
	b.call("Runtime.evaluate", map[string]any{"expression": code, "awaitPromise": true, "returnByValue": true}, &got)
	if got.Error != nil {
		b.t.Fatalf("%s: %s", code, got.Error.Exception.Description)
	}
	if out != nil {
		if err := json.Unmarshal(got.Result.Value, out); err != nil {
			b.t.Fatalf("%s: %v", code, err)
		}
	}
}

// until waits until an expression is true, at most half a minute.
func (b *browser) until(code string) {
	b.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var yes bool
		if b.eval("Boolean("+code+")", &yes); yes {
			return
		}
		if time.Now().After(end) {
			var seen string
			b.eval("document.body.innerText.slice(0, 2000)", &seen)
			b.t.Fatalf("never: %s\nthe page shows:\n%s", code, seen)
		}
	}
}

// open opens an address at a size and in a colour scheme, as a person with reduced motion
// sees it.
func (b *browser) open(url string, width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.until("document.readyState === 'complete'")
}

// click clicks in the middle of an element, as a person does.
func (b *browser) click(element string) {
	b.t.Helper()
	b.until(element)
	var at struct{ X, Y float64 }
	b.eval(fmt.Sprintf("(() => { const e = %s; e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()", element), &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// write types text where the focus is.
func (b *browser) write(text string) {
	b.t.Helper()
	b.call("Input.insertText", map[string]any{"text": text}, nil)
}

// press presses a key.
func (b *browser) press(key string) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key}, nil)
	}
}

// picture writes what the page looks like to the folder that CORTEXT_PICTURES names.
func (b *browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("CORTEXT_PICTURES")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// accessible reports what axe finds wrong with the page, if axe is installed.
func (b *browser) accessible(axe, what string) {
	b.t.Helper()
	if axe == "" {
		return
	}
	b.eval(axe+"; 0", nil)
	var found []string
	b.eval("axe.run().then((r) => r.violations.map((v) => `${v.id} (${v.impact}): ${v.nodes[0].html}`))", &found)
	if len(found) > 0 {
		b.t.Errorf("%s: axe finds\n%s", what, strings.Join(found, "\n"))
	}
}
