//go:build unix

package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
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
	walkSeed  = flag.Uint64("walk.seed", envNumber("CORTEXT_WALK_SEED", 0), "the seed of TestWalk; 0: two fixed ones")
	walkSteps = flag.Uint64("walk.steps", envNumber("CORTEXT_WALK_STEPS", 0), "the number of steps of TestWalk; 0: 400, or 150 with -short")
	walkOnly  = flag.String("walk.only", "", "a regular expression: TestWalk takes only steps whose names match")
)

func envNumber(name string, otherwise uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return otherwise
}

// checkEvery is the number of steps between complete checks.
const checkEvery = 100

// TestWalk performs random actions of users, agents and git in three clones and two
// linked work trees, and looks for lost, duplicated or leaked messages. It reads the
// files itself. scripts/walk.sh runs it for longer.
//
// CORTEXT_WALK_BINARY names another program to test. CORTEXT_WALK_KEEP keeps the files of
// a failure, with all commands so far. CORTEXT_WALK_ALL continues after a failure and
// reports the first of each kind.
func TestWalk(t *testing.T) {
	seeds := []uint64{1, 2}
	if *walkSeed != 0 {
		seeds = []uint64{*walkSeed}
	}
	steps := int(*walkSteps)
	switch {
	case steps > 0:
	case testing.Short():
		steps = 150
	default:
		steps = 400
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed)
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("again: CORTEXT_WALK_SEED=%d CORTEXT_WALK_STEPS=%d go test -run TestWalk ./cmd/cortext", seed, w.step)
				}
			})
			w.settle(w.tree("one"), seed)
			w.walk(steps)
		})
	}
}

// A world is the machine of one user: a bare remote, its clones and linked work trees,
// and the stores of three agents in one home.
type world struct {
	t       *testing.T
	r       *rand.Rand
	seed    uint64
	root    string
	home    string
	env     []string
	clock   time.Time
	trees   []*workTree
	natives []*native
	chats   []*chat
	owner   map[string]*native // of each message id

	step     int
	log      []string
	failures map[string]int // by kind
	all      bool           // continue after a failure

	counts    map[string]int // of steps
	refused   map[string]int // git's refusals by message
	ours      map[string]int // refusals caused by a file that cortext wrote unasked, by command
	conflicts map[string]int // conflicted files by git's two letters
}

// clocked builds cortext with the walk's clock, once, so that a hook runs at the time of
// the prompt that the agent writes. cortext-opencode is beside it.
var clocked = sync.OnceValues(func() (string, error) {
	program := filepath.Join(binDir, "clocked")
	out, err := exec.Command("go", "build", "-tags", "clocked", "-o", program, ".").CombinedOutput()
	if err == nil {
		out, err = exec.Command("go", "build", "-o", binDir+string(filepath.Separator), "../cortext-opencode").CombinedOutput()
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return program, err
})

// newWorld creates a machine without a repository.
func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	root, err := os.MkdirTemp("", "cortext-walk")
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	w := &world{
		t: t, r: rand.New(rand.NewPCG(seed, 0)), seed: seed, root: root, home: filepath.Join(root, "home"),
		clock: time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC), owner: map[string]*native{},
		failures: map[string]int{}, all: os.Getenv("CORTEXT_WALK_ALL") != "",
		counts: map[string]int{}, refused: map[string]int{}, ours: map[string]int{}, conflicts: map[string]int{},
	}
	w.check(err)
	t.Cleanup(func() { w.check(os.RemoveAll(root)) })
	program := os.Getenv("CORTEXT_WALK_BINARY")
	if program == "" {
		program, err = clocked()
		w.check(err)
	}
	bin := filepath.Join(root, "bin")
	w.check(os.MkdirAll(bin, 0o755))
	w.check(os.MkdirAll(w.home, 0o700))
	w.check(os.Symlink(program, filepath.Join(bin, "cortext")))
	w.env = []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + w.home, "TZ=UTC",
		"XDG_STATE_HOME=" + filepath.Join(w.home, ".local/state"), "XDG_CONFIG_HOME=" + filepath.Join(w.home, ".config"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true", "GIT_MERGE_AUTOEDIT=no", "GIT_OPTIONAL_LOCKS=0",
	}
	w.write(filepath.Join(w.home, ".gitconfig"), "[user]\n\tname = w\n\temail = w@example.com\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[pull]\n\trebase = false\n[advice]\n\tdetachedHead = false\n")
	return w
}

// settle creates the remote, the workspace and its clones. Every third seed makes cortext
// commit.
func (w *world) settle(first *workTree, seed uint64) {
	w.t.Helper()
	remote := filepath.Join(w.root, "remote.git")
	w.must(w.root, "git", "init", "-q", "--bare", remote)
	w.must(w.root, "git", "init", "-q", first.dir)
	commit := "off"
	if seed%3 == 2 {
		commit = "stop"
	}
	w.must(first.dir, "cortext", "init", "--agent", "claude,gemini", "--commit", commit)
	for n := range 4 {
		w.write(filepath.Join(first.dir, "src", fmt.Sprintf("%d.txt", n)), "a line\n")
	}
	w.must(first.dir, "git", "add", "-A")
	w.must(first.dir, "git", "commit", "-qm", "start")
	w.must(first.dir, "git", "remote", "add", "origin", remote)
	w.must(first.dir, "git", "push", "-q", "-u", "origin", "main")
	for _, name := range []string{"two", "three"} {
		w.must(w.root, "git", "clone", "-q", remote, w.tree(name).dir)
	}
	for _, name := range []string{"four", "five"} {
		w.must(first.dir, "git", "worktree", "add", "-q", "-b", "of-"+name, w.tree(name).dir)
	}
	if seed%2 == 0 { // one of them captures all sessions
		w.must(w.tree("five").dir, "sed", "-i", "s/^capture: .*/capture: all/", ".workspace/config.yaml")
		w.must(w.tree("five").dir, "git", "commit", "-qam", "capture all")
	}
}

// walk performs random steps, with complete checks in between and at the end.
func (w *world) walk(n int) {
	w.t.Helper()
	only, err := regexp.Compile(*walkOnly)
	w.check(err)
	total, steps := 0, slices.Clone(walkable)
	steps = slices.DeleteFunc(steps, func(s walkStep) bool { return !only.MatchString(s.name) })
	for _, s := range steps {
		total += s.weight
	}
	begun := time.Now()
	for w.step = 1; w.step <= n; w.step++ {
		at := w.r.IntN(total)
		for _, s := range steps {
			if at -= s.weight; at < 0 {
				w.counts[s.name]++
				s.do(w, pick(w, w.trees))
				break
			}
		}
		w.tick(time.Duration(w.r.IntN(600)) * time.Second)
		if w.step%checkEvery == 0 || w.step == n {
			w.checkAll()
		}
		if w.step%500 == 0 {
			w.t.Logf("seed %d: %d of %d steps in %s, %d sessions, %d messages, %d kinds of failure", w.seed, w.step, n, time.Since(begun).Round(time.Second), len(w.natives), len(w.owner), len(w.failures))
		}
	}
	w.report()
}

// tick advances the clock for transcripts and commits.
func (w *world) tick(d time.Duration) { w.clock = w.clock.Add(d) }

// report prints what was done and what git refused.
func (w *world) report() {
	w.t.Helper()
	count := func(m map[string]int) string {
		var b strings.Builder
		for _, k := range slices.SortedFunc(maps.Keys(m), func(a, b string) int { return m[b]*1000 - m[a]*1000 + strings.Compare(a, b) }) {
			fmt.Fprintf(&b, "\n  %5d %s", m[k], k)
		}
		return b.String()
	}
	w.t.Logf("seed %d: %d sessions, %d messages\nsteps:%s\ngit refused:%s\nrefused because of a file that cortext wrote unasked:%s\nconflicted files:%s",
		w.seed, len(w.natives), len(w.owner), count(w.counts), count(w.refused), count(w.ours), count(w.conflicts))
}

// fail ends the walk, or with all shows the first failure of each kind.
func (w *world) fail(kind, format string, args ...any) {
	w.t.Helper()
	if w.failures[kind]++; w.failures[kind] > 1 {
		return
	}
	if keep := os.Getenv("CORTEXT_WALK_KEEP"); keep != "" {
		kept := fmt.Sprintf("%s-%d", w.root, w.step)
		w.must(os.TempDir(), "cp", "-a", w.root, kept)
		w.write(filepath.Join(kept, "commands"), strings.Join(w.log, "\n")+"\n")
		w.t.Logf("kept: %s", kept)
	}
	last := w.log[max(0, len(w.log)-30):]
	w.t.Errorf("seed %d, step %d: %s: %s\nthe last commands:\n  %s", w.seed, w.step, kind, fmt.Sprintf(format, args...), strings.Join(last, "\n  "))
	if !w.all {
		w.report()
		w.t.FailNow()
	}
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(file, text string) {
	w.t.Helper()
	w.check(os.MkdirAll(filepath.Dir(file), 0o755))
	w.check(os.WriteFile(file, []byte(text), 0o644))
}

// note adds a line to the report of a failure.
func (w *world) note(format string, args ...any) {
	line := strings.ReplaceAll(fmt.Sprintf(format, args...), w.root, "$ROOT")
	w.log = append(w.log, fmt.Sprintf("%d: ", w.step)+line)
}

func pick[T any](w *world, list []T) T { return list[w.r.IntN(len(list))] }
