package cloneref

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cortext/cmd/internal/git"
	"cortext/schema"
	"cortext/store"
)

// A world is a remote with several clones, one of which has a second work tree. All of them
// share a clock.
type world struct {
	t     *testing.T
	dir   string
	refs  []Ref
	at    time.Time
	said  map[string]string // the folder of each message
	wrote int
	gone  map[string]bool // folders that were removed somewhere
}

const removedDir = ".workspace/removed"

func newWorld(t *testing.T, clones int) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err) // the tests need Go and git
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, v := range []string{"GIT_AUTHOR", "GIT_COMMITTER"} {
		t.Setenv(v+"_NAME", "a")
		t.Setenv(v+"_EMAIL", "a@example.com")
	}
	w := &world{t: t, dir: t.TempDir(), at: time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC), said: map[string]string{}, gone: map[string]bool{}}
	w.git(w.dir, "init", "-q", "--bare", "-b", "main", "remote.git")
	for i := range clones {
		w.clone(fmt.Sprintf("clone%d", i))
	}
	w.git(filepath.Join(w.dir, "clone0"), "worktree", "add", "-q", "../tree", "-b", "other")
	w.open(filepath.Join(w.dir, "tree"))
	return w
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q in %s: %v: %s", args, dir, err, out)
	}
	return string(out)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// clone makes a clone whose branch has one commit.
func (w *world) clone(name string) Ref {
	w.t.Helper()
	w.git(w.dir, "clone", "-q", "remote.git", name)
	dir := filepath.Join(w.dir, name)
	if len(w.refs) == 0 {
		w.git(dir, "checkout", "-q", "-B", "main")
		_, _, err := store.Init(dir)
		w.must(err)
		w.git(dir, "add", "-A")
		w.git(dir, "commit", "-qm", "start")
		w.git(dir, "push", "-qu", "origin", "main")
	}
	return w.open(dir)
}

func (w *world) open(dir string) Ref {
	w.t.Helper()
	st, _, err := store.Init(dir)
	w.must(err)
	w.must(st.Close())
	st, err = store.Open(dir, store.Options{Now: func() time.Time { return w.at }})
	w.must(err)
	w.t.Cleanup(func() { st.Close() })
	r := Ref{Store: st, Removed: removedDir, Now: func() time.Time { return w.at }}
	w.must(r.Exclude())
	w.refs = append(w.refs, r)
	return r
}

// begin begins a conversation in a clone.
func (w *world) begin(r Ref) string {
	w.t.Helper()
	w.wrote++
	s := &schema.Session{Title: fmt.Sprintf("topic %d", w.wrote), CreatedAt: schema.NewTime(w.at), ID: fmt.Sprintf("01%024d", w.wrote)}
	c, err := r.Store.Stage("brainstorm", s.Title, s, []byte("# Topic\n\nfirst\n\nlast\n"))
	w.must(err)
	w.must(c.Publish())
	w.say(r, c.Path())
	return c.Path()
}

// say appends a turn to a conversation.
func (w *world) say(r Ref, folder string) {
	w.t.Helper()
	c, err := r.Store.Conversation(folder)
	w.must(err)
	defer c.Close()
	w.wrote++
	id := fmt.Sprintf("m%d", w.wrote)
	_, err = c.Append(schema.Batch{
		Messages: []schema.Message{{ID: id, Timestamp: schema.NewTime(w.at), Role: schema.User, Content: "says " + id, ToolCalls: []schema.ToolCall{{ID: "t" + id, Name: "Bash"}}}},
		Tools:    []schema.Tool{{ID: "t" + id, MessageID: id, Name: "Bash", Output: "out of " + id}},
	})
	w.must(err)
	w.said[id] = folder
}

func (w *world) edit(r Ref, folder string, f func(*schema.Session)) {
	w.t.Helper()
	c, err := r.Store.Conversation(folder)
	w.must(err)
	w.must(errors.Join(c.Edit(func(s *schema.Session) error { f(s); return nil }), c.Close()))
}

// here lists the conversations in a work tree.
func (w *world) here(r Ref) (folders []string) {
	w.t.Helper()
	list, err := r.Store.List()
	w.must(err)
	for _, e := range list {
		folders = append(folders, e.Path)
	}
	slices.Sort(folders)
	return folders
}

func (w *world) pull(r Ref) {
	w.t.Helper()
	_, err := r.Pull(w.t.Context())
	w.must(err)
}

func (w *world) push(r Ref) {
	w.t.Helper()
	for _, folder := range w.here(r) {
		_, err := r.Commit(w.t.Context(), "[session] Pause: x", folder)
		w.must(err)
	}
	_, err := r.Push(w.t.Context())
	w.must(err)
}

// remove removes a conversation as the user does.
func (w *world) remove(r Ref, folder string) {
	w.t.Helper()
	c, err := r.Store.Conversation(folder)
	w.must(err)
	w.must(errors.Join(c.Delete(), c.Close()))
	w.must(r.Store.WriteFile(removedDir+"/"+filepath.Base(folder), []byte("sha256\n")))
	w.must(r.Remove(w.t.Context(), "[session] Remove: x", folder))
	w.gone[folder] = true
}

// files reads everything that clones exchange.
func (w *world) files(r Ref) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, dir := range []string{"conversations", removedDir} {
		files, err := r.onDisk(dir)
		w.must(err)
		for name, text := range files {
			all[name] = string(text)
		}
	}
	return all
}

// settle exchanges everything, and checks that all work trees have the same files, with
// every message once, and that nobody is ever asked to commit a conversation.
func (w *world) settle() {
	w.t.Helper()
	for range 3 {
		for _, r := range w.refs {
			w.push(r)
		}
		for _, r := range w.refs {
			w.pull(r)
		}
	}
	want := w.files(w.refs[0])
	for _, r := range w.refs {
		if got := w.files(r); !maps.Equal(got, want) {
			for name := range joined(got, want) {
				if got[name] != want[name] {
					w.t.Errorf("%s: %s has\n%s\nnot\n%s", r.Store.Root(), name, got[name], want[name])
				}
			}
		}
		if out := w.git(r.Store.Root(), "status", "--porcelain", "--untracked-files=all"); out != "" {
			w.t.Errorf("git status in %s: %s", r.Store.Root(), out)
		}
		for d := range r.Store.Check() {
			w.t.Errorf("%s: %v", r.Store.Root(), &d)
		}
	}
	for id, folder := range w.said {
		m := strings.Count(want[folder+"/"+store.MessagesLog], `"content":"says `+id+`"`)
		c := strings.Count(want[folder+"/"+store.ToolsLog], `"id":"t`+id+`"`)
		// A conversation that was removed may stay where somebody went on with it, without
		// what only the others had.
		if least := map[bool]int{false: 1}[w.gone[folder]]; m < least || m > 1 || c != m {
			w.t.Errorf("%s is %d times in %s, its call %d times", id, m, folder, c)
		}
	}
}

// step does something at random in one of the work trees.
func (w *world) step(rnd *rand.Rand) {
	w.t.Helper()
	w.at = w.at.Add(time.Duration(1+rnd.IntN(90)) * time.Second)
	r := w.refs[rnd.IntN(len(w.refs))]
	folders := w.here(r)
	if len(folders) == 0 {
		if rnd.IntN(3) == 0 {
			w.begin(r)
		} else {
			w.pull(r)
		}
		return
	}
	folder := folders[rnd.IntN(len(folders))]
	doc := filepath.Join(r.Store.Root(), filepath.FromSlash(folder), "brainstorm.md")
	switch rnd.IntN(20) {
	case 0:
		w.begin(r)
	case 1, 2, 3, 4, 5:
		w.say(r, folder)
	case 6:
		w.edit(r, folder, func(s *schema.Session) { s.Title = fmt.Sprintf("title %d", w.wrote) })
	case 7:
		tag := string(rune('a' + rnd.IntN(5)))
		w.edit(r, folder, func(s *schema.Session) {
			if i := slices.Index(s.Tags, tag); i >= 0 {
				s.Tags = slices.Delete(s.Tags, i, i+1)
			} else {
				s.Tags = append(s.Tags, tag)
			}
		})
	case 8:
		w.edit(r, folder, func(s *schema.Session) { s.Status = []schema.Status{schema.Paused, schema.Completed}[rnd.IntN(2)] })
	case 9: // a person edits the document
		text, err := os.ReadFile(doc)
		w.must(err)
		w.must(os.WriteFile(doc, append(text, fmt.Sprintf("\nedit %d\n", w.wrote)...), 0o600))
		w.wrote++
	case 10, 11:
		folders := []string{folder}
		if rnd.IntN(2) == 0 {
			folders = w.here(r)
		}
		_, err := r.Commit(w.t.Context(), "[session] Pause: x", folders...)
		w.must(err)
	case 12, 13:
		w.push(r)
	case 14, 15, 16:
		w.pull(r)
	case 17:
		if rnd.IntN(4) == 0 {
			w.remove(r, folder)
		}
	case 18: // git clean takes what is committed
		if rnd.IntN(4) == 0 {
			w.push(r)
			w.must(os.RemoveAll(filepath.Join(r.Store.Root(), "conversations")))
		}
	case 19:
		if rnd.IntN(4) == 0 {
			w.git(r.Store.Root(), "gc", "-q", "--prune=now")
		}
	}
}

// TestHistories: whatever clones and work trees do, all of them agree in the end, and no
// message is lost or doubled.
func TestHistories(t *testing.T) {
	n := 20
	if testing.Short() {
		n = 2
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, 2)
			rnd := rand.New(rand.NewPCG(uint64(seed), 1))
			for range 40 {
				w.step(rnd)
			}
			w.settle()
			w.pull(w.clone("fresh"))
			w.settle()
		})
	}
}

// TestConcurrent: processes that commit and pull at once in two work trees of one clone lose
// nothing.
func TestConcurrent(t *testing.T) {
	w := newWorld(t, 1)
	var folders []string
	for range 3 {
		folders = append(folders, w.begin(w.refs[0]))
		w.at = w.at.Add(time.Minute)
	}
	w.push(w.refs[0])
	w.pull(w.refs[1])
	var all sync.WaitGroup
	errs := make(chan error, 100)
	for i, folder := range folders {
		for j, r := range w.refs {
			w.say(r, folder)
			all.Go(func() {
				_, err := r.Commit(context.Background(), fmt.Sprintf("[session] Pause: %d of %d", i, j), folder)
				errs <- err
				_, err = r.Push(context.Background())
				errs <- err
				_, err = r.Pull(context.Background())
				errs <- err
			})
		}
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	w.settle()
}

// TestCopiedClone: a copy of a clone pushes to a ref of its own.
func TestCopiedClone(t *testing.T) {
	w := newWorld(t, 1)
	folder := w.begin(w.refs[0])
	w.push(w.refs[0])
	w.must(os.CopyFS(filepath.Join(w.dir, "copy"), os.DirFS(w.refs[0].Store.Root())))
	copied := w.open(filepath.Join(w.dir, "copy"))
	w.say(w.refs[0], folder)
	w.push(w.refs[0])
	w.at = w.at.Add(time.Minute)
	w.say(copied, folder)
	w.push(copied)
	if out := w.git(filepath.Join(w.dir, "remote.git"), "for-each-ref", "--format=%(refname)", sharedRefs); strings.Count(out, "\n") != 2 {
		t.Errorf("the remote has %q", out)
	}
	w.settle()
}

// TestChanged: what has been committed is not read again, and any change is noticed, even if
// an editor keeps the size and the time of a file.
func TestChanged(t *testing.T) {
	w := newWorld(t, 1)
	r := w.refs[0]
	folder := w.begin(r)
	w.push(r)
	changed := func(want ...string) {
		t.Helper()
		got, err := r.Changed(t.Context(), []string{folder})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	cached := func() bool {
		b, ok := r.Store.ReadCache(committedCache)
		return ok && strings.Contains(string(b), folder)
	}
	time.Sleep(50 * time.Millisecond) // a file that has just been written may change again unnoticed
	changed()
	changed()
	if runtime.GOOS != "windows" && !cached() {
		t.Error("the next push reads a folder again that has not changed")
	}
	log := filepath.Join(r.Store.Root(), folder, ".session", "messages.jsonl")
	info, err := os.Stat(log)
	w.must(err)
	text, err := os.ReadFile(log)
	w.must(err)
	w.must(os.WriteFile(log, bytes.ReplaceAll(text, []byte("says"), []byte("SAYS")), 0o600))
	w.must(os.Chtimes(log, info.ModTime(), info.ModTime()))
	changed(folder)
	time.Sleep(50 * time.Millisecond)
	changed(folder)
	if cached() {
		t.Error("what is not committed counts as committed")
	}
	w.must(os.WriteFile(log, text, 0o600))
	changed()
	w.must(r.Store.WriteCache(committedCache, []byte("{not JSON")))
	changed()
	w.git(r.Store.Root(), "update-ref", "-d", ownRef)
	changed(folder)
}

// TestBaseDoesNotCount: an own ref that was reset gets back what the work tree has.
// TestPartialClone checks that a pull in a partial clone fetches the contents of all
// conversations in one request.
func TestPartialClone(t *testing.T) {
	w := newWorld(t, 1)
	for range 5 {
		w.begin(w.refs[0])
	}
	w.push(w.refs[0])
	remote := filepath.Join(w.dir, "remote.git")
	w.git(remote, "config", "uploadpack.allowFilter", "true")
	w.git(w.dir, "clone", "-q", "--filter=blob:none", "file://"+remote, "part")
	part := w.open(filepath.Join(w.dir, "part"))
	trace := filepath.Join(w.dir, "trace")
	t.Setenv("GIT_TRACE", trace)
	w.pull(part)
	t.Setenv("GIT_TRACE", "")
	if got, want := w.files(part), w.files(w.refs[0]); !maps.Equal(got, want) {
		t.Errorf("pulled %d files of %d", len(got), len(want))
	}
	ran, err := os.ReadFile(trace)
	w.must(err)
	const request = "built-in: git upload-pack" // the remote's
	if n := strings.Count(string(ran), request); n != 2 {
		t.Errorf("asked the remote %d times, want once for the commits and once for the contents:\n%s", n, ran)
	}
	w.settle()
}

func TestBaseDoesNotCount(t *testing.T) {
	w := newWorld(t, 1)
	r := w.refs[0]
	folder := w.begin(r)
	w.push(r)
	for _, args := range [][]string{{"update-ref", "-d", ownRef}, {"for-each-ref", "--format=delete %(refname)", fetchedRefs}} {
		w.git(r.Store.Root(), args...)
	}
	done, err := r.Commit(t.Context(), "[session] Pause: x", folder)
	if !done || err != nil {
		t.Fatalf("%t, %v", done, err)
	}
	w.settle()
}

// TestHostile: nothing leaves the folders of conversations, whatever another clone pushes.
func TestHostile(t *testing.T) {
	w := newWorld(t, 1)
	r := w.refs[0]
	theirs := git.Writing{Ref: "refs/cortext/evil", By: nobody(w.at), Message: "x", Files: map[string][]byte{
		"README.md": []byte("x"), "conversations/a/b/.git/config": []byte("x"), "conversations/a/b/.GIT/hooks/x": []byte("x"),
		"conversations/x": []byte("x"), ".workspace/config.yaml": []byte("x"), ".workspace/removed/../../x": []byte("x"),
		"conversations/a/b/c.md": []byte("fine"),
	}}
	delete(theirs.Files, ".workspace/removed/../../x") // git refuses it
	remote := filepath.Join(w.dir, "remote.git")
	if theirs.Write(t.Context(), remote) != nil { // git 2.55 refuses this one, too
		delete(theirs.Files, "conversations/a/b/.GIT/hooks/x")
		delete(theirs.Files, "conversations/a/b/.git/config")
		w.must(theirs.Write(t.Context(), remote))
	}
	w.pull(r)
	if out := w.git(r.Store.Root(), "status", "--porcelain"); out != "" {
		t.Errorf("git status: %s", out)
	}
	files := slices.Sorted(maps.Keys(w.files(r)))
	if want := []string{"conversations/a/b/c.md"}; !slices.Equal(files, want) {
		t.Errorf("has %q", files)
	}
	for _, name := range []string{"conversations/a/b/.git", "conversations/a/b/.GIT", "conversations/x"} {
		if _, err := os.Lstat(filepath.Join(r.Store.Root(), name)); err == nil {
			t.Errorf("%s exists", name)
		}
	}
}
