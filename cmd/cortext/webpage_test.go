package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/agenttest"
)

// axeVersion is the version of axe that scripts/install-axe.sh installs.
const axeVersion = "4.14.1"

// axe returns the source of axe.
func axe(t *testing.T) string {
	t.Helper()
	dir, err := agenttest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(dir, "axe-core", axeVersion, "axe.min.js"))
	if err != nil {
		if os.Getenv("CORTEXT_REQUIRE_ALL") == "1" {
			t.Fatal(err)
		}
		t.Log("NOT RUN: the checks of accessibility: scripts/install-axe.sh installs axe")
	}
	return string(source)
}

// serving starts cortext serve in a workspace and returns the address of the page.
func serving(t *testing.T, dir string) string {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(bin, "cortext"), "-C", dir, "serve", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("cortext serve: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var about struct{ Page string }
	if err := json.Unmarshal([]byte(line), &about); err != nil || about.Page == "" {
		t.Fatalf("%s: %v", line, err)
	}
	return about.Page
}

// row is the JavaScript for a row of the list.
func row(title string) string {
	return fmt.Sprintf("[...document.querySelectorAll('#list .row')].find((r) => r.innerText.includes(%q))", title)
}

// button is the JavaScript for a button that is not hidden.
func button(name string) string {
	return fmt.Sprintf("[...document.querySelectorAll('button, a.button')].find((b) => b.innerText === %q && b.offsetParent)", name)
}

// TestWebPage uses the page of cortext serve in a real browser: it searches, reads, follows
// what another process writes, edits, exports, imports, forks, looks at a payload, and
// removes.
func TestWebPage(t *testing.T) {
	axe := axe(t)
	if _, err := built(); err != nil { // in the user's own build cache
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/workspace")); err != nil {
		t.Fatal(err)
	}
	transcript := filepath.Join(t.TempDir(), "live.jsonl")
	say := func(lines ...string) {
		f, err := os.OpenFile(transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines {
			if _, err := f.WriteString(l + "\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		must(t, "-C", dir, "import", transcript)
	}
	at := time.Date(2026, 1, 8, 10, 0, 0, 0, time.UTC)
	line := func(n int, role, text string) string {
		parent := "null"
		if n > 1 {
			parent = fmt.Sprintf(`"u%d"`, n-1)
		}
		return fmt.Sprintf(`{"type":%q,"uuid":"u%d","parentUuid":%s,"sessionId":"5e55a0f0-0000-4000-8000-000000000001","timestamp":%q,"cwd":"/w","version":"2.1.0","message":{"role":%q,"content":[{"type":"text","text":%q}]}}`, role, n, parent, at.Add(time.Duration(n)*time.Minute).Format("2006-01-02T15:04:05.000Z"), role, text)
	}
	hostile := `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`
	say(line(1, "user", "Watch the cache "+hostile), line(2, "assistant", "The cache is *empty*.\n\n"+strings.Repeat("| wide ", 40)+"|\n"+strings.Repeat("|---", 40)+"|"))

	page, b := serving(t, dir), newBrowser(t)
	b.open(page, 1400, 900, "light")
	b.until(row("Watch the cache"))
	b.picture("list-1400-light")
	b.accessible(axe, "the list")

	// search as you type, in titles and in what was said
	b.click("document.querySelector('#q')")
	b.write("api")
	b.until("document.querySelectorAll('#list .row').length === 1 && " + row("API design"))
	b.eval("document.querySelector('#where').value = ''; document.querySelector('#where').dispatchEvent(new Event('input', {bubbles: true}))", nil)
	b.until("document.querySelector('#hits mark')")
	b.accessible(axe, "the hits")
	b.eval("document.querySelector('#q').value = ''; document.querySelector('#where').value = 'list'; document.querySelector('#q').dispatchEvent(new Event('input', {bubbles: true}))", nil)

	// by keyboard alone
	b.until("document.querySelector('#list').offsetParent && document.querySelectorAll('#list .row').length === 2")
	b.eval("document.querySelector('#list').focus()", nil)
	b.press("Home")
	b.press("Enter")
	b.until("document.querySelector('#talk .turn')")

	// a conversation, which grows
	b.click(row("Watch the cache"))
	b.until("document.querySelector('#talk').innerText.includes('The cache is empty.')")
	b.click(button("Talk only"))
	say(line(3, "user", "And now?"), line(4, "assistant", "Now it holds `42` entries."))
	b.until("document.querySelector('#talk').innerText.includes('Now it holds 42 entries.')")
	b.until("document.querySelector('.facts').innerText.includes('\\n4\\n')")
	var kept bool
	if b.eval("document.activeElement === "+button("Talk only")+" && document.activeElement.getAttribute('aria-pressed') === 'true'", &kept); !kept {
		t.Error("a button lost its state or the focus when the conversation grew")
	}
	b.click(button("Talk only"))
	var owned bool
	if b.eval("document.title === 'owned' || Boolean(document.querySelector('#talk script, #talk img'))", &owned); owned {
		t.Error("text of a conversation became HTML")
	}
	b.picture("conversation-1400-light")
	b.accessible(axe, "a conversation")

	// a turn with more messages than the server renders at a time
	other := strings.NewReplacer("5e55a0f0", "10a9a0f0", `"uuid":"u`, `"uuid":"v`, `"parentUuid":"u`, `"parentUuid":"v`)
	var long strings.Builder
	for n := 1; n <= 1200; n++ {
		role := "assistant"
		if n == 1 {
			role = "user"
		}
		fmt.Fprintln(&long, other.Replace(line(n, role, fmt.Sprint("Long turn ", n))))
	}
	file := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(file, []byte(long.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "-C", dir, "import", file)
	b.click(row("Long turn"))
	b.until("document.querySelectorAll('#talk [id^=m]').length === 1200 && document.querySelectorAll('#talk .turn').length === 1")
	b.click(row("Watch the cache"))
	b.until("document.querySelector('#talk')?.innerText.includes('Now it holds 42 entries.')")

	// edit
	b.click(button("Edit"))
	b.until("document.querySelector('dialog[open]')")
	b.accessible(axe, "a dialog")
	b.eval("document.querySelector('dialog [name=tags]').value = 'x'.repeat(150); document.querySelector('dialog [name=notes]').value = 'typed'", nil)
	b.click("document.querySelector('dialog button.main')")
	b.until("document.querySelector('dialog[open]')?.innerText.includes('Not saved: a tag has 150 bytes') && document.querySelector('dialog [name=notes]').value === 'typed'")
	b.eval("document.querySelector('dialog [name=tags]').value = 'cache, ttl'; document.querySelector('dialog [name=notes]').value = 'Ask about the TTL.'; document.querySelector('dialog [name=name]').value = 'Cache watch'", nil)
	b.click("document.querySelector('dialog button.main')")
	b.until("document.querySelector('h1[dir]')?.innerText === 'Cache watch'")
	b.until(row("Cache watch"))
	if out := must(t, "-C", dir, "show", "Cache watch", "--json"); !strings.Contains(out, `"ttl"`) || !strings.Contains(out, "Ask about the TTL.") {
		t.Errorf("the edit is not on disk: %s", out)
	}

	// a file that leaves and comes back as another conversation
	saved := t.TempDir()
	b.call("Page.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": saved}, nil)
	b.click(button("Export"))
	b.eval("document.querySelector('dialog [name=format]').value = 'json'; document.querySelector('dialog [name=reasoning]').checked = false", nil)
	b.click("document.querySelector('dialog button.main')")
	file = ""
	b.until("!document.querySelector('dialog')")
	for range 500 {
		if found, _ := filepath.Glob(filepath.Join(saved, "session-cache-watch-*.json")); len(found) == 1 {
			file = found[0]
			break
		}
		b.eval("new Promise((done) => setTimeout(done, 20))", nil)
	}
	if file == "" {
		t.Fatal("nothing was downloaded")
	}
	b.call("Page.setInterceptFileChooserDialog", map[string]any{"enabled": true}, nil)
	b.eval(`window.chosen = null; HTMLInputElement.prototype.click = function () { this.id = 'chosen'; document.body.append(this); window.chosen = this; }`, nil)
	b.click(button("Import"))
	b.until("window.chosen")
	var doc struct{ Root struct{ NodeID int } }
	b.call("DOM.getDocument", nil, &doc)
	var input struct{ NodeID int }
	b.call("DOM.querySelector", map[string]any{"nodeId": doc.Root.NodeID, "selector": "#chosen"}, &input)
	b.call("DOM.setFileInputFiles", map[string]any{"nodeId": input.NodeID, "files": []string{file}}, nil)
	b.until("document.querySelector('dialog li a')")
	b.until("document.querySelector('dialog li').innerText.includes('the export left out reasoning')")
	b.eval("window.chosen.remove()", nil)
	b.click("document.querySelector('dialog button.main')")
	b.until("[...document.querySelectorAll('#list .row')].filter((r) => r.innerText.includes('Cache watch')).length === 2")

	// fork, payload, statistics
	b.click(button("Fork"))
	b.eval("document.querySelector('dialog [name=at]').value = '2'; document.querySelector('dialog [name=name]').value = 'Cache fork'", nil)
	b.click("document.querySelector('dialog button.main')")
	b.until("document.querySelector('h1[dir]')?.innerText === 'Cache fork'")
	b.click(button("Payload"))
	b.until("document.querySelector('.payload meter')")
	b.eval("document.querySelector('input[type=range]').value = 0; document.querySelector('input[type=range]').dispatchEvent(new Event('input', {bubbles: true}))", nil)
	b.until("document.querySelector('.payload').innerText.includes('of 500 tokens')")
	b.accessible(axe, "the payload")
	b.click(row("API design"))
	b.until("document.querySelector('h1[dir]')?.innerText === 'API design'")
	b.click(button("Payload"))
	b.until("document.querySelector('.payload meter')")
	b.eval("document.querySelector('input[type=range]').value = 0; document.querySelector('input[type=range]').dispatchEvent(new Event('input', {bubbles: true}))", nil)
	b.until("document.querySelectorAll('.payload table').length === 2")
	b.accessible(axe, "the payload, with what is left out")
	b.click(button("Stats"))
	b.until("document.querySelector('#main table')")
	b.accessible(axe, "the statistics")

	// remove
	b.click(row("Cache fork"))
	b.until("document.querySelector('h1[dir]')?.innerText === 'Cache fork'")
	b.click(button("Remove"))
	b.click("document.querySelector('dialog button.main')")
	b.until("!(" + row("Cache fork") + ")")

	// on a phone, in the dark: the cookie and the token are still good
	b.open(strings.SplitAfter(page, "/?")[0][:len(strings.SplitAfter(page, "/?")[0])-1], 390, 844, "dark")
	b.until(row("API design"))
	b.accessible(axe, "the list on a phone")
	b.click(row("API design"))
	b.until("document.querySelector('#talk .turn')")
	b.picture("conversation-390-dark")
	b.accessible(axe, "a conversation on a phone")
	var wide bool
	if b.eval("document.documentElement.scrollWidth > innerWidth", &wide); wide {
		t.Error("the page is wider than the phone")
	}
	b.click("document.querySelector('.back')")
	b.until("document.querySelector('#list').offsetParent")
	if len(b.errors) > 0 {
		t.Errorf("the page threw exceptions: %s", strings.Join(b.errors, "\n"))
	}
}
