package remotesql

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// serveVariable makes the test program serve databases, or fail.
const serveVariable = "REMOTESQL_TEST_SERVE"

func TestMain(m *testing.M) {
	switch os.Getenv(serveVariable) {
	case "yes":
		if err := Serve(os.Stdin, os.Stdout, sqlite()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "fails":
		fmt.Fprintln(os.Stderr, "cannot start")
		os.Exit(3)
	case "nonsense":
		fmt.Print("what?")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func sqlite() driver.Driver {
	db, err := sql.Open("sqlite", "")
	if err != nil {
		panic(err)
	}
	return db.Driver()
}

// A connector opens one database.
type connector struct {
	driver  driver.Driver
	address string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.address) }

func (c connector) Driver() driver.Driver { return c.driver }

// started returns a driver and the processes that it started.
func started(behaviour string) (*Driver, *[]*exec.Cmd) {
	list := new([]*exec.Cmd)
	return &Driver{Command: func() (*exec.Cmd, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), serveVariable+"="+behaviour)
		*list = append(*list, cmd)
		return cmd, nil
	}}, list
}

func openDB(t *testing.T, d driver.Driver, address string) *sql.DB {
	t.Helper()
	db := sql.OpenDB(connector{d, address})
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// example is the address of a database with rows of all kinds.
func example(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "example.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range []string{
		`create table message (id text primary key, at integer, data)`,
		`create table part (message text, n integer, data text)`,
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	data := []any{nil, int64(math.MinInt64), int64(math.MaxInt64), -1, 0, 1.5, math.Inf(1), "", "text\x00\xff", []byte{}, []byte{0, 1, 255}, true, strings.Repeat("ä", 100_000)}
	for i := range 200 {
		if _, err := tx.Exec(`insert into message values (?, ?, ?)`, fmt.Sprintf("m%03d", i), i, data[i%len(data)]); err != nil {
			t.Fatal(err)
		}
		for n := range i % 5 {
			if _, err := tx.Exec(`insert into part values (?, ?, ?)`, fmt.Sprintf("m%03d", i), n, strings.Repeat("x", i*n*10)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return "file:" + file + "?mode=ro"
}

// read reads everything in a transaction, the parts of each message while its rows are open.
func read(db *sql.DB) (list []string, err error) {
	tx, err := db.Begin()
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	messages, err := tx.Query(`select id, at, data from message where at >= ? and id > ?2 order by at`, 0, "")
	if err != nil {
		return nil, err
	}
	defer messages.Close()
	columns, err := messages.Columns()
	if err != nil {
		return nil, err
	}
	list = append(list, fmt.Sprint(columns))
	parts, err := tx.Prepare(`select n, data from part where message = ? order by n`)
	if err != nil {
		return nil, err
	}
	defer parts.Close()
	for messages.Next() {
		var id string
		var at int64
		var data any
		if err := messages.Scan(&id, &at, &data); err != nil {
			return nil, err
		}
		list = append(list, fmt.Sprintf("%s %d %T %x", id, at, data, fmt.Sprint(data)))
		rows, err := parts.Query(id)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var n int
			var raw []byte
			if err := rows.Scan(&n, &raw); err != nil {
				return nil, err
			}
			list = append(list, fmt.Sprint(n, len(raw)))
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return nil, err
		}
	}
	return list, messages.Err()
}

// TestSame: another process gives the same rows as this one, even for one connection after
// another, which one process serves.
func TestSame(t *testing.T) {
	address := example(t)
	direct, err := sql.Open("sqlite", address)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	want, err := read(direct)
	if err != nil || len(want) < 200 {
		t.Fatal(len(want), err)
	}
	d, processes := started("yes")
	for range 3 {
		db := openDB(t, d, address)
		got, err := read(db)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("other rows: %d, want %d", len(got), len(want))
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(*processes) != 1 {
		t.Errorf("%d processes were started", len(*processes))
	}
}

// TestLeft: rows that nobody reads to their end do not disturb the next query.
func TestLeft(t *testing.T) {
	d, _ := started("yes")
	db := openDB(t, d, example(t))
	for range 3 {
		var id string
		if err := db.QueryRow(`select id from message order by id desc`).Scan(&id); err != nil || id != "m199" {
			t.Fatal(id, err)
		}
		var count int
		if err := db.QueryRow(`select count(*) from message m, message n`).Scan(&count); err != nil || count != 40_000 {
			t.Fatal(count, err)
		}
	}
	if err := db.QueryRow(`select id from message where id = 'none'`).Scan(new(string)); err != sql.ErrNoRows {
		t.Error(err)
	}
}

// TestErrors: the database's errors arrive with their codes, and the connection remains.
func TestErrors(t *testing.T) {
	address := example(t)
	d, _ := started("yes")
	db := openDB(t, d, address)
	check := func(err error, code int, text string) {
		t.Helper()
		var coded interface{ Code() int }
		if !errors.As(err, &coded) || coded.Code() != code || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want code %d and %q", err, code, text)
		}
	}
	_, err := db.Query(`select missing from message`)
	check(err, 1, "no such column")
	rows, err := db.Query(`select abs(case when at < 150 then at else -9223372036854775808 end) from message`)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		n++
	}
	check(rows.Err(), 1, "integer overflow")
	if n != 150 {
		t.Errorf("%d rows before the error", n)
	}
	if _, err := db.Query(`select ?`, time.Now()); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := db.Exec(`delete from message`); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if got, err := read(db); err != nil || len(got) < 200 {
		t.Error(len(got), err)
	}
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, bytes.Repeat([]byte("text "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = read(openDB(t, d, "file:"+file+"?mode=ro"))
	check(err, 26, "not a database")
}

// TestEnded: a process that ended while it waited is replaced; one that ends in the middle of
// rows is an error and not the end of the rows.
func TestEnded(t *testing.T) {
	address := example(t)
	d, processes := started("yes")
	kill := func() {
		t.Helper()
		p := (*processes)[len(*processes)-1].Process
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	db := openDB(t, d, address)
	if _, err := read(db); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	kill()
	db = openDB(t, d, address)
	if _, err := read(db); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(`select data from message`)
	if err != nil {
		t.Fatal(err)
	}
	kill()
	n := 0
	for rows.Next() {
		n++
	}
	if rows.Err() == nil || n >= 200 {
		t.Errorf("%d rows, %v", n, rows.Err())
	}
	if _, err := read(db); err != nil {
		t.Errorf("the next connection: %v", err)
	}
}

// TestUnusable: an error says which program is unusable, and why.
func TestUnusable(t *testing.T) {
	address := example(t)
	for behaviour, want := range map[string]string{"fails": "cannot start", "nonsense": "unexpected response"} {
		d, processes := started(behaviour)
		_, err := read(openDB(t, d, address))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(os.Args[0])) {
			t.Errorf("%s: %v", behaviour, err)
		}
		if len(*processes) != 1 {
			t.Errorf("%s: started %d processes", behaviour, len(*processes))
		}
	}
	missing := errors.New("missing")
	d := &Driver{Command: func() (*exec.Cmd, error) { return nil, missing }}
	if _, err := read(openDB(t, d, address)); !errors.Is(err, missing) {
		t.Error(err)
	}
	d = &Driver{Command: func() (*exec.Cmd, error) { return exec.Command(filepath.Join(t.TempDir(), "none")), nil }}
	if _, err := read(openDB(t, d, address)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestIdle: a process without a connection ends soon.
func TestIdle(t *testing.T) {
	d, processes := started("yes")
	db := openDB(t, d, example(t))
	if _, err := read(db); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		d.mu.Lock()
		idle := len(d.idle)
		d.mu.Unlock()
		if idle == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := (*processes)[0].Process.Signal(os.Kill); err == nil {
		time.Sleep(time.Second) // it may be about to end
		if err := (*processes)[0].Process.Signal(os.Kill); err == nil {
			t.Error("the process still runs")
		}
	}
}

// FuzzServe: whatever the input, Serve ends, and what it reads is bounded by the input.
func FuzzServe(f *testing.F) {
	add := func(write func(s *stream)) {
		var b bytes.Buffer
		s := newStream(&b, &b)
		write(s)
		s.flush()
		f.Add(b.Bytes())
	}
	opened := func(s *stream) {
		s.writeByte(requestOpen)
		s.writeText(":memory:")
	}
	add(func(s *stream) {
		opened(s)
		s.writeByte(requestBegin)
		s.writeByte(requestPrepare)
		s.writeText("select ?, 'x'")
		s.writeByte(requestQuery)
		s.writeNumber(1)
		s.writeNumber(1)
		s.fail(s.writeValue("y"))
		s.writeByte(requestNext)
		s.writeNumber(2)
		s.writeByte(requestEnd)
		s.writeNumber(2)
		s.writeByte(requestForget)
		s.writeNumber(1)
		s.writeByte(requestRollback)
		s.writeByte(requestClose)
	})
	add(func(s *stream) {
		s.writeByte(requestQuery)
		s.writeNumber(7)
		s.writeNumber(maxBytes)
	})
	add(func(s *stream) { s.writeByte(requestOpen); s.writeNumber(maxBytes) })
	f.Fuzz(func(t *testing.T, b []byte) {
		if bytes.Contains(bytes.ToLower(b), []byte("file")) || bytes.Count(b, []byte{requestOpen}) > 2 || bytes.Contains(bytes.ToLower(b), []byte("with")) {
			return // an address of its own, or a query without an end
		}
		_ = Serve(bytes.NewReader(b), io.Discard, sqlite())
	})
}
