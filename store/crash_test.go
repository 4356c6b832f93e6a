package store

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cortext/schema"
)

const (
	crashPath   = "conversations/2025-11-22/1000-plan-x-abcd"
	crashFolder = "a folder that a person made"
)

// crashes are the operations during which a process is killed.
var crashes = map[string]struct {
	prepare func(t *testing.T, s *Store)
	do      func(s *Store) error
	want    func(t *testing.T, s *Store) // holds at any time
	done    func(t *testing.T, s *Store) // holds once the operation is done
}{
	"create": {func(*testing.T, *Store) {}, createX, wantAllOrNothing, wantWhole},
	"create into a folder": {func(t *testing.T, s *Store) {
		writeFile(t, s, crashPath+"/plan.md", crashFolder)
	}, createX, func(t *testing.T, s *Store) {
		t.Helper()
		if got := readFile(t, s, crashPath+"/plan.md"); got != crashFolder {
			t.Errorf("the document is %q", got)
		}
	}, wantWhole},
	"create into an empty folder": {func(t *testing.T, s *Store) {
		must(t, os.MkdirAll(filepath.Join(s.dir, crashPath), 0o755))
	}, createX, func(t *testing.T, s *Store) {
		t.Helper()
		if _, err := os.Lstat(filepath.Join(s.dir, crashPath, sessionDir)); err == nil {
			wantWhole(t, s)
		}
	}, wantWhole},
	"publish what waits": {func(*testing.T, *Store) {}, func(s *Store) error {
		c, err := s.Stage("plan", "x", &schema.Session{ID: testID("abcd"), CreatedAt: schema.NewTime(start)}, []byte("# X\n"))
		if err == nil {
			err = c.PublishWaiting()
		}
		if err == nil || errors.Is(err, ErrExist) {
			_, err = s.Kept().PutBack(crashPath)
		}
		return err
	}, func(t *testing.T, s *Store) {
		t.Helper()
		if list, err := s.List(); err != nil || len(list) > 1 || len(list) == 1 && list[0].Session.ID != testID("abcd") {
			t.Errorf("%+v, %v", list, err)
		}
	}, wantNothingWaits},
	"put back": {func(t *testing.T, s *Store) {
		c := waits(t, s)
		w := waitingFor(t, s, c.Path())
		appendBatch(t, w, thread(0, 4))
		appendBatch(t, subagent(t, w, "x"), thread(0, 4))
		w.Close()
		must(t, os.RemoveAll(filepath.Join(s.dir, c.Path())))
	}, func(s *Store) error {
		paths := s.Kept().WaitingPaths()
		if len(paths) == 0 {
			return nil
		}
		_, err := s.Kept().PutBack(paths[0])
		return err
	}, wantShown(wantAll), wantNothingWaits},
	"move what waits": {func(t *testing.T, s *Store) { waits(t, s).Close() }, settleShown, wantShown(wantAll), wantNothingWaits},
	"merge twins":     {func(t *testing.T, s *Store) { twins(t, s) }, settleShown, wantShown(wantTwins), wantNothingWaits},
	"repair":          {func(t *testing.T, s *Store) { ruined(t, s) }, func(s *Store) error { return finishAndRepair(s, crashPath, nil) }, wantFour, wantFour},
	"undo a repair": {func(t *testing.T, s *Store) {
		c := ruined(t, s)
		must(t, os.CopyFS(filepath.Join(s.dir, "before"), os.DirFS(filepath.Join(s.dir, conversationsDir))))
		_, err := s.Repairs().Repair(c, nil)
		must(t, err)
	}, undoLast, wantFour, func(t *testing.T, s *Store) {
		wantSameTree(t, "undone", contents(snapshot(t, filepath.Join(s.dir, "before"))), contents(tree(t, s)))
	}},
	"redact what waits": {func(t *testing.T, s *Store) { waits(t, s).Close() }, redactShown, wantShown(wantAll), func(t *testing.T, s *Store) {
		wantNothingWaits(t, s)
		if found := filesWith(t, filepath.Join(s.dir, conversationsDir), "quoted"); len(found) > 0 {
			t.Errorf("still in %q", found)
		}
	}},
}

func createX(s *Store) error {
	_, err := s.Create("plan", "x", &schema.Session{ID: testID("abcd"), CreatedAt: schema.NewTime(start)}, []byte("# X\n"))
	if errors.Is(err, ErrExist) {
		err = nil
	}
	return err
}

func settleShown(s *Store) error {
	list, err := s.List()
	if err != nil {
		return err
	}
	c, err := s.Open(list[0])
	if err == nil {
		err = errors.Join(settle(c), c.Close())
	}
	return err
}

func wantShown(want func(*testing.T, string, *Conversation)) func(*testing.T, *Store) {
	return func(t *testing.T, s *Store) {
		t.Helper()
		c, _ := openShown(t, s)
		want(t, "after the crash", c)
	}
}

func wantNothingWaits(t *testing.T, s *Store) {
	t.Helper()
	_, e := openShown(t, s)
	wantMoved(t, "once it was done", s, e.Path)
}

// wantAllOrNothing checks that conversations/ has all of the conversation or none of it.
func wantAllOrNothing(t *testing.T, s *Store) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(s.dir, crashPath)); errors.Is(err, os.ErrNotExist) {
		if list, err := s.List(); err != nil || len(list) > 0 {
			t.Errorf("%+v, %v", list, err)
		}
		return
	}
	wantWhole(t, s)
}

func wantWhole(t *testing.T, s *Store) {
	t.Helper()
	if got := s.ListFiles(crashPath + "/" + sessionDir); !slices.Equal(got, []string{messagesFile, sessionFile, toolsFile}) {
		t.Errorf("it holds %q", got)
	}
	if got := readFile(t, s, crashPath+"/plan.md"); got != "# X\n" && got != crashFolder {
		t.Errorf("the document is %q", got)
	}
	list, err := s.List()
	if err != nil || len(list) != 1 || list[0].Path != crashPath || list[0].Session.ID != testID("abcd") {
		t.Errorf("%+v, %v", list, err)
	}
}

// crash runs one of these operations in a process that ends at its n-th call that changes
// the disk.
func crash(s *Store, what, n string) error {
	f := faults{kill: true}
	var err error
	if f.fail, err = strconv.Atoi(n); err != nil {
		return err
	}
	f.install(s)
	return crashes[what].do(s)
}

// TestCrashes ends a process at each call that changes the disk. Readers must then see
// what they should, and the next process must be able to do the same again.
func TestCrashes(t *testing.T) {
	for what := range crashes {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			step := 1
			if testing.Short() {
				step = 3
			}
			for n, more := 1, true; more && !t.Failed(); n += step {
				// A test of its own closes its stores: together they have too many open files.
				t.Run(strconv.Itoa(n), func(t *testing.T) { more = crashAt(t, what, n) })
			}
		})
	}
}

// crashAt ends one operation at its n-th call that changes the disk, and reports whether
// there was one.
func crashAt(t *testing.T, what string, n int) bool {
	tt, s := crashes[what], newTestStore(t)
	tt.prepare(t, s)
	err := process(t, "crash", s.dir, what, strconv.Itoa(n)).Run()
	if err == nil {
		tt.done(t, openTestStore(t, s.dir))
		if n < 5 {
			t.Errorf("only %d calls change the disk", n-1)
		}
		return false
	}
	exit := (*exec.ExitError)(nil)
	if !errors.As(err, &exit) || exit.ExitCode() != exitKilled {
		t.Fatal(err)
	}
	tt.want(t, openTestStore(t, s.dir))
	must(t, tt.do(openTestStore(t, s.dir)))
	fresh := openTestStore(t, s.dir)
	tt.want(t, fresh)
	tt.done(t, fresh)
	if what != "undo a repair" {
		wantSound(t, fresh)
	}
	return true
}

// TestKilledCreators kills processes at random moments while they create conversations.
// Each folder must be whole, and no process may leave anything that another stumbles
// over.
func TestKilledCreators(t *testing.T) {
	s := newTestStore(t)
	rounds := 30
	if testing.Short() {
		rounds = 8
	}
	var folders []string
	for n := 0; n < rounds || len(folders) == 0; n++ { // a busy machine may be too slow for the first rounds
		cmd := process(t, "create", s.dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(5+n*7%40+n/rounds*50) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		var err error
		folders, _, err = conversationFolders(s.Files, conversationsDir)
		must(t, err)
		for _, folder := range folders {
			if got := s.ListFiles(folder + "/" + sessionDir); len(got) != 3 {
				t.Fatalf("after %d kills %s holds %q", n+1, folder, got)
			}
		}
	}
	list, err := s.List()
	captured := 0
	for _, e := range list {
		captured += strings.Count(e.Path, "captured")
	}
	if err != nil || captured > 1 || len(list) == 0 {
		t.Errorf("%d conversations, %d of them captured, %v", len(list), captured, err)
	}
	wantSound(t, s)
	// The leftovers of dead processes are removed a day later.
	if left, _ := os.ReadDir(filepath.Join(s.dir, stageDir)); len(left) > 0 {
		s.opts.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
		_, err := s.Create("plan", "later", &schema.Session{}, nil)
		must(t, err)
		if left, err := os.ReadDir(filepath.Join(s.dir, stageDir)); err != nil || len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	}
}

// TestNamesTaken checks that a different conversation with the same name gets a longer
// name, and that one which lost its session.json counts as the same.
func TestNamesTaken(t *testing.T) {
	s := newTestStore(t)
	make := func(id string) (*Conversation, error) {
		return s.Create("plan", "x", &schema.Session{ID: id, CreatedAt: schema.NewTime(start)}, nil)
	}
	var paths []string
	for _, id := range []string{"2222abcd", "3333abcd", "3443abcd"} {
		c, err := make(testID(id))
		must(t, err)
		paths = append(paths, c.Path())
		if sess, _ := session(t, c); sess.ID != testID(id) || sess.ConversationID != filepath.Base(c.Path()) {
			t.Errorf("%+v", sess)
		}
	}
	want := []string{crashPath, strings.Replace(crashPath, "abcd", "3abcd", 1), strings.Replace(crashPath, "abcd", "43abcd", 1)}
	if !slices.Equal(paths, want) {
		t.Errorf("%q, want %q", paths, want)
	}
	// A different time of the first message is still the same conversation.
	id := testID("3443abcd")
	if c, err := make("0" + id[1:]); !errors.Is(err, ErrExist) || c.Path() != want[2] {
		t.Errorf("%v, %v", c, err)
	}
	for _, spoil := range []func(name string) error{os.Remove, func(name string) error { return os.WriteFile(name, []byte("{broken"), 0o600) }} {
		must(t, spoil(filepath.Join(s.dir, crashPath, sessionDir, sessionFile)))
		c, err := make(testID("2222abcd"))
		if !errors.Is(err, ErrExist) || c.Path() != crashPath {
			t.Fatalf("%v, %v", c, err)
		}
		if sess, damage := session(t, c); sess.ID != testID("2222abcd") || damage != nil {
			t.Errorf("%+v, %v", sess, damage)
		}
	}
	wantSound(t, s)
}
