package opencode

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cortext/inject"
)

// TestMain is also the other process that has the database open: it writes a message
// for each line it reads, and exits without closing the database.
func TestMain(m *testing.M) {
	file := os.Getenv("OPENCODE_TEST_WRITER")
	if file == "" {
		os.Exit(m.Run())
	}
	db, err := sql.Open("sqlite", file)
	if err == nil {
		db.SetMaxOpenConns(1)
		_, err = db.Exec(os.Getenv("OPENCODE_TEST_PRAGMA"))
	}
	lines := bufio.NewScanner(os.Stdin)
	for n := 1; err == nil && lines.Scan(); n++ {
		if lines.Text() == "lock" {
			_, err = db.Exec(`begin exclusive; insert into message values ('lock', 's', 1, 1, '{}')`)
		} else {
			_, err = db.Exec(`insert into message values (?1, 's', ?2, ?2, '{"role":"user"}'); insert into part values (?1, ?1, 's', ?2, ?2, json_object('type', 'text', 'text', ?3))`,
				fmt.Sprintf("msg_%06d", n), 1_795_000_000_000+int64(n), lines.Text())
		}
		fmt.Println(n, err)
	}
	os.Exit(0)
}

// A writer is another process that has the database open.
type writer struct {
	t   *testing.T
	cmd *exec.Cmd
	in  *os.File
	out *bufio.Scanner
}

func startWriter(t *testing.T, file, pragma string) *writer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "OPENCODE_TEST_WRITER="+file, "OPENCODE_TEST_PRAGMA="+pragma)
	cmd.Stdin = r
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	w := &writer{t, cmd, in, bufio.NewScanner(out)}
	t.Cleanup(w.kill)
	return w
}

func (w *writer) say(text string) {
	w.t.Helper()
	fmt.Fprintln(w.in, text)
	if !w.out.Scan() || !strings.HasSuffix(w.out.Text(), "<nil>") {
		w.t.Fatalf("the writer says %q", w.out.Text())
	}
}

func (w *writer) kill() {
	if w.cmd.ProcessState == nil {
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait()
		w.in.Close()
	}
}

// files returns the names, lengths and contents of a folder's files.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all[e.Name()] = slurp(t, filepath.Join(dir, e.Name()))
	}
	return all
}

func unchanged(t *testing.T, what, dir string, before map[string]string) {
	t.Helper()
	after := files(t, dir)
	for name := range after {
		if after[name] != before[name] {
			t.Errorf("%s: %s was changed or made", what, name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%s: %v, before %v", what, slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
	}
}

// TestBesideTheProgram reads while another process has the database open and writes.
// It must see what was written before, not what is written meanwhile, and change
// nothing. Then the process is killed, and its files are read as it left them.
func TestBesideTheProgram(t *testing.T) {
	s := newStore(t, true)
	s.session("s", "")
	dir, path := filepath.Dir(s.file), s.file+"#s"
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	w := startWriter(t, s.file, `pragma journal_mode = wal`)
	f := &follower{t: t, path: path}
	for n := range 20 {
		w.say(fmt.Sprint("text ", n))
		before := files(t, dir)
		f.follow()
		f.check(n)
		unchanged(t, "beside the program", dir, before)
	}
	if len(f.have) != 20 || f.anew > 0 || f.fromCursor > 40 {
		t.Errorf("%d messages, %d from the start, %d read again", len(f.have), f.anew, f.fromCursor)
	}
	tr, err := adapter.Open(path, inject.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.say("later")
	if b := gather(t, tr); len(b.Messages) != 20 {
		t.Errorf("%d messages in a transcript that was opened before the last", len(b.Messages))
	}
	tr.Close()

	w.kill()
	before := files(t, dir)
	if len(before) != 3 {
		t.Fatalf("the killed process left %v", slices.Sorted(maps.Keys(before)))
	}
	f.follow()
	f.check("killed")
	unchanged(t, "left by a killed program", dir, before)

	// The -wal is read even without its index; SQLite makes another.
	if err := os.Remove(s.file + "-shm"); err != nil {
		t.Fatal(err)
	}
	f.follow()
	f.check("no -shm")
	// Without the -wal, only its content is lost.
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(s.file + suffix)
	}
	if _, b := readAll(t, path, inject.Options{}); len(b.Messages) != 0 {
		t.Errorf("without the -wal: %d messages", len(b.Messages))
	}
	before = files(t, dir)
	readAll(t, path, inject.Options{})
	unchanged(t, "without the -wal", dir, before)
}

// TestLocked checks that the error says so if a database is locked or in the middle of
// a write.
func TestLocked(t *testing.T) {
	for name, pragma := range map[string]string{
		"exclusive wal":  `pragma journal_mode = wal; pragma locking_mode = exclusive`,
		"hot journal":    `pragma journal_mode = delete; pragma cache_size = 1`,
		"exclusive lock": `pragma journal_mode = persist`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t, false)
			s.session("s", "")
			s.db.Close()
			w := startWriter(t, s.file, pragma)
			w.say("text")
			w.say("lock")
			_, err := adapter.Open(s.file+"#s", inject.Options{})
			var file *inject.FileError
			if !errors.As(err, &file) || file.File != s.file || !strings.Contains(err.Error(), "locked by another program") {
				t.Error(err)
			}
			w.kill()
			if _, err := adapter.Open(s.file+"#s", inject.Options{}); err != nil && !strings.Contains(err.Error(), s.file) {
				t.Errorf("killed: %v", err)
			}
		})
	}
}

// TestWrittenMeanwhile checks that a write to an unlocked database during a reading is
// detected.
func TestWrittenMeanwhile(t *testing.T) {
	s := newStore(t, false)
	s.put("s", parseDoc(t, slurp(t, fixtures+"1.18.33/compaction/transcript.json")))
	tr, err := adapter.Open(s.file+"#s", inject.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	s.do(`update session set title = 'another'`)
	err = tr.Each(func(string, inject.Batch) error { return nil })
	if err == nil || !strings.Contains(err.Error(), whyWritten) || !strings.Contains(err.Error(), s.file) {
		t.Errorf("written to: %v", err)
	}
}

// TestDamagedStore damages a database in realistic ways and expects clear errors.
func TestDamagedStore(t *testing.T) {
	whole := slurp(t, fixtures+"1.18.33/store/transcript.db")
	const session = "ses_dff9b6187ffeOJTeBSCOKhGxQq"
	rows := func(query string) func(t *testing.T, file string) {
		return func(t *testing.T, file string) {
			address := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(file), "/")} // also C:/
			db, err := sql.Open("sqlite", address.String())
			if err == nil {
				_, err = db.Exec(query)
			}
			if err != nil {
				t.Fatal(err)
			}
			db.Close()
		}
	}
	content := func(text string) func(*testing.T, string) {
		return func(t *testing.T, file string) { write(t, filepath.Dir(file), filepath.Base(file), text) }
	}
	for _, c := range []struct {
		name     string
		damage   func(t *testing.T, file string)
		why      string // the error, or empty
		messages int
		warning  string
	}{
		{name: "more columns and tables", damage: rows(`alter table part add column x; alter table session add column y default 1; create table z (a)`), messages: 17},
		{name: "no column", damage: rows(`alter table part rename column data to payload`), why: `has no column "data" in the table "part"`},
		{name: "no table", damage: rows(`drop table part`), why: `has no table "part"`},
		{name: "a view", damage: rows(`alter table part rename to p; create view part as select * from p`), why: `has no table "part"`},
		{name: "another program's", damage: func(t *testing.T, file string) { os.Remove(file); rows(`create table notes (a)`)(t, file) }, why: `has no table "session"`},
		{name: "an older version", damage: rows(`drop index session_parent_idx; alter table session drop column parent_id; alter table session drop column revert; alter table session drop column metadata; drop table session_message; drop index part_session_idx`), messages: 17},
		{name: "empty", damage: content(""), why: "is empty"},
		{name: "no tables yet", damage: rows(`drop table part; drop table message; drop table session; drop table project; drop table session_message; vacuum`), why: `has no table "session"`},
		{name: "first half", damage: content(whole[:len(whole)/2]), why: "is damaged"},
		{name: "zeroes in it", damage: content(whole[:8192] + strings.Repeat("\x00", 32768) + whole[40960:]), why: "is damaged"},
		{name: "no header", damage: content(whole[:16] + strings.Repeat("\xff", 84) + whole[100:]), why: "is not an SQLite database"},
		{name: "parts without their message", damage: rows(`pragma foreign_keys = off; delete from message where id like '%1lIpvOp7n9QpQT5'`), messages: 16, warning: "1 parts of messages that are not there left out"},
		{name: "no rows", damage: rows(`pragma foreign_keys = off; delete from message; delete from part`)},
		{name: "the next format", damage: rows(`pragma foreign_keys = off; delete from message; delete from part; insert into session_message values ('a', '` + session + `', 'user', 1, 1, 1, '{}')`), warning: `1 records of the unknown kind "session_message" left out`},
		{name: "no JSON", damage: rows(`update message set data = 'x'; update part set data = x'00ff'`), warning: `18 records of the unknown kind "message (no role)"`},
		{name: "no such session", damage: rows(`delete from session`), why: "file does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := "open?code #1%41.db"
			if runtime.GOOS == "windows" { // where no name has a question mark
				name = "open code #1%41.db"
			}
			file := write(t, t.TempDir(), name, whole)
			c.damage(t, file)
			before := files(t, filepath.Dir(file))
			path := file + "#" + session
			tr, err := adapter.Open(path, inject.Options{})
			if c.why != "" {
				if err == nil || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), file) {
					t.Fatalf("%v, want %q", err, c.why)
				}
				if _, err := adapter.Stat(path); err == nil && !strings.Contains(c.why, "damaged") {
					t.Error("stat gives a state")
				}
			} else {
				if err != nil {
					t.Fatal(err)
				}
				if b := gather(t, tr); len(b.Messages) != c.messages {
					t.Errorf("%d messages, want %d", len(b.Messages), c.messages)
				}
				if w := strings.Join(tr.Warnings, "\n"); c.warning == "" && w != "" || !strings.Contains(w, c.warning) {
					t.Errorf("warnings %q, want %q", w, c.warning)
				}
				tr.Close()
			}
			if _, err := adapter.Subagents(path); err != nil && !strings.Contains(err.Error(), file) {
				t.Errorf("subagents: %v", err)
			}
			if _, err := adapter.Transcripts(file); err != nil && !strings.Contains(err.Error(), file) {
				t.Errorf("transcripts: %v", err)
			}
			unchanged(t, c.name, filepath.Dir(file), before)
		})
	}
	if _, err := adapter.Open(filepath.Join(t.TempDir(), "x.db#y"), inject.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	file := write(t, t.TempDir(), "opencode.db", whole)
	if _, err := adapter.Open(file, inject.Options{}); err == nil || !strings.Contains(err.Error(), "opencode.db#<session id>") {
		t.Errorf("a database as a transcript: %v", err)
	}
	if _, err := adapter.Stat(file + "#nosuch"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat of no session: %v", err)
	}
}

// BenchmarkTurn captures one new turn as a hook does, in a store of one conversation
// and in one of 1,000. The second may take twice as long.
func BenchmarkTurn(b *testing.B) {
	text := slurp(b, fixtures+"1.2.5/prices/transcript.json")
	perTurn := map[int]float64{}
	for _, n := range []int{1, 1000} {
		s := newStore(b, true)
		s.do("begin")
		for i := range n {
			// ids are unique in the store, not just in the session
			s.put(fmt.Sprint("ses_", i), parseDoc(b, strings.ReplaceAll(text, "Abcdefghij", fmt.Sprintf("Abcdef%04d", i))))
		}
		s.do("commit")
		f := &follower{t: b, path: s.file + "#" + fmt.Sprint("ses_", n/2), have: merged{}}
		f.follow()
		session := fmt.Sprint("ses_", n/2)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				id := fmt.Sprint("msg_z", s.tick())
				s.message(session, map[string]any{"id": id, "role": "user"})
				s.part(session, id, map[string]any{"id": id, "type": "text", "text": "and now?"})
				b.StartTimer()
				if _, err := adapter.Stat(f.path); err != nil {
					b.Fatal(err)
				}
				if _, err := adapter.Subagents(f.path); err != nil {
					b.Fatal(err)
				}
				f.follow()
			}
			perTurn[n] = float64(b.Elapsed()) / float64(b.N)
			if perTurn[1] > 0 && n > 1 {
				b.ReportMetric(perTurn[n]/perTurn[1], "ratio")
			}
		})
		if f.anew > 0 {
			b.Errorf("%d of %d readings from the start", f.anew, f.reads)
		}
	}
}
