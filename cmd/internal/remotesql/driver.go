package remotesql

import (
	"bytes"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// A Driver reads databases in other processes, one for each connection. A process whose
// connection was closed serves the next one.
type Driver struct {
	// Command returns a command that calls [Serve] on its standard input and output.
	Command func() (*exec.Cmd, error)

	mu   sync.Mutex
	idle []*process
}

// idleFor is how long a process waits for the next connection.
const idleFor = time.Second

var _ driver.Driver = (*Driver)(nil)

// Open opens a database for reading, by an address that the other process's driver
// understands.
func (d *Driver) Open(address string) (driver.Conn, error) {
	for {
		p, used, err := d.process()
		if err != nil {
			return nil, err
		}
		c := &conn{driver: d, process: p}
		p.writeByte(requestOpen)
		p.writeText(address)
		if err = p.response(); err == nil {
			return c, nil
		}
		broken := p.err != nil
		_ = c.Close()
		if !broken || !used { // somebody may have ended a process that waited
			return nil, err
		}
	}
}

// process returns a process without a connection. used reports whether it had one before.
func (d *Driver) process() (p *process, used bool, err error) {
	d.mu.Lock()
	for len(d.idle) > 0 && p == nil {
		p = d.idle[len(d.idle)-1]
		d.idle = d.idle[:len(d.idle)-1]
		p.expiry.Stop()
	}
	d.mu.Unlock()
	if p != nil {
		return p, true, nil
	}
	p, err = d.start()
	return p, false, err
}

// keep keeps a process for the next connection, but not for long.
func (d *Driver) keep(p *process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.expiry = time.AfterFunc(idleFor, func() {
		d.mu.Lock()
		i := slices.Index(d.idle, p)
		if i >= 0 {
			d.idle = slices.Delete(d.idle, i, i+1)
		}
		d.mu.Unlock()
		if i >= 0 {
			_ = p.end()
		}
	})
	d.idle = append(d.idle, p)
}

// A process is a running program that serves a connection.
type process struct {
	*stream
	cmd    *exec.Cmd
	in     io.Closer
	said   bytes.Buffer // standard error
	expiry *time.Timer  // while it is idle
}

func (d *Driver) start() (*process, error) {
	cmd, err := d.Command()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd}
	cmd.Stderr = &p.said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.stream = in, newStream(out, in)
	return p, cmd.Start()
}

// response sends the request that was written and reads the beginning of its response.
func (p *process) response() error {
	p.flush()
	err := p.readError()
	if p.err != nil {
		return p.broken()
	}
	return err
}

// broken ends the process and says why it cannot be used.
func (p *process) broken() error {
	why := p.err
	if err := p.end(); err != nil {
		why = err
	}
	said := bytes.TrimSpace(p.said.Bytes())
	if len(said) == 0 {
		return fmt.Errorf("%s: %w", p.cmd.Path, why)
	}
	return fmt.Errorf("%s: %w: %.400s", p.cmd.Path, why, said)
}

// end ends the process.
func (p *process) end() error {
	p.fail(errors.New("ended"))
	_ = p.in.Close()
	if p.cmd.ProcessState != nil {
		return nil
	}
	return p.cmd.Wait()
}

// A conn is a connection to a database in a process.
type conn struct {
	*process
	driver *Driver
}

var (
	_ driver.Conn      = (*conn)(nil)
	_ driver.Validator = (*conn)(nil)
)

// IsValid reports whether the connection can be used.
func (c *conn) IsValid() bool { return c.err == nil }

// Close closes the database, and keeps the process.
func (c *conn) Close() error {
	if c.err != nil {
		return nil
	}
	c.writeByte(requestClose)
	err := c.response()
	if c.err == nil {
		c.driver.keep(c.process)
	}
	return err
}

// Begin begins a transaction for reading.
func (c *conn) Begin() (driver.Tx, error) {
	c.writeByte(requestBegin)
	return tx{c}, c.response()
}

type tx struct{ *conn }

// Commit ends the transaction as Rollback does: it has only read.
func (t tx) Commit() error { return t.Rollback() }

func (t tx) Rollback() error {
	t.writeByte(requestRollback)
	return t.response()
}

// Prepare prepares a query.
func (c *conn) Prepare(text string) (driver.Stmt, error) {
	c.writeByte(requestPrepare)
	c.writeText(text)
	if err := c.response(); err != nil {
		return nil, err
	}
	return &stmt{c, c.readNumber()}, c.err
}

// A stmt is a prepared query.
type stmt struct {
	*conn
	number int64
}

// NumInput leaves it to the database to count the arguments.
func (s *stmt) NumInput() int { return -1 }

// Close forgets the query.
func (s *stmt) Close() error {
	if s.err != nil {
		return nil
	}
	s.writeByte(requestForget)
	s.writeNumber(s.number)
	return s.response()
}

// Exec fails: databases are only read.
func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }

// Query runs the query.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	for _, v := range args {
		if _, ok := v.(time.Time); ok {
			return nil, fmt.Errorf("arguments of type %T: %w", v, errors.ErrUnsupported)
		}
	}
	s.writeByte(requestQuery)
	s.writeNumber(s.number)
	s.writeNumber(int64(len(args)))
	for _, v := range args {
		s.fail(s.writeValue(v))
	}
	if err := s.response(); err != nil {
		return nil, err
	}
	r := &rows{conn: s.conn, number: s.readNumber()}
	for n := s.readCount(); len(r.columns) < n && s.err == nil; {
		r.columns = append(r.columns, s.readText())
	}
	return r, r.receive()
}

// rows are the result of a query.
type rows struct {
	*conn
	number   int64
	columns  []string
	received []driver.Value // of rows that are not read yet
	err      error          // after the received rows, when the query has ended; nil if there may be more
}

// Columns returns the names of the columns.
func (r *rows) Columns() []string { return r.columns }

// receive reads the rows of a response.
func (r *rows) receive() error {
	r.received = r.received[:0]
	for {
		switch b := r.readByte(); {
		case r.process.err != nil:
			return r.broken()
		case b == listRow:
			for range r.columns {
				r.received = append(r.received, r.readValue())
			}
		case b == listMore:
			return nil
		case b == listEnd:
			if r.err = r.readError(); r.process.err != nil {
				return r.broken()
			}
			if r.err == nil {
				r.err = io.EOF
			}
			return nil
		default:
			r.fail(fmt.Errorf("unexpected row %q", b))
		}
	}
}

// Next reads the next row.
func (r *rows) Next(to []driver.Value) error {
	for len(r.received) == 0 {
		if r.err != nil {
			return r.err
		}
		r.writeByte(requestNext)
		r.writeNumber(r.number)
		if err := r.response(); err != nil {
			return err
		}
		if err := r.receive(); err != nil {
			return err
		}
	}
	n := copy(to, r.received[:len(r.columns)])
	clear(r.received[:n])
	r.received = r.received[n:]
	return nil
}

// Close ends the query.
func (r *rows) Close() error {
	if r.process.err != nil || r.err != nil {
		return nil
	}
	r.writeByte(requestEnd)
	r.writeNumber(r.number)
	return r.response()
}
