package opencode

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cortext/inject"
)

// Driver is the name of the [database/sql] driver for OpenCode's databases. The program that
// uses the adapter must link or register one whose data source names are
// those of modernc.org/sqlite, and whose errors have a method Code that returns SQLite's result code.
const Driver = "sqlite"

// magic is the beginning of every SQLite database.
const magic = "SQLite format 3\x00"

// headSize is how much of a file is read to identify it: the first pages of a
// database name its tables.
const headSize = 1 << 20

func isDatabase(file string) bool {
	f, err := inject.OpenRegular(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}

// looksLikeStore reports whether a database has OpenCode's tables, or no tables yet:
// a new one has them in its -wal.
func looksLikeStore(head []byte) bool {
	if len(head) > 104 && head[100] == 13 && head[103] == 0 && head[104] == 0 {
		return true // the schema table is a leaf without cells (SQLite file format, section 1.6)
	}
	for _, table := range []string{"session", "message", "part"} {
		if !bytes.Contains(head, []byte("CREATE TABLE `"+table+"` (")) && !bytes.Contains(head, []byte(`CREATE TABLE "`+table+`" (`)) &&
			!bytes.Contains(head, []byte("CREATE TABLE "+table+" (")) {
			return false
		}
	}
	return true
}

// A database is OpenCode's database, open for reading. We read a snapshot, even while
// OpenCode writes to it.
type database struct {
	file    string
	db      *sql.DB
	tx      *sql.Tx
	columns map[string][]string // of the tables
	still   fs.FileInfo         // the original file, if nothing blocks writers
}

// openDatabase opens a database for reading. As far as possible, it neither changes nor
// creates the database or a file next to it: see FACTS.md, "Where sessions are kept",
// and https://sqlite.org/wal.html.
func openDatabase(file string) (*database, error) {
	size, err := inject.StatFile(file)
	if err != nil {
		return nil, err
	}
	if size == 0 {
		return nil, &inject.FileError{File: file, Why: "is empty"}
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} { // SQLite opens whichever exist
		if _, err := inject.StatFile(file + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, way := range ways(file) {
		var d *database
		if d, err = openAs(file, way); err == nil {
			return d, nil
		}
	}
	return nil, err
}

// The ways to open a database, all of them read-only.
const (
	// No locks: without a -wal, nobody has it open, or nothing was written since.
	// isWritten checks that afterwards.
	unlocked = "immutable=1"
	// Use the existing index of the -wal, or make one in memory if nobody else has
	// the database open.
	sharing = "readonly_shm=1"
	// Create the index as a file, if there is none.
	plain = "cache=private"
)

func ways(file string) []string {
	there := func(suffix string) bool { _, err := os.Lstat(file + suffix); return err == nil }
	switch {
	case !there("-wal") && !there("-journal"):
		return []string{unlocked, plain}
	case there("-shm"):
		return []string{sharing, plain}
	}
	return []string{plain}
}

func openAs(file, way string) (*database, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	name := filepath.ToSlash(abs)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // C:/
	}
	still, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	address := url.URL{Scheme: "file", Path: name, RawQuery: "mode=ro&" + way +
		"&_pragma=busy_timeout(2000)&_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)"}
	db, err := sql.Open(Driver, address.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	d := &database{file: file, db: db}
	if way == unlocked {
		d.still = still
	}
	if d.tx, err = db.Begin(); err == nil {
		err = d.look()
	} else {
		err = d.explain(err)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *database) close() error {
	if d.tx != nil {
		_ = d.tx.Rollback()
	}
	return d.db.Close()
}

// each calls scan for each row that a query finds.
func (d *database) each(scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := d.tx.Query(query, args...)
	if err != nil {
		return d.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return d.explain(err)
		}
	}
	return d.explain(rows.Err())
}

// needed lists the columns that we read, by table. Older versions lack some of those of
// session.
var needed = map[string][]string{
	"session": {"id", "directory", "title", "version", "time_updated"},
	"message": {"id", "session_id", "time_created", "time_updated", "data"},
	"part":    {"id", "message_id", "session_id", "time_updated", "data"},
}

// look finds out which columns exist. It ignores views, which are not OpenCode's and
// could compute anything.
func (d *database) look() error {
	d.columns = map[string][]string{}
	err := d.each(func(rows *sql.Rows) error {
		var table, column string
		err := rows.Scan(&table, &column)
		d.columns[table] = append(d.columns[table], column)
		return err
	}, `select m.name, c.name from sqlite_schema m, pragma_table_info(m.name) c
		where m.type = 'table' and m.sql not like 'create virtual%' and m.name in ('session', 'message', 'part', 'session_message')`)
	if err != nil {
		return err
	}
	for _, table := range []string{"session", "message", "part"} {
		if d.columns[table] == nil {
			return d.fault(fmt.Sprintf("has no table %q: it is not an OpenCode database, or its version stores sessions differently%s", table, hint))
		}
		for _, column := range needed[table] {
			if !slices.Contains(d.columns[table], column) {
				return d.fault(fmt.Sprintf("has no column %q in the table %q: this version of OpenCode stores sessions differently%s", column, table, hint))
			}
		}
	}
	return nil
}

const hint = "; `opencode export <session> > file.json` and an import of that file may help"

func (d *database) fault(why string) error { return &inject.FileError{File: d.file, Why: why} }

// has returns column if the table session has it, or null if this version lacks it.
func (d *database) has(column string) string {
	if slices.Contains(d.columns["session"], column) {
		return column
	}
	return "null"
}

// isWritten reports whether a database that was opened without locks has changed.
// What we read may then mix two states.
func (d *database) isWritten() bool {
	if d.still == nil {
		return false
	}
	now, err := os.Stat(d.file)
	return err != nil || now.Size() != d.still.Size() || !now.ModTime().Equal(d.still.ModTime())
}

// maxWritten is how often we reopen a database that is being written to.
const maxWritten = 3

const whyWritten = "is written to while it is read: try again"

var errWritten = errors.New("written to")

// The primary SQLite result codes that a reader can get (sqlite.org/rescode.html).
const (
	busy     = 5
	locked   = 6
	readonly = 8
	ioError  = 10
	corrupt  = 11
	cantOpen = 14
	notADB   = 26
)

// explain turns an SQLite error into one that says what is wrong with the file.
func (d *database) explain(err error) error {
	var e interface{ Code() int }
	if !errors.As(err, &e) {
		return err
	}
	why := ""
	switch e.Code() & 0xff {
	case busy, locked:
		why = "is locked by another program: try again when that is done"
	case corrupt:
		why = "is damaged: `sqlite3 " + filepath.Base(d.file) + " .recover` saves what can be saved"
	case notADB:
		why = "is not an SQLite database, or its beginning is damaged"
	case cantOpen, readonly:
		why = "cannot be opened with its -wal: copy both files to a folder that can be written, and read the copy"
	case ioError:
		why = "cannot be read"
	default:
		return fmt.Errorf("%s: %w", d.file, err)
	}
	return fmt.Errorf("%w (%w)", d.fault(why), err)
}
