//go:build unix

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	pusherCount   = flag.Uint64("pushers.clones", envNumber("CORTEXT_PUSHERS", 4), "the number of clones of TestPushers")
	pusherSeconds = flag.Uint64("pushers.seconds", envNumber("CORTEXT_PUSHERS_SECONDS", 0), "how long the clones of TestPushers push; 0: twice each")
)

// TestPushers lets several clones add to one conversation, commit and push at the same
// time. All messages must arrive, once, and all clones must end with the same bytes.
func TestPushers(t *testing.T) {
	p := newPushers(t)
	n := int(*pusherCount)
	for i := 1; i < n; i++ {
		p.clone(i)
	}
	var all sync.WaitGroup
	end := time.Now().Add(time.Duration(*pusherSeconds) * time.Second)
	pushes := make([]int, n)
	for i := range n {
		all.Go(func() {
			for *pusherSeconds == 0 && pushes[i] < 2 || *pusherSeconds > 0 && time.Now().Before(end) {
				pushes[i]++
				p.append(i, pushes[i])
				p.push(i)
			}
		})
	}
	all.Wait()
	want := 2 // messages of the first append
	for _, k := range pushes {
		want += k
	}
	var bytes string
	for i := range n {
		dir := filepath.Join(p.root, fmt.Sprintf("clone%d", i))
		p.must(dir, "cortext", "pull")
		p.must(dir, "cortext", "check")
		var s shown
		if err := json.Unmarshal([]byte(p.must(dir, "cortext", "show", "cache", "--json")), &s); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, m := range s.Messages {
			if seen[m.ID] {
				t.Errorf("clone %d has %s twice", i, m.ID)
			}
			seen[m.ID] = true
		}
		if len(seen) != want || s.Session.MessageCount != want {
			t.Errorf("clone %d has %d messages and counts %d, want %d", i, len(seen), s.Session.MessageCount, want)
		}
		now := p.must(dir, "sh", "-c", "cat conversations/*/*/.session/*.json*; git status --porcelain")
		if i == 0 {
			bytes = now
		} else if now != bytes {
			t.Errorf("clone %d differs from the first: %s", i, firstDifference(bytes, now))
		}
	}
	t.Logf("%d clones pushed %d times and lost %d races, at most %d in one push; each pushed %d to %d times",
		n, want-2, p.races, p.most, slices.Min(pushes), slices.Max(pushes))
	if *pusherSeconds > 0 && 10*slices.Min(pushes) < slices.Max(pushes) {
		t.Errorf("pushes of each clone: %v; want the fewest to be at least a tenth of the most", pushes)
	}
}

// Pushers are clones of one remote on one machine.
type pushers struct {
	t    *testing.T
	root string
	env  []string

	mu    sync.Mutex
	races int // lost by all
	most  int // in one push
}

// newPushers makes the remote and the first clone, with a conversation.
func newPushers(t *testing.T) *pushers {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	p := &pushers{t: t, root: t.TempDir()}
	p.env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+filepath.Join(p.root, "home"),
		"XDG_STATE_HOME="+filepath.Join(p.root, "home/state"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	p.must(p.root, "git", "init", "-q", "--bare", "-b", "main", "remote.git")
	p.must(p.root, "git", "clone", "-q", "remote.git", "clone0")
	first := filepath.Join(p.root, "clone0")
	p.must(first, "git", "checkout", "-q", "-B", "main")
	p.must(first, "cortext", "init")
	p.append(0, 0)
	p.must(first, "git", "push", "-q", "-u", "origin", "main")
	return p
}

func (p *pushers) clone(i int) {
	p.must(p.root, "cortext", "clone", "remote.git", fmt.Sprintf("clone%d", i))
}

func (p *pushers) must(dir string, args ...string) string {
	p.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	for _, v := range p.env { // the program's own folder comes first
		if path, ok := strings.CutPrefix(v, "PATH="); ok && args[0] == "cortext" {
			cmd.Path, cmd.Err = filepath.Join(filepath.SplitList(path)[0], "cortext"), nil
		}
	}
	cmd.Dir, cmd.Env = dir, p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Errorf("in %s: %q: %v\n%s", dir, args, err, out)
	}
	return string(out)
}

// append imports the transcript of a clone with its n-th message, and commits.
func (p *pushers) append(clone, n int) {
	dir := filepath.Join(p.root, fmt.Sprintf("clone%d", clone))
	file := filepath.Join(p.root, fmt.Sprintf("transcript%d.jsonl", clone))
	text := `{"type":"user","message":{"role":"user","content":"explain the cache"},"uuid":"u1","sessionId":"s1","timestamp":"2025-11-22T10:00:00.000Z"}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"hi"}]},"uuid":"u2","parentUuid":"u1","sessionId":"s1","timestamp":"2025-11-22T10:00:01.000Z"}
`
	parent := "u2"
	for k := 1; k <= n; k++ {
		id := fmt.Sprintf("c%d-%d", clone, k)
		at := time.Date(2025, 11, 22, 10, 1, k, clone*1e6, time.UTC).Format("2006-01-02T15:04:05.000Z")
		text += fmt.Sprintf(`{"type":"user","message":{"role":"user","content":"%s"},"uuid":"%[1]s","parentUuid":"%s","sessionId":"s1","timestamp":"%s"}`+"\n", id, parent, at)
		parent = id
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Error(err)
	}
	p.must(dir, "cortext", "import", file)
	p.must(dir, "git", "add", "-A")
	p.must(dir, "git", "commit", "-qm", fmt.Sprintf("%d of clone %d", n, clone))
}

var pushed = regexp.MustCompile(`(?m)^pushed(?:, after others were faster (\d+) times?)?$`)

func (p *pushers) push(clone int) {
	out := p.must(filepath.Join(p.root, fmt.Sprintf("clone%d", clone)), "cortext", "push")
	said := pushed.FindStringSubmatch(out)
	if said == nil {
		p.t.Errorf("clone %d does not say that it pushed:\n%s", clone, out)
	} else if said[1] != "" {
		k, _ := strconv.Atoi(said[1])
		p.mu.Lock()
		p.races, p.most = p.races+k, max(p.most, k)
		p.mu.Unlock()
	}
}

// TestPushersTakeTurns lets one clone push without a pause until another has pushed three
// times. The one that always has to merge first must not wait for ever.
func TestPushersTakeTurns(t *testing.T) {
	p := newPushers(t)
	p.clone(1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; n <= 3; n++ {
			p.append(1, n)
			p.push(1)
		}
	}()
	const most = 100 // pushes of the first
	for n := 1; ; n++ {
		select {
		case <-done:
			t.Logf("the first clone pushed %d times, the second 3 times after %d lost races", n-1, p.races)
			return
		default:
		}
		if n == most {
			t.Errorf("the second clone has not pushed while the first did %d times", n)
		}
		p.append(0, n)
		p.push(0)
	}
}
