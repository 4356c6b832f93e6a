package remotesql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
)

// Serve answers requests of a [Driver] on the other side with a driver that has the
// database, until the input ends. An error means that the connection is unusable.
func Serve(in io.Reader, out io.Writer, d driver.Driver) error {
	s := &server{stream: newStream(in, out), driver: d}
	defer s.close()
	for {
		request, err := s.r.ReadByte()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		s.answer(request)
		s.flush()
		if s.err != nil {
			return s.err
		}
	}
}

// A server serves one connection at a time.
type server struct {
	*stream
	driver driver.Driver
	conn   driver.Conn // nil before a database is opened
	tx     driver.Tx   // nil outside of a transaction
	// Statements and rows by their numbers.
	statements map[int64]driver.Stmt
	rows       map[int64]*serving
	last       int64 // number
}

// A serving is a query whose rows are being sent.
type serving struct {
	driver.Rows
	row []driver.Value
}

var errClosed = errors.New("no database is open")

// answer reads the fields of a request and writes the response.
func (s *server) answer(request byte) {
	switch request {
	case requestOpen:
		address := s.readText()
		s.writeError(s.open(address))
	case requestClose:
		s.writeError(s.close())
	case requestBegin:
		s.writeError(s.begin())
	case requestRollback:
		s.writeError(s.end())
	case requestPrepare:
		number, err := s.prepare(s.readText())
		if s.writeError(err); err == nil {
			s.writeNumber(number)
		}
	case requestForget:
		number := s.readNumber()
		err := os.ErrInvalid
		if st := s.statements[number]; st != nil {
			delete(s.statements, number)
			err = st.Close()
		}
		s.writeError(err)
	case requestQuery:
		s.query()
	case requestNext:
		number := s.readNumber()
		if rows := s.rows[number]; rows == nil {
			s.writeError(os.ErrInvalid)
		} else {
			s.writeError(nil)
			s.send(number, rows)
		}
	case requestEnd:
		number := s.readNumber()
		err := os.ErrInvalid
		if rows := s.rows[number]; rows != nil {
			delete(s.rows, number)
			err = rows.Close()
		}
		s.writeError(err)
	default:
		s.fail(fmt.Errorf("unknown request %q", request))
	}
}

func (s *server) open(address string) (err error) {
	if s.conn != nil {
		return errors.New("a database is already open")
	}
	s.statements, s.rows = map[int64]driver.Stmt{}, map[int64]*serving{}
	s.conn, err = s.driver.Open(address)
	return err
}

// close closes what is open.
func (s *server) close() (err error) {
	for _, rows := range s.rows {
		_ = rows.Close()
	}
	for _, st := range s.statements {
		_ = st.Close()
	}
	_ = s.end()
	if s.conn != nil {
		err = s.conn.Close()
	}
	s.conn, s.statements, s.rows = nil, nil, nil
	return err
}

func (s *server) begin() (err error) {
	switch b, ok := s.conn.(driver.ConnBeginTx); {
	case s.conn == nil:
		err = errClosed
	case ok:
		s.tx, err = b.BeginTx(context.Background(), driver.TxOptions{})
	default:
		err = errors.ErrUnsupported
	}
	return err
}

func (s *server) end() (err error) {
	if s.tx != nil {
		err = s.tx.Rollback()
	}
	s.tx = nil
	return err
}

func (s *server) prepare(text string) (int64, error) {
	if s.conn == nil {
		return 0, errClosed
	}
	st, err := s.conn.Prepare(text)
	if err != nil {
		return 0, err
	}
	s.last++
	s.statements[s.last] = st
	return s.last, nil
}

func (s *server) query() {
	st := s.statements[s.readNumber()]
	var args []driver.NamedValue
	for range s.readCount() {
		args = append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: s.readValue()})
		if s.err != nil {
			return
		}
	}
	q, ok := st.(driver.StmtQueryContext)
	if !ok {
		s.writeError(os.ErrInvalid)
		return
	}
	found, err := q.QueryContext(context.Background(), args)
	if s.writeError(err); err != nil {
		return
	}
	columns := found.Columns()
	rows := &serving{found, make([]driver.Value, len(columns))}
	s.last++
	s.rows[s.last] = rows
	s.writeNumber(s.last)
	s.writeNumber(int64(len(columns)))
	for _, c := range columns {
		s.writeText(c)
	}
	s.send(s.last, rows)
}

// What follows in a list of rows.
const (
	listRow  = 'r' // a row
	listMore = 'm' // the end of the list, but there may be more rows
	listEnd  = 'e' // the end of the rows, and an error, if any; the query has ended
)

// send writes some rows, and what follows. After the last one it ends the query.
func (s *server) send(number int64, rows *serving) {
	for sent := 0; sent < batchBytes; {
		err := rows.Next(rows.row)
		for i := 0; err == nil && i < len(rows.row); i++ {
			switch rows.row[i].(type) { // before anything of the row is written
			case nil, int64, bool, float64, string, []byte:
			default:
				err = fmt.Errorf("column %d has a value of unsupported type %T", i+1, rows.row[i])
			}
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			delete(s.rows, number)
			if closing := rows.Close(); err == nil {
				err = closing
			}
			s.writeByte(listEnd)
			s.writeError(err)
			return
		}
		s.writeByte(listRow)
		for _, v := range rows.row {
			s.fail(s.writeValue(v))
			sent += size(v)
		}
		if s.err != nil {
			return
		}
	}
	s.writeByte(listMore)
}

// size returns about how many bytes a value takes.
func size(v driver.Value) int {
	switch v := v.(type) {
	case string:
		return len(v) + 8
	case []byte:
		return len(v) + 8
	}
	return 8
}
