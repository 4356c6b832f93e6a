// Package remotesql reads databases in another process: a driver for [database/sql] on one
// side, and on the other [Serve] with a driver that links the database.
//
// SQLite sets itself up at each start of a program that links it, used or not, which would
// add an eighth to every start of cortext (BenchmarkStartup).
package remotesql

import (
	"bufio"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// The driver sends requests and waits for the response to each. A request is one of these
// bytes and its fields.
const (
	requestOpen     = 'o' // address
	requestClose    = 'c'
	requestBegin    = 'b'
	requestRollback = 'r'
	requestPrepare  = 'p' // query; the response is the number of the statement
	requestForget   = 'f' // number of a statement
	requestQuery    = 'q' // number of a statement, arguments; the response is the number of the rows, columns, and the first rows as for requestNext
	requestNext     = 'n' // number of the rows; the response is some rows, and whether there are more
	requestEnd      = 'e' // number of the rows, if the last was not sent
)

// A response begins with one of these bytes. An error has a code of the database, or 0, and a
// text.
const (
	succeeded = '+'
	failed    = '-'
)

// An Error is an error of the database in the other process.
type Error struct {
	code int
	text string
}

func (e *Error) Error() string { return e.text }

// Code returns the result code of the database, or 0 if the error is not its own.
func (e *Error) Code() int { return e.code }

// batchBytes is the size at which rows are sent without waiting for more of them.
const batchBytes = 32 << 10

// maxBytes limits a text, as SQLite does.
const maxBytes = 1 << 30

// A stream is one end of the connection between the processes. After an error, all further
// calls fail with it.
type stream struct {
	r   *bufio.Reader
	w   *bufio.Writer
	err error
}

func newStream(r io.Reader, w io.Writer) *stream {
	return &stream{r: bufio.NewReaderSize(r, batchBytes), w: bufio.NewWriterSize(w, batchBytes)}
}

func (s *stream) fail(err error) {
	if s.err == nil && err != nil {
		s.err = err
	}
}

func (s *stream) flush() { s.fail(s.w.Flush()) }

func (s *stream) writeByte(b byte) { s.fail(s.w.WriteByte(b)) }

func (s *stream) writeNumber(n int64) {
	_, err := s.w.Write(binary.AppendVarint(s.w.AvailableBuffer(), n))
	s.fail(err)
}

func (s *stream) writeText(text string) {
	s.writeNumber(int64(len(text)))
	_, err := s.w.WriteString(text)
	s.fail(err)
}

func (s *stream) readByte() byte {
	if s.err != nil {
		return 0
	}
	b, err := s.r.ReadByte()
	s.fail(err)
	return b
}

func (s *stream) readNumber() int64 {
	if s.err != nil {
		return 0
	}
	n, err := binary.ReadVarint(s.r)
	s.fail(err)
	return n
}

// readCount reads the number of things that follow.
func (s *stream) readCount() int {
	n := s.readNumber()
	if n < 0 || n > maxBytes {
		s.fail(fmt.Errorf("invalid count %d", n))
	}
	if s.err != nil {
		return 0
	}
	return int(n)
}

func (s *stream) readText() string {
	n := s.readCount()
	if s.err != nil {
		return ""
	}
	var b strings.Builder
	b.Grow(min(n, batchBytes)) // n may be wrong
	_, err := io.CopyN(&b, s.r, int64(n))
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	s.fail(err)
	return b.String()
}

// The kinds of values, each followed by its text or number.
const (
	kindNull    = 0
	kindInteger = 'i'
	kindReal    = 'r'
	kindText    = 't'
	kindBlob    = 'b'
)

func (s *stream) writeValue(v driver.Value) error {
	switch v := v.(type) {
	case nil:
		s.writeByte(kindNull)
	case int64:
		s.writeByte(kindInteger)
		s.writeNumber(v)
	case bool:
		s.writeByte(kindInteger)
		if v {
			s.writeNumber(1)
		} else {
			s.writeNumber(0)
		}
	case float64:
		s.writeByte(kindReal)
		s.writeNumber(int64(math.Float64bits(v)))
	case string:
		s.writeByte(kindText)
		s.writeText(v)
	case []byte:
		s.writeByte(kindBlob)
		s.writeText(string(v))
	default:
		return fmt.Errorf("unsupported type %T", v)
	}
	return nil
}

func (s *stream) readValue() driver.Value {
	switch kind := s.readByte(); kind {
	case kindNull:
		return nil
	case kindInteger:
		return s.readNumber()
	case kindReal:
		return math.Float64frombits(uint64(s.readNumber()))
	case kindText:
		return s.readText()
	case kindBlob:
		return []byte(s.readText())
	default:
		s.fail(fmt.Errorf("unknown kind of value %q", kind))
		return nil
	}
}

// writeError writes the beginning of a response.
func (s *stream) writeError(err error) {
	if err == nil {
		s.writeByte(succeeded)
		return
	}
	s.writeByte(failed)
	code := 0
	if own := (interface{ Code() int })(nil); errors.As(err, &own) {
		code = own.Code()
	}
	s.writeNumber(int64(code))
	s.writeText(err.Error())
}

// readError reads the beginning of a response.
func (s *stream) readError() error {
	switch b := s.readByte(); b {
	case succeeded:
	case failed:
		e := &Error{code: int(s.readNumber())}
		e.text = s.readText()
		if s.err == nil {
			return e
		}
	default:
		s.fail(fmt.Errorf("unexpected response %q", b))
	}
	return s.err
}
